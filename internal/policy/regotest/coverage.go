package regotest

import (
	"cmp"
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/cover"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// coverage counts lines of the modules. A line is covered only if every expression in it
// was reached.
func (s suite) coverage(traced *cover.Cover) Coverage {
	report := traced.Report(s.parsed)
	c := Coverage{Percent: 100, Missing: []routing.Location{}}
	for file := range s.parsed {
		if routing.IsTest(file) {
			continue
		}
		r := report.Files[file]
		all, missing := rows(r.Covered), rows(r.NotCovered)
		for row := range missing {
			all[row] = true
			c.Missing = append(c.Missing, s.place(file, row, 1))
		}
		c.Lines += len(all)
	}
	slices.SortFunc(c.Missing, func(a, b routing.Location) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row))
	})
	if c.Covered = c.Lines - len(c.Missing); c.Lines > 0 {
		c.Percent = math.Floor(float64(c.Covered)/float64(c.Lines)*1000) / 10
	}
	return c
}

func rows(ranges []cover.Range) map[int]bool {
	set := make(map[int]bool)
	for _, r := range ranges {
		for row := r.Start.Row; row <= r.End.Row; row++ {
			set[row] = true
		}
	}
	return set
}
