package gate

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Ledger is a Source that reads a ledger. It is not safe for concurrent use.
type Ledger struct {
	ledger *ledger.Ledger
	tasks  map[string]evidence.Found // already read, by id
	byTree map[string][]string       // the tasks by the trees in their states; nil until needed
}

// NewLedger returns a source. The caller closes l.
func NewLedger(l *ledger.Ledger) *Ledger {
	return &Ledger{ledger: l, tasks: make(map[string]evidence.Found)}
}

// Find reads the named tasks, and the tasks whose latest decision is about a tree.
func (s *Ledger) Find(ctx context.Context, tasks []string, tree string) (evidence.Found, error) {
	if s.byTree == nil {
		if err := s.index(ctx); err != nil {
			return evidence.Found{}, err
		}
	}
	all := slices.Concat(tasks, s.byTree[tree])
	slices.Sort(all)
	var sum evidence.Found
	for _, id := range slices.Compact(all) {
		found, ok := s.tasks[id]
		if !ok {
			if err := found.Read(id, s.events(ctx, id)); err != nil {
				return sum, err
			}
			s.tasks[id] = found
		}
		sum.Reviews, sum.Merges = append(sum.Reviews, found.Reviews...), append(sum.Merges, found.Merges...)
	}
	return sum, nil
}

// index finds the trees in the state of every task, without decoding it: a ledger can have
// many tasks. A match elsewhere in a state only costs time. A task that starts over has no
// draft in its state until its next review, so its decisions are read.
func (s *Ledger) index(ctx context.Context) error {
	s.byTree = make(map[string][]string)
	for head, err := range s.ledger.Heads(ctx) {
		if err != nil {
			return err
		}
		if head.Task == policyset.Chain {
			continue
		}
		s.addTrees(head.Task, head.State)
		if !bytes.Contains(head.State, []byte(`"restarts":`)) || bytes.Contains(head.State, []byte(markDraft)) {
			continue
		}
		for e, err := range s.ledger.Events(ctx, head.Task, 1, string(task.KindDecided)) {
			if err != nil {
				return err
			}
			s.addTrees(head.Task, e.Body)
		}
	}
	return nil
}

// markDraft and markTree precede the trees of a decision, in a state and in an event.
const markDraft, markTree = `"draft":"`, `"tree":"`

func (s *Ledger) addTrees(id string, text []byte) {
	for _, mark := range []string{markDraft, markTree} {
		for _, after := range bytes.Split(text, []byte(mark))[1:] {
			if tree, _, ok := bytes.Cut(after, []byte{'"'}); ok {
				s.byTree[string(tree)] = append(s.byTree[string(tree)], id)
			}
		}
	}
}

// AdoptedAt reads the chain of policies.
func (s *Ledger) AdoptedAt(ctx context.Context, seq int64) (string, error) {
	return policyset.AdoptedAt(s.policies(ctx), seq)
}

func (s *Ledger) policies(ctx context.Context) iter.Seq2[ledger.Event, error] {
	return evidence.Follow(policyset.Chain, s.events(ctx, policyset.Chain))
}

// events yields the events of a chain, and fails after them if its recorded head is not among
// them.
func (s *Ledger) events(ctx context.Context, name string) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		head, err := s.ledger.Head(ctx, name) // First, since other processes append events.
		if err != nil {
			yield(ledger.Event{}, err)
			return
		}
		found := head.N == 0
		for e, err := range s.ledger.Events(ctx, name, 1) {
			found = found || e.N == head.N && e.Hash == head.Hash
			if !yield(e, err) || err != nil {
				return
			}
		}
		if !found {
			yield(ledger.Event{}, fmt.Errorf("event %d of %s is missing", head.N, name))
		}
	}
}

// Record returns the events of a task for a proof, with the policies until then.
//
// # Errors
//
// ledger-tampered, and errors of the ledger.
func (s *Ledger) Record(ctx context.Context, id string) (evidence.Statement, error) {
	r, err := s.record(ctx, id)
	if err != nil && wasChanged(ctx, err) {
		err = errs.New(errs.LedgerTampered, "%w", err).With("task", id)
	}
	return r, err
}

func (s *Ledger) record(ctx context.Context, id string) (evidence.Statement, error) {
	r := evidence.Statement{Task: id}
	for e, err := range s.events(ctx, id) {
		if err != nil {
			return r, err
		}
		r.Events, r.Head = append(r.Events, e), e.Hash
	}
	var found evidence.Found
	if err := found.Read(id, sequence(r.Events)); err != nil {
		return r, err
	}
	for e, err := range s.policies(ctx) {
		if err != nil {
			return r, err
		}
		if e.Seq > r.Events[len(r.Events)-1].Seq {
			break
		}
		r.Policies = append(r.Policies, e)
	}
	_, err := policyset.AdoptedAt(sequence(r.Policies), math.MaxInt64)
	return r, err
}

// Proof is a Source that has the events of a proof.
type Proof struct{ evidence.Statement }

// Find reads the proof's task.
func (p Proof) Find(context.Context, []string, string) (evidence.Found, error) {
	var found evidence.Found
	err := found.Read(p.Task, sequence(p.Events))
	return found, err
}

// AdoptedAt reads the proof's chain of policies.
func (p Proof) AdoptedAt(_ context.Context, seq int64) (string, error) {
	return policyset.AdoptedAt(sequence(p.Policies), seq)
}

func sequence(events []ledger.Event) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}
