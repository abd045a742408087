package findingformat_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/finding"
)

// TestReviewdogReadsOurFindings gives the real reviewdog a file of findings, and a diff with
// a line that one of them is about.
func TestReviewdogReadsOurFindings(t *testing.T) {
	command := os.Getenv("SWITCHYARD_REVIEWDOG")
	if command == "" {
		t.Skip("SWITCHYARD_REVIEWDOG names no reviewdog command; make reviewdog builds one and runs this test")
	}
	r := review(
		found("todo-marker", "fail", "src/api.go", 2, "Replace the TODO\nby a retry"),
		found("style", "nit", "src/api.go", 40, "Rename it"),
		found("missing-test", "risk", "b c.go", 0, "Test it"),
		found("information-missing", "fail", "", 0, "Say what it does"),
	)
	dir := t.TempDir()
	const diff = "diff --git a/src/api.go b/src/api.go\n--- a/src/api.go\n+++ b/src/api.go\n@@ -1 +1,2 @@\n package api\n+// TODO\n"
	if err := os.WriteFile(dir+"/api.diff", []byte(diff), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command, append([]string{"-f=rdjsonl", "-diff=cat api.diff"}, args...)...)
		c.Dir = dir
		c.Stdin = strings.NewReader(write(t, "rdjsonl", r))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil { // reviewdog asks for its root.
		t.Fatalf("%v: %s", err, out)
	}

	result, err := reader(t, "rdjsonl")(run("-reporter=rdjsonl", "-filter-mode=nofilter"))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range result.Findings {
		if finding.Fingerprint(got.Category, got.File, got.Line, got.Remediation) != r.Findings[i].Fingerprint || got.Severity != r.Findings[i].Severity {
			t.Errorf("reviewdog wrote %+v, got %+v", got, r.Findings[i])
		}
	}
	if len(result.Findings) != len(r.Findings) {
		t.Errorf("reviewdog wrote %d findings of %d", len(result.Findings), len(r.Findings))
	}
	if out := run("-reporter=local", "-filter-mode=added"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "Replace the TODO") {
		t.Errorf("reviewdog found these in the diff: %s", out)
	}
}
