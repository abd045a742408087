package host_test

import (
	"database/sql"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to change a record directly

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// summarized is an engine on its own project whose methods fail the test on errors.
type summarized struct {
	*testing.T
	*host.Engine
	root  string
	force *task.Force
}

func newSummarized(t *testing.T) *summarized {
	root := t.TempDir()
	e := hosttest.Engine(t, root, host.Options{Now: noon, By: "tess", Warn: func(err error) { t.Error(err) }})
	return &summarized{T: t, Engine: e, root: root, force: &task.Force{Reason: "a test", By: "tess"}}
}

// report returns a request with findings of these categories.
func (s *summarized) report(categories ...string) host.Request {
	findings := make([]string, len(categories))
	for i, c := range categories {
		findings[i] = `{"category":"` + c + `","remediation":"` + c + `"}`
	}
	text := `{"critic":"critic","findings":[` + strings.Join(findings, ",") + `]}`
	return host.Request{Reports: []api.ReportRef{{Plugin: "np-critic", Path: api.Stdin}}, Stdin: strings.NewReader(text), Force: s.force}
}

func (s *summarized) review(id string, categories ...string) {
	s.Helper()
	if _, err := s.Review(s.Context(), id, s.report(categories...)); err != nil {
		s.Fatal(err)
	}
}

func (s *summarized) red(id string) {
	s.Helper()
	failed := 1
	if _, err := s.Draft(s.Context(), id, api.DraftRequest{Verify: host.VerifyRequest{ExitCode: &failed}, Force: s.force}); err != nil {
		s.Fatal(err)
	}
}

func (s *summarized) stop(id string, req host.Request) {
	s.Helper()
	if _, err := s.Stop(s.Context(), id, api.StopRequest{Reason: "a test", Request: req}); err != nil {
		s.Fatal(err)
	}
}

func (s *summarized) commit(id string) {
	s.Helper()
	if _, err := s.Commit(s.Context(), id, api.CommitRequest{Force: s.force}); err != nil {
		s.Fatal(err)
	}
}

func (s *summarized) wants(want api.Summary) {
	s.Helper()
	got, err := s.Summary(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if got.Tasks != want.Tasks || got.Rounds != want.Rounds || got.Average != want.Average ||
		got.Stuck != want.Stuck || got.Committed != want.Committed || got.Overrides != want.Overrides {
		s.Errorf("got %+v, want %+v", got, want)
	}
	for destination, n := range got.Routes {
		if n != want.Routes[destination] {
			s.Errorf("%d tasks went to %s, want %d", n, destination, want.Routes[destination])
		}
	}
	if len(got.Routes) != 6 {
		s.Errorf("there are %d destinations, want 6: %v", len(got.Routes), got.Routes)
	}
	if !maps.Equal(got.Categories, want.Categories) {
		s.Errorf("categories are %v, want %v", got.Categories, want.Categories)
	}
	if !maps.Equal(got.Histogram, want.Histogram) {
		s.Errorf("the histogram is %v, want %v", got.Histogram, want.Histogram)
	}
}

func TestSummaryOfNothing(t *testing.T) {
	s := newSummarized(t)
	s.wants(api.Summary{Histogram: map[int]int{1: 0, 2: 0, 3: 0}})
}

func TestSummary(t *testing.T) {
	s := newSummarized(t)
	s.review("executor", "style", "style-unknown-to-nobody")
	s.wants(api.Summary{
		// A category that no policy knows leaves the task stuck, whatever else is
		// reported.
		Tasks: 1, Rounds: 1, Average: 1, Stuck: 1, Overrides: 1, Routes: map[string]int{"stuck": 1},
		Categories: map[string]int{"style": 1, "style-unknown-to-nobody": 1}, Histogram: map[int]int{1: 1, 2: 0, 3: 0},
	})

	// A red draft has no findings and does not replace those of the round's review.
	s.review("planned", "infrastructure-mismatch")
	s.red("planned")
	s.review("asked", "question-to-user", "missing-test")
	s.review("committed", "style")
	s.review("committed")
	s.commit("committed")
	s.wants(api.Summary{
		Tasks: 4, Rounds: 1 + 2 + 2 + 2, Average: 1.75, Stuck: 1, Committed: 1, Overrides: 1 + 2 + 1 + 2,
		Routes: map[string]int{"stuck": 1, "executor": 1, "askuser": 1, "commit": 1},
		Categories: map[string]int{
			"style": 2, "style-unknown-to-nobody": 1, "infrastructure-mismatch": 1, "question-to-user": 1, "missing-test": 1,
		},
		Histogram: map[int]int{1: 1, 2: 3, 3: 0},
	})
}

// TestSummaryOfStops checks that the findings of a stop replace those of the round's
// review, and that a stop without reports keeps them.
func TestSummaryOfStops(t *testing.T) {
	s := newSummarized(t)
	s.review("t", "infrastructure-mismatch")
	s.stop("t", host.Request{})
	want := api.Summary{
		Tasks: 1, Rounds: 1, Average: 1, Stuck: 1, Overrides: 1, Routes: map[string]int{"stuck": 1},
		Categories: map[string]int{"infrastructure-mismatch": 1}, Histogram: map[int]int{1: 1, 2: 0, 3: 0},
	}
	s.wants(want)
	s.stop("t", s.report("scope-creep", "style"))
	want.Categories = map[string]int{"scope-creep": 1, "style": 1}
	s.wants(want)
	s.stop("t", s.report())
	want.Categories = map[string]int{}
	s.wants(want)
}

// TestSummaryBeyondTheCap checks that rounds beyond the project's cap are counted.
func TestSummaryBeyondTheCap(t *testing.T) {
	s := newSummarized(t)
	if _, err := s.Start(t.Context(), "t", api.StartRequest{MaxRounds: 9}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		s.red("t")
	}
	s.review("u", "style")
	s.review("v")
	s.wants(api.Summary{
		Tasks: 3, Rounds: 5 + 2 + 1, Average: 2.67, Overrides: 4 + 1 + 1, Routes: map[string]int{"executor": 2, "commit": 1},
		Categories: map[string]int{"style": 1}, Histogram: map[int]int{1: 1, 2: 1, 3: 0, 5: 1},
	})
}

func TestSummaryListsUnreadableTasks(t *testing.T) {
	sequential(t)
	for name, sabotage := range map[string]string{
		"state":        `UPDATE tasks SET state = '{}' WHERE task = 'b'`,
		"round":        `UPDATE tasks SET state = json_set(state, '$.round', -1) WHERE task = 'b'`,
		"event":        `UPDATE events SET body = '{"event": {"round": "one"}}' WHERE task = 'b'`,
		"another task": `UPDATE tasks SET state = (SELECT state FROM tasks WHERE task = 'a') WHERE task = 'b'`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSummarized(t)
			s.review("a", "style")
			s.review("b", "missing-test")
			s.review("c", "style")
			db, err := sql.Open("sqlite", filepath.Join(s.root, ".switchyard", "ledger.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(sabotage); err != nil {
				t.Fatal(err)
			}
			got, err := s.Summary(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Tasks != 2 || got.Rounds != 4 || got.Categories["style"] != 2 || got.Categories["missing-test"] != 0 {
				t.Errorf("the others are not counted: %+v", got)
			}
			if len(got.Unreadable) != 1 || got.Unreadable[0].TaskID != "b" || got.Unreadable[0].Code != errs.LedgerTampered {
				t.Errorf("what cannot be read is not listed: %+v", got.Unreadable)
			}
		})
	}
}

// TestAResetForgetsTheFindingsOfAStop covers a stop, because no review was decided before it.
func TestAResetForgetsTheFindingsOfAStop(t *testing.T) {
	s := newSummarized(t)
	count := func() int {
		t.Helper()
		d, err := s.Task(t.Context(), "T")
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Findings(t.Context(), "T", 0, false)
		if err != nil || len(list.Findings) != len(d.Findings) {
			t.Errorf("the task has %d findings, and the list %d, %v", len(d.Findings), len(list.Findings), err)
		}
		return len(d.Findings)
	}
	for _, c := range []struct {
		name string
		next func() error
		left int
	}{
		{"replan", func() error {
			_, err := s.Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Replan})
			return err
		}, 1},
		{"reset", func() error {
			_, err := s.Resume(t.Context(), "T", host.ResumeRequest{Mode: task.Reset})
			return err
		}, 0},
		{"restart", func() error { _, err := s.Start(t.Context(), "T", api.StartRequest{}); return err }, 0},
	} {
		s.stop("T", s.report("style"))
		if got := count(); got != 1 {
			t.Errorf("after the stop there are %d findings", got)
		}
		if err := c.next(); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != c.left {
			t.Errorf("after a %s there are %d findings", c.name, got)
		}
	}
	if report, err := s.Verify(t.Context()); err != nil || !report.Sound() {
		t.Errorf("the ledger is %+v, %v", report.Problems, err)
	}
}
