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
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Run spawns an agent. It tries the job's adapters in turn, and retries each as long as this
// may help, until an attempt succeeds. A failed attempt is not an error; see Result.Verdict.
//
// # Errors
//
// spawn-job-invalid, spawn-reentrant, spawn-depth-exceeded, adapter-unknown, spawn-locked,
// spawn-folder-failed, tree-unreadable, spawn-trail-failed, and errors from Agent.Spawnable,
// Adapter.Invocation, access.New, Job.Prompt and the hooks. A program that is missing or
// cannot be started is listed in Outcome.Skipped instead. If ctx is done, the error wraps its
// cause; the current attempt is ended and recorded.
func (s *Spawner) Run(ctx context.Context, job Job) (Outcome, error) {
	links, out, err := s.chain(job)
	if err != nil || len(links) == 0 {
		return out, err
	}
	p := &plan{job: job, chain: links, why: firstReason(job, links[0]), attempt: 1, run: cmp.Or(job.Run, NewRun()), tree: job.Tree, random: s.Random}
	if job.Resumed && job.Profile == profile.Edit {
		p.note = resumedNote
	}
	held, err := s.lease(ctx, p)
	if err != nil {
		return out, err
	}
	defer func() { s.warn(held.Release()) }()
	p.deadline = s.Now().Add(job.Timeout)
	for {
		timeout := max(p.deadline.Sub(s.Now()), time.Millisecond) // The record and the pause before it can use up the time.
		a := &attempt{Spawner: s, job: job, plan: p, adapter: p.chain[0].Adapter, bin: p.chain[0].bin, lease: held, at: Attempt{
			Run: p.run, N: p.attempt, Why: p.why, Adapter: p.chain[0].Name(), Timeout: timeout, Note: p.note,
		}}
		res, step, err := a.run(ctx)
		switch {
		case res.StartErr != nil:
			out.Skipped = append(out.Skipped, res.StartErr)
		case res.LogDigest != "":
			out.Results = append(out.Results, res)
		}
		a.observe(Progress{
			Phase: Ended, Took: time.Duration(res.Record.DurationMS) * time.Millisecond, Tokens: tokens(res.Output), Tools: res.Output.ToolCount,
			Outcome: string(res.Verdict.Outcome), Reason: string(res.Verdict.Reason),
		})
		if err != nil {
			return out, err
		}
		if !p.advance(step, res) {
			return out, nil
		}
		if step.Pause > 0 {
			a.observe(Progress{Phase: Retrying, Since: s.Now(), Reason: string(res.Verdict.Reason), Pause: step.Pause})
			if !retry.Sleep(ctx, step.Pause) {
				return out, fmt.Errorf("wait for another attempt: %w", cmp.Or(context.Cause(ctx), context.DeadlineExceeded))
			}
		}
	}
}

// resumedNote is Attempt.Note for an agent that edits, if an earlier attempt of another Run did
// not finish, because of a kill or a usage limit.
const resumedNote = "An earlier attempt at this task was interrupted. The working tree is as that attempt left it: check its edits, and continue from there."

// lease takes a lease for a job, and waits up to its QueueTimeout.
func (s *Spawner) lease(ctx context.Context, p *plan) (*lease.Lease, error) {
	job := p.job
	held, err := s.pool.Take(ctx, job.Agent.Name, job.Concurrency, 0)
	if job.QueueTimeout <= 0 || errs.CodeOf(err) != errs.SpawnLocked {
		return held, err
	}
	a := &attempt{job: job, at: Attempt{Run: p.run, Adapter: p.chain[0].Name(), N: 1}}
	a.observe(Progress{Phase: Queued, Since: s.Now()})
	p.tree = nil // Waiting takes long.
	if held, err = s.pool.Take(ctx, job.Agent.Name, job.Concurrency, job.QueueTimeout); err != nil {
		a.observe(Progress{Phase: Ended})
	}
	return held, err
}

// link is an adapter of a chain with the path of its program.
type link struct {
	*adapter.Adapter
	bin string
}

// chain finds the adapters of a job and their programs. It skips an adapter if its program is
// missing.
func (s *Spawner) chain(job Job) (chain []link, out Outcome, err error) {
	if err := cmp.Or(childenv.Guard(s.Environ), job.check(), job.Agent.Spawnable(job.Profile)); err != nil {
		return nil, out, err
	}
	for _, name := range job.Adapters {
		a, err := s.Catalog.Get(name)
		if err != nil {
			return nil, out, err
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

// firstReason returns Attempt.Why for a job's first attempt.
func firstReason(job Job, with link) string {
	switch {
	case job.Resumed:
		return "resume"
	case with.Name() != job.Adapters[0]:
		return "fallback:" + string(outcome.NotFound)
	default:
		return "first"
	}
}

// plan has the remaining options of a job.
type plan struct {
	job      Job
	chain    []link // the current adapter first
	deadline time.Time
	attempt  int
	run      string
	why      string
	note     string
	tried    int                   // retries of the current adapter
	retries  map[outcome.Class]int // the same by class
	repeated int                   // repeats because the working tree changed
	suspects []string              // files that changed during the earlier attempts
	tree     *worktree.Snapshot    // before the next attempt, nil if unknown
	first    *snapshots            // before the first attempt
	edited   bool                  // the tree has edits of an earlier job
	random   func() float64
}

// step returns the step after a result, given the time that is left.
func (p *plan) step(res Result, left time.Duration) outcome.Step {
	spent := outcome.Spent{
		Retries: p.tried, OfClass: p.retries[res.Verdict.Class], MaxRetries: p.job.Retries, Fallbacks: len(p.chain) - 1, Left: left,
	}
	// A tree that could not be compared has no changes.
	if len(res.Changes) > 0 && !slices.ContainsFunc(res.Changes, func(c worktree.Change) bool { return !c.Ordinary }) {
		spent.Repeats = p.job.Repeats - p.repeated
	}
	if f := res.Output.Failure; f != nil {
		spent.RetryAfter = f.RetryAfter
	}
	return outcome.Next(res.Verdict, spent, p.random)
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
		p.note += " The error was: " + textutil.Clip(res.CheckErr.Error(), maxText)
	}
	return true
}

// NewRun returns a new random id of a run.
func NewRun() string { return "run-" + strings.ToLower(rand.Text()) }

// tokens counts the tokens of an output, 0 if unknown.
func tokens(o adapter.Output) int64 {
	var n int64
	for _, part := range []*int64{o.Tokens.In, o.Tokens.Out} {
		if part != nil {
			n += *part
		}
	}
	return n
}
