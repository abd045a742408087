//go:build unix

package routing_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/policies"
)

// Opening a named pipe must not wait for a writer.
func TestNamedPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "policy.rego")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, ref := range []string{dir, pipe} {
		_, err := policies.Load(t.Context(), ref)
		wantCode(t, err, errs.PolicyUnreadable)
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
	wantCode(t, err, errs.PolicyUnreadable)
}

// A policy's file names must be valid UTF-8 even if the file system allows others:
// bundles require it, and stored names are JSON.
func TestNamesOfFilesAreText(t *testing.T) {
	dir := policyDir(t, goodPolicy)
	if err := os.WriteFile(filepath.Join(dir, "more\xff.rego"), []byte("package switchyard.routing\n"), 0o600); err != nil {
		t.Skipf("skipped: %v", err)
	}
	_, err := policies.Load(t.Context(), dir)
	wantCode(t, err, errs.PolicyInvalid)
	if err := os.Rename(filepath.Join(dir, "more\xff.rego"), filepath.Join(dir, "more\xff.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := policies.Load(t.Context(), dir); err != nil {
		t.Errorf("what is no Rego file makes it %v", err)
	}
}
