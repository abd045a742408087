//go:build unix

package place_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/spawner/place"
)

// TestANamedPipeCannotBlock: nobody will ever write to it.
func TestANamedPipeCannotBlock(t *testing.T) {
	w := newWorld(t)
	must(t, syscall.Mkfifo(filepath.Join(w.project, "pipe"), 0o600))
	b := w.open(t)
	if _, err := b.Read(t.Context(), "pipe", 100); fault.CodeOf(err) != place.CodeUnreadable {
		t.Errorf("read: %v", err)
	}
	if _, err := b.Output("pipe"); fault.CodeOf(err) != place.CodeOutputUnsafe {
		t.Errorf("output: %v", err)
	}
}
