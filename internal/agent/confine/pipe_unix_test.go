//go:build unix

package confine_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestANamedPipeCannotBlock: nobody will ever write to it.
func TestANamedPipeCannotBlock(t *testing.T) {
	w := newWorld(t)
	must(t, syscall.Mkfifo(filepath.Join(w.project, "pipe"), 0o600))
	b := w.open(t)
	if _, err := b.Read(t.Context(), "pipe", 100); errs.CodeOf(err) != errs.SpawnPromptUnreadable {
		t.Errorf("read: %v", err)
	}
	if _, err := b.Output("pipe"); errs.CodeOf(err) != errs.SpawnOutputUnsafe {
		t.Errorf("output: %v", err)
	}
}
