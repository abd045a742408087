package render

import (
	"bytes"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestCommitWithoutSubject tests that a line does not end with spaces if the subject of
// the commit is not known, as for a task of a fleet that had ended before.
func TestCommitWithoutSubject(t *testing.T) {
	r := api.RunResult{TaskID: "T", NextAction: routing.Commit, Commit: "0123456789abcdef", Branch: &task.Branch{Name: "b"}}
	var out bytes.Buffer
	(&Printer{w: &out}).RunEnded(r)
	if want := "T  ended  commit, 0123456789ab\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestStopWords tests the reason of a stuck task.
func TestStopWords(t *testing.T) {
	for reason, want := range map[string]string{
		"build-fixer-no-change": "build-fixer-no-change: the agent changed no file",
		"executor-unheard-of":   "executor-unheard-of",
		"max-rounds":            "max-rounds",
		"budget":                "budget",
	} {
		if got := stopWords(reason); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

// TestCommitUnchecked tests that the line of a commit says what did not check it.
func TestCommitUnchecked(t *testing.T) {
	for _, c := range []struct {
		reports      []api.Report
		verification *api.Verification
		want         string
	}{
		{[]api.Report{{Command: "lint"}}, nil, "; verification: none; critic: none"},
		{[]api.Report{{Command: "lint"}, {}}, nil, "; verification: none"},
		{[]api.Report{{Command: "lint"}}, &api.Verification{}, "; critic: none"},
		{[]api.Report{{}}, &api.Verification{}, ""},
	} {
		d := api.Decision{NextAction: routing.Commit, Reports: c.reports, Verification: c.verification}
		if got := roundWords(api.RoundResult{Decision: d}); got != because(d)+c.want {
			t.Errorf("got %q, want %q at its end", got, c.want)
		}
	}
}
