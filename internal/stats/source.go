package stats

import (
	"cmp"
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Source returns the counters of a ledger.
type Source = ledger.CounterSource

// sums has the rows of each measure that was queried.
type sums struct {
	ledger.Counters
	rows map[string][]ledger.Counter
}

// read queries measures. It reads at most standings rows of BlockedTasks, 0 for all. It
// checks that rows have a value for each label, and no negative sum.
//
// # Errors
//
// Errors of the source, and ledger-corrupt.
func read(ctx context.Context, source Source, standings int, measures ...counters.Measure) (sums, error) {
	queries := make([]ledger.CounterQuery, len(measures))
	for i, m := range measures {
		queries[i].Measure = m.Name
		if m.Name == counters.BlockedTasks().Name {
			queries[i].Limit = standings
		}
	}
	all, err := source.Counters(ctx, queries...)
	if err != nil {
		return sums{}, err
	}
	s := sums{all, make(map[string][]ledger.Counter, len(measures))}
	for i, m := range measures {
		for _, row := range all.Rows[i] {
			if len(row.Values) != len(m.Labels) || row.Sum < 0 {
				return sums{}, corrupt(m, row)
			}
		}
		s.rows[m.Name] = all.Rows[i]
	}
	return s, nil
}

func corrupt(m counters.Measure, row ledger.Counter) error {
	return errs.New(errs.LedgerCorrupt, "the ledger's counter %s is impossible: %d for %q", m.Name, row.Sum, row.Values).
		With("measure", m.Name)
}

// of returns the rows of a measure.
func (s sums) of(m counters.Measure) []ledger.Counter { return s.rows[m.Name] }

// total adds up all rows of a measure.
func (s sums) total(m counters.Measure) int64 {
	var n int64
	for _, row := range s.of(m) {
		n = plus(n, row.Sum)
	}
	return n
}

// by adds up a measure's rows by one of its labels, in descending order.
func (s sums) by(m counters.Measure, label int) []Count {
	c := make(counter)
	for _, row := range s.of(m) {
		c.add(row.Values[label], row.Sum)
	}
	return c.sorted()
}

// cells returns the cells of a distribution over all its labels.
func (s sums) cells(d counters.Distribution) ([]cell, error) {
	var cells []cell
	for _, row := range s.of(d.Cells()) {
		c, ok := cellOf(d.Scale, row.Values[len(row.Values)-1], row.Sum)
		if !ok {
			return nil, corrupt(d.Cells(), row)
		}
		cells = append(cells, c)
	}
	return cells, nil
}

// spread returns the spread of a distribution over all its labels.
func (s sums) spread(d counters.Distribution) (Spread, error) {
	cells, err := s.cells(d)
	if err != nil {
		return Spread{}, err
	}
	return spreadOf(cells, float64(s.total(d.Sum()))/float64(d.Scale.PerUnit)), nil
}

func sumOf(counts []Count) (n int64) {
	for _, c := range counts {
		n = plus(n, c.Count)
	}
	return n
}

// counter adds numbers up by name.
type counter map[string]int64

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
