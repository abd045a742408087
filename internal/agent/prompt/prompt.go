// Package prompt writes what agents are told: the prompts of the critic and the
// researchers, from a template that a project may replace, and the file with which a
// round's findings go to whoever fixes them (docs/agents.md).
//
// Much of what a prompt tells comes from models and files: findings, names of files,
// the output of a verification. It must be read and not obeyed. Such a text stands in
// a prompt only as a JSON string, or behind a bar at the start of every line, with
// all that is invisible written out. So no line begins with it: it can close no
// block, and it cannot pass for a heading, for a line of the head or for the divider
// below the agent's own instructions. A template gets its fields in that form and
// cannot get them otherwise.
//
// Its functions do no I/O but to read a template, and are safe for concurrent use.
package prompt

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// maxPrompt is the largest prompt, in bytes.
const maxPrompt = 4 << 20

// Module is a part of the critic's instructions: one surface of the review. Its text
// is the project's own word, or ours, and stands in the prompt as it is.
type Module struct {
	Name string
	Text string
}

// Critic is what a prompt tells the critic. Paths are absolute or relative to where
// the agent starts.
type Critic struct {
	// Task, RunID and ReportPath stand in the head, as they are. RunID may be "".
	Task       string
	RunID      string
	ReportPath string
	// Round counts from 1, up to MaxRounds.
	Round, MaxRounds int
	// Modules are the surfaces, in their order; ModuleNames has their names.
	Modules []Module
	// Prompt is what the task is, in its author's words, "" if that is not known.
	Prompt string
	// Plan, Diff and Verification are the paths of files, "" where there is none.
	Plan, Diff, Verification string
	// DiffEmpty says that there is nothing in Diff.
	DiffEmpty bool
	// VerificationOutcome is green, red or absent.
	VerificationOutcome string
	// Files are the paths of more files to read first, in their order.
	Files []string
	// Previous are the findings of the review before, a line each.
	Previous []string
	Economy  Economy
	// Note says why the attempt before this one failed, "" where it is the first.
	Note string
}

// Researcher is what a prompt tells one of several researchers.
type Researcher struct {
	// Prompt is what the task is, in its author's words, "" if that is not known.
	Prompt string
	// Task and RunID stand in the head, as they are. RunID may be "".
	Task  string
	RunID string
	// Round counts from 1.
	Round int
	// Index is the researcher's own, from 0, of K.
	Index, K int
	// Nudge is the method that sets this researcher apart from the others. It is our
	// own text and stands in the prompt as it is.
	Nudge string
	// Question is what is to be found out.
	Question string
	// Findings are those that led to the question, a line each.
	Findings []string
	// Files are the paths of files to read first, in their order.
	Files []string
	// Note says why the attempt before this one failed, "" where it is the first.
	Note string
}

// RenderCritic writes the critic's prompt with the template
// .switchyard/prompts/critic.md below root, or with ours where there is none. The
// head with task_id, round, max_rounds, run_id and report_path is no matter of the
// template: it always comes first, a line each.
//
// # Errors
//
// prompt-template-invalid for a template that cannot be read or understood, or that leaves out a
// field without which there is no review, with its path and line. prompt-value-invalid for a
// value of the head that is empty or has a line break or something invisible in it.
// prompt-too-large.
func RenderCritic(root string, c Critic) (string, error) {
	head := []line{
		{"task_id", c.Task}, {"round", strconv.Itoa(c.Round)}, {"max_rounds", strconv.Itoa(c.MaxRounds)},
		{"run_id", c.RunID}, {"report_path", c.ReportPath},
	}
	return render(root, "critic", head, values{
		"task_id":              quote(c.Task),
		"round":                strconv.Itoa(c.Round),
		"max_rounds":           strconv.Itoa(c.MaxRounds),
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
		"economy":              c.Economy.bar(),
		"note":                 quoted(c.Note),
	}, "modules")
}

// RenderResearcher writes a researcher's prompt with the template
// .switchyard/prompts/researcher.md below root, or with ours where there is none. Its
// head has task_id, round and run_id.
//
// # Errors
//
// As those of RenderCritic.
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
		"files":    list(r.Files),
		"note":     quoted(r.Note),
	}, "question", "nudge")
}

// said is a field that a section asks about.
func said(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// line is a line of the head.
type line struct{ name, value string }

// render puts the head before what the template makes of the fields. needed are the
// fields that a template must have.
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
