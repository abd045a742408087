package gate

import (
	"context"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Ledger is a Source that reads a ledger. It is not safe for concurrent use.
type Ledger struct {
	ledger *ledger.Ledger
	tasks  map[string]evidence.Found // those that were read
	byTree map[string][]string       // the tasks by the trees of their latest decisions; nil until it is needed
}

// NewLedger returns a source. The caller closes l.
func NewLedger(l *ledger.Ledger) *Ledger {
	return &Ledger{ledger: l, tasks: make(map[string]evidence.Found)}
}

// Find reads the tasks that are named, and if these do not show a tree those whose latest
// decision is about it.
func (s *Ledger) Find(ctx context.Context, tasks, trees, commits []string) (evidence.Found, error) {
	found, err := s.read(ctx, tasks)
	if err != nil || shows(found, trees, commits) {
		return found, err
	}
	if s.byTree == nil {
		if err := s.index(ctx); err != nil {
			return found, err
		}
	}
	var more []string
	for _, tree := range trees {
		for _, id := range s.byTree[tree] {
			if !slices.Contains(tasks, id) && !slices.Contains(more, id) {
				more = append(more, id)
			}
		}
	}
	others, err := s.read(ctx, more)
	found.Reviews, found.Merges = append(found.Reviews, others.Reviews...), append(found.Merges, others.Merges...)
	return found, err
}

// shows reports whether something is recorded about one of the trees or commits.
func shows(f evidence.Found, trees, commits []string) bool {
	return slices.ContainsFunc(f.Reviews, func(r evidence.Review) bool {
		return slices.ContainsFunc(r.Trees, func(tree string) bool { return slices.Contains(trees, tree) })
	}) || slices.ContainsFunc(f.Merges, func(m evidence.Merge) bool { return slices.Contains(commits, m.Commit) })
}

func (s *Ledger) read(ctx context.Context, tasks []string) (evidence.Found, error) {
	var all evidence.Found
	for _, id := range tasks {
		found, ok := s.tasks[id]
		if !ok {
			if err := found.Read(id, s.ledger.Events(ctx, id, 1)); err != nil {
				return all, err
			}
			s.tasks[id] = found
		}
		all.Reviews, all.Merges = append(all.Reviews, found.Reviews...), append(all.Merges, found.Merges...)
	}
	return all, nil
}

// index reads the state of every task.
func (s *Ledger) index(ctx context.Context) error {
	s.byTree = make(map[string][]string)
	for head, err := range s.ledger.Heads(ctx) {
		if err != nil {
			return err
		}
		var state struct {
			Memory struct {
				Draft string `json:"draft"`
			} `json:"memory"`
			Last struct {
				Tree string `json:"tree"`
			} `json:"last"`
		}
		if head.Task == policyset.Chain || json.Unmarshal(head.State, &state) != nil {
			continue // ledger verify finds a state that cannot be read.
		}
		for _, tree := range []string{state.Memory.Draft, state.Last.Tree} {
			if tree != "" {
				s.byTree[tree] = append(s.byTree[tree], head.Task)
			}
		}
	}
	return nil
}

// AdoptedAt reads the chain of policies.
func (s *Ledger) AdoptedAt(ctx context.Context, seq int64) (string, error) {
	return policyset.AdoptedAt(s.ledger.Events(ctx, policyset.Chain, 1), seq)
}

// Record returns the events of a task for a proof, with the policies until then.
//
// # Errors
//
// ledger-tampered, and those of the ledger.
func (s *Ledger) Record(ctx context.Context, id string) (evidence.Record, error) {
	r := evidence.Record{Task: id}
	for e, err := range s.ledger.Events(ctx, id, 1) {
		if err != nil {
			return r, err
		}
		r.Events, r.Head = append(r.Events, e), e.Hash
	}
	var found evidence.Found
	if err := found.Read(id, sequence(r.Events)); err != nil {
		return r, errs.New(errs.LedgerTampered, "%w", err).With("task", id)
	}
	for e, err := range s.ledger.Events(ctx, policyset.Chain, 1) {
		if err != nil {
			return r, err
		}
		if e.Seq > r.Events[len(r.Events)-1].Seq {
			break
		}
		r.Policies = append(r.Policies, e)
	}
	return r, nil
}

// Proof is a Source that has the events of a proof.
type Proof struct{ evidence.Record }

// Find reads the proof's task.
func (p Proof) Find(context.Context, []string, []string, []string) (evidence.Found, error) {
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
