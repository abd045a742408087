package host_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// under runs a round of task T, calls f while its critic runs, and returns the round's
// result. The critic finds nothing.
func (s *site) under(t *testing.T, f func(*host.Engine)) (api.RoundResult, error) {
	t.Helper()
	signal := filepath.Join(t.TempDir(), "go")
	critic := fakeagent.Clean()
	critic.Steps = append([]fakeagent.Step{{Await: &fakeagent.Await{File: signal}}}, critic.Steps...)
	s.plays(t, critic)
	type result struct {
		api.RoundResult
		err error
	}
	done := make(chan result, 1)
	ours := s.engine(t, time.Now)
	go func() {
		d, err := ours.Round(t.Context(), "T", host.Request{})
		done <- result{d, err}
	}()
	s.waitFor(t, 1)
	f(s.engine(t, time.Now))
	site{root: filepath.Dir(signal)}.write(t, "go", "")
	r := <-done
	return r.RoundResult, r.err
}

// waitFor waits until a number of agent calls have begun.
func (s site) waitFor(t *testing.T, calls int) {
	t.Helper()
	for len(s.calls(t)) < calls {
		time.Sleep(5 * time.Millisecond)
	}
}

// TestOthersWhileTheCriticRuns checks how commands of other processes during a critic's
// run affect its review. The run and its cost are always recorded.
func TestOthersWhileTheCriticRuns(t *testing.T) {
	audit := func(agent string, tools ...string) func(*testing.T, *host.Engine) error {
		return func(t *testing.T, e *host.Engine) error {
			_, err := e.Audit(t.Context(), "T", api.AuditRequest{Agent: agent, Tools: tools})
			return err
		}
	}
	// Only the process that runs a round may decide it.
	refused := func(req host.Request) func(*testing.T, *host.Engine) error {
		return func(t *testing.T, e *host.Engine) error {
			if _, err := e.Round(t.Context(), "T", req); errs.CodeOf(err) != errs.RoundRunning {
				t.Errorf("a round beside it says %v, want %s", err, errs.RoundRunning)
			}
			return nil
		}
	}
	for _, c := range []struct {
		name      string
		meanwhile func(*testing.T, *host.Engine) error
		// code is the error of the round, "" for none, and status is the task's status
		// afterwards.
		code   errs.Code
		status task.Status
		// stamped reports whether the critic's run still counts as evidence.
		stamped bool
	}{
		{"another draft", audit(task.AgentExecutor, "knowledge-search"), errs.RoundShifted, task.Open, true},
		{"another fix", audit(task.AgentFixer, "knowledge-search"), errs.RoundShifted, task.Open, true},
		{"another agent's audit", audit(task.AgentDesigner), "", task.Committed, true},
		{"a critic's audit by hand", audit(task.AgentCritic), "", task.Committed, true},
		{"a search", func(t *testing.T, e *host.Engine) error {
			_, err := e.Search(t.Context(), "T", api.SearchRequest{Agent: task.AgentResearcher, Query: "lists"})
			return err
		}, "", task.Committed, true},
		{"a stop", func(t *testing.T, e *host.Engine) error {
			_, err := e.Stop(t.Context(), "T", api.StopRequest{Reason: "enough"})
			return err
		}, errs.TaskStuck, task.Stuck, true},
		// The round's own agent could run it, for example.
		{"a commit", refused(request(clean)), "", task.Committed, true},
		{"a decision", refused(request(issues)), "", task.Committed, true},
		{"a decision that keeps the round", refused(request(planReport(1))), "", task.Committed, true},
		{"a commit of phases", func(t *testing.T, e *host.Engine) error {
			if _, err := e.Commit(t.Context(), "T", api.CommitRequest{Force: &task.Force{Reason: "r", By: "b"}}); errs.CodeOf(err) != errs.RoundRunning {
				t.Errorf("a commit beside it says %v, want %s", err, errs.RoundRunning)
			}
			return nil
		}, "", task.Committed, true},
		{"another round", refused(host.Request{}), "", task.Committed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, once, fakeagent.Clean())
			decisions := 0
			_, err := s.under(t, func(e *host.Engine) {
				if err := c.meanwhile(t, e); err != nil {
					t.Fatal(err)
				}
				decisions = s.count(t, task.KindDecided)
			})
			if errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
				t.Errorf("the round says %v, want %q", err, c.code)
			}
			if err == nil {
				decisions++
			}
			if got := s.count(t, task.KindDecided); got != decisions {
				t.Errorf("%d decisions are recorded, want %d", got, decisions)
			}
			state := s.state(t)
			if state.Status != c.status {
				t.Errorf("the task is %s, want %s", state.Status, c.status)
			}
			if len(state.OpenRuns()) > 0 || state.Spent.Runs != 1 || s.count(t, task.KindSpawnEnded) != 1 {
				t.Errorf("the critic's run is not accounted for: %+v, %+v", state.Runs, state.Spent)
			}
			if got := len(s.calls(t)); got != 1 {
				t.Errorf("%d agents ran, want 1", got)
			}
			hosts := 0
			for _, attestation := range s.attestationsOf(t, task.AgentCritic) {
				if attestation.Source == task.ByHost {
					hosts++
				}
			}
			if (hosts == 1) != c.stamped || hosts > 1 {
				t.Errorf("the critic has %d stamps by the host, wanted: %v", hosts, c.stamped)
			}
		})
	}
}

// TestCancelledHeadlessRound checks that a cancelled round records its run and no
// decision.
func TestCancelledHeadlessRound(t *testing.T) {
	t.Parallel()
	s := newSite(t, once, fakeagent.Presets()["hang"])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	e := s.engine(t, time.Now)
	go func() {
		_, err := e.Round(ctx, "T", host.Request{})
		done <- err
	}()
	s.waitFor(t, 1)
	cancel()
	if err := <-done; err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
	state := s.state(t)
	if len(state.OpenRuns()) > 0 || state.Spent.Runs != 1 || state.Last != nil {
		t.Errorf("%+v after a cancelled round", state)
	}
	s.gone(t)
	s.plays(t, fakeagent.Clean())
	if d, err := s.round(t); err != nil || d.NextAction != "commit" {
		t.Errorf("the next round: %s, %v", d.NextAction, err)
	}
}
