package nubospilot

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits on findings: per task, and for all tasks together.
const (
	maxFindings    = 10_000
	maxAllFindings = 100_000
)

// tally counts the problems with a task's findings.
type tally struct {
	none, mended, future, beyond int
	shape                        bool
}

// findings reads the findings of all rounds: the lists by round, and the entries of the
// latest list, which has no round, that are not among them.
func (c *checkpoint) findings(loop object) {
	var wrong tally
	byRound, ok := objectOf(loop["findings_per_round"])
	wrong.shape = loop.says("findings_per_round") && !ok
	lists := make(map[int]jsontext.Value, len(byRound))
	for name, list := range byRound {
		round, ok := countOf(jsontext.Value(name))
		if !ok || round > c.task.Round {
			wrong.future++
			continue
		}
		lists[round] = list
	}
	for _, round := range slices.Sorted(maps.Keys(lists)) {
		c.addAll(lists[round], round, true, &wrong)
	}
	stored := make(map[Finding]bool, len(c.task.Findings))
	for _, f := range c.task.Findings {
		f.Round = 0
		stored[f] = true
	}
	before := len(c.task.Findings)
	c.addAll(loop["findings"], c.task.Round, true, &wrong)
	newest := slices.DeleteFunc(slices.Clone(c.task.Findings[before:]), func(f Finding) bool {
		f.Round = 0
		return stored[f]
	})
	c.task.Findings = append(c.task.Findings[:before], newest...)
	c.report(wrong)
}

// addAll adds the findings of a list. If reports is true, an entry may also be a whole
// report, as in tasks that became stuck by a report's path.
func (c *checkpoint) addAll(list jsontext.Value, round int, reports bool, wrong *tally) {
	entries, ok := listOf(list)
	if !ok {
		wrong.shape = true
	}
	for _, entry := range entries {
		fields, ok := objectOf(entry)
		switch {
		case !ok:
			wrong.none++
		case len(c.task.Findings) >= maxFindings || c.reader.findings >= maxAllFindings:
			wrong.beyond++
		case reports && fields.text("category") == "" && fields["findings"].Kind() == '[':
			c.addAll(fields["findings"], round, false, wrong)
		default:
			c.reader.findings++
			c.task.Findings = append(c.task.Findings, finding(fields, round, wrong))
		}
	}
}

// finding reads a finding. A damaged field gets its strictest value, so that no finding
// is lost.
func finding(fields object, round int, wrong *tally) Finding {
	f := Finding{
		Round: round, Category: fields.text("category"), Severity: fields.text("severity"),
		File: fields.text("file"), Remediation: fields.text("remediation"),
	}
	mended := false
	if f.Category == "" {
		f.Category, mended = "unknown", true
	}
	if !slices.Contains([]string{"fail", "risk", "nit"}, f.Severity) {
		mended = mended || fields.says("severity")
		f.Severity = "fail"
	}
	for _, name := range []string{"file", "remediation"} {
		mended = mended || fields.says(name) && fields[name].Kind() != '"'
	}
	if fields.says("line") {
		line, err := strconv.Atoi(string(fields["line"]))
		if err != nil || line < 1 {
			line, mended = 0, true
		}
		f.Line = line
	}
	if mended {
		wrong.mended++
	}
	return f
}

// report lists the problems.
func (c *checkpoint) report(wrong tally) {
	what := c.file + ": findings"
	if wrong.shape {
		c.leave(what, "they are no list, or not by round")
	}
	for _, w := range []struct {
		count int
		why   string
	}{
		{wrong.none, "%d are no objects"},
		{wrong.mended, "%d have a damaged field; they are taken over as severity fail, category unknown or without a place"},
		{wrong.future, "rounds that the task was not in: %d"},
		{wrong.beyond, "%d are too many"},
	} {
		if w.count > 0 {
			c.leave(what, w.why, w.count)
		}
	}
}
