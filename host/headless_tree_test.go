package host_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/spawner"
)

// TestVerificationOfAChangingTree: a green verification counts for the tree that was verified.
func TestVerificationOfAChangingTree(t *testing.T) {
	t.Parallel()
	sequential(t)
	for name, c := range map[string]struct {
		command string
		runs    int
		code    errs.Code
	}{
		"left as it is":                 {"true", 1, ""},
		"a file that stays":             {"echo built >built", 2, ""},
		"a file that is always another": {"echo x >>log", 2, ""},
		// Something else edits a file while the command runs, and another the second time.
		"edits": {"echo x >edited$(grep -c . " + verified + ")", 2, errs.RoundShifted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, once+"verify: 'echo run >>"+verified+"; "+c.command+"'\n", fakeagent.Clean())
			_, err := s.round(t)
			if errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Errorf("the round says %v, want %q", err, c.code)
			}
			if failed, ok := errors.AsType[*errs.Error](err); ok && !strings.Contains(failed.Hint, "edited2") {
				t.Errorf("the hint is %q", failed.Hint)
			}
			if got := s.lines(t, verified); got != c.runs {
				t.Errorf("%d verifications ran, want %d", got, c.runs)
			}
		})
	}
}

// TestReportsOfAChangingTree: reports of commands count for one tree, also if nothing was
// verified.
func TestReportsOfAChangingTree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		code    errs.Code
	}{
		"left as it is": {"cat clean.json", ""},
		"edited":        {"cat clean.json; echo >>a.go", errs.ReportCommandFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "reports:\n- run: "+c.command+"\n", fakeagent.Clean())
			s.write(t, "clean.json", clean)
			_, err := s.engine(t, time.Now).Round(t.Context(), "T", host.Request{})
			if errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Errorf("the round says %v, want %q", err, c.code)
			}
		})
	}
}

// TestReportCommandIsShown checks that the progress names a running linter and its time limit.
func TestReportCommandIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t, "reports:\n- {run: cat clean.json, timeout: 1m}\n", fakeagent.Clean())
	s.write(t, "clean.json", clean)
	var seen []spawner.Progress
	if _, err := s.observed(t, func(p spawner.Progress) { seen = append(seen, p) }).Round(t.Context(), "T", host.Request{}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Agent != "report cat clean.json" || seen[0].Limit != time.Minute || seen[0].Task != "T" || seen[1].Phase != spawner.Ended {
		t.Errorf("shown are %+v", seen)
	}
}
