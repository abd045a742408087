package main

import (
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// explanation shows a decision with all its evidence, and what the task's past
// says besides.
func (p *page) explanation(x host.Explanation) {
	if x.Decision == nil {
		p.standing(x.Task)
	} else {
		p.explained(x, *x.Decision)
		if x.Task.Event > x.Decision.Event.N {
			p.line("")
			p.line("%s", p.paint(bold, "Where the task stands now"))
			p.standing(x.Task)
		}
	}
	if len(x.Spawns) > 0 {
		p.line("")
		p.line("%s", p.paint(bold, "Agents that ran since"))
		p.spawns(x.Spawns)
	}
	p.history(x.History)
	p.turns(x.Turns)
	p.overrides(x.Overrides)
}

// explained shows a decision and what led to it.
func (p *page) explained(x host.Explanation, d host.Decision) {
	asking := ""
	if x.Task.Status == task.Waiting && x.Task.Questions.Round == d.Round {
		asking = d.TaskID
	}
	p.decided(d, asking)
	for _, answer := range x.Answers {
		p.answers([]task.Answer{answer.Answer})
	}
	p.seen(d)
	p.why(x.Why)
	p.sources(d)
	p.line("")
	p.line("%s", p.paint(bold, "Evidence"))
	for _, r := range d.Reports {
		p.line("  report  %s  %s, %s, read by %s", shortDigest(r.Digest), r.Path, plural(r.Findings, "finding"), r.Plugin)
	}
	for _, pl := range d.Plugins {
		p.line("  plugin  %s  %s", shortDigest(pl.Digest), pluginName(pl))
	}
	p.line("  policy  %s  %s", shortDigest(d.Policy.Digest), policyName(d.Policy))
	if x.Task.Base != "" {
		p.line("  base    %.12s  the commit that the draft is compared with", x.Task.Base)
	}
	p.line("  event   %s  number %d of the task, %s, by %s", shortDigest("sha256:"+d.Event.Hash), d.Event.N, when(x.DecidedAt), x.By)
}

// seen shows the policy's whole input.
func (p *page) seen(d host.Decision) {
	p.line("")
	p.line("%s", p.paint(bold, "What the policy saw"))
	p.line("  round %d of %d, %s, verification %s", d.Input.Round, d.Input.MaxRounds, plural(d.Input.FindingCount, "finding"), d.Input.Verify)
	for _, route := range slices.Sorted(maps.Keys(d.Input.Routes)) {
		p.line("  %d to %s", d.Input.Routes[route], route)
	}
	if d.RepeatCount+d.ReopenedCount+d.ResolvedCount > 0 {
		p.line("  %d new, %d again, %d came back, %d resolved; %s without progress",
			d.NewCount, d.RepeatCount, d.ReopenedCount, d.ResolvedCount, plural(d.StalledRounds, "review"))
	}
}

// sources shows every place that a finding comes from.
func (p *page) sources(d host.Decision) {
	if len(d.Findings) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.paint(bold, "Where the findings come from"))
	var rows [][]cell
	for _, f := range d.Findings {
		for _, s := range f.Sources {
			rows = append(rows, []cell{{f.Fingerprint, plain}, {f.Category, plain}, {s.Critic, plain}, {s.Plugin, plain}, {shortDigest(s.Report), plain}, {s.Ref, plain}})
		}
	}
	p.table([]string{"FINGERPRINT", "CATEGORY", "CRITIC", "PLUGIN", "REPORT", "REF"}, rows)
}

// history lists a task's decisions, where there are several.
func (p *page) history(history []host.HistoryEntry) {
	if len(history) < 2 {
		return
	}
	p.line("")
	rows := make([][]cell, len(history))
	for i, h := range history {
		rows[i] = []cell{{strconv.Itoa(h.Round), plain}, {h.NextAction, actionColor(h.NextAction)}, {h.Reason, plain}, {strconv.Itoa(h.FindingCount), plain}, {policyShort(h.Policy), plain}, {when(h.At), dim}}
	}
	p.table([]string{"ROUND", "WENT TO", "REASON", "FINDINGS", "POLICY", "DECIDED"}, rows)
}

// turns shows what people made of a task beside its decisions.
func (p *page) turns(turns []host.TurnEntry) {
	if len(turns) == 0 {
		return
	}
	p.line("")
	rows := make([][]cell, len(turns))
	for i, t := range turns {
		color := plain
		if t.Kind == task.KindStopped {
			color = red
		}
		rows[i] = []cell{{strconv.Itoa(t.Round), plain}, {turnWords(t), color}, {t.By, plain}, {when(t.At), dim}, {t.Reason, plain}}
	}
	p.table([]string{"ROUND", "TURN", "BY", "AT", "REASON"}, rows)
}

// turnWords says what a turn was.
func turnWords(t host.TurnEntry) string {
	switch t.Kind {
	case task.KindStarted:
		return "begun"
	case task.KindStopped:
		return "stuck"
	case task.KindResumed:
		return "resumed: " + string(t.Mode)
	default:
		return "committed"
	}
}

// overrides lists the gates that somebody forced.
func (p *page) overrides(overrides []host.OverrideEntry) {
	if len(overrides) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.paint(red, "Forced gates"))
	rows := make([][]cell, len(overrides))
	for i, o := range overrides {
		rows[i] = []cell{{strconv.Itoa(o.Round), plain}, {string(o.Phase), plain}, {o.By, plain}, {when(o.At), dim}, {o.Reason, plain}}
	}
	p.table([]string{"ROUND", "PHASE", "BY", "AT", "REASON"}, rows)
}
