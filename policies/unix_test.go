//go:build unix

package policies_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/policies"
)

// Opening a named pipe would wait for a writer that never comes.
func TestNamedPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "policy.rego")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, ref := range []string{dir, pipe} {
		_, err := policies.Load(t.Context(), ref)
		wantCode(t, err, policies.CodeUnreadable)
	}
}

func TestWhatMayNotBeReadIsUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := policyDir(t, goodPolicy)
	if err := os.Chmod(filepath.Join(dir, "policy.rego"), 0); err != nil {
		t.Fatal(err)
	}
	_, err := policies.Load(t.Context(), dir)
	wantCode(t, err, policies.CodeUnreadable)
}
