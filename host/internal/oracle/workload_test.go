package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// workload runs random commands on an engine, including ones that are rejected.
type workload struct {
	*testing.T
	*host.Engine
	root   string
	random *rand.Rand
	now    time.Time
	done   map[string]int // accepted commands, by name
}

func newWorkload(t *testing.T, seed uint64) *workload {
	w := &workload{T: t, root: t.TempDir(), random: rand.New(rand.NewPCG(seed, 7)), now: noon(), done: make(map[string]int)}
	w.Engine = newEngine(t, w.root, func() time.Time { return w.now })
	return w
}

// force returns a forced gate or nil.
func (w *workload) force() *task.Force {
	if w.random.IntN(2) == 0 {
		return nil
	}
	return &task.Force{Reason: "a test", By: "tess"}
}

// step runs one command on a task.
func (w *workload) step(id string) error {
	w.now = w.now.Add(time.Duration(w.random.IntN(100_000)) * time.Millisecond)
	ctx := w.Context()
	was := func(what string, err error) error {
		if err == nil {
			w.done[what]++
		}
		return err
	}
	switch w.random.IntN(16) {
	case 0:
		_, err := w.Start(ctx, id, api.StartRequest{Force: w.force()})
		return was("start", err)
	case 1:
		phase := []task.Phase{task.Research, task.Design, task.Tests}[w.random.IntN(3)]
		_, err := w.Done(ctx, id, api.PhaseRequest{Phase: phase, Force: w.force()})
		return was("phase", err)
	case 2:
		code := w.random.IntN(2)
		_, err := w.Draft(ctx, id, api.DraftRequest{Verify: host.VerifyRequest{ExitCode: &code}, Force: w.force()})
		return was("draft", err)
	case 3:
		_, err := w.Review(ctx, id, host.Request{Reports: request(issues).Reports, Stdin: strings.NewReader(issues), Force: w.force()})
		return was("review", err)
	case 4:
		_, err := w.Commit(ctx, id, api.CommitRequest{Force: w.force()})
		return was("commit", err)
	case 5:
		if w.random.IntN(3) > 0 {
			return nil
		}
		_, err := w.Stop(ctx, id, api.StopRequest{Reason: "a test"})
		return was("stop", err)
	case 6, 7:
		mode := []task.Mode{task.MoreRounds, task.Replan, task.Manual, task.Reset}[w.random.IntN(4)]
		_, err := w.Resume(ctx, id, host.ResumeRequest{Mode: mode, Rounds: 2, Reason: "a test"})
		return was("resume", err)
	case 8:
		_, err := w.Answer(ctx, id, host.AnswerRequest{Text: "yes"})
		return was("answer", err)
	case 9:
		_, err := w.Round(ctx, id, request(`{"critic":"critic","findings":1}`))
		if err == nil {
			w.Fatal("a broken report is decided on")
		}
		return err
	case 10:
		ref := []string{"routing@1.1.0", policies.Default}[w.random.IntN(2)]
		if err := os.WriteFile(filepath.Join(w.root, project.ConfigFile), []byte("policy: "+ref+"\n"), 0o600); err != nil {
			w.Fatal(err)
		}
		_, err := w.Policies().Adopt(ctx, api.AdoptRequest{AllowRollback: true})
		return was("adopt", err)
	default:
		_, err := w.Round(ctx, id, randomRequest(w.random))
		return was("round", err)
	}
}

// TestMetricsOfAnyWorkload compares metrics with their recount while an engine runs.
func TestMetricsOfAnyWorkload(t *testing.T) {
	t.Parallel()
	steps := exhaustive.Count(40, 100)
	done := make(map[string]int)
	for seed := range uint64(2) {
		w := newWorkload(t, seed)
		if _, err := w.Round(t.Context(), "T0", request(issues)); err != nil {
			t.Fatal(err)
		}
		for i := range steps {
			err := w.step(fmt.Sprint("T", w.random.IntN(5)))
			if err != nil && errs.CodeOf(err) == "" {
				t.Fatalf("step %d of workload %d: %v", i, seed, err)
			}
			if i%25 == 0 {
				compareLedger(t, w, w.Events(t.Context()))
			}
		}
		compareLedger(t, w, w.Events(t.Context()))
		for what, n := range w.done {
			done[what] += n
		}
	}
	if exhaustive.Enabled() && len(done) != 10 {
		t.Errorf("only this was ever done: %v", done)
	}
}

// TestMetricsWhileRoundsGoOn checks that events recorded during a recount make no
// difference.
func TestMetricsWhileRoundsGoOn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writer, reader := newEngine(t, root, time.Now), newEngine(t, root, time.Now)
	if _, err := writer.Round(t.Context(), "T", request(issues)); err != nil {
		t.Fatal(err)
	}
	compared, written := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			select {
			case <-compared:
				written <- nil
				return
			default:
				_, err = writer.Round(context.Background(), fmt.Sprint("T", i), request(issues))
			}
		}
		written <- err
	}()
	t.Cleanup(func() {
		close(compared)
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
	first := compareLedger(t, reader, reader.Events(t.Context())).Events
	for last := first; last < first+10 && len(written) == 0; {
		last = compareLedger(t, reader, reader.Events(t.Context())).Events
	}
}
