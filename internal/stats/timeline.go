package stats

import (
	"slices"
	"time"
)

// maxPeriods is the most columns that a chart over time has: on a telephone, each is
// still some pixels wide.
const maxPeriods = 90

// unit is how long the periods of a timeline are.
type unit int

const (
	byDay unit = iota
	byWeek
	byMonth
	byYear
)

// String is the unit's noun.
func (u unit) String() string { return [...]string{"day", "week", "month", "year"}[u] }

// index numbers the periods from some point on without a gap; start is its reverse.
func (u unit) index(t time.Time) int {
	switch u {
	case byDay:
		return epochDay(t)
	case byWeek:
		return floorDiv(epochDay(t)+mondays, 7)
	case byMonth:
		return t.Year()*12 + int(t.Month()) - 1
	default:
		return t.Year()
	}
}

// mondays is the weekday of the epoch, a Thursday, counted from Monday.
const mondays = 3

// start is the first day of a period.
func (u unit) start(index int) time.Time {
	switch u {
	case byDay:
		return time.Date(1970, 1, 1+index, 0, 0, 0, 0, time.UTC)
	case byWeek:
		return time.Date(1970, 1, 1-mondays+7*index, 0, 0, 0, 0, time.UTC)
	case byMonth:
		return time.Date(floorDiv(index, 12), time.Month(index-12*floorDiv(index, 12)+1), 1, 0, 0, 0, 0, time.UTC)
	default:
		return time.Date(index, 1, 1, 0, 0, 0, 0, time.UTC)
	}
}

// epochDay is the number of a day, whose time is midnight in UTC.
func epochDay(t time.Time) int { return floorDiv(int(t.Unix()), 24*60*60) }

// floorDiv rounds down, below 0 too.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// timeline adds days up to periods of one length.
type timeline struct {
	unit unit
	// periods follow each other without a gap, at most maxPeriods of them.
	periods []period
	// left is whether there are days before the first period: the clock has once
	// been set so wrong that not even years are few enough.
	left bool
}

// period is a part of a timeline.
type period struct {
	start        time.Time
	actions      counter
	rounds       int64
	spawns       int64
	fallbacks    int64
	microDollars int64
	committed    int64
	stuck        int64
}

// newTimeline takes the shortest unit with which all days, which are in order, fit
// into maxPeriods.
func newTimeline(days []Day) timeline {
	var line timeline
	if len(days) == 0 {
		return line
	}
	from, to := dateOf(days[0]), dateOf(days[len(days)-1])
	for line.unit < byYear && line.unit.index(to)-line.unit.index(from) >= maxPeriods {
		line.unit++
	}
	last := line.unit.index(to)
	first := max(line.unit.index(from), last-maxPeriods+1)
	line.periods = make([]period, last-first+1)
	for i := range line.periods {
		line.periods[i] = period{start: line.unit.start(first + i), actions: newCounter()}
	}
	for _, d := range days {
		i := line.unit.index(dateOf(d)) - first
		if i < 0 {
			line.left = true
			continue
		}
		line.periods[i].add(d)
	}
	return line
}

func (p *period) add(d Day) {
	for _, c := range d.NextActions {
		p.actions.add(c.Name, c.Count)
		p.rounds = plus(p.rounds, c.Count)
	}
	p.spawns = plus(p.spawns, d.Spawns)
	p.fallbacks = plus(p.fallbacks, d.Fallbacks)
	p.microDollars = plus(p.microDollars, d.MicroDollars)
	p.committed = plus(p.committed, d.Committed)
	p.stuck = plus(p.stuck, d.Stuck)
}

// dateOf is a day's midnight. Of has checked that it is a date.
func dateOf(d Day) time.Time {
	t, _ := time.Parse(time.DateOnly, d.Day)
	return t
}

// greatest is the greatest of a number of all periods.
func (line timeline) greatest(number func(period) int64) int64 {
	var most int64
	for _, p := range line.periods {
		most = max(most, number(p))
	}
	return most
}

// names lists what the decisions of all periods went to, the most frequent first.
func (line timeline) names() []string {
	all := newCounter()
	for _, p := range line.periods {
		for name, n := range p.actions {
			all.add(name, n)
		}
	}
	return slices.Collect(func(yield func(string) bool) {
		for _, c := range all.sorted() {
			if !yield(c.Name) {
				return
			}
		}
	})
}
