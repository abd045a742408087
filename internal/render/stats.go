package render

import (
	"fmt"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/stats"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Maximum numbers of rows of the lists of stats; JSON has all.
const (
	maxShownCategories = 10
	maxShownAgents     = 10
)

// Stats prints the statistics of the review loop.
func (p *Printer) Stats(s stats.Stats) {
	if s.Empty() {
		p.Line("nothing is recorded yet: switchyard round TASK begins")
		return
	}
	p.Line("%s from %s to %s", textutil.Count(s.Ledger.Events, "event"), eventTime(s.Ledger.Since), eventTime(s.Ledger.Until))
	p.Line("")
	for _, f := range s.Figures() {
		p.Line("  %-17s %9s  %s", styledText(f.Name), styledText(f.Value), f.Note)
	}
	p.chart("Where rounds went", s.Rounds.NextActions, s.Rounds.Total)
	rounds := make([]stats.Count, len(s.TaskRounds.Histogram))
	for i, h := range s.TaskRounds.Histogram {
		rounds[i] = stats.Count{Name: strconv.Itoa(h.Rounds), Count: h.Tasks}
	}
	p.chart("Rounds to commit", rounds, s.TaskRounds.Count)
	p.categories(s.Findings)
	p.agentStats(s.Spawns)
	p.standingList(s)
}

func (p *Printer) categories(f stats.Findings) {
	shown := min(len(f.Categories), maxShownCategories)
	p.chart("Findings by category", f.Categories[:shown], f.Total)
	rest := f.Categories[shown:]
	var findings int64
	for _, r := range rest {
		findings += r.Count
	}
	p.andMore(len(rest), " with "+textutil.Count(findings, "finding"))
}

func (p *Printer) agentStats(s stats.Spawns) {
	rows := newTable("AGENT", "RUNS", "FALLBACKS", "RETRIES", "COST")
	for _, a := range s.Agents[:min(len(s.Agents), maxShownAgents)] {
		rows.add(Fit(textutil.Line(a.Agent), maxBarName), a.Spawns, fmt.Sprintf("%d (%s)", a.Fallbacks, stats.Percent(a.Fallbacks, a.Spawns)), a.Retries, stats.Dollars(a.MicroDollars))
	}
	p.list(rows)
	p.andMore(len(s.Agents)-maxShownAgents, "")
}

func (p *Printer) standingList(s stats.Stats) {
	// The other columns leave 18 of 80 columns; a wider terminal has more.
	ids := 18 + max(0, p.width-textWidth)
	rows := newTable("TASK", "STATUS", "SINCE", "WHY")
	shown := s.Standing[:min(len(s.Standing), stats.SummaryStanding)]
	for _, t := range shown {
		color := yellow
		if t.Status == "stuck" {
			color = red
		}
		rows.add(Fit(textutil.Line(t.Task), ids), cell{t.Status, color}, dimmed(eventTime(t.Since)), Fit(textutil.Line(t.Why), 28))
	}
	p.list(rows)
	p.andMore(int(s.Tasks.Stuck+s.Tasks.Waiting)-len(shown), "")
}

func (p *Printer) andMore(n int, words string) {
	p.lineIf(n > 0, "  … and %d more%s", n, words)
}
