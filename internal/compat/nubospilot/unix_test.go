//go:build unix

package nubospilot_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
)

// TestReadDoesNotWaitForAPipe has a named pipe without a writer.
func TestReadDoesNotWaitForAPipe(t *testing.T) {
	dir := folder(t, map[string]string{"checkpoints/x": ""})
	for _, name := range []string{"config.json", "checkpoints/" + id + ".json"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := nubospilot.Read(t.Context(), dir)
	if err != nil || !says(got.Left, "config.json", "not a regular file") || !says(got.Left, id, "not a regular file") {
		t.Errorf("got %+v, %v", got, err)
	}
}
