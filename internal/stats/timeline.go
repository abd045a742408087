package stats

import (
	"slices"
	"time"
)

// maxPeriods is the maximum number of columns in a chart: each is still some pixels wide
// on a phone.
const maxPeriods = 90

// unit is the length of a timeline's periods.
type unit int

const (
	byDay unit = iota
	byWeek
	byMonth
	byYear
)

// String returns the unit's noun.
func (u unit) String() string { return [...]string{"day", "week", "month", "year"}[u] }

// index numbers the periods consecutively; start is its inverse.
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

// start returns the first day of a period.
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

// epochDay returns the number of days since the epoch for a midnight in UTC.
func epochDay(t time.Time) int { return floorDiv(int(t.Unix()), 24*60*60) }

// floorDiv divides and rounds down, also below 0.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// timeline groups days into periods of one length.
type timeline struct {
	unit unit
	// periods are consecutive, at most maxPeriods of them.
	periods []period
	// left is true if there are days before the first period: the clock was once so wrong
	// that even years are too many periods.
	left bool
}

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

// newTimeline returns a timeline with the shortest unit for which all days, which are in
// order, fit into maxPeriods.
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

// dateOf returns a day's midnight. Of has checked the date.
func dateOf(d Day) time.Time {
	t, _ := time.Parse(time.DateOnly, d.Day)
	return t
}

// greatest returns the maximum of a number over all periods.
func (line timeline) greatest(number func(period) int64) int64 {
	var most int64
	for _, p := range line.periods {
		most = max(most, number(p))
	}
	return most
}

// names lists the next actions of all periods, in descending order of frequency.
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
