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

// begin returns the first day of the period of a day.
func (u unit) begin(day time.Time) time.Time {
	switch u {
	case byWeek:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) // Monday
	case byMonth:
		return day.AddDate(0, 0, 1-day.Day())
	case byYear:
		return day.AddDate(0, 0, 1-day.YearDay())
	default:
		return day
	}
}

// timeline groups days into periods of one length.
type timeline struct {
	unit unit
	// periods are consecutive, at most maxPeriods of them.
	periods []period
	// left is true if days precede the first period: the clock was once so wrong that even
	// years are too many periods.
	left bool
}

// period adds up days.
type period struct {
	Day     // its sums, without NextActions
	start   time.Time
	actions counter
	rounds  int64
}

// newTimeline returns a timeline with the shortest unit for which all days, which are in
// order, fit into maxPeriods.
func newTimeline(days []Day) timeline {
	var line timeline
	if len(days) == 0 {
		return line
	}
	from, to := dateOf(days[0]), dateOf(days[len(days)-1])
	for {
		first, at := line.unit.begin(from), line.unit.begin(to)
		for ; !at.Before(first) && len(line.periods) < maxPeriods; at = line.unit.begin(at.AddDate(0, 0, -1)) {
			line.periods = append(line.periods, period{start: at, actions: make(counter)})
		}
		if at.Before(first) || line.unit == byYear {
			break
		}
		line = timeline{unit: line.unit + 1}
	}
	slices.Reverse(line.periods)
	for _, d := range days {
		i, ok := slices.BinarySearchFunc(line.periods, line.unit.begin(dateOf(d)), func(p period, at time.Time) int { return p.start.Compare(at) })
		if ok {
			line.periods[i].add(d)
		} else {
			line.left = true
		}
	}
	return line
}

func (p *period) add(d Day) {
	for _, c := range d.NextActions {
		p.actions.add(c.Name, c.Count)
		p.rounds = plus(p.rounds, c.Count)
	}
	p.Spawns = plus(p.Spawns, d.Spawns)
	p.Fallbacks = plus(p.Fallbacks, d.Fallbacks)
	p.MicroDollars = plus(p.MicroDollars, d.MicroDollars)
	p.Committed = plus(p.Committed, d.Committed)
	p.Stuck = plus(p.Stuck, d.Stuck)
}

// dateOf returns a day's midnight. Of has checked the date.
func dateOf(d Day) time.Time {
	t, _ := time.Parse(time.DateOnly, d.Day)
	return t
}
