package stats

import (
	"cmp"
	"slices"
)

// counter adds numbers up by name.
type counter map[string]int64

func newCounter() counter { return make(counter) }

func (c counter) add(name string, n int64) { c[name] = plus(c[name], n) }

// sorted returns the counts in descending order, equal ones by name.
func (c counter) sorted() []Count {
	all := make([]Count, 0, len(c))
	for name, n := range c {
		all = append(all, Count{name, n})
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return all
}
