package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Explanation prints a decision with all its evidence, and the task's history.
func (p *Printer) Explanation(x api.Explanation) {
	if x.Commit != nil {
		p.commitEvidence(*x.Commit)
	}
	if x.Decision == nil {
		p.status(x.Task)
	} else {
		p.decisionWithEvidence(x, *x.Decision)
		if x.Task.Event > x.Decision.Event.N {
			p.title("Where the task stands now")
			p.status(x.Task)
		}
	}
	if len(x.Spawns) > 0 {
		p.title("Agents that ran since")
		p.spawns(x.Spawns)
		p.refusedHosts(x.Spawns)
	}
	p.history(x.History)
	p.manualActions(x.Lifecycle)
	p.overrides(x.Overrides)
	if x.Sessions != nil {
		p.title("Sessions")
		p.sessions(x.Sessions)
	}
	p.transcripts(x.Task.TaskID, x.Transcripts)
}

// commitEvidence prints whether a commit has the tree that was decided on.
func (p *Printer) commitEvidence(c api.CommitEvidence) {
	switch {
	case !c.Matches:
		p.Line("commit %.12s  %s: %s", c.SHA, p.paint(red, "not reviewed"), c.Problem)
	case c.Merge != nil:
		verified := "the merged tree was verified"
		if !c.Merge.Verified {
			verified = "the merged tree was not verified"
		}
		p.Line("commit %.12s  %s into %s; %s, and commit %.12s reviewed", c.SHA, p.paint(green, "merged"), c.Merge.Into, verified, c.Recorded)
	default:
		p.Line("commit %.12s  %s: its tree %.12s is the one that was decided on", c.SHA, p.paint(green, "reviewed"), c.Tree)
	}
	p.lineIf(c.Branch != "", "  branch %s", c.Branch)
	for _, name := range c.Deferred {
		p.Line("  deferred %s", name)
	}
	p.lineIf(c.Merge == nil && c.Recorded != "" && c.Recorded != c.SHA, "  run made commit %.12s for this decision", c.Recorded)
	p.Line("")
}

// decisionWithEvidence prints a decision and the evidence for it.
func (p *Printer) decisionWithEvidence(x api.Explanation, d api.Decision) {
	p.decision(d)
	for _, answer := range x.Answers {
		p.answers([]task.Answer{answer.Answer})
	}
	p.policyInput(d)
	p.why(x.Why)
	p.sources(d)
	p.title("Evidence")
	for _, r := range d.Reports {
		p.Line("  report  %s  %s, %s, read by %s", shortDigest(r.Digest), r.Path, textutil.Count(r.Findings, "finding"), r.Plugin)
	}
	p.refusedHosts(d.Spawns)
	for _, pl := range d.Plugins {
		p.Line("  plugin  %s  %s", shortDigest(pl.Digest), pluginName(pl))
	}
	p.Line("  policy  %s  %s", shortDigest(d.Policy.Digest), policyName(d.Policy))
	p.lineIf(x.Task.Base != "", "  base    %.12s  the commit that the draft is compared with", x.Task.Base)
	p.Line("  event   %s  number %d of the task, %s, by %s", shortDigest(d.Event.Hash), d.Event.N, eventTime(x.DecidedAt), x.By)
}

// refusedHosts prints the hosts that the proxy refused to agents that succeeded nevertheless. For
// other agents, spawns prints them with the error.
func (p *Printer) refusedHosts(spawns []api.SpawnSummary) {
	for _, s := range spawns {
		p.lineIf(s.Outcome.Good() && len(s.Refused) > 0, "  the proxy refused to %s: %s", s.Run, textutil.List(s.Refused, MaxNamed))
	}
}

func (p *Printer) policyInput(d api.Decision) {
	p.title("What the policy saw")
	p.Line("  round %s, %s, verification %s", RoundOf(d.Input.Round, d.Input.MaxRounds, 0), textutil.Count(d.Input.FindingCount, "finding"), d.Input.Verify)
	for _, route := range slices.Sorted(maps.Keys(d.Input.Routes)) {
		p.Line("  %d to %s", d.Input.Routes[route], route)
	}
	p.lineIf(d.RepeatCount+d.ReopenedCount+d.ResolvedCount > 0, "  %d new, %d again, %d came back, %d resolved; %s without progress",
		d.NewCount, d.RepeatCount, d.ReopenedCount, d.ResolvedCount, textutil.Count(d.StalledRounds, "review"))
	if f := d.Input.Facts; f != nil {
		induced := "unknown"
		if f.InducedCount != nil {
			induced = strconv.Itoa(*f.InducedCount)
		}
		p.Line("  %d for the first time, %d blocking, induced: %s", f.FirstTimeCount, f.BlockingCount, induced)
		p.lineIf(f.ReviewsSinceLow > 0, "  %s in a row with more new findings than one before", textutil.Count(f.ReviewsSinceLow, "review"))
		p.lineIf(f.InducedRounds > 0, "  %s in a row in which fixes caused everything that blocks", textutil.Count(f.InducedRounds, "review"))
		extends := "it may not go past the cap"
		if f.MayExtend {
			extends = "the review is productive, so it may go past the cap"
		}
		p.Line("  hard cap of %s, %d left; %s; confinement %s", textutil.Count(f.HardCap, "round"), f.RoundsLeft, extends, f.Confinement)
	}
}

func (p *Printer) sources(d api.Decision) {
	if len(d.Findings) == 0 {
		return
	}
	p.title("Where the findings come from")
	rows := newTable("FINGERPRINT", "CATEGORY", "CRITIC", "PLUGIN", "REPORT", "REF")
	for _, f := range d.Findings {
		for _, s := range f.Sources {
			rows.add(f.Fingerprint, f.Category, s.Critic, s.Plugin, shortDigest(s.Report), s.Ref)
		}
	}
	p.table(rows)
}

// history lists a task's decisions if there are several.
func (p *Printer) history(history []api.HistoryEntry) {
	if len(history) < 2 {
		return
	}
	rows := newTable("ROUND", "WENT TO", "REASON", "FINDINGS", "POLICY", "DECIDED")
	for _, h := range history {
		rows.add(h.Round, action(h.NextAction), h.Reason, h.FindingCount, policyID(h.Policy), dimmed(eventTime(h.At)))
	}
	p.list(rows)
}

func (p *Printer) manualActions(actions []api.LifecycleEntry) {
	rows := newTable("ROUND", "ACTION", "CAP", "BY", "AT", "REASON")
	for _, t := range actions {
		color := plain
		if t.Kind == task.KindStopped {
			color = red
		}
		rows.add(t.Round, cell{manualActionWords(t), color}, capWords(t), t.By, dimmed(eventTime(t.At)), t.Reason)
	}
	p.list(rows)
}

// capWords returns the caps that a manual action set.
func capWords(t api.LifecycleEntry) string {
	if t.MaxRounds == 0 {
		return "-"
	}
	return fmt.Sprintf("%d, hard %d", t.MaxRounds, t.HardCap)
}

func manualActionWords(t api.LifecycleEntry) string {
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

func (p *Printer) overrides(overrides []api.OverrideEntry) {
	if len(overrides) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.paint(red, "Forced gates"))
	rows := newTable("ROUND", "PHASE", "BY", "AT", "REASON")
	for _, o := range overrides {
		rows.add(o.Round, o.Phase, o.By, dimmed(eventTime(o.At)), o.Reason)
	}
	p.table(rows)
}

// why prints the rule that decided, the rules it outranked, and the changes of the
// input that would change the decision.
func (p *Printer) why(x *explain.Explanation) {
	p.title("Why")
	if x == nil {
		p.Line("  the policy that made this decision is no longer available")
		return
	}
	if x.Rule != nil {
		p.Line("  rule       %s  %s", locationText(x.Rule.Location), x.Rule.Location.Text)
	}
	for _, o := range x.Outranked {
		p.Line("  outranked  %s  %s (%s)", locationText(o.Rule.Location), o.Decision.NextAction, o.Decision.Reason)
	}
	for _, w := range x.Waiting {
		p.Line("  waits      %s for %s", textutil.Count(w.Findings, "finding"), w.Destination)
	}
	for i, f := range x.Counterfactuals {
		p.counterfactual(changeLabel(i), f)
	}
	for _, f := range x.ReachableBy {
		// A counterfactual that leads there with fewer changes is listed above.
		if !slices.ContainsFunc(x.Counterfactuals, func(c explain.Counterfactual) bool { return c.Decision.NextAction == f.Decision.NextAction }) {
			p.counterfactual("farther", f)
		}
	}
	switch {
	case x.GaveUp && len(x.Counterfactuals) == 0:
		p.Line("  changes    none was found in %d tries; there may be one", x.Tried)
	case len(x.Counterfactuals) == 0:
		p.Line("  changes    no single change would alter this decision")
	}
	p.whyBar(x.Bar)
}

// whyBar prints the rule that chose the bar, and the changes that would move it.
func (p *Printer) whyBar(b *explain.Bar) {
	if b == nil {
		return
	}
	p.title("Why the bar")
	p.Line("  bar        %s", b.Bar)
	if b.Rule != nil {
		p.Line("  rule       %s  %s", locationText(b.Rule.Location), b.Rule.Location.Text)
	}
	for i, c := range b.Changes {
		p.Line("  %-9s  %s: %s", changeLabel(i), c.Words, c.Bar)
	}
}

// changeLabel returns the label of the change i of a list.
func changeLabel(i int) string {
	if i == 0 {
		return "changes"
	}
	return "or"
}

// counterfactual prints changes of the input and the decision that they lead to.
func (p *Printer) counterfactual(label string, f explain.Counterfactual) {
	p.Line("  %-9s  %s: %s (%s)", label, f.Words(), p.paint(actionColor(f.Decision.NextAction), f.Decision.NextAction), f.Decision.Reason)
}
