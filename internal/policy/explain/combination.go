package explain

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

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
