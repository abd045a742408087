// Package prompt renders the prompts of agents, from templates that a project may replace,
// and the file that passes a round's findings to the agent or person that fixes them
// (docs/agents.md). CommitMessage makes a commit's message of what such an agent said.
//
// Much of a prompt comes from models and files: findings, file names, the output of a
// verification. It must be read but not obeyed. Such a text stands in a prompt only as a
// JSON string, or behind a bar at the start of every line, with invisible characters
// escaped. So it can close no block, and cannot pass for a heading, a line of the head or
// the divider below the agent's instructions. Templates get their fields in that form only.
package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 4 << 20

// Module is a part of the critic's instructions. Its text is trusted, and stands in the
// prompt as it is.
type Module struct {
	Name string
	Text string
}

// Critic is the data of a critic's prompt. Paths are absolute or relative to the agent's
// working directory.
type Critic struct {
	// Task, RunID and ReportPath are in the head, unquoted. RunID may be "".
	Task       string
	RunID      string
	ReportPath string
	// Round counts from 1. It may exceed MaxRounds, the cap, up to the hard cap.
	Round, MaxRounds int
	// Modules are in order; see ModuleNames.
	Modules []Module
	// Prompt is the task's text, "" if unknown.
	Prompt string
	// Plan, Diff and Verification are paths of files, "" for none.
	Plan, Diff, Verification string
	// DiffEmpty says that Diff is empty.
	DiffEmpty bool
	// VerificationOutcome is green, red or absent.
	VerificationOutcome string
	// Files are paths of more files to read first.
	Files []string
	// Previous are the findings of the previous review, a line each.
	Previous []string
	// Contradictions says that the policy routes findings that contradict earlier ones.
	Contradictions bool
	Economy        Economy
	// Note says why the previous attempt failed, "" for the first.
	Note string
}

// Researcher is the data of a researcher's prompt.
type Researcher struct {
	// Prompt is the task's text, "" if unknown.
	Prompt string
	// Task and RunID are in the head, unquoted. RunID may be "".
	Task  string
	RunID string
	// Round counts from 1.
	Round int
	// Index is this researcher's number, from 0, of K.
	Index, K int
	// Nudge is the method that distinguishes this researcher. It is trusted, and stands
	// in the prompt as it is.
	Nudge    string
	Question string
	// Findings led to the question, a line each. Churn is that of PlanChecker.
	Findings, Churn []string
	// Files are paths of files to read first.
	Files []string
	// Note says why the previous attempt failed, "" for the first.
	Note string
}

// RenderCritic renders the critic's prompt with the template
// .switchyard/prompts/critic.md below root, or with the built-in one. The head with
// task_id, round, max_rounds, run_id and report_path, a line each, always comes first and
// is not part of the template.
//
// # Errors
//
// prompt-template-invalid, with path and line, for a template that cannot be read or
// parsed, or lacks a required field. prompt-value-invalid for a value of the head that is
// empty or has a line break or an invisible character. prompt-too-large.
func RenderCritic(root string, c Critic) (string, error) {
	head := []line{
		{"task_id", c.Task}, {"round", strconv.Itoa(c.Round)}, {"max_rounds", strconv.Itoa(c.MaxRounds)},
		{"run_id", c.RunID}, {"report_path", c.ReportPath},
	}
	return render(root, "critic", head, values{
		"task_id":              quote(c.Task),
		"round":                strconv.Itoa(c.Round),
		"max_rounds":           strconv.Itoa(c.MaxRounds),
		"cap":                  capWords(c.Round, c.MaxRounds),
		"modules":              modules(c.Modules),
		"prompt":               barred(c.Prompt),
		"unstated":             said(c.Prompt == "" && c.Plan == ""),
		"plan":                 quoted(c.Plan),
		"diff":                 quoted(c.Diff),
		"diff_empty":           said(c.DiffEmpty),
		"verification":         quoted(c.Verification),
		"verification_outcome": quoted(c.VerificationOutcome),
		"files":                list(c.Files),
		"previous":             list(c.Previous),
		"contradictions":       said(c.Contradictions),
		"economy":              c.Economy.bar(),
		"note":                 quoted(c.Note),
	}, "modules")
}

// RenderResearcher renders a researcher's prompt with the template
// .switchyard/prompts/researcher.md below root, or with the built-in one. Its head has
// task_id, round and run_id.
//
// # Errors
//
// Those of RenderCritic.
func RenderResearcher(root string, r Researcher) (string, error) {
	head := []line{{"task_id", r.Task}, {"round", strconv.Itoa(r.Round)}, {"run_id", r.RunID}}
	return render(root, "researcher", head, values{
		"task_id":  quote(r.Task),
		"round":    strconv.Itoa(r.Round),
		"index":    strconv.Itoa(r.Index + 1),
		"k":        strconv.Itoa(r.K),
		"nudge":    r.Nudge,
		"prompt":   barred(r.Prompt),
		"question": quoted(r.Question),
		"findings": list(r.Findings),
		"churn":    list(r.Churn),
		"files":    list(r.Files),
		"note":     quoted(r.Note),
	}, "question", "nudge")
}

// capWords compares a round with the cap.
func capWords(round, maxRounds int) string {
	return cmp.Or(textutil.PastCap(round, maxRounds, 0), fmt.Sprintf("with a cap of %d", maxRounds)) + " rounds"
}

// said is a field that turns a section on.
func said(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// line is a line of the head.
type line struct{ name, value string }

// render writes the head and the filled template. needed are the fields that a template
// must have.
func render(root, name string, head []line, fields values, needed ...string) (string, error) {
	t, err := load(root, name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, l := range head {
		if l.value == "" && l.name == "run_id" {
			continue
		}
		if l.value == "" || !visible(l.value) {
			return "", errs.New(errs.PromptValueInvalid, "%s is %s; it must be one line of text", l.name, quote(l.value)).With("field", l.name)
		}
		b.WriteString(l.name + ": " + l.value + "\n")
	}
	text, err := t.fill(fields, needed)
	if err != nil {
		return "", err
	}
	b.WriteString("\n" + strings.TrimSpace(text) + "\n")
	if b.Len() > maxPrompt {
		return "", errs.New(errs.PromptTooLarge, "the prompt of the %s would have more than %d bytes", name, maxPrompt).With("limit", maxPrompt)
	}
	return b.String(), nil
}
