// Package prompt renders the prompts of agents, from templates that a project may replace, and
// the file that passes a round's findings to the agent or person that fixes them
// (docs/agents.md). CommitMessage makes a commit's message from the final message of such an
// agent.
//
// Much of a prompt comes from models and files: findings, file names, the output of a
// verification. The agent must read it, but not take it for instructions. Such a text is in a
// prompt only as a JSON string, or behind a bar at the start of every line, with invisible
// characters escaped. So it cannot close a block, or pass for a heading, a line of the head or
// the divider below the agent's instructions. Templates get their fields only in that form.
package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxPrompt bounds a prompt, in bytes.
const maxPrompt = 4 << 20

// Module is a part of the critic's instructions. Its text is trusted, and copied to the prompt
// unchanged.
type Module struct {
	Name string
	Text string
}

// Data has the values of prompts. Each template has the fields of its role; the others may be
// empty. A text may be "" if it is unknown or not needed. Paths are absolute or relative to
// the agent's working directory.
type Data struct {
	// Task, RunID, ReportPath and Role are in the head, unquoted. RunID may be "".
	Task, RunID, ReportPath, Role string
	// Round counts from 1. It may exceed MaxRounds, the cap, up to the hard cap.
	Round, MaxRounds int
	// Prompt is the task's text.
	Prompt string
	// Plan, Diff and Verification are paths of files.
	Plan, Diff, Verification string
	// DiffEmpty is set if the diff is empty.
	DiffEmpty bool
	// VerificationOutcome is green, red or absent.
	VerificationOutcome string
	// Files are paths of more files to read first.
	Files []string
	// Note tells the agent what was wrong with the previous attempt.
	Note string

	// Modules are the critic's modules in order; see ModuleNames.
	Modules []Module
	// Previous are the findings of the previous review, a line each.
	Previous []string
	// Contradictions is set if the policy routes findings that contradict earlier ones.
	Contradictions bool
	Economy        Economy

	// Index is the number of one of K researchers, from 0. Nudge is its method, and copied to
	// the prompt unchanged.
	Index, K        int
	Nudge, Question string

	// Findings are the findings that led the task to the agent, a line each. Churn names the
	// fixes that caused findings, a line each, if they led the task there.
	Findings, Churn []string
	// Handoff is the result of Handoff.Markdown after the previous round. It is trusted, and
	// copied to the prompt unchanged, in place of Prompt and Answers, which it contains.
	Handoff string
	Answers []QA
}

// role describes the prompt of a role.
type role struct {
	head   string // the names of the lines of the head
	fields string // the names of the fields of its template
	needed string // the names of the fields that a template must have
}

// The roles, by the names of their templates.
var roles = map[string]role{
	"critic": {
		"task_id round max_rounds run_id report_path",
		"task_id round max_rounds cap modules prompt unstated plan diff diff_empty verification verification_outcome files previous contradictions economy note",
		"modules",
	},
	"researcher":   {"task_id round run_id", "task_id round index k nudge prompt question findings churn files note", "question nudge"},
	"executor":     {"task_id round max_rounds role run_id", "task_id round max_rounds cap role prompt plan handoff answers note", "prompt handoff"},
	"plan-checker": {"task_id round run_id", "task_id round prompt plan findings churn note", "prompt findings"},
	"assistant":    {"task_id round role run_id", "task_id round role prompt findings handoff note", "prompt findings"},
}

// Render renders the prompt of a role (critic, researcher, executor, plan-checker or
// assistant) with the template .switchyard/prompts/ROLE.md below root, or with the built-in
// one. The head, a line for each value, always comes first and is not part of the template.
//
// # Errors
//
// prompt-template-invalid, with path and line, for a template that cannot be read or
// parsed, or lacks a required field. prompt-value-invalid for a value of the head that is
// empty or has a line break or an invisible character. prompt-too-large.
func Render(root, name string, d Data) (string, error) {
	text, err := fill(root, name, d)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	head := values{
		"task_id": d.Task, "round": strconv.Itoa(d.Round), "max_rounds": strconv.Itoa(d.MaxRounds), "role": d.Role, "run_id": d.RunID, "report_path": d.ReportPath,
	}
	for line := range strings.FieldsSeq(roles[name].head) {
		value := head[line]
		if value == "" && line == "run_id" {
			continue
		}
		if value == "" || !visible(value) {
			return "", errs.New(errs.PromptValueInvalid, "%s is %s; it must be one line of text", line, quote(value)).With("field", line)
		}
		b.WriteString(line + ": " + value + "\n")
	}
	b.WriteString("\n" + strings.TrimSpace(text) + "\n")
	if b.Len() > maxPrompt {
		return "", errs.New(errs.PromptTooLarge, "the prompt of the %s would have more than %d bytes", name, maxPrompt).With("limit", maxPrompt)
	}
	return b.String(), nil
}

// Check fails with prompt-template-invalid if a role's template in the project at root cannot
// be used, so that this is known before an agent is needed.
func Check(root string) error {
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if _, err := fill(root, name, Data{}); err != nil {
			return err
		}
	}
	return nil
}

func fill(root, name string, d Data) (string, error) {
	t, err := load(root, name)
	if err != nil {
		return "", err
	}
	return t.fill(d.fields(strings.Fields(roles[name].fields)), strings.Fields(roles[name].needed))
}

func (d Data) fields(names []string) values {
	prompt, asked := strings.TrimRight(withBars(d.Prompt), "\n"), answers(d.Answers)
	if d.Handoff != "" {
		prompt, asked = "", ""
	}
	all := values{
		"task_id":              quote(d.Task),
		"round":                strconv.Itoa(d.Round),
		"max_rounds":           strconv.Itoa(d.MaxRounds),
		"cap":                  capWords(d.Round, d.MaxRounds),
		"role":                 word(d.Role),
		"prompt":               prompt,
		"unstated":             flag(d.Prompt == "" && d.Plan == ""),
		"plan":                 quoteUnlessEmpty(d.Plan),
		"diff":                 quoteUnlessEmpty(d.Diff),
		"diff_empty":           flag(d.DiffEmpty),
		"verification":         quoteUnlessEmpty(d.Verification),
		"verification_outcome": quoteUnlessEmpty(d.VerificationOutcome),
		"files":                list(d.Files),
		"note":                 quoteUnlessEmpty(d.Note),
		"modules":              modules(d.Modules),
		"previous":             list(d.Previous),
		"contradictions":       flag(d.Contradictions),
		"economy":              d.Economy.bar(),
		"index":                strconv.Itoa(d.Index + 1),
		"k":                    strconv.Itoa(d.K),
		"nudge":                d.Nudge,
		"question":             quoteUnlessEmpty(d.Question),
		"findings":             list(d.Findings),
		"churn":                list(d.Churn),
		"handoff":              strings.TrimSpace(d.Handoff),
		"answers":              asked,
	}
	maps.DeleteFunc(all, func(name, _ string) bool { return !slices.Contains(names, name) })
	return all
}

func capWords(round, maxRounds int) string {
	return cmp.Or(textutil.PastCap(round, maxRounds, 0), fmt.Sprintf("with a cap of %d", maxRounds)) + " rounds"
}

// flag returns a field that turns a section on.
func flag(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
