package round

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// agentPrompt returns the renderer of a role's prompt.
func (w *work) agentPrompt(ctx context.Context, agents spawns.Runner, role task.Role) (func(spawner.Attempt) (string, error), error) {
	root, id, text, round := agents.Spawner.Root, w.id, w.tx.TaskPrompt(), max(w.tx.Status.Round, 1)
	h, decided, err := w.runHandoff(ctx)
	if err != nil {
		return nil, err
	}
	churn, err := churnLines(ctx, w.tx)
	if err != nil {
		return nil, err
	}
	findings := agentLines(h.Findings)
	return func(at spawner.Attempt) (string, error) {
		planFile, err := givenPlan(ctx, w.tx, w.config, at.Folder)
		if err != nil {
			return "", err
		}
		h, handoff := h, ""
		h.Files = slices.Clone(h.Files)
		for i, path := range h.Files {
			if path == w.config.Spawn.PlanOf(id) {
				h.Files[i] = planFile
			} else if h.Files[i], err = giveFile(w.engine.project, path, at.Folder, filepath.Base(path)); err != nil {
				return "", err
			}
		}
		if h.Output != "" {
			if h.Output, err = giveFile(w.engine.project, h.Output, at.Folder, verificationFile); err != nil {
				return "", err
			}
		}
		if decided {
			handoff = h.Markdown()
		}
		d := prompt.Data{
			Task: id, RunID: at.Run, Role: string(role), Round: round, MaxRounds: cmp.Or(w.tx.Status.MaxRounds, w.config.MaxRounds),
			Prompt: text, Plan: planFile, Findings: findings, Note: at.Note,
		}
		switch role {
		case task.RoleExecutor, task.RoleFixer:
			d.Handoff, d.Answers = handoff, h.Answers
			return prompt.Render(root, "executor", d)
		case task.RolePlanChecker:
			d.Findings, d.Churn = slices.Clone(findings), churn
			for _, qa := range h.Answers {
				d.Findings = append(d.Findings, fmt.Sprintf("The user was asked: %s The answer: %s", qa.Question, qa.Answer))
			}
			return prompt.Render(root, "plan-checker", d)
		default:
			d.Handoff = handoff
			return prompt.Render(root, "assistant", d)
		}
	}, nil
}

// agentLines formats findings for an agent, a line each.
func agentLines(findings []finding.Finding) []string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = lineOf(f)
		if f.Induced != nil && *f.Induced {
			lines[i] += " (induced by the last fix)"
		}
	}
	return lines
}

// churnLines says which fixes caused the findings of the last reviews, a line each, if the last
// decision was made because of them.
func churnLines(ctx context.Context, tx *tasktx.Tx) ([]string, error) {
	if tx.Status.Last == nil || tx.Status.Last.Reason != task.ReasonChurn {
		return nil, nil
	}
	history, err := tx.History(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	reviews := tx.Status.Last.InducedRounds
	for _, entry := range slices.Backward(history) {
		if reviews == 0 {
			break
		}
		body, err := tx.FullEvent(ctx, entry.Event.N)
		if err != nil {
			return nil, err
		}
		d := body.DecisionOrZero()
		if d.InducedCount == nil {
			continue // It is not a review.
		}
		reviews--
		var review []string
		for _, p := range d.Previous {
			place := finding.Finding{File: p.File, Line: p.Line}.Location()
			review = append(review, fmt.Sprintf("to be fixed before round %d: %s %s, now %s", d.Round, p.Category, place, p.Status))
		}
		for _, f := range slices.Concat(d.Findings, d.Deferred) {
			if f.Induced != nil && *f.Induced {
				review = append(review, fmt.Sprintf("caused by that, in round %d: %s", d.Round, lineOf(f)))
			}
		}
		lines = append(review, lines...)
	}
	return lines, nil
}

// planFileName is the name of a plan in an attempt's folder.
const planFileName = "plan.md"

// givenPlan returns the path of the task's plan for an agent, "" for none: a copy in folder
// of the revised plan, else of the configured one, which an agent that works in the
// checkout can read itself.
func givenPlan(ctx context.Context, tx *tasktx.Tx, config project.Config, folder string) (string, error) {
	path := config.Spawn.PlanOf(tx.ID)
	revised, err := revisedPlan(ctx, tx)
	if err != nil {
		return "", err
	}
	data := []byte(revised)
	if revised == "" {
		if path == "" {
			return "", nil
		}
		if data, err = tx.Project.AtRoot().Read(ctx, path, maxPlan); err != nil {
			return "", errs.New(errs.CodeOf(err), "spawn.plan in %s: %w", project.ConfigFile, err).With("path", path).
				WithHint("write the task's plan there, or leave spawn.plan out and say what the task is with --prompt")
		}
		if tx.Tree() == tx.Project.Root {
			return tx.Project.AtRoot().Abs(path), nil
		}
	}
	given := filepath.Join(folder, planFileName)
	if err := os.WriteFile(given, data, 0o600); err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "the plan cannot be handed on: %w", err)
	}
	return given, nil
}

// revisedPlan returns the plan of the latest plan-checker, "" for none.
func revisedPlan(ctx context.Context, tx *tasktx.Tx) (string, error) {
	p := tx.Status.Plan
	if p == nil {
		return "", nil
	}
	text, err := readReport(ctx, tx, p.Path, p.Digest)
	return string(text), err
}

// raiseBar defers the executor's findings below a bar, if the user has raised it since the
// decision.
func raiseBar(d *api.Decision, bar policies.Bar) {
	if !bar.Above(d.Bar) {
		return
	}
	var open []finding.Finding
	for _, f := range d.Findings {
		if f.Route == actionExecutor && bar.Defers(f.Severity) {
			d.Deferred = append(d.Deferred, f)
		} else {
			open = append(open, f)
		}
	}
	d.Findings, d.Bar = open, bar
}

// runHandoff returns what the last decision passes on, with the user's answers, the revised
// plan and the advice of other agents, and writes it for people to read. decided is false
// before the first decision.
func (w *work) runHandoff(ctx context.Context) (h prompt.Handoff, decided bool, err error) {
	all, err := w.tx.Answers(ctx)
	if err != nil {
		return h, false, err
	}
	if w.tx.Status.Last != nil {
		last, err := w.tx.LastDecision(ctx)
		if err != nil {
			return h, false, err
		}
		last.NextRound = max(w.tx.Status.Round, 1)
		raiseBar(&last, policies.Bar(w.tx.Status.Bar))
		h, decided = handoff(w.tx, w.config, last), true
	}
	for _, a := range all {
		h.Answers = append(h.Answers, prompt.QA{Question: a.Question, Answer: a.Text})
	}
	if h.Plan, err = revisedPlan(ctx, w.tx); err != nil {
		return h, decided, err
	}
	for _, r := range w.tx.Status.Runs {
		if known := r.Role == task.RoleCritic || r.Role == task.RoleResearcher || r.Role == task.RolePlanChecker; known || r.Stale || r.Receipt == nil || r.Receipt.Path == "" {
			continue
		}
		text, err := readReport(ctx, w.tx, r.Receipt.Path, r.Receipt.Report)
		if err != nil {
			return h, decided, err
		}
		h.Advice = append(h.Advice, prompt.Advice{Role: string(r.Role), Text: string(text)})
	}
	if decided {
		_, err = writeHandoffFile(w.engine.project, core.HandoffPath(w.id, h.NextRound, core.FindingsFile), h)
	}
	return h, decided, err
}
