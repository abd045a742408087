package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RunEvent prints an event of a run in one line, or in one for each question. If several
// tasks run, the line names its task.
func (p *Printer) RunEvent(e api.RunEvent, several bool) {
	line := func(color, word, format string, args ...any) {
		name := ""
		if several {
			name = textutil.Line(e.TaskID) + "  "
		}
		text := textutil.Line(fmt.Sprintf(format, args...))
		p.Line("%s", styledText(strings.TrimRight(fmt.Sprintf("%s%s  %s", name, p.paint(color, word), text), " ")))
	}
	switch e.Event {
	case api.RunStarted, api.RunResumed:
		where := ""
		if e.Branch != nil {
			where = fmt.Sprintf("on %s in %s", e.Branch.Name, e.Branch.Worktree)
		}
		line(plain, string(e.Event), "%s", where)
	case api.RunAgent:
		line(plain, "agent", "%s", agentWords(*e.Agent))
	case api.RunDecided:
		d := e.Decision
		line(actionColor(d.NextAction), d.NextAction, "round %s, because %s", roundOfDecision(d.Decision), roundWords(*d))
	case api.RunAsked:
		for _, q := range e.Questions {
			line(yellow, "question", "%s", q.Text)
		}
	case api.RunParked:
		line(yellow, "parked", "until %s", eventTime(e.Until))
	case api.RunCommitted:
		line(green, "committed", "%s", commitWords(e.Commit, e.Subject))
	case api.RunMerged:
		line(mergeColor(*e.Merge), string(e.Merge.Outcome), "%s", mergeWords(*e.Merge))
	case api.RunPushed:
		line(plain, "pushed", "to %s", e.Message)
	default:
		line(plain, string(e.Event), "%s", e.Message)
	}
}

// roundWords returns the reason of a round's result.
func roundWords(v api.RoundResult) string {
	if v.ManualFallback != nil {
		return "no agent could be run here: " + strings.Join(v.ManualFallback.Failures, "; ")
	}
	words := because(v.Decision)
	if v.NextAction == routing.Commit { // What was not checked must not go unnoticed.
		if v.Verification == nil {
			words += "; verification: none"
		}
		if lacksCritic(v.Decision) {
			words += "; critic: none"
		}
	}
	if v.Bar.Above(routing.BarAll) {
		words += "; " + barWords(string(v.Bar), v.BarSince) + ": " + deferredWords(len(v.Deferred))
	}
	return words
}

func agentWords(s api.SpawnSummary) string {
	words := []string{fmt.Sprintf("%s (%s) %s after %s", s.Agent, s.Adapter, s.Outcome, seconds(s.DurationMS))}
	if s.Reason != "" && string(s.Reason) != string(s.Outcome) {
		words = append(words, string(s.Reason))
	}
	if tokens := tokenCount(s); tokens != unknown {
		words = append(words, "tokens "+tokens)
	}
	if s.CostMicroDollars != nil {
		words = append(words, dollars(s.CostMicroDollars))
	}
	return strings.Join(words, ", ")
}

func mergeColor(m task.Merge) string {
	if m.Outcome == task.Merged {
		return green
	}
	return red
}

func mergeWords(m task.Merge) string {
	if m.Outcome == task.Merged {
		return fmt.Sprintf("into %s as %.12s", m.Into, m.Commit)
	}
	return fmt.Sprintf("%s is as it was", m.Into)
}

// RunDecision prints a round's decision with its findings, for a terminal. The questions
// follow when they are asked.
func (p *Printer) RunDecision(d api.Decision) {
	d.Questions = nil
	p.decision(d)
}

// RunResult prints the result of a run, and the commands to type next.
func (p *Printer) RunResult(r api.RunResult) {
	p.Line("%s  %s, round %s", p.paint(actionColor(r.NextAction), r.NextAction), r.TaskID, RoundOf(max(r.Round, 1), r.MaxRounds, 0))
	p.lineIf(r.NextAction == api.ActionStuck, "  because %s", stopWords(r.Reason))
	p.lineIf(r.Until != "", "  until %s, when the usage limit of an agent ends", eventTime(r.Until))
	p.lineIf(r.Commit != "", "  commit %s", commitWords(r.Commit, r.Subject))
	p.branch(r.Branch, r.Merge)
	p.lineIf(r.Spent.Runs > 0, "  agents: %s", spentWords(r.Spent))
	p.questions(r.Questions)
	p.next(afterRun(r))
}

// RunEnded prints the result of one of several tasks in one line.
func (p *Printer) RunEnded(r api.RunResult) {
	p.Line("%s  ended  %s, %s", r.TaskID, p.paint(actionColor(r.NextAction), r.NextAction), taskNext(r))
}

// commitWords returns a commit with its subject, which may be "".
func commitWords(sha, subject string) string {
	return strings.TrimRight(fmt.Sprintf("%.12s  %s", sha, subject), " ")
}

// branch prints a task's branch and its merge. A merged branch is removed.
func (p *Printer) branch(b *task.Branch, m *task.Merge) {
	if b != nil && (m == nil || m.Outcome != task.Merged) {
		p.Line("  branch %s, in %s", b.Name, b.Worktree)
	}
	switch {
	case m == nil:
	case m.Outcome == "":
		p.Line("  a merge into %s has begun", m.Into)
	default:
		p.Line("  %s  %s", p.paint(mergeColor(*m), string(m.Outcome)), mergeWords(*m))
	}
}

func afterRun(r api.RunResult) step {
	again := continuing(r.TaskID, true)
	if r.Verify != "" {
		command := ShellQuote(r.Verify)
		if textutil.Line(command) != command { // Shown in one line, it would be another command.
			command = "CMD"
		}
		again += " --verify-cmd " + command
	}
	switch r.NextAction {
	case routing.Commit:
		if r.Branch == nil || r.Merge != nil {
			return step{}
		}
		s := step{now: "git merge --ff-only " + r.Branch.Name}
		if r.Branch.Onto != "" { // Another task may have been merged meanwhile.
			s.then = "or, if its base has changed: " + again + " --merge"
		}
		return s
	case "askuser":
		return whenAsked(r.TaskID, r.Questions, again)
	case api.ActionStuck:
		if r.Merge != nil && r.Reason == string(r.Merge.Outcome) {
			return whenUnmerged(again, r.Branch, *r.Merge)
		}
		s := whenStuck(r.TaskID)
		s.then += "; then " + again
		return s
	case api.ActionParked:
		return step{now: again + " --wait"}
	case api.ActionManualFallback:
		return step{"switchyard explain " + r.TaskID + " shows which agent failed", again}
	case api.ActionFailed:
		return step{now: again}
	default:
		return step{}
	}
}

// whenUnmerged returns the step for a merge that failed. again is the command that continues the
// task.
func whenUnmerged(again string, b *task.Branch, m task.Merge) step {
	now := "resolve the conflict"
	if m.Outcome == task.MergeRed {
		now = "find out what fails with both changes"
	}
	return step{
		fmt.Sprintf("%s in a checkout of %s: git merge %s", now, m.Into, b.Name),
		fmt.Sprintf("or, once %s has changed: %s --merge", m.Into, again),
	}
}

// RunTable prints the results of several tasks.
func (p *Printer) RunTable(results []api.RunResult) {
	rows := newTable("TASK", "RESULT", "ROUND", "TIME", "TOKENS", "COST", "NEXT")
	for _, r := range results {
		round, took, tokens, cost := "-", "-", "-", "-"
		if r.MaxRounds > 0 {
			round, took = roundCell(r.Round, r.MaxRounds), seconds(r.Spent.Task.Millis)
		}
		if r.Spent.Task.Tokens > 0 {
			tokens = fmt.Sprint(r.Spent.Task.Tokens)
		}
		if r.Spent.Task.MicroDollars > 0 {
			cost = dollars(&r.Spent.Task.MicroDollars)
		}
		rows.add(r.TaskID, action(r.NextAction), round, took, tokens, cost, taskNext(r))
	}
	p.list(rows)
}

// taskNext returns the result of a task, or its next step, in a few words.
func taskNext(r api.RunResult) string {
	switch {
	case r.Error != nil:
		return fmt.Sprintf("%s [%s]", r.Error.Message, r.Error.Code)
	case r.NextAction == api.ActionBlocked:
		return r.Reason
	case r.NextAction == routing.Commit && r.Merge != nil:
		return mergeWords(*r.Merge)
	case r.NextAction == routing.Commit:
		return commitWords(r.Commit, r.Subject)
	case r.NextAction == api.ActionStuck:
		return cmp.Or(r.Reason, "stuck") + ": switchyard explain " + r.TaskID
	case r.NextAction == api.ActionParked:
		return "until " + eventTime(r.Until)
	default:
		return strings.TrimPrefix(afterRun(r).now, "answer the question: ")
	}
}
