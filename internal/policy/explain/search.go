package explain

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

const (
	// MaxCounterfactuals bounds the counterfactuals of an Explanation.
	MaxCounterfactuals = 8
	// MaxTried bounds the inputs that the search decides, which takes less than a second.
	MaxTried = 20_000
	// SearchTime bounds the search for slow policies.
	SearchTime = 5 * time.Second
)

// errTimeUp ends a search; it is not returned to callers.
var errTimeUp = errors.New("the search took too long")

// Counterfactual is a change of the input that leads to another destination.
type Counterfactual struct {
	// Changes has at least one change; all of them are needed.
	Changes []Change `json:"changes"`
	// Input is the complete changed input. It can be decided as it is.
	Input    routing.Input    `json:"input"`
	Decision routing.Decision `json:"decision"`
	// Cost is the sum of the costs of the changes: see Kind.
	Cost int `json:"cost"`
}

// search looks for changes that change a decision.
type search struct {
	policy   *routing.Policy
	in       routing.Input
	decision routing.Decision
	tried    int
	gaveUp   bool
}

// smallest returns the counterfactuals of the least cost, best first.
func (s *search) smallest(ctx context.Context, dimensions []dimension) ([]Counterfactual, error) {
	var found []Counterfactual
	err := s.each(ctx, dimensions, func(f Counterfactual) {
		found = append(found, f)
	}, func(cost int) bool { return len(found) == 0 || cost == found[0].Cost })
	slices.SortStableFunc(found, compareCounterfactuals)
	return found[:min(len(found), MaxCounterfactuals)], err
}

// reachable returns for each destination the best counterfactual that a user can bring about.
func (s *search) reachable(ctx context.Context, dimensions []dimension) ([]Counterfactual, error) {
	best := make(map[string]Counterfactual)
	err := s.each(ctx, feasible(dimensions), func(f Counterfactual) {
		known, ok := best[f.Decision.NextAction]
		if !ok || compareCounterfactuals(f, known) < 0 {
			best[f.Decision.NextAction] = f
		}
	}, func(int) bool { return true })
	return slices.SortedFunc(maps.Values(best), func(a, b Counterfactual) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), strings.Compare(a.Decision.NextAction, b.Decision.NextAction))
	}), err
}

// each calls found for every combination of changes that changes the decision, in order
// of cost, as long as goOn accepts the cost.
func (s *search) each(ctx context.Context, dimensions []dimension, found func(Counterfactual), goOn func(cost int) bool) error {
	for c := range combinations(dimensions) {
		if !goOn(c.cost) {
			return nil
		}
		changes := c.changes(dimensions)
		in, ok := apply(s.in, changes)
		if !ok {
			continue
		}
		if s.tried == MaxTried {
			s.gaveUp = true
			return nil
		}
		s.tried++
		d, err := s.policy.Decide(ctx, in)
		switch code := errs.CodeOf(err); {
		case err == nil && d.NextAction != s.decision.NextAction:
			found(Counterfactual{changes, in, d, c.cost})
		case err == nil:
		case context.Cause(ctx) == errTimeUp, ctx.Err() == nil && code == errs.PolicyTimeout:
			s.gaveUp = true
			return nil
		case ctx.Err() != nil, code == errs.PolicyInvalidInput:
			return err
		}
	}
	return nil
}

// compareCounterfactuals orders by cost, then by difficulty, then by number of changes.
func compareCounterfactuals(a, b Counterfactual) int {
	return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(difficulty(a), difficulty(b)), cmp.Compare(len(a.Changes), len(b.Changes)))
}

// difficulty returns the difficulty of the hardest change.
func difficulty(f Counterfactual) int {
	hardest := slices.MaxFunc(f.Changes, func(a, b Change) int { return cmp.Compare(a.difficulty(), b.difficulty()) })
	return hardest.difficulty()
}

// hypothetical is the difficulty of a change that a user would not make.
const hypothetical = 3

// difficulty ranks changes in the order in which a user would try them: settle findings,
// make the verification pass, grant more rounds.
func (c Change) difficulty() int {
	switch {
	case c.Kind == Findings && c.Count.To < c.Count.From:
		return 0
	case c.Kind == Verification && c.Verify.To == routing.Green:
		return 1
	case c.Kind == Cap && c.Count.To > c.Count.From:
		return 2
	default:
		return hypothetical
	}
}

// feasible returns the changes that a user can make.
func feasible(dimensions []dimension) []dimension {
	var left []dimension
	for _, d := range dimensions {
		d = slices.DeleteFunc(slices.Clone(d), func(c Change) bool { return c.difficulty() >= hypothetical })
		if len(d) > 0 {
			left = append(left, d)
		}
	}
	return left
}

// combination is a selection of changes, at most one of each dimension.
type combination struct {
	cost   int
	chosen []int // by dimension, the number of its change from 1; 0 means no change
}

// combinations yields every nonempty combination, ordered by cost and then by dimension.
// It generates them lazily.
func combinations(dimensions []dimension) iter.Seq[combination] {
	return func(yield func(combination) bool) {
		waiting := &queue{}
		push := func(c combination) { heap.Push(waiting, c) }
		grow(combination{chosen: make([]int, len(dimensions))}, dimensions, push)
		for waiting.Len() > 0 {
			c := heap.Pop(waiting).(combination)
			if !yield(c) {
				return
			}
			grow(c, dimensions, push)
		}
	}
}

// grow makes the combinations that follow c in one step: the next change in its last used
// dimension, or the first change in a later dimension. So every combination follows
// exactly one other, which is not more expensive.
func grow(c combination, dimensions []dimension, push func(combination)) {
	last := 0
	for i, n := range c.chosen {
		if n > 0 {
			last = i
		}
	}
	for i := last; i < len(dimensions); i++ {
		if c.chosen[i] == len(dimensions[i]) {
			continue
		}
		next := combination{chosen: slices.Clone(c.chosen)}
		next.chosen[i]++
		for _, change := range next.changes(dimensions) {
			next.cost = sum(next.cost, change.cost())
		}
		push(next)
	}
}

func (c combination) changes(dimensions []dimension) []Change {
	var changes []Change
	for i, n := range c.chosen {
		if n > 0 {
			changes = append(changes, dimensions[i][n-1])
		}
	}
	return changes
}

// queue is a heap of combinations, the cheapest first.
type queue []combination

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	// At equal cost, changes of earlier dimensions come first.
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), slices.Compare(q[j].chosen, q[i].chosen)) < 0
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(c any) { *q = append(*q, c.(combination)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}
