//go:build unix

package spawner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// TestLargeOutputEnds: an output that grows faster than it is read ends at its limit.
func TestLargeOutputEnds(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeagent.Scenario{Steps: []fakeagent.Step{
		{Run: &fakeagent.Run{Argv: []string{"sh", "-c", `yes '{}' | head -c 70000000 >"$TMPDIR/../stdout"`}}}, {Hang: true},
	}})
	out, err := s.spawner(t).Run(t.Context(), s.job(t))
	if err != nil || len(out.Results) != 1 || out.Last().Verdict.Reason != outcome.ReasonOutputLimit {
		t.Errorf("%+v, %v", out.Results, err)
	}
}

// TestChangedOutput: a record names the output that was judged, so an agent must not change it
// afterwards.
func TestChangedOutput(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{"cut": `: >"$F"`, "rewritten": `tr a-z A-Z <"$F" >"$F.new" && cat "$F.new" >"$F"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, fakeagent.Scenario{Steps: []fakeagent.Step{
				{Read: &fakeagent.Read{}}, {Report: &fakeagent.Report{}}, {Final: &fakeagent.Final{}}, {Sleep: fakeagent.Duration(time.Second)},
				{Run: &fakeagent.Run{Argv: []string{"sh", "-c", `F="$TMPDIR/../stdout"; ` + change}}},
			}})
			out, err := s.run(t, s.job(t))
			if err != nil || out.Last().Verdict.Reason != outcome.ReasonUnreadableOutput {
				t.Errorf("%+v, %v", out.Results, err)
			}
		})
	}
}

// TestUseOfCancelledAgent: an agent that is cancelled may print its use before it ends.
func TestUseOfCancelledAgent(t *testing.T) {
	t.Parallel()
	started := filepath.Join(t.TempDir(), "started")
	s := newScene(t, fakeagent.Scenario{Term: "result", Usage: &fakeagent.Usage{In: 1000, Out: 500}, Cost: "0.5", Steps: []fakeagent.Step{
		{Write: &fakeagent.File{Path: started}}, {Hang: true},
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	out, err := s.spawner(t).Run(ctx, s.job(t))
	if !errors.Is(err, context.Canceled) || len(out.Results) != 1 {
		t.Fatalf("%+v, %v", out.Results, err)
	}
	if r := out.Last().Record; r.TokensIn == nil || *r.TokensIn != 1000 || r.CostMicroDollars == nil || *r.CostMicroDollars != 500_000 {
		t.Errorf("%+v", r)
	}
}
