package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// chart is a column chart over time. Its shapes use a box of chartWidth by chartHeight,
// which the page stretches to its width; texts are HTML beside it, which is never
// stretched.
type chart struct {
	// ID is unique on the page.
	ID    string
	Title string
	Desc  string
	// Top and Half label the axis, which starts at 0.
	Top, Half string
	Columns   []column
	// First, Middle and Last label periods; the latter two are "" if there are too few.
	// Filled is the part of the width that has periods, in percent.
	First, Middle, Last, Filled string
	Legend                      []series
	// Head and Rows are a table of the non-empty periods.
	Head []string
	Rows [][]string
	Low  bool
}

const (
	chartWidth  = 1000
	chartHeight = 100
	// minSlots is the minimum number of column slots, so that a single column does not
	// fill the chart.
	minSlots = 14
)

// column is the column of a period.
type column struct {
	// Title lists all of its numbers.
	Title string
	Parts []part
}

// part is a rectangle, in formatted units of the chart's box.
type part struct{ Class, X, Y, W, H string }

// series is an entry of the legend.
type series struct {
	Class, Name string
	Total       string
	// action is the next action that the series shows, "" if it shows several.
	action string
}

// segment is a part of a column before it is drawn.
type segment struct {
	class string
	value float64
}

// draw adds a column for each period, with the segments stacked from the bottom.
func (c *chart) draw(line timeline, top float64, segments func(period) []segment, title func(period) string) {
	slot := float64(chartWidth) / float64(max(len(line.periods), minSlots))
	for i, p := range line.periods {
		col := column{Title: line.title(p) + ": " + title(p)}
		height := 0.0
		for _, s := range segments(p) {
			if s.value <= 0 {
				continue
			}
			h := s.value / top * chartHeight
			height += h
			col.Parts = append(col.Parts, part{
				Class: s.class,
				X:     coordinate(float64(i)*slot + slot*0.08), W: coordinate(slot * 0.84),
				Y: coordinate(chartHeight - height), H: coordinate(h),
			})
		}
		if len(col.Parts) > 0 {
			c.Columns = append(c.Columns, col)
		}
	}
	c.label(line)
}

// label labels the axis of the periods.
func (c *chart) label(line timeline) {
	n := len(line.periods)
	if n == 0 {
		return
	}
	c.Filled = coordinate(100 * float64(n) / float64(max(n, minSlots)))
	c.First = line.tick(line.periods[0])
	if n > 2 && n > minSlots {
		c.Middle = line.tick(line.periods[n/2])
	}
	if n > minSlots/2 {
		c.Last = line.tick(line.periods[n-1])
	}
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// tick returns the short name of a period.
func (line timeline) tick(p period) string {
	switch line.unit {
	case byMonth:
		return p.start.Format("Jan 2006")
	case byYear:
		return p.start.Format("2006")
	default:
		return date(p.start)
	}
}

// title returns the full name of a period.
func (line timeline) title(p period) string {
	if line.unit == byWeek {
		return "week of " + date(p.start)
	}
	return line.tick(p)
}

// routed returns the chart of the rounds' next actions.
func routed(s Stats, line timeline) chart {
	all := seriesOf(line.names())
	counts := func(p period) map[string]int64 {
		byClass := make(map[string]int64)
		for name, n := range p.actions {
			class := classOf(all, name)
			byClass[class] = plus(byClass[class], n)
		}
		return byClass
	}
	top := niceTop(float64(line.greatest(func(p period) int64 { return p.rounds })), 2)
	c := chart{
		ID: "routes", Title: "Decisions by " + line.unit.String() + " and next action",
		Top: decimalOf(top), Half: decimalOf(top / 2),
		Head: []string{line.unit.String(), "decisions"},
	}
	totals := make(map[string]int64)
	for _, p := range line.periods {
		for class, n := range counts(p) {
			totals[class] = plus(totals[class], n)
		}
	}
	names := make([]string, len(all))
	for i, one := range all {
		one.Total = grouped(totals[one.Class])
		c.Legend = append(c.Legend, one)
		c.Head = append(c.Head, one.Name)
		names[i] = one.Name + " " + one.Total
	}
	c.Desc = fmt.Sprintf("Stacked columns, from the foot up: %s; %s in all.", strings.Join(names, ", "), counted(s.Rounds.Total, "decision"))
	c.draw(line, top, func(p period) []segment {
		n := counts(p)
		segments := make([]segment, len(all))
		for i, one := range all {
			segments[i] = segment{one.Class, float64(n[one.Class])}
		}
		return segments
	}, func(p period) string {
		n := counts(p)
		var words []string
		for _, one := range all {
			if n[one.Class] > 0 {
				words = append(words, one.Name+" "+grouped(n[one.Class]))
			}
		}
		return strings.Join(words, ", ")
	})
	for _, p := range line.periods {
		if p.rounds == 0 {
			continue
		}
		n := counts(p)
		row := []string{line.title(p), grouped(p.rounds)}
		for _, one := range all {
			row = append(row, grouped(n[one.Class]))
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// knownActions are the destinations of the built-in policies in stacking order:
// successful ones at the bottom, those that need a person on top.
func knownActions() []string {
	return []string{"commit", "executor", "researcher", "plan-checker", "askuser", "stuck"}
}

// Classes for other destinations: the most frequent ones have a colour each, and the rest
// share one.
const (
	ownColors = 3
	classRest = "s-rest"
)

// seriesOf assigns a style sheet class to each next action. names are ordered by
// frequency, highest first.
func seriesOf(names []string) []series {
	var all []series
	for _, name := range knownActions() {
		if slices.Contains(names, name) {
			all = append(all, series{Class: "s-" + name, Name: name, action: name})
		}
	}
	own, rest := 0, false
	for _, name := range names {
		switch {
		case slices.Contains(knownActions(), name):
		case own < ownColors:
			own++
			all = append(all, series{Class: "s-own-" + strconv.Itoa(own), Name: label(name), action: name})
		default:
			rest = true
		}
	}
	if rest {
		all = append(all, series{Class: classRest, Name: "all others"})
	}
	return all
}

// classOf returns the class of a next action.
func classOf(all []series, name string) string {
	i := slices.IndexFunc(all, func(s series) bool { return s.Class != classRest && s.action == name })
	if i < 0 {
		return classRest
	}
	return all[i].Class
}

// ended returns the chart of tasks that were committed or became stuck.
func ended(line timeline) *chart {
	most := line.greatest(func(p period) int64 { return plus(p.committed, p.stuck) })
	if most == 0 {
		return nil
	}
	top := niceTop(float64(most), 2)
	c := &chart{
		ID: "ended", Title: "Tasks committed and stuck by " + line.unit.String(),
		Top: decimalOf(top), Half: decimalOf(top / 2),
		Head: []string{line.unit.String(), "committed", "stuck"}, Low: true,
	}
	var committed, stuck int64
	for _, p := range line.periods {
		committed, stuck = plus(committed, p.committed), plus(stuck, p.stuck)
		if p.committed > 0 || p.stuck > 0 {
			c.Rows = append(c.Rows, []string{line.title(p), grouped(p.committed), grouped(p.stuck)})
		}
	}
	c.Legend = []series{
		{Class: "s-commit", Name: "committed", Total: grouped(committed)}, {Class: "s-stuck", Name: "became stuck", Total: grouped(stuck)},
	}
	c.Desc = fmt.Sprintf("Stacked columns, from the foot up: committed %s, became stuck %s.", grouped(committed), grouped(stuck))
	c.draw(line, top, func(p period) []segment {
		return []segment{{"s-commit", float64(p.committed)}, {"s-stuck", float64(p.stuck)}}
	}, func(p period) string {
		return fmt.Sprintf("%s committed, %s became stuck", grouped(p.committed), grouped(p.stuck))
	})
	return c
}

// fallbackRate returns the chart of the share of runs that fell back.
func fallbackRate(s Stats, line timeline) chart {
	most := 0.0
	for _, p := range line.periods {
		if p.spawns > 0 {
			most = max(most, 100*float64(p.fallbacks)/float64(p.spawns))
		}
	}
	top := niceTop(most, 2)
	c := chart{
		ID: "fallbacks", Title: "Fallback rate by " + line.unit.String(),
		Desc: fmt.Sprintf("Columns: the part of the agents' runs after which another adapter or the caller took over; %s of %s in all.",
			grouped(s.Spawns.Fallbacks), counted(s.Spawns.Spawns, "run")),
		Top: decimalOf(top) + " %", Half: decimalOf(top/2) + " %",
		Head: []string{line.unit.String(), "runs", "fallbacks", "rate"},
	}
	c.draw(line, top, func(p period) []segment {
		return []segment{{"s-fallback", 100 * float64(p.fallbacks) / float64(max(p.spawns, 1))}}
	}, func(p period) string {
		return fmt.Sprintf("%s of %s fell back (%s)", grouped(p.fallbacks), counted(p.spawns, "run"), Percent(p.fallbacks, p.spawns))
	})
	for _, p := range line.periods {
		if p.spawns > 0 {
			c.Rows = append(c.Rows, []string{line.title(p), grouped(p.spawns), grouped(p.fallbacks), Percent(p.fallbacks, p.spawns)})
		}
	}
	return c
}

// runs returns the chart of the number of agent runs, the basis of the fallback rate.
func runs(s Stats, line timeline) chart {
	top := niceTop(float64(line.greatest(func(p period) int64 { return p.spawns })), 2)
	c := chart{
		ID: "runs", Title: "Agents' runs by " + line.unit.String(),
		Desc: fmt.Sprintf("Columns: %s in all; the table above has the numbers.", counted(s.Spawns.Spawns, "run")),
		Top:  decimalOf(top), Low: true,
	}
	c.draw(line, top, func(p period) []segment { return []segment{{"s-quiet", float64(p.spawns)}} },
		func(p period) string { return counted(p.spawns, "run") })
	return c
}

// cost returns the chart of the agents' cost.
func cost(s Stats, line timeline) chart {
	most := float64(line.greatest(func(p period) int64 { return p.microDollars })) / 1e6
	top := niceTop(most, 0.000002)
	c := chart{
		ID: "cost", Title: "Cost by " + line.unit.String(),
		Desc: fmt.Sprintf("Columns: what agents' CLIs said that their runs cost; %s in all.", Dollars(s.Spawns.MicroDollars)),
		Top:  "$" + decimalOf(top), Half: "$" + decimalOf(top/2),
		Head: []string{line.unit.String(), "cost"},
	}
	c.draw(line, top, func(p period) []segment { return []segment{{"s-cost", float64(p.microDollars) / 1e6}} },
		func(p period) string { return Dollars(p.microDollars) })
	for _, p := range line.periods {
		if p.microDollars > 0 {
			c.Rows = append(c.Rows, []string{line.title(p), Dollars(p.microDollars)})
		}
	}
	return c
}

// decimalOf formats a round number of an axis.
func decimalOf(v float64) string {
	if v >= 1000 {
		return grouped(int64(v))
	}
	return decimal(v, 6)
}

// barTable is a table with a bar in each row.
type barTable struct {
	Caption string
	// Name and Count are the headings of the bars' names and counts.
	Name, Count string
	Bars        []bar
}

// bar is a row of a barTable.
type bar struct {
	Name, Count, Share string
	// Width is the width of the bar in percent.
	Width string
}

// bars returns a bar for each count, by its share of the total. Hidden characters in the
// names become visible.
func bars(counts []Count, total int64) []bar {
	all := make([]bar, len(counts))
	for i, c := range counts {
		all[i] = bar{label(c.Name), grouped(c.Count), Percent(c.Count, total), widthOf(c.Count, total)}
	}
	return all
}

// widthOf returns the width of a bar in percent. Every positive number is visible.
func widthOf(n, total int64) string {
	if n <= 0 {
		return "0"
	}
	return coordinate(max(0.5, 100*float64(n)/float64(cmp.Or(total, 1))))
}
