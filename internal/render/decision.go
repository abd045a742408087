package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RoundResult prints the result of a round, and the commands to type next.
func (p *Printer) RoundResult(r api.RoundResult) {
	if r.ManualFallback != nil {
		p.manualFallback(r.Decision, *r.ManualFallback)
		return
	}
	p.Decision(r.Decision)
}

// manualFallback prints which agent to run, and how.
func (p *Printer) manualFallback(round api.Decision, f api.ManualFallback) {
	p.Line("%s  %s, round %s", p.paint(cyan, "run the critic yourself"), round.TaskID, RoundOf(round.Round, round.MaxRounds, 0))
	p.Line("  because no agent could be run here")
	p.emptyDraft(round.EmptyDraft)
	if round.Verification != nil {
		p.Line("")
		p.verification(*round.Verification)
	}
	p.agents(round.Spawns, nil)
	p.Line("")
	p.Line("run %s yourself", f.Agent)
	p.Line("  prompt: %s", f.PromptPath)
	p.Line("  report: %s", f.ReportPath)
	for _, failure := range f.Failures {
		p.Line("  because %s", failure)
	}
	p.next(step{
		fmt.Sprintf("run %s yourself with the prompt %s", f.Agent, f.PromptPath),
		fmt.Sprintf("switchyard round %s --report %s", round.TaskID, f.ReportPath),
	})
}

func (p *Printer) emptyDraft(empty bool) {
	p.lineIf(empty, "  %s: nothing differs from the task's base (--allow-empty)", p.paint(yellow, "empty draft"))
}

// Decision prints the next action, the reason, and the commands to type next.
func (p *Printer) Decision(d api.Decision) {
	p.decision(d)
	if d.Why != nil {
		p.why(d.Why)
	}
	if d.TaskID != "" {
		p.next(afterDecision(d))
	}
}

// decision prints a decision without the commands to type next.
func (p *Printer) decision(d api.Decision) {
	p.heading(d)
	p.Line("  because %s", because(d))
	p.lineIf(d.Budget == "", "  by policy %s", policyName(d.Policy))
	p.bar(d)
	p.lineIf(d.NoProgress && d.Reason != "no-progress", "  no progress: the previous review found exactly the same")
	p.lineIf(d.WithoutCriteria, "  without acceptance criteria: the critic was not told what the task is (--prompt TEXT or --plan FILE says it)")
	p.emptyDraft(d.EmptyDraft)
	p.lineIf(len(d.Missing) > 0, "  %s: the commit still lacks %s", p.paint(yellow, "not yet"), strings.Join(d.Missing, ", "))
	if d.Force != nil {
		p.Line("  forced by %s: %s", d.Force.By, d.Force.Reason)
	}
	if len(d.Findings) > 0 {
		p.Line("")
		p.findings(d.Findings, nil)
	}
	p.deferredFindings(d.TaskID, d.Deferred)
	if o := d.StillOpen; o != nil {
		p.Line("")
		from := "the last review"
		if o.Round > 0 {
			from = fmt.Sprintf("round %d's review", o.Round)
		}
		p.Line("still open from %s; not reviewed again:", from)
		p.findings(o.Findings, nil)
	}
	p.questions(d.Questions)
	switch {
	case d.Verification != nil:
		p.Line("")
		p.verification(*d.Verification)
	case d.TaskID != "" && d.Budget == "":
		p.Line("")
		p.Line("verification: none")
	}
	p.lineIf(lacksCritic(d), "critic: none; spawn.adapter in switchyard.yaml names one")
	p.previousReview(d.Previous)
	if words := skippedWords(d.Skipped); words != "" {
		p.Line("")
		p.Line("skipped: %s", words)
	}
	p.unmappedRules(d.Unmapped)
	p.agents(d.Spawns, d.Research)
	p.lineIf(d.Confinement != "", "confinement: %s", confinementWords(d))
}

// lacksCritic reports whether all reports of a decision are those of the project's commands.
func lacksCritic(d api.Decision) bool {
	given := func(r api.Report) bool { return r.Command == "" }
	return len(d.Reports) > 0 && len(d.Spawns) == 0 && !slices.ContainsFunc(d.Reports, given)
}

// confinementWords returns the level of a decision, and the reports that have it if others
// have a higher one.
func confinementWords(d api.Decision) string {
	var lowest []string
	for _, r := range d.Reports {
		if cmp.Or(r.Confinement, confinement.None) == d.Confinement {
			lowest = append(lowest, r.Path)
		}
	}
	if len(lowest) == len(d.Reports) {
		return string(d.Confinement)
	}
	return fmt.Sprintf("%s, that of %s", d.Confinement, textutil.List(lowest, MaxNamed))
}

// previousReview counts the findings of the previous review by status, and names the unverified
// ones.
func (p *Printer) previousReview(all []api.PreviousFinding) {
	var statuses, unverified []string
	counts := make(map[finding.PreviousStatus]int)
	for _, f := range all {
		counts[f.Status]++
		if f.Status == finding.Unverified {
			unverified = append(unverified, f.Category+" "+finding.Finding{File: f.File, Line: f.Line}.Location())
		}
	}
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		statuses = append(statuses, fmt.Sprintf("%d %s", counts[status], status))
	}
	p.lineIf(len(all) > 0, "")
	p.lineIf(len(all) > 0, "previous review: %s", strings.Join(statuses, ", "))
	p.lineIf(len(unverified) > 0, "  %s: %s", p.paint(yellow, "unverified"), textutil.List(unverified, MaxNamed))
}

// maxRules and maxRule limit the number of rules in a note and the length of each.
const (
	maxRules = 8
	maxRule  = 60
)

// unmappedRules prints a line for each plugin with rules that use its default category.
func (p *Printer) unmappedRules(all []api.Unmapped) {
	type kind struct{ plugin, category string }
	var order []kind
	rules := make(map[kind][]string)
	for _, u := range all {
		k := kind{u.Plugin, u.Category}
		if rules[k] == nil {
			order = append(order, k)
		}
		rules[k] = append(rules[k], u.Rule)
	}
	p.lineIf(len(order) > 0, "")
	for _, k := range order {
		slices.Sort(rules[k])
		named := slices.Compact(rules[k])
		count, words := textutil.Count(len(named), "rule"), "have no category of their own and count"
		if len(named) == 1 {
			words = "has no category of its own and counts"
		}
		var list []string
		for _, rule := range named[:min(maxRules, len(named))] {
			list = append(list, textutil.Fit(rule, maxRule))
		}
		if len(named) > maxRules {
			list = append(list, "…")
		}
		p.Line("note: %s: %s %s as %s: %s", k.plugin, count, words, k.category, strings.Join(list, ", "))
	}
}

func (p *Printer) heading(d api.Decision) {
	where := "round " + roundOfDecision(d)
	if d.TaskID != "" {
		where = d.TaskID + ", " + where
		if d.NextRound != d.Round {
			where += fmt.Sprintf("; next is round %d", d.NextRound)
		}
	}
	p.Line("%s  %s", p.paint(actionColor(d.NextAction), d.NextAction), where)
}

func because(d api.Decision) string {
	switch d.Reason {
	case "no-findings":
		words := noFindings(d)
		if d.Input.Verify == routing.Green {
			words += " and verification is green"
		}
		return words
	case "stuck-finding":
		return stuckWords(d)
	case "max-rounds":
		if d.Input.FindingCount == 0 {
			return "the last round ends with verification red"
		}
		return fmt.Sprintf("the last round ends with %s", textutil.Count(d.Input.FindingCount, "finding"))
	case "verify-red":
		if len(d.Reports) == 0 {
			return "verification is red; nothing was reviewed"
		}
		return noFindings(d) + ", but verification is red"
	case "no-progress":
		return fmt.Sprintf("%d reviews in a row changed nothing: %s again", d.StalledRounds, textutil.Count(d.Input.FindingCount, "finding"))
	case "routed":
		return routedWords(d)
	case task.ReasonBudget:
		return d.Budget
	}
	if reviews := d.Churn(); reviews > 0 {
		return "the last fixes caused all failures of " + textutil.Count(reviews, "review")
	}
	return "the policy says " + d.Reason
}

func noFindings(d api.Decision) string {
	if len(d.Deferred) > 0 {
		return "no findings are open"
	}
	return "there are no findings"
}

func stuckWords(d api.Decision) string {
	var categories []string
	seen := make(map[string]bool)
	for _, f := range d.Findings {
		if f.Route != "stuck" || seen[f.Category] {
			continue
		}
		seen[f.Category] = true
		name := f.Category
		if f.UnknownCategory {
			name = "the unknown category " + name
		}
		// The category of a failed agent says little without its reason.
		if n := len(d.Spawns); n > 0 && f.Category == string(d.Spawns[n-1].Outcome) {
			name += ": " + string(d.Spawns[n-1].Reason)
		}
		categories = append(categories, name)
	}
	if len(categories) == 0 { // The input has only counts.
		return "a finding stops the loop"
	}
	return "a finding stops the loop: " + textutil.List(categories, MaxNamed)
}

// MaxNamed is the number of items that a sentence names; JSON has all.
const MaxNamed = 20

// routedWords counts the findings by destination, the chosen one first.
func routedWords(d api.Decision) string {
	others := slices.Sorted(maps.Keys(d.Input.Routes))
	others = slices.DeleteFunc(others, func(name string) bool { return name == d.NextAction || d.Input.Routes[name] == 0 })
	verb := "go"
	if d.Input.Routes[d.NextAction] == 1 {
		verb = "goes"
	}
	words := fmt.Sprintf("%s %s to %s", textutil.Count(d.Input.Routes[d.NextAction], "finding"), verb, d.NextAction)
	if len(others) > 0 {
		words += ", which outranks " + strings.Join(others, ", ")
	}
	return words
}

func policyName(id routing.Identity) string {
	return fmt.Sprintf("%s %s (%s)", id.Name, id.Version, id.ADR)
}

// policyID returns a name that also distinguishes policies with the same version.
func policyID(id routing.Identity) string {
	return fmt.Sprintf("%s@%s (%s)", id.Name, id.Version, shortDigest(id.Digest))
}

// framingReasons are the reasons of items that only structure a test run, such as the failure
// of a package whose failed test is a finding. JSON has them.
var framingReasons = []string{"start", "run", "pause", "cont", "output", "build-output", "attr", "a test failed", "a subtest failed"}

// skippedWords returns the number of skipped items by reason, without framingReasons.
func skippedWords(skipped []api.Skipped) string {
	counts := make(map[string]int)
	for _, s := range skipped {
		if !slices.Contains(framingReasons, s.Reason) {
			counts[s.Reason] += s.Count
		}
	}
	var words []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	return textutil.List(words, MaxNamed)
}

// findings prints a table of findings with the remediation below each row, and with the round
// of each finding's review unless rounds is nil. It shows the round since which they exist
// only if some are not new, or are induced.
func (p *Printer) findings(findings []finding.Finding, rounds []int) {
	header := []string{"ROUTE", "SEVERITY", "CATEGORY", "WHERE", "FOUND BY"}
	const where = 3
	dated := slices.ContainsFunc(findings, func(f finding.Finding) bool {
		return f.Standing != "" && f.Standing != string(task.New) || f.IsInduced()
	})
	if dated {
		header = slices.Insert(header, where+1, "SINCE")
	}
	if rounds != nil {
		header = append(header, "ROUND")
	}
	rows := newTable(header...)
	for i, f := range findings {
		route := f.Route
		if f.UnknownCategory {
			route += "?"
		}
		row := []any{cell{route, actionColor(f.Route)}, severity(f), f.Category, f.Location(), strings.Join(f.ConfirmedBy, ", ")}
		if dated {
			row = slices.Insert(row, where+1, any(since(f)))
		}
		if rounds != nil {
			row = append(row, rounds[i])
		}
		rows.addWithText(findingText(f), row...)
	}
	p.tableWithPlaces(rows, where)
}

// findingText returns the text below a finding's row.
func findingText(f finding.Finding) string {
	if words := f.Contradiction(); words != "" {
		return f.Remediation + " (" + words + ")"
	}
	return f.Remediation
}

// since returns the round since which a finding exists, how often it came back, and whether
// it is induced.
func since(f finding.Finding) string {
	words := fmt.Sprintf("round %d", f.SinceRound)
	switch {
	case f.Reopened == 1:
		words += ", came back"
	case f.Reopened > 1:
		words += fmt.Sprintf(", came back %d times", f.Reopened)
	}
	if f.IsInduced() {
		words += ", induced by the last fix"
	}
	return words
}

// shortDigest returns enough of a digest to compare by eye.
func shortDigest(sum string) string {
	hex := digest.Bare(sum)
	return hex[:min(12, len(hex))]
}

// The colours of words.
var (
	actionColors   = map[string]string{routing.Commit: green, routing.Stuck: red, "askuser": yellow, api.ActionParked: yellow, api.ActionFailed: red}
	severityColors = map[finding.Severity]string{finding.Fail: red, finding.Risk: yellow}
	verifyColors   = map[routing.Verify]string{routing.Green: green, routing.Red: red}
	stateColors    = map[release.State]string{release.StateEdited: red, release.StateDraft: yellow}
	statusColors   = map[task.Status]string{task.Stuck: red, task.Waiting: yellow, task.Parked: yellow, task.Committed: green}
)

func actionColor(action string) string { return cmp.Or(actionColors[action], cyan) }

func severity(f finding.Finding) cell { return cell{string(f.Severity), severityColors[f.Severity]} }
