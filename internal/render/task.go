package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Task prints one task.
func (p *Printer) Task(t api.TaskDetail) {
	p.status(t.TaskStatus)
	p.sessions(t.Sessions)
	if t.Questions != nil {
		p.questions(t.Questions.Open)
		p.answers(t.Questions.Answers)
	}
	if len(t.Findings) > 0 {
		p.Line("")
		p.findings(t.Findings, nil)
	}
	p.deferredFindings(t.TaskID, t.Deferred)
	p.next(afterStatus(t.TaskStatus, t.Handoff))
}

// TaskResult prints a task after a command.
func (p *Printer) TaskResult(s api.TaskResult) {
	p.lineIf(s.Recorded == nil, "nothing to do: this was recorded before")
	p.Task(api.TaskDetail{TaskStatus: s.TaskStatus})
}

// maxPromptShown is the number of code points shown of a task's text.
const maxPromptShown = 100

// status prints the status of a task and the reason for it.
func (p *Printer) status(t api.TaskStatus) {
	p.Line("%s  %s, round %s", p.paint(statusColors[t.Status], string(t.Status)), t.TaskID, RoundOf(t.Round, t.MaxRounds, t.HardCap))
	switch last := t.Last; {
	case last == nil:
		p.Line("  no round is decided yet")
	case last.Reviewed:
		found := textutil.Count(last.FindingCount, "finding")
		if last.Deferred > 0 {
			found += fmt.Sprintf(" and %d deferred", last.Deferred)
		}
		p.Line("  round %d went to %s (%s) with %s, %s", last.Round, last.NextAction, last.Reason, found, eventTime(t.DecidedAt))
	default:
		p.Line("  round %d went to %s (%s) without a review, %s", last.Round, last.NextAction, last.Reason, eventTime(t.DecidedAt))
	}
	if t.Last != nil {
		p.lineIf(t.Last.Confinement != "", "  confinement %s", t.Last.Confinement)
	}
	p.lineIf(t.Bar != "", "  %s", barWords(t.Bar, t.BarSince))
	p.lineIf(t.Prompt != "", "  task: %s", textutil.Fit(strings.Join(strings.Fields(t.Prompt), " "), maxPromptShown))
	p.policyUses(t.Policies)
	p.lineIf(t.Base != "", "  compared with commit %.12s", t.Base)
	if t.Commit != nil {
		p.Line("  commit %.12s", t.Commit.SHA)
	}
	p.lineIf(lacksCommit(t), "  %s", notCommitted)
	p.branch(t.Branch, t.Merge)
	if t.Parked != nil {
		p.Line("  %s until %s, when the usage limit of %s ends", p.paint(yellow, "parked"), eventTime(t.Parked.Until), t.Parked.Adapter)
	}
	if t.Plan != nil {
		p.Line("  the plan was revised: %s", t.Plan.Path)
	}
	p.lineIf(t.Raised != (task.Raise{}), "  the budget was raised by %s", raiseWords(t.Raised))
	p.Line("  latest event %d, %s", t.Event, eventTime(t.UpdatedAt))
	p.lineIf(t.Spent.Runs > 0, "  agents: %s", spentWords(t.Spent))
	if open := len(t.OpenRuns()); open > 0 {
		words := textutil.Count(open, "run") + " under way, or cut short"
		if t.Status == task.Open {
			words += ": " + continuing(t.TaskID, t.Branch != nil) + " goes on"
		}
		p.Line("  %s", words)
	}
	p.lineIf(t.Phase != "" && t.Status == task.Open, "  phase %s is done", t.Phase)
	if t.Stop != nil {
		p.Line("  %s in round %d by %s: %s", p.paint(red, "stuck"), t.Stop.Round, t.Stop.By, stopWords(t.Stop.Reason))
	}
	p.lineIf(len(t.Violations) > 0, "  %s against the search-before-write rule not yet routed", textutil.Count(len(t.Violations), "violation"))
	switch {
	case t.Overrides > 0 && t.Forced == nil:
		p.Line("  %s before it was imported", p.paint(red, textutil.Count(t.Overrides, "forced gate")))
	case t.Forced != nil:
		p.Line("  %s, last %s in round %d by %s: %s", p.paint(red, textutil.Count(t.Overrides, "forced gate")), t.Forced.Phase, t.Forced.Round, t.Forced.By, t.Forced.Reason)
	}
}

// notCommitted is about a task whose commit was decided, and could not be made yet.
const notCommitted = "decided, not yet committed"

func lacksCommit(t api.TaskStatus) bool { return task.Next(t.State).Kind == task.StepCommit }

// policyUses prints the policies that decided a task's rounds: in one line if there is only
// one, and in red lines if there are several.
func (p *Printer) policyUses(uses []api.PolicyUse) {
	switch len(uses) {
	case 0:
		return
	case 1:
		p.Line("  decided by %s", policyID(uses[0].Policy))
		return
	}
	words := fmt.Sprintf("%d policies", len(uses))
	if len(uses) == api.MaxPolicyUses {
		words += " or more"
	}
	p.Line("  %s decided it:", p.paint(red, words))
	for _, u := range uses {
		p.Line("    %s  rounds %d to %d, %s", policyID(u.Policy), u.FirstRound, u.LastRound, textutil.Count(u.Decisions, "decision"))
	}
}

// RoundOf returns a round and the task's caps in words. A cap is 0 if it is not known.
func RoundOf(round, maxRounds, hardCap int) string {
	past := textutil.PastCap(round, maxRounds, hardCap)
	switch {
	case maxRounds == 0:
		return strconv.Itoa(round)
	case past != "":
		return fmt.Sprintf("%d, %s", round, past)
	default:
		return fmt.Sprintf("%d of %d", round, maxRounds)
	}
}

// roundCell is RoundOf for a table.
func roundCell(round, maxRounds int) string {
	switch {
	case maxRounds == 0:
		return strconv.Itoa(round)
	case round > maxRounds:
		return fmt.Sprintf("%d (cap %d)", round, maxRounds)
	default:
		return fmt.Sprintf("%d/%d", round, maxRounds)
	}
}

// roundOfDecision is RoundOf of a decision. Only a policy with a bar knows the hard cap.
func roundOfDecision(d api.Decision) string {
	hardCap := 0
	if d.Input.Facts != nil {
		hardCap = d.Input.HardCap
	}
	return RoundOf(d.Round, d.MaxRounds, hardCap)
}

// TaskList is the JSON output of status without a task.
type TaskList struct {
	Tasks []api.TaskStatus `json:"tasks"`
	// Omitted is the number of tasks that --limit omits.
	Omitted int `json:"omitted,omitzero"`
	// Policy is the active policy, nil before the project's first decision.
	Policy *api.Adopted `json:"policy"`
	// Total is the number of tasks of the project.
	Total int `json:"-"`
}

// TaskList prints tasks and the active policy.
func (p *Printer) TaskList(l TaskList) {
	switch {
	case l.Total == 0:
		p.Line("no tasks yet")
	case len(l.Tasks) == 0:
		p.Line("none of %s", textutil.Count(l.Total, "task"))
	default:
		p.tasks(l.Tasks)
	}
	p.lineIf(l.Omitted > 0, "… and %s that changed earlier", textutil.Count(l.Omitted, "task"))
	if l.Policy != nil {
		p.Line("policy %s, adopted %s by %s", policyID(l.Policy.Policy), eventTime(l.Policy.At), l.Policy.By)
	}
}

// tasks prints tasks. The ones that wait for a person come first.
func (p *Printer) tasks(tasks []api.TaskStatus) {
	header := []string{"TASK", "STATUS", "ROUND", "WENT TO", "REASON", "FINDINGS", "POLICY", "UPDATED"}
	forced := slices.ContainsFunc(tasks, func(t api.TaskStatus) bool { return t.Overrides > 0 })
	if forced {
		header = append(header, "FORCED")
	}
	rows := newTable(header...)
	for _, status := range []task.Status{task.Stuck, task.Waiting, task.Parked, task.Merging, task.Open, task.Committed} {
		for i := range tasks {
			if tasks[i].Status == status {
				rows.add(taskRow(&tasks[i], forced)...)
			}
		}
	}
	p.table(rows)
}

func versions(uses []api.PolicyUse) cell {
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = u.Policy.Version
	}
	color := plain
	if len(names) > 1 {
		color = red
	}
	return cell{orDash(strings.Join(names, ", ")), color}
}

// taskRow returns a task's row, with a column for its forced gates if forced is set.
func taskRow(t *api.TaskStatus, forced bool) []any {
	to, reason, findings := "-", "-", "-"
	last := t.Last
	atStuck := last != nil && task.IsStuckDestination(last.NextAction, last.DestinationKind)
	switch {
	case t.Stop != nil: // A person stopped it, not a decision, if the decision went elsewhere.
		to, reason, findings = string(task.Stuck), t.Stop.Reason, strconv.Itoa(t.Stop.FindingCount)
		if atStuck {
			to = last.NextAction
		}
	case t.Parked != nil:
		to, reason = string(task.Parked), "until "+eventTime(t.Parked.Until)
	case last != nil && t.Status == task.Open && atStuck:
		reason = "resumed"
	case last != nil:
		to, reason, findings = last.NextAction, last.Reason, strconv.Itoa(last.FindingCount)
		if lacksCommit(*t) {
			reason = notCommitted
		}
	}
	row := []any{
		t.TaskID, cell{string(t.Status), statusColors[t.Status]}, roundCell(t.Round, t.MaxRounds),
		action(to), reason, findings, versions(t.Policies), dimmed(eventTime(t.UpdatedAt)),
	}
	if forced {
		times := ""
		if t.Overrides > 0 {
			times = textutil.Count(t.Overrides, "gate")
		}
		row = append(row, cell{times, red})
	}
	return row
}

func (p *Printer) questions(all []task.Question) {
	for _, q := range all {
		p.Question(q)
	}
}

// Question prints a question with its choices.
func (p *Printer) Question(q task.Question) {
	p.Line("")
	p.Line("%s  %s", p.paint(yellow, "question "+q.Fingerprint), q.Text)
	for i, choice := range q.Choices {
		p.Line("  %d  %s", i+1, choice)
	}
	p.lineIf(q.Default != "", "  default: %s", q.Default)
	p.lineIf(q.ExpiresAt != "", "  until %s", eventTime(q.ExpiresAt))
}

func (p *Printer) answers(answers []task.Answer) {
	for _, a := range answers {
		p.Line("")
		p.Line("%s  %s, by %s", p.paint(green, "answer "+a.Fingerprint), a.Text, a.By)
	}
}

func (p *Printer) verification(v api.Verification) {
	how := v.Command
	if v.Claimed {
		how = "as the caller says"
	}
	if v.Runs > 1 {
		how += fmt.Sprintf(" (%d runs)", v.Runs)
	}
	switch {
	case v.End == string(supervise.TimedOut):
		how += ", ended because it took too long"
	case v.End == string(supervise.OutputLimit):
		how += ", ended because it wrote too much"
	case v.Signal != "":
		how += ", ended by " + v.Signal
	case v.ExitCode != nil:
		how += fmt.Sprintf(", exit code %d", *v.ExitCode)
	}
	p.Line("verification is %s: %s", p.paint(verifyColors[v.Outcome], string(v.Outcome)), how)
	p.lineIf(v.Output != "", "  output: %s (%s)", v.Output, Size(v.OutputBytes))
	if v.Outcome == routing.Red && v.Excerpt != "" {
		p.block(v.Excerpt)
	}
}

// DraftResult prints the result of a draft.
func (p *Printer) DraftResult(d api.DraftResult) {
	if d.Decision != nil {
		p.Decision(*d.Decision)
		return
	}
	p.status(d.TaskStatus)
	p.verification(d.Verification)
}

// Attestation prints the attestation of a run.
func (p *Printer) Attestation(a api.AttestationResult) {
	p.lineIf(a.Recorded == nil, "nothing to do: this run was attested before")
	s := a.Attestation
	p.Line("%s attested in round %d of %s: %s, %s, %d credited", s.Agent, s.Round, a.TaskID,
		textutil.Count(s.ToolUses, "tool use"), textutil.Count(s.SearchCalls, "search call"), s.Credited)
	p.lineIf(s.Violation != "", "  %s: it is a finding of the next decision", p.paint(red, string(s.Violation)))
}

// AttestationList is the JSON output of audit --list.
type AttestationList struct {
	Stamps []api.AttestationEntry `json:"stamps"`
}

// Attestations lists the attestations of a task.
func (p *Printer) Attestations(l AttestationList) {
	p.lineIf(len(l.Stamps) == 0, "no attestations")
	rows := newTable("ROUND", "AGENT", "SOURCE", "BY", "TOOLS", "SEARCHES", "VIOLATION", "AT")
	for _, s := range l.Stamps {
		rows.add(s.Round, s.Agent, s.Source, s.By, s.ToolUses, s.Credited, orDash(string(s.Violation)), dimmed(eventTime(s.At)))
	}
	p.table(rows)
}

// stopWords returns the reason of a stop, with a sentence if an agent that edits caused it.
func stopWords(reason string) string {
	for _, role := range []task.Role{task.RoleExecutor, task.RoleFixer} {
		if why, ok := strings.CutPrefix(reason, string(role)+"-"); ok && outcome.Reason(why).Message() != "" {
			return reason + ": " + outcome.Reason(why).Message()
		}
	}
	return reason
}
