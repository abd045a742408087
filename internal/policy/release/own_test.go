package release_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// recorded holds the rounds that our decision records replay; record.sh next to it
// describes how they were made.
const recorded = "policies/testdata/recorded.jsonl"

// TestOurOwnVersions is the gate for our own policies: each must be valid, and its
// decision record correct, including the replay. It checks the same as switchyard policy
// lint --ledger.
func TestOurOwnVersions(t *testing.T) {
	whole(t)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	e := host.New(host.Options{Project: project.Project{Root: root, Dir: root}, Now: time.Now})
	report, err := e.Policies().Workspace().Lint(t.Context(), recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		t.Errorf("%s: %s: %s: %s (%s)", f.Rule, f.Policy, f.File, f.Message, f.Hint)
	}
	if got, want := len(report.Versions), len(policies.Versions()); got != want {
		t.Errorf("%d versions, and %d are built in", got, want)
	}
	for _, v := range report.Versions {
		if !v.Released || !v.BuiltIn || v.Coverage != 100 || v.Tests == 0 || v.States == 0 {
			t.Errorf("%+v", v)
		}
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
