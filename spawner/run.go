package spawner

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Run spawns an agent: it tries the job's adapters in turn, each as often as it
// may help, until an attempt succeeds or nothing is left to try. Whether the last
// run did is its verdict, and not an error.
//
// # Errors
//
// What keeps an attempt from becoming a process: spawn-job-invalid, spawn-reentrant
// and CodeDepth, agent.CodeModule and CodeEdits, adapter-unknown, the errors of
// Job.Prompt and of worktree.Take, spawn-locked, spawn-folder-failed. A binary that is missing
// or cannot be started is none: Outcome.Skipped has it. Those of Job.Begin, End and
// Deliver, and spawn-trail-failed. When ctx is done, its cause; the attempt under way is ended
// and recorded.
func (s *Spawner) Run(ctx context.Context, job Job) (Outcome, error) {
	chain, out, err := s.chain(job)
	if err != nil || len(chain) == 0 {
		return out, err
	}
	next := plan{chain: chain, why: first(job, chain[0]), attempt: 1, run: cmp.Or(job.Run, NewRun())}
	held, err := s.take(ctx, job, next)
	if err != nil {
		return out, err
	}
	defer func() { s.warn(held.Release()) }()
	deadline := s.Now().Add(job.Timeout)
	for {
		left := deadline.Sub(s.Now())
		t := &attempt{Spawner: s, job: job, adapter: next.link().Adapter, bin: next.link().bin, slot: held, suspects: next.suspects, at: Attempt{
			Run: next.run, N: next.attempt, Why: next.why, Adapter: next.link().Name(), Timeout: left, Note: next.note,
		}}
		var step outcome.Step
		res, err := t.run(ctx, func(res Result) outcome.Action {
			step = next.step(res, job, deadline.Sub(s.Now()), s.Random)
			return step.Action
		})
		switch {
		case res.StartErr != nil:
			out.Skipped = append(out.Skipped, res.StartErr)
		case res.LogDigest != "":
			out.Results = append(out.Results, res)
		}
		if err != nil {
			return out, err
		}
		t.observe(Progress{Phase: Ended, Took: time.Duration(res.Record.DurationMS) * time.Millisecond, Tokens: tokens(res.Output), Tools: res.Output.ToolCount, Outcome: string(res.Verdict.Outcome), Reason: string(res.Verdict.Reason)})
		if !next.advance(step, res) {
			return out, nil
		}
		if step.Pause > 0 {
			t.observe(Progress{Phase: Retrying, Since: s.Now(), Reason: string(res.Verdict.Reason), Pause: step.Pause})
			if err := sleep(ctx, step.Pause); err != nil {
				return out, err
			}
		}
	}
}

// take takes a slot for a job, and waits for one as long as the job has patience.
func (s *Spawner) take(ctx context.Context, job Job, first plan) (*lease.Lease, error) {
	held, err := s.pool.Take(ctx, job.Agent.Name, job.Concurrency, false)
	if job.QueueTimeout <= 0 || errs.CodeOf(err) != errs.SpawnLocked {
		return held, err
	}
	ctx, cancel := context.WithTimeout(ctx, job.QueueTimeout)
	defer cancel()
	t := &attempt{job: job, at: Attempt{Run: first.run, Adapter: first.link().Name(), N: 1}}
	t.observe(Progress{Phase: Queued, Since: s.Now()})
	return s.pool.Take(ctx, job.Agent.Name, job.Concurrency, true)
}

// link is an adapter of a chain and the program that it found.
type link struct {
	*adapter.Adapter
	bin string
}

// chain finds the adapters of a job and their programs. Those without one are
// skipped, as long as there is another.
func (s *Spawner) chain(job Job) (chain []link, out Outcome, err error) {
	if err := childenv.Guard(s.Environ); err != nil {
		return nil, out, err
	}
	if err := job.check(); err != nil {
		return nil, out, err
	}
	if err := job.Agent.Spawnable(); err != nil {
		return nil, out, err
	}
	for _, name := range job.Adapters {
		a, err := s.Catalog.Get(name)
		if err != nil {
			return nil, out, err // That is a mistake, and not bad luck.
		}
		bin, err := a.Binary(s.Environ, s.Root, job.Command)
		if err != nil {
			out.Skipped = append(out.Skipped, err)
			continue
		}
		chain = append(chain, link{a, bin})
	}
	return chain, out, nil
}

// first says why the first attempt of a job is made.
func first(job Job, with link) string {
	switch {
	case job.Resumed:
		return "resume"
	case with.Name() != job.Adapters[0]:
		return "fallback:" + string(adapter.ClassNotFound)
	default:
		return "first"
	}
}

// plan is what a job has left to try.
type plan struct {
	chain   []link
	attempt int
	run     string
	why     string
	note    string
	retries map[outcome.Class]int // of the adapter at hand
	tried   int                   // retries of the adapter at hand
	// repeated is how often the working tree had changed.
	repeated int
	// suspects are the files that changed during the last attempt.
	suspects []string
}

func (p *plan) link() link { return p.chain[0] }

// step says what follows a verdict, given the time that is left.
func (p *plan) step(res Result, job Job, left time.Duration, random func() float64) outcome.Step {
	spent := outcome.Spent{
		Retries: p.tried, OfClass: p.retries[res.Verdict.Class], MaxRetries: job.Retries, Fallbacks: len(p.chain) - 1, Left: left,
	}
	// What cannot be looked at has no changes.
	if len(res.Changes) > 0 && !slices.ContainsFunc(res.Changes, func(c worktree.Change) bool { return !c.Ordinary }) {
		spent.Repeats = job.Repeats - p.repeated
	}
	if f := res.Output.Failure; f != nil {
		spent.RetryAfter = f.RetryAfter
	}
	return outcome.Next(res.Verdict, spent, random)
}

// advance goes on to the next attempt, and reports whether there is one.
func (p *plan) advance(step outcome.Step, res Result) bool {
	switch {
	case step.Action == outcome.Retry && res.Verdict.Changed:
		p.repeated++
		for _, c := range res.Changes {
			p.suspects = append(p.suspects, c.Path)
		}
	case step.Action == outcome.Retry:
		p.tried++
		if p.retries == nil {
			p.retries = make(map[outcome.Class]int)
		}
		p.retries[res.Verdict.Class]++
	case step.Action == outcome.Fallback:
		p.chain, p.tried, p.retries = p.chain[1:], 0, nil
	default:
		return false
	}
	p.attempt++
	p.run = NewRun()
	p.why, p.note = string(step.Action)+":"+string(cmp.Or(res.Verdict.Class, outcome.Class(res.Verdict.Reason))), step.Note
	if p.note != "" && res.CheckErr != nil {
		p.note += " What was objected to: " + textutil.Clip(res.CheckErr.Error(), maxText)
	}
	return true
}

// NewRun is the id of a run, which nobody can guess.
func NewRun() string { return "run-" + strings.ToLower(rand.Text()) }

// tokens are those of an output, 0 where nobody knows.
func tokens(o adapter.Output) int64 {
	var n int64
	for _, part := range []*int64{o.Tokens.In, o.Tokens.Out} {
		if part != nil {
			n += *part
		}
	}
	return n
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for another attempt: %w", context.Cause(ctx))
	}
}
