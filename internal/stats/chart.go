package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// chart is a column chart over time. Its shapes use a box of chartWidth by chartHeight, which
// the page stretches to its width. Texts are HTML beside it, since they must not be stretched.
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
	actions     []string // the next actions that it counts
}

// count returns how often the series' next actions were taken.
func (s series) count(actions counter) (n int64) {
	for _, name := range s.actions {
		n = plus(n, actions[name])
	}
	return n
}

// segment is a part of a column before it is drawn.
type segment struct {
	class string
	value float64
}

// numbers are a period's numbers in a chart.
type numbers struct {
	segments []segment // from the bottom
	title    string
	row      []string // of the table, or nil
}

// draw adds a column and a row for each period. least is the smallest top of the axis,
// and axis formats its labels.
func (c *chart) draw(line timeline, least float64, axis func(float64) string, of func(period) numbers) {
	c.Title += " by " + line.unit.String()
	if c.Head != nil {
		c.Head = slices.Insert(c.Head, 0, line.unit.String())
	}
	top := 0.0
	for _, p := range line.periods {
		height := 0.0
		for _, s := range of(p).segments {
			height += s.value
		}
		top = max(top, height)
	}
	top = niceTop(top, least)
	c.Top, c.Half = axis(top), axis(top/2)
	slot := float64(chartWidth) / float64(max(len(line.periods), minSlots))
	for i, p := range line.periods {
		shown := of(p)
		col := column{Title: line.title(p) + ": " + shown.title}
		height := 0.0
		for _, s := range shown.segments {
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
		if shown.row != nil {
			c.Rows = append(c.Rows, slices.Insert(shown.row, 0, line.title(p)))
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
	if n > minSlots {
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

// routesChart returns the chart of the rounds' next actions.
func routesChart(s Stats, line timeline) *chart {
	actions := make(counter)
	for _, p := range line.periods {
		for name, n := range p.actions {
			actions.add(name, n)
		}
	}
	c := &chart{ID: "routes", Title: "Decisions", Legend: seriesOf(actions.sorted()), Head: []string{"decisions"}}
	words := make([]string, len(c.Legend))
	for i, one := range c.Legend {
		c.Legend[i].Total = grouped(one.count(actions))
		c.Head = append(c.Head, one.Name)
		words[i] = one.Name + " " + c.Legend[i].Total
	}
	c.Desc = fmt.Sprintf("Stacked columns, from the foot up: %s; %s in all.", strings.Join(words, ", "), counted(s.Rounds.Total, "decision"))
	c.draw(line, 2, decimalOf, func(p period) (n numbers) {
		var words []string
		row := []string{grouped(p.rounds)}
		for _, one := range c.Legend {
			count := one.count(p.actions)
			n.segments = append(n.segments, segment{one.Class, float64(count)})
			row = append(row, grouped(count))
			if count > 0 {
				words = append(words, one.Name+" "+grouped(count))
			}
		}
		n.title = strings.Join(words, ", ")
		if p.rounds > 0 {
			n.row = row
		}
		return n
	})
	c.Title += " and next action"
	return c
}

// knownActions returns the destinations of the built-in policies in stacking order: success
// is at the bottom, and the destinations that need a person are on top.
func knownActions() []string {
	return []string{"commit", "executor", "researcher", "plan-checker", "askuser", "stuck"}
}

// ownColors is the number of other destinations that have a colour of their own, the most
// frequent ones. The rest share one.
const ownColors = 3

// seriesOf assigns a style sheet class to each next action. actions are ordered by
// frequency, highest first.
func seriesOf(actions []Count) []series {
	var all []series
	var others []string
	known := make(map[string]bool)
	for _, a := range actions {
		if known[a.Name] = slices.Contains(knownActions(), a.Name); !known[a.Name] {
			others = append(others, a.Name)
		}
	}
	for _, name := range knownActions() {
		if known[name] {
			all = append(all, series{Class: "s-" + name, Name: name, actions: []string{name}})
		}
	}
	own := min(len(others), ownColors)
	for i, name := range others[:own] {
		all = append(all, series{Class: "s-own-" + strconv.Itoa(i+1), Name: label(name), actions: []string{name}})
	}
	if own < len(others) {
		all = append(all, series{Class: "s-rest", Name: "all others", actions: others[own:]})
	}
	return all
}

// endedChart returns the chart of tasks that were committed or became stuck, or nil without
// such tasks.
func endedChart(line timeline) *chart {
	var committed, stuck int64
	for _, p := range line.periods {
		committed, stuck = plus(committed, p.Committed), plus(stuck, p.Stuck)
	}
	if committed == 0 && stuck == 0 {
		return nil
	}
	c := &chart{
		ID: "ended", Title: "Tasks committed and stuck", Low: true, Head: []string{"committed", "stuck"},
		Desc: fmt.Sprintf("Stacked columns, from the foot up: committed %s, became stuck %s.", grouped(committed), grouped(stuck)),
		Legend: []series{
			{Class: "s-commit", Name: "committed", Total: grouped(committed)}, {Class: "s-stuck", Name: "became stuck", Total: grouped(stuck)},
		},
	}
	c.draw(line, 2, decimalOf, func(p period) numbers {
		n := numbers{
			segments: []segment{{"s-commit", float64(p.Committed)}, {"s-stuck", float64(p.Stuck)}},
			title:    fmt.Sprintf("%s committed, %s became stuck", grouped(p.Committed), grouped(p.Stuck)),
		}
		if p.Committed > 0 || p.Stuck > 0 {
			n.row = []string{grouped(p.Committed), grouped(p.Stuck)}
		}
		return n
	})
	return c
}

// fallbacksChart returns the chart of the share of runs that fell back.
func fallbacksChart(s Stats, line timeline) *chart {
	c := &chart{
		ID: "fallbacks", Title: "Fallback rate", Head: []string{"runs", "fallbacks", "rate"},
		Desc: fmt.Sprintf("Columns: the part of the agents' runs after which another adapter or the caller took over; %s of %s in all.",
			grouped(s.Spawns.Fallbacks), counted(s.Spawns.Spawns, "run")),
	}
	c.draw(line, 2, func(v float64) string { return decimalOf(v) + " %" }, func(p period) numbers {
		if p.Spawns == 0 {
			return numbers{}
		}
		rate := Percent(p.Fallbacks, p.Spawns)
		return numbers{
			segments: []segment{{"s-fallback", 100 * float64(p.Fallbacks) / float64(p.Spawns)}},
			title:    fmt.Sprintf("%s of %s fell back (%s)", grouped(p.Fallbacks), counted(p.Spawns, "run"), rate),
			row:      []string{grouped(p.Spawns), grouped(p.Fallbacks), rate},
		}
	})
	return c
}

// runsChart returns the chart of the number of agent runs, the basis of the fallback rate.
func runsChart(s Stats, line timeline) *chart {
	c := &chart{
		ID: "runs", Title: "Agents' runs", Low: true,
		Desc: fmt.Sprintf("Columns: %s in all; the table above has the numbers.", counted(s.Spawns.Spawns, "run")),
	}
	c.draw(line, 2, decimalOf, func(p period) numbers {
		return numbers{segments: []segment{{"s-quiet", float64(p.Spawns)}}, title: counted(p.Spawns, "run")}
	})
	c.Half = ""
	return c
}

// costChart returns the chart of the agents' cost.
func costChart(s Stats, line timeline) *chart {
	c := &chart{
		ID: "cost", Title: "Cost", Head: []string{"cost"},
		Desc: fmt.Sprintf("Columns: what agents' CLIs said that their runs cost; %s in all.", Dollars(s.Spawns.MicroDollars)),
	}
	c.draw(line, 0.000002, func(v float64) string { return "$" + decimalOf(v) }, func(p period) numbers {
		n := numbers{segments: []segment{{"s-cost", float64(p.MicroDollars) / 1e6}}, title: Dollars(p.MicroDollars)}
		if p.MicroDollars > 0 {
			n.row = []string{n.title}
		}
		return n
	})
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

// niceTop returns the top of an axis for values up to most: a round number of at least least,
// with a half that is also round.
func niceTop(most, least float64) float64 {
	if most <= least {
		return least
	}
	ten := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{1, 2, 3, 4, 5, 6, 8, 10} {
		if ten < 10 && (step == 3 || step == 5) {
			continue // Half a round does not exist.
		}
		if top := step * ten; top >= most {
			return top
		}
	}
	return 10 * ten // The logarithm was rounded.
}
