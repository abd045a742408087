package prompt

import (
	"strconv"
	"strings"
)

// Executor is the data of the prompt of an executor or a build-fixer. Paths are absolute
// or relative to the agent's working directory.
type Executor struct {
	// Task, RunID and Role are in the head, unquoted. RunID may be "". Role is executor
	// or build-fixer.
	Task, RunID, Role string
	// Round counts from 1. It may exceed MaxRounds, the cap, up to the hard cap.
	Round, MaxRounds int
	// Prompt is the task's text, "" if unknown.
	Prompt string
	// Plan is the path of the task's plan, "" for none.
	Plan string
	// Handoff is what Handoff.Markdown returned after the previous round, "" in the
	// first. It is trusted, and stands in the prompt as it is, in place of Prompt and
	// Answers, which it has.
	Handoff string
	Answers []QA
	// Note says how the previous attempt ended, "" for the first.
	Note string
}

// PlanChecker is the data of a plan-checker's prompt. Its fields are as in Executor.
type PlanChecker struct {
	Task, RunID  string
	Round        int
	Prompt, Plan string
	// Findings sent the task to the plan-checker, a line each.
	Findings []string
	// Churn says which fixes caused which findings, a line each, if that sent the task
	// there.
	Churn []string
	Note  string
}

// Assistant is the data of the prompt of an agent that a destination of the policy names.
// Its fields are as in Executor.
type Assistant struct {
	// Role is the name of the destination.
	Task, RunID, Role string
	Round             int
	Prompt            string
	// Findings are those of the review that sent the task there, a line each.
	Findings []string
	Handoff  string
	Note     string
}

// RenderExecutor renders the prompt of an executor or a build-fixer with the template
// .switchyard/prompts/executor.md below root, or with the built-in one. Its head has
// task_id, round, max_rounds, role and run_id.
//
// # Errors
//
// Those of RenderCritic.
func RenderExecutor(root string, e Executor) (string, error) {
	head := []line{
		{"task_id", e.Task}, {"round", strconv.Itoa(e.Round)}, {"max_rounds", strconv.Itoa(e.MaxRounds)},
		{"role", e.Role}, {"run_id", e.RunID},
	}
	return render(root, "executor", head, values{
		"task_id":    quote(e.Task),
		"round":      strconv.Itoa(e.Round),
		"max_rounds": strconv.Itoa(e.MaxRounds),
		"cap":        capWords(e.Round, e.MaxRounds),
		"role":       word(e.Role),
		"prompt":     unless(e.Handoff, barred(e.Prompt)),
		"plan":       quoted(e.Plan),
		"handoff":    strings.TrimSpace(e.Handoff),
		"answers":    unless(e.Handoff, answers(e.Answers)),
		"note":       quoted(e.Note),
	}, "prompt", "handoff")
}

// RenderPlanChecker renders a plan-checker's prompt with the template
// .switchyard/prompts/plan-checker.md below root, or with the built-in one. Its head has
// task_id, round and run_id.
//
// # Errors
//
// Those of RenderCritic.
func RenderPlanChecker(root string, p PlanChecker) (string, error) {
	head := []line{{"task_id", p.Task}, {"round", strconv.Itoa(p.Round)}, {"run_id", p.RunID}}
	return render(root, "plan-checker", head, values{
		"task_id":  quote(p.Task),
		"round":    strconv.Itoa(p.Round),
		"prompt":   strings.TrimRight(barred(p.Prompt), "\n"),
		"plan":     quoted(p.Plan),
		"findings": list(p.Findings),
		"churn":    list(p.Churn),
		"note":     quoted(p.Note),
	}, "prompt", "findings")
}

// RenderAssistant renders the prompt of an agent of a destination with the template
// .switchyard/prompts/assistant.md below root, or with the built-in one. Its head has
// task_id, round, role and run_id.
//
// # Errors
//
// Those of RenderCritic.
func RenderAssistant(root string, a Assistant) (string, error) {
	head := []line{{"task_id", a.Task}, {"round", strconv.Itoa(a.Round)}, {"role", a.Role}, {"run_id", a.RunID}}
	return render(root, "assistant", head, values{
		"task_id":  quote(a.Task),
		"round":    strconv.Itoa(a.Round),
		"role":     word(a.Role),
		"prompt":   unless(a.Handoff, barred(a.Prompt)),
		"findings": list(a.Findings),
		"handoff":  strings.TrimSpace(a.Handoff),
		"note":     quoted(a.Note),
	}, "prompt", "findings")
}

// unless returns a part of a prompt, or "" if there is a handoff, which has it.
func unless(handoff, part string) string {
	if handoff != "" {
		return ""
	}
	return strings.TrimRight(part, "\n")
}
