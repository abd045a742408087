// Package evidence finds the evidence about git trees in the events of a task: which drafts
// were reviewed, under which policy, and with which decision. A proof is the form in which
// this evidence leaves the ledger.
package evidence

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Review is a decision about a draft with known files.
type Review struct {
	Task  string
	Round int
	// Seq is the number of the decision's event in the ledger.
	Seq   int64
	Event api.EventRef
	At    string
	// Trees are the git trees of the draft: as run commits it, and as it was on the disk.
	Trees []string
	// Base is the commit, or the tree, that the draft was compared with; "" if unknown.
	Base     string
	Policy   routing.Identity
	Decision routing.Decision
	// Reviewed is false for a decision on a red verification alone.
	Reviewed bool
	Verify   string
	// Force is set if a person forced the decision without everything that it requires.
	Force *task.Force
}

// Merge is a merge that was recorded. Tip is the task's commit.
type Merge struct {
	Task, Commit, Tip, Into string
	// Verified is set if the merged files have passed a verification.
	Verified bool
	Event    api.EventRef
}

// Found is the evidence in the events of tasks.
type Found struct {
	Reviews []Review
	Merges  []Merge
}

// Read adds the evidence in the events of a task, which begin with its first one. It checks
// that they are one unbroken chain, and that each can follow the state before it.
//
// # Errors
//
// An error that events yields, or one that names the event that was changed.
func (f *Found) Read(id string, events iter.Seq2[ledger.Event, error]) error {
	var state task.State
	base, tip, into := "", "", ""
	var forced *task.Force // of the draft that is verified
	for e, err := range Follow(id, events) {
		if err != nil {
			return err
		}
		body, err := event.Decode(e)
		if err == nil {
			state, err = task.Apply(state, body.Event)
		}
		if err != nil {
			return fmt.Errorf("event %d of %s: %w", e.N, id, err)
		}
		base = cmp.Or(body.Base, base)
		ref := api.EventRef{N: e.N, Hash: e.Hash}
		switch ev := body.Event.(type) {
		case *task.WorkStarted:
			if ev.Branch != nil {
				base = ev.Branch.Base
			}
		case *task.DraftVerified:
			forced = ev.Force
		case *task.RoundDecided:
			r := Review{
				Task: id, Round: ev.Round, Seq: e.Seq, Event: ref, At: e.At, Base: base, Policy: body.DecisionOrZero().Policy,
				Decision: routing.Decision{NextAction: ev.NextAction, Reason: ev.Reason},
				Reviewed: ev.Reviewed, Verify: ev.Verify, Force: cmp.Or(ev.Force, forced),
				Trees: slices.DeleteFunc([]string{ev.Tree, ev.Draft}, func(tree string) bool { return tree == "" }),
			}
			if len(r.Trees) > 0 {
				f.Reviews = append(f.Reviews, r)
			}
		case *task.CommitCreated:
			tip = ev.Commit.SHA
		case *task.MergeBegun:
			into = ev.Into
		case *task.MergeEnded:
			if ev.Outcome == task.Merged && ev.Commit != "" {
				f.Merges = append(f.Merges, Merge{Task: id, Commit: ev.Commit, Tip: tip, Into: into, Verified: ev.Verified, Event: ref})
			}
		}
		if state.Verified == nil {
			forced = nil // The task has dropped the forced draft.
		}
	}
	return nil
}

// Follow yields the events of a chain, which begin with its first one. It fails at the first
// event that does not follow the one before it.
func Follow(name string, events iter.Seq2[ledger.Event, error]) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		chain := newChain(name)
		for e, err := range events {
			if err == nil {
				err = chain.follow(e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// chain is the part of a chain of events that was read.
type chain struct {
	name, prev string
	n, seq     int64
}

func newChain(name string) chain { return chain{name: name, prev: ledger.Genesis} }

// follow requires that e is the next event of the chain.
func (c *chain) follow(e ledger.Event) error {
	switch {
	case e.Task != c.name:
		return fmt.Errorf("event %d is foreign: it is of %.80q and not of %s", c.n+1, e.Task, c.name)
	case e.N != c.n+1 || e.Prev != c.prev || e.Seq <= c.seq:
		return fmt.Errorf("event %d of %s does not follow the one before it: events are missing, or not in their order", c.n+1, c.name)
	case e.Hash != e.Sum():
		return fmt.Errorf("event %d of %s is forged: its hash is not that of its contents", c.n+1, c.name)
	case e.Time().IsZero():
		return fmt.Errorf("event %d of %s has no time, but %.80q", c.n+1, c.name, e.At)
	}
	c.prev, c.n, c.seq = e.Hash, e.N, e.Seq
	return nil
}
