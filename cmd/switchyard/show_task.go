package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// task shows one task.
func (p *page) task(t host.TaskDetail) {
	p.standing(t.TaskStatus)
	if t.Questions != nil {
		p.questions(t.TaskID, t.Questions.Open)
		p.answers(t.Questions.Answers)
	}
	if len(t.Findings) > 0 {
		p.line("")
		p.findings(t.Findings)
	}
	p.next(afterStatus(t.TaskStatus, t.Handoff))
}

// maxPromptShown is how much of a task's text a page shows, in code points.
const maxPromptShown = 100

// standing says where a task stands and why.
func (p *page) standing(t host.TaskStatus) {
	p.line("%s  %s, round %s", p.paint(statusColor(t.Status), string(t.Status)), t.TaskID, rounds(t))
	switch last := t.Last; {
	case last == nil:
		p.line("  no round is decided yet")
	case last.Reviewed:
		p.line("  round %d went to %s (%s) with %s, %s", last.Round, last.NextAction, last.Reason, plural(last.FindingCount, "finding"), when(t.DecidedAt))
	default:
		p.line("  round %d went to %s (%s) without a review, %s", last.Round, last.NextAction, last.Reason, when(t.DecidedAt))
	}
	if t.Prompt != "" {
		p.line("  task: %s", short(strings.Join(strings.Fields(t.Prompt), " "), maxPromptShown))
	}
	p.uses(t.Policies)
	if t.Base != "" {
		p.line("  compared with commit %.12s", t.Base)
	}
	p.line("  newest event %d, %s", t.Event, when(t.UpdatedAt))
	if words := spentWords(t.State); words != "" {
		p.line("  agents: %s", words)
	}
	if open := len(t.Open()); open > 0 {
		p.line("  %s under way, or cut short: switchyard round %s goes on", plural(open, "run"), t.TaskID)
	}
	if t.Phase != "" && t.Status == task.Open {
		p.line("  phase %s is done", t.Phase)
	}
	if t.Stop != nil {
		p.line("  %s in round %d by %s: %s", p.paint(red, "stuck"), t.Stop.Round, t.Stop.By, t.Stop.Reason)
	}
	if n := len(t.Violations); n > 0 {
		p.line("  %s against rule 9 not yet routed", plural(n, "violation"))
	}
	switch {
	case t.Overrides > 0 && t.Forced == nil:
		p.line("  %s before it was imported", p.paint(red, plural(t.Overrides, "forced gate")))
	case t.Forced != nil:
		p.line("  %s, last %s in round %d by %s: %s", p.paint(red, plural(t.Overrides, "forced gate")), t.Forced.Phase, t.Forced.Round, t.Forced.By, t.Forced.Reason)
	}
}

// uses says which policies decided a task's rounds: in one line where it was one
// policy all the time, and in red lines where it was not.
func (p *page) uses(uses []host.PolicyUse) {
	switch len(uses) {
	case 0:
		return
	case 1:
		p.line("  decided by %s", policyShort(uses[0].Policy))
		return
	}
	words := fmt.Sprintf("%d policies", len(uses))
	if len(uses) == host.MaxUses {
		words += " or more"
	}
	p.line("  %s decided it:", p.paint(red, words))
	for _, u := range uses {
		p.line("    %s  rounds %d to %d, %s", policyShort(u.Policy), u.FirstRound, u.LastRound, plural(u.Decisions, "decision"))
	}
}

// rounds says which round of how many.
func rounds(t host.TaskStatus) string {
	if t.MaxRounds == 0 {
		return strconv.Itoa(t.Round)
	}
	return fmt.Sprintf("%d of %d", t.Round, t.MaxRounds)
}

// tasks shows all tasks, those that need somebody first.
func (p *page) tasks(tasks []host.TaskStatus) {
	header := []string{"TASK", "STATUS", "ROUND", "WENT TO", "REASON", "FINDINGS", "POLICY", "UPDATED"}
	forced := slices.ContainsFunc(tasks, func(t host.TaskStatus) bool { return t.Overrides > 0 })
	if forced {
		header = append(header, "FORCED")
	}
	rows := make([][]cell, 0, len(tasks))
	for _, status := range []task.Status{task.Stuck, task.Waiting, task.Open, task.Committed} {
		for i := range tasks {
			if tasks[i].Status == status {
				rows = append(rows, taskRow(&tasks[i], forced))
			}
		}
	}
	p.table(header, rows)
}

// versions names the policies that decided a task's rounds.
func versions(uses []host.PolicyUse) cell {
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = u.Policy.Version
	}
	switch len(names) {
	case 0:
		return cell{"-", plain}
	case 1:
		return cell{names[0], plain}
	default:
		return cell{strings.Join(names, ", "), red}
	}
}

// taskRow is a task's row, with a column for its forced gates where any task
// has one.
func taskRow(t *host.TaskStatus, forced bool) []cell {
	round := strconv.Itoa(t.Round)
	if t.MaxRounds > 0 {
		round += "/" + strconv.Itoa(t.MaxRounds)
	}
	to, reason, findings := "-", "-", "-"
	if t.Last != nil {
		to, reason, findings = t.Last.NextAction, t.Last.Reason, strconv.Itoa(t.Last.FindingCount)
	}
	if t.Status == task.Open && t.Last != nil && task.Ends(t.Last.NextAction, t.Last.DestinationKind) {
		to, reason, findings = "-", "resumed", "-"
	}
	if t.Stop != nil {
		reason, findings = t.Stop.Reason, strconv.Itoa(t.Stop.FindingCount)
		if t.Last == nil || !task.Ends(t.Last.NextAction, t.Last.DestinationKind) {
			to = string(task.Stuck) // A person put it there, not a decision.
		}
	}
	row := []cell{
		{t.TaskID, plain}, {string(t.Status), statusColor(t.Status)}, {round, plain},
		{to, actionColor(to)}, {reason, plain}, {findings, plain}, versions(t.Policies), {when(t.UpdatedAt), dim},
	}
	if forced {
		times := ""
		if t.Overrides > 0 {
			times = plural(t.Overrides, "gate")
		}
		row = append(row, cell{times, red})
	}
	return row
}

// step shows what a command left of a task.
func (p *page) step(s host.Step) {
	if s.Recorded == nil {
		p.line("nothing to do: this was recorded before")
	}
	p.standing(s.TaskStatus)
	if s.Questions != nil {
		p.questions(s.TaskID, s.Questions.Open)
		p.answers(s.Questions.Answers)
	}
	p.next(afterStatus(s.TaskStatus, nil))
}

// questions shows what waits for the user, and how it is answered where a task
// waits for that.
func (p *page) questions(id string, questions []task.Question) {
	for _, q := range questions {
		p.line("")
		p.line("%s  %s", p.paint(yellow, "question "+q.Fingerprint), q.Text)
		for i, choice := range q.Choices {
			p.line("  %d  %s", i+1, choice)
		}
		if q.Default != "" {
			p.line("  default: %s", q.Default)
		}
		if q.ExpiresAt != "" {
			p.line("  until %s", when(q.ExpiresAt))
		}
		if id == "" {
			continue
		}
		which, how := "", "--text TEXT"
		if len(questions) > 1 {
			which = "--question " + q.Fingerprint + " "
		}
		if len(q.Choices) > 0 {
			how = "--choice N"
		}
		p.line("  answer with: switchyard answer %s %s%s", id, which, how)
	}
}

func (p *page) answers(answers []task.Answer) {
	for _, a := range answers {
		p.line("")
		p.line("%s  %s, by %s", p.paint(green, "answer "+a.Fingerprint), a.Text, a.By)
	}
}

// verification says how a draft was verified.
func (p *page) verification(v host.Verification) {
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
	p.line("verification is %s: %s", p.paint(verifyColor(v.Outcome), string(v.Outcome)), how)
	if v.Output != "" {
		p.line("  output: %s (%s)", v.Output, size(v.OutputBytes))
	}
	if v.Outcome == policies.Red && v.Excerpt != "" {
		p.block(v.Excerpt)
	}
}

func verifyColor(v policies.Verify) string {
	switch v {
	case policies.Green:
		return green
	case policies.Red:
		return red
	default:
		return plain
	}
}

// drafted shows what became of a draft.
func (p *page) drafted(d host.Drafted) {
	if d.Decision != nil {
		p.decision(*d.Decision)
		return
	}
	p.standing(d.TaskStatus)
	p.verification(d.Verification)
}

// audited shows a stamp.
func (p *page) audited(a host.Audited) {
	if a.Recorded == nil {
		p.line("nothing to do: this run was stamped before")
	}
	s := a.Stamp
	p.line("%s stamped in round %d of %s: %s, %s, %d credited", s.Agent, s.Round, a.TaskID,
		plural(s.ToolUses, "tool use"), plural(s.SearchCalls, "search call"), s.Credited)
	if s.Violation != "" {
		p.line("  %s: it is a finding of the next decision", p.paint(red, string(s.Violation)))
	}
}

// stamps lists all stamps of a task.
func (p *page) stamps(stamps []host.StampEntry) {
	if len(stamps) == 0 {
		p.line("no stamps")
		return
	}
	rows := make([][]cell, len(stamps))
	for i, s := range stamps {
		rows[i] = []cell{
			{strconv.Itoa(s.Round), plain}, {s.Agent, plain}, {string(s.Source), plain}, {s.By, plain}, {strconv.Itoa(s.ToolUses), plain},
			{strconv.Itoa(s.Credited), plain}, {cmp.Or(string(s.Violation), "-"), plain}, {when(s.At), dim},
		}
	}
	p.table([]string{"ROUND", "AGENT", "SOURCE", "BY", "TOOLS", "SEARCHES", "VIOLATION", "AT"}, rows)
}
