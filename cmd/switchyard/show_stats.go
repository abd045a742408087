package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-dev/switchyard/metrics/stats"
)

// The most rows of a list that stats shows; JSON has all.
const (
	maxShownCategories = 10
	maxShownAgents     = 10
	maxShownStanding   = 10
)

// stats shows what the review loop has come to.
func (p *page) stats(s shownStats, style barStyle) {
	if s.Summary.Tasks == 0 && len(s.Summary.Corrupt) == 0 && s.Empty() {
		p.line("nothing is recorded yet: switchyard round TASK begins")
		return
	}
	p.figures(s)
	p.unreadable(s.Summary.Corrupt)
	p.chart("Where tasks went last", style, sortedBars(s.Summary.Routes))
	p.chart("Tasks by the round that they are in", style, roundBars(s.Summary.Histogram))
	p.categories(s.Summary.Categories, style)
	p.spawners(s.Spawns)
	p.standingList(s.Standing)
}

// figures are the numbers to know first, a line each.
func (p *page) figures(s shownStats) {
	if s.Ledger.Events > 0 {
		p.line("%s from %s to %s", plural(int(s.Ledger.Events), "event"), when(s.Ledger.Since), when(s.Ledger.Until))
		p.line("")
	}
	sum := s.Summary
	figure := func(name, value, words string) { p.line("  %-12s %9s  %s", painted(name), painted(value), words) }
	figure("tasks", strconv.Itoa(sum.Tasks), fmt.Sprintf("%d committed, %d open, %d waiting, %d stuck", sum.Committed, s.Tasks.Open, s.Tasks.Waiting, sum.Stuck))
	figure("rounds begun", strconv.Itoa(sum.Rounds), decimals(sum.Average)+" a task on average")
	if t := s.TaskRounds; t.Count > 0 {
		figure("to commit", decimals(t.Median), "rounds in the median, 90 % within "+decimals(t.P90))
	}
	if n := sum.Overrides; n > 0 {
		figure("forced", strconv.Itoa(n), "gates that somebody forced")
	}
	if q := s.Questions; q.Asked > 0 {
		words := "to the user, none answered yet"
		if q.Wait.Count > 0 {
			words = "to the user, half of those answered within " + stats.Lasting(q.Wait.Median)
		}
		figure("questions", strconv.FormatInt(q.Asked, 10), words)
	}
	if u := s.Spawns; u.Spawns > 0 {
		words := fmt.Sprintf("of agents, %d fell back (%s)", u.Fallbacks, stats.Percent(u.Fallbacks, u.Spawns))
		if u.Run.Count > 0 {
			words += ", half within " + stats.Lasting(u.Run.Median)
		}
		figure("runs", strconv.FormatInt(u.Spawns, 10), words)
		if u.MicroDollars > 0 {
			figure("cost", stats.Dollars(u.MicroDollars), "as the agents' CLIs say")
		}
	}
}

// decimals writes a number with at most two.
func decimals(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

func (p *page) unreadable(all []loopUnreadable) {
	for _, u := range all[:min(len(all), maxShownStanding)] {
		p.line("  %s  %s: %s", p.paint(red, "unreadable"), u.Path, u.Message)
	}
	p.andMore(len(all)-maxShownStanding, "")
}

// chart shows bars under a heading, and nothing where there are none.
func (p *page) chart(title string, style barStyle, rows []bar) {
	if len(rows) == 0 {
		return
	}
	var total int64
	for _, r := range rows {
		total += r.count
	}
	for i := range rows {
		if rows[i].words == "" && total > 0 {
			rows[i].words = stats.Percent(rows[i].count, total)
		}
	}
	p.line("")
	p.line("%s", p.paint(bold, title))
	p.bars(style, rows)
}

// sortedBars has the greatest first, and of equal ones the first by name.
func sortedBars(counts map[string]int) []bar {
	rows := make([]bar, 0, len(counts))
	for name, n := range counts {
		rows = append(rows, bar{name: name, count: int64(n)})
	}
	slices.SortFunc(rows, func(a, b bar) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return rows
}

// fewRounds is up to which round each has a bar, also one without a task.
const fewRounds = 12

func roundBars(histogram map[int]int) []bar {
	var rows []bar
	for _, round := range slices.Sorted(maps.Keys(histogram)) {
		if n := histogram[round]; n > 0 || round <= fewRounds {
			rows = append(rows, bar{name: strconv.Itoa(round), count: int64(n)})
		}
	}
	return rows
}

func (p *page) categories(counts map[string]int, style barStyle) {
	rows := sortedBars(counts)
	var total int64
	for _, r := range rows {
		total += r.count
	}
	for i := range rows {
		rows[i].words = stats.Percent(rows[i].count, total) // Of all, not of those shown.
	}
	rest := rows[min(len(rows), maxShownCategories):]
	p.chart("Findings by category", style, rows[:len(rows)-len(rest)])
	findings := 0
	for _, r := range rest {
		findings += int(r.count)
	}
	p.andMore(len(rest), " with "+plural(findings, "finding"))
}

// spawners shows what each agent was used for.
func (p *page) spawners(s stats.Spawns) {
	if len(s.Agents) == 0 {
		return
	}
	p.line("")
	rows := make([][]cell, 0, maxShownAgents)
	for _, a := range s.Agents[:min(len(s.Agents), maxShownAgents)] {
		rows = append(rows, []cell{
			{fit(clean(a.Agent), maxBarName), plain}, {strconv.FormatInt(a.Spawns, 10), plain},
			{fmt.Sprintf("%d (%s)", a.Fallbacks, stats.Percent(a.Fallbacks, a.Spawns)), plain},
			{strconv.FormatInt(a.Retries, 10), plain}, {stats.Dollars(a.MicroDollars), plain},
		})
	}
	p.table([]string{"AGENT", "RUNS", "FALLBACKS", "RETRIES", "COST"}, rows)
	p.andMore(len(s.Agents)-maxShownAgents, "")
}

// standingList shows the tasks that need somebody.
func (p *page) standingList(all []stats.Standing) {
	if len(all) == 0 {
		return
	}
	p.line("")
	// What 80 columns have left beside the other columns, and more on a wider terminal.
	ids := 26 + max(0, p.width-textWidth)
	rows := make([][]cell, 0, maxShownStanding)
	for _, t := range all[:min(len(all), maxShownStanding)] {
		color := yellow
		if t.Status == "stuck" {
			color = red
		}
		rows = append(rows, []cell{{fit(clean(t.Task), ids), plain}, {t.Status, color}, {when(t.Since), dim}, {fit(clean(t.Why), 20), plain}})
	}
	p.table([]string{"TASK", "STATUS", "SINCE", "WHY"}, rows)
	p.andMore(len(all)-maxShownStanding, "")
}

// andMore says how many rows are not shown.
func (p *page) andMore(n int, words string) {
	if n > 0 {
		p.line("  … and %d more%s", n, words)
	}
}
