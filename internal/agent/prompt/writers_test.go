package prompt_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func executor() prompt.Data {
	return prompt.Data{
		Task: "T-1", RunID: "r-9", Role: "build-fixer", Round: 2, MaxRounds: 3, Prompt: "# Queue\nAdd a queue.", Plan: "docs/plan.md",
		Handoff: handoff().Markdown(), Answers: []prompt.QA{{"How \"long\"?", "a year"}, {"Which?", "both"}}, Note: "it changed nothing",
	}
}

func planChecker() prompt.Data {
	return prompt.Data{
		Task: "T-1", RunID: "r-9", Round: 2, Prompt: "Add a queue.", Plan: "docs/plan.md", Findings: []string{"infrastructure-mismatch fail - there is no broker"}, Note: "no JSON",
	}
}

func assistant() prompt.Data {
	return prompt.Data{
		Task: "T-1", RunID: "r-9", Role: "security", Round: 2, Prompt: "Add a queue.", Findings: []string{"injection fail a.go:3 escape it"}, Handoff: handoff().Markdown(), Note: "timeout",
	}
}

// renderers render each new role's prompt, with a text in all of its foreign fields if
// that is not "".
func renderers(text string) map[string]func(root string) (string, error) {
	e, p, a := executor(), planChecker(), assistant()
	if text != "" {
		e.Plan, e.Note, e.Handoff, e.Answers = text, text, "", []prompt.QA{{text, text}}
		p.Plan, p.Note, p.Findings, p.Churn = text, text, []string{text}, []string{text}
		a.Note, a.Findings = text, []string{text, text}
	}
	return map[string]func(root string) (string, error){
		"executor":     func(root string) (string, error) { return prompt.Render(root, "executor", e) },
		"plan-checker": func(root string) (string, error) { return prompt.Render(root, "plan-checker", p) },
		"assistant":    func(root string) (string, error) { return prompt.Render(root, "assistant", a) },
	}
}

// below returns a prompt from its first section on.
func below(text string) string {
	_, text, _ = strings.Cut(text, "\n## ")
	return "## " + text
}

func TestExecutorPrompt(t *testing.T) {
	text, err := prompt.Render("", "executor", executor())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text, "task_id: T-1\nround: 2\nmax_rounds: 3\nrole: build-fixer\nrun_id: r-9\n\n# Draft for this round\n\nYou are build-fixer for task \"T-1\" in round 2, with a cap of 3 rounds.") {
		t.Errorf("it begins\n%.300s", text)
	}
	want := `## An earlier attempt

"it changed nothing"

The working tree is as that attempt left it. Continue there, and avoid what went wrong.

## The plan

The task's plan, with its acceptance criteria, is in "docs/plan.md". Read it first.

` + handoff().Markdown()
	if got := below(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e := executor()
	e.Handoff, e.Plan, e.Note = "", "", ""
	first, err := prompt.Render("", "executor", e)
	want = `## The task

This is what the author of the task asks for.

| # Queue
| Add a queue.

## Answers of the user

The user decided these questions. Follow the answers.

- question: "How \"long\"?"; answer: "a year"
- question: "Which?"; answer: "both"
`
	if err != nil || below(first) != want {
		t.Errorf("the first is\n%s\n%v", below(first), err)
	}
}

func TestPlanCheckerPrompt(t *testing.T) {
	text, err := prompt.Render("", "plan-checker", planChecker())
	if err != nil || !strings.HasPrefix(text, "task_id: T-1\nround: 2\nrun_id: r-9\n\n# Check the plan\n\nThe review of task \"T-1\" in round 2 ") {
		t.Errorf("it begins\n%.300s\n%v", text, err)
	}
	const want = `## Your last attempt was not accepted

"no JSON"

Avoid that.

## The task

This is what the author of the task asks for. The plan has to do all of it.

| Add a queue.

## The plan

The plan is in "docs/plan.md". Read it first.

## Findings that led here

- "infrastructure-mismatch fail - there is no broker"
`
	if got := below(text); got != want {
		t.Errorf("got\n%s", got)
	}
	p := planChecker()
	p.Plan, p.Note = "", ""
	if text, err := prompt.Render("", "plan-checker", p); err != nil || strings.Contains(text, "## The plan") || strings.Contains(text, "last attempt") {
		t.Errorf("without a plan\n%s\n%v", text, err)
	}
	p.Churn = []string{"to be fixed before round 2: style a.go:1, now fixed", "caused by that, in round 2: fail style a.go:2: x"}
	text, err = prompt.Render("", "plan-checker", p)
	if err != nil || !strings.Contains(text, "\n\n## Fixes cause the findings\n\nThe fixes caused all failures of the last reviews") || !strings.HasSuffix(text, "\n\n- \""+strings.Join(p.Churn, "\"\n- \"")+"\"\n") {
		t.Errorf("with churn\n%s\n%v", text, err)
	}
}

func TestAssistantPrompt(t *testing.T) {
	text, err := prompt.Render("", "assistant", assistant())
	if err != nil || !strings.HasPrefix(text, "task_id: T-1\nround: 2\nrole: security\nrun_id: r-9\n\n# Assist in this round\n\nYou are security for task \"T-1\" in round 2.") {
		t.Errorf("it begins\n%.300s\n%v", text, err)
	}
	want := `## An earlier attempt

"timeout"

Avoid what went wrong.

## Findings that led here

- "injection fail a.go:3 escape it"

` + handoff().Markdown()
	if got := below(text); got != want {
		t.Errorf("got\n%s", got)
	}
	a := assistant()
	a.Role = "My Agent"
	if text, err := prompt.Render("", "assistant", a); err != nil || !strings.Contains(text, "role: My Agent\n") || !strings.Contains(text, "You are \"My Agent\" for") {
		t.Errorf("a name that is no slug\n%.300s\n%v", text, err)
	}
}

// TestTemplatesOfWritersCanBeReplaced: each needs the fields without which the agent
// cannot work, and the head stays.
func TestTemplatesOfWritersCanBeReplaced(t *testing.T) {
	for name, c := range map[string]struct{ template, without string }{
		"executor":     {"mine {{prompt}} {{handoff}}", "{{prompt}}"},
		"plan-checker": {"mine {{prompt}} {{findings}}", "{{prompt}}"},
		"assistant":    {"mine {{prompt}} {{findings}}", "{{findings}}"},
	} {
		render := renderers("")[name]
		if text, err := render(templated(t, name+".md", c.template)); err != nil || !strings.HasPrefix(text, "task_id: T-1\nround: 2\n") || !strings.Contains(text, "\n\nmine ") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if text, err := render(templated(t, name+".md", c.without)); errs.CodeOf(err) != errs.PromptTemplateInvalid || text != "" {
			t.Errorf("%s without a field: %q, %v", name, text, err)
		}
	}
	e := executor()
	e.Role = "executor\nrun_id: x"
	if text, err := prompt.Render("", "executor", e); errs.CodeOf(err) != errs.PromptValueInvalid || text != "" {
		t.Errorf("a role of two lines: %q, %v", text, err)
	}
}

// TestForeignTextOfWritersIsQuoted: with any texts, the prompts have the same lines but
// for what is in quotation marks or behind a bar.
func TestForeignTextOfWritersIsQuoted(t *testing.T) {
	quoted := regexp.MustCompile(`"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"`)
	blank := func(text string) string { return quoted.ReplaceAllString(text, `""`) }
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()), 1, 4).Draw(t, "text"), "") + "x"
		tame := renderers("y")
		for name, render := range renderers(s) {
			want, _ := tame[name]("")
			if got, err := render(""); err != nil || blank(got) != blank(want) {
				t.Fatalf("%s: %q gives\n%s\n%v", name, s, got, err)
			}
		}
		e := executor()
		e.Prompt, e.Handoff = s, ""
		text, err := prompt.Render("", "executor", e)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(text, "## The task\n\nThis is what the author of the task asks for.\n\n")
		text, _, found := strings.Cut(text, "\n\n## The plan\n\n")
		if !found {
			t.Fatalf("%q hides the plan", s)
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "| ") {
				t.Fatalf("%q begins the line %q", s, line)
			}
		}
	})
}
