package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/plan"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// assist runs the agent that the last decision named.
func (w *work) assist(ctx context.Context, role task.Role) error {
	if role != task.RoleResearcher {
		return w.runAgent(ctx, role, false)
	}
	err := round.Research(ctx, w.recorder, w.req.Adapter)
	w.emitSpawns(w.recorder.Spawns)
	return w.askForBudget(ctx, err)
}

func (w *work) emitSpawns(all []api.SpawnSummary) {
	for _, spawn := range all {
		w.emit(api.RunEvent{Event: api.RunAgent, Round: max(w.tx.Status.Round, 1), Agent: &spawn})
	}
}

// runAgent runs the agent of a role. drafts is set if it makes the round's draft.
func (w *work) runAgent(ctx context.Context, role task.Role, drafts bool) error {
	if drafts && w.tree == nil {
		if err := w.restoreWorktree(ctx); err != nil {
			return err
		}
	}
	if w.tree == nil {
		if err := w.checkBranch(ctx); err != nil {
			return w.stopIfGone(ctx, err)
		}
	}
	return w.recorder.WithAgents(ctx, func(runner spawns.Runner) error {
		def, may, err := agents.FindForRun(runner.Library, string(role), drafts)
		if err != nil {
			return err
		}
		job, err := w.agentJob(ctx, def, role, may)
		if err != nil {
			return err
		}
		job.Tree = w.tree
		ran, err := runner.Spawner.Run(ctx, job)
		for _, res := range ran.Results {
			summary := api.SummarizeSpawn(res.Record)
			w.emit(api.RunEvent{Event: api.RunAgent, Round: job.Round, Agent: &summary})
		}
		last := ran.Last()
		if last != nil && last.Verdict.Good() {
			w.driver.tree = last.After
		}
		switch {
		case err != nil:
			return w.askForBudget(ctx, err)
		case last == nil:
			return errors.Join(ran.Skipped...)
		case w.tx.Status.Status != task.Open: // Its end has made the task stuck or parked.
			return nil
		case last.Verdict.Good() && may == profile.Edit:
			return w.checkDraft(ctx, string(role))
		case last.Verdict.Good():
			return nil
		default:
			return w.tx.WithTaskID(agents.ErrFailed(*last, agents.Settings(w.config, def.Name, w.req.Adapter)))
		}
	})
}

func (w *work) agentJob(ctx context.Context, def definition.Definition, role task.Role, may profile.Profile) (spawner.Job, error) {
	round := max(w.tx.Status.Round, 1)
	p := spawns.Target{Role: role, Round: round, Edits: may == profile.Edit, Ended: w.agentEnded(role)}
	p.CannotSearch = !spawns.CanSearch(def, w.config)
	switch {
	case role == task.RolePlanChecker:
		p.Store = planOf
	case p.Edits: // An agent that edits makes the round's draft, whatever its role.
		p.Attested = w.tx.Status.DraftAgent()
	default:
		p.Store = spawns.FinalText
	}
	text, err := w.agentPrompt(ctx, role)
	if err != nil {
		return spawner.Job{}, err
	}
	job := w.recorder.NewJob(def, agents.Settings(w.config, def.Name, w.req.Adapter), p)
	job.Profile, job.Prompt = may, text
	if runs := w.tx.Status.ContinuedRuns(role); len(runs) > 0 {
		job.Resumed, job.Before = true, runs[0].Tree
	}
	if role == task.RolePlanChecker {
		job.Check = func(_ context.Context, res spawner.Result) error {
			_, err := plan.Parse(res.Output.Text)
			return err
		}
	}
	return job, nil
}

// planOf returns the revised plan in a plan-checker's answer, nil if it asks a question.
func planOf(res spawner.Result) []byte {
	answer, err := plan.Parse(res.Output.Text)
	if err != nil || answer.Plan == "" {
		return nil
	}
	return []byte(answer.Plan)
}

// agentEnded returns a function that parks or stops the task, or asks the user, if the last
// attempt of a role requires it. The events are in the transaction of the receipt: otherwise
// a kill in between would run the agent again.
func (w *work) agentEnded(role task.Role) func(*tasktx.Tx, spawner.Result) error {
	return func(tx *tasktx.Tx, res spawner.Result) error {
		reported := event.Full{By: task.BySwitchyard}
		if tx.Status.Status != task.Open {
			return nil // A user has stopped it meanwhile.
		}
		if parked, err := spawns.ParkFor(tx, res); parked || err != nil {
			return err
		}
		switch res.Verdict.Reason {
		case outcome.ReasonNoChange, outcome.ReasonGitChanged, outcome.ReasonProtectedChanged, outcome.ReasonTreeGone, outcome.ReasonTreeUnreadable:
			return tx.Apply(task.StopTask{Reason: string(role) + "-" + string(res.Verdict.Reason), By: task.BySwitchyard, FindingCount: -1}, reported)
		}
		if role != task.RolePlanChecker || !res.Verdict.Good() {
			return nil
		}
		answer, err := plan.Parse(res.Output.Text)
		if err != nil || answer.Question == "" {
			return err
		}
		return tx.Apply(task.AskUser{Question: task.Question{
			Fingerprint: "plan-" + res.Run, Text: answer.Question, Choices: answer.Choices, Default: answer.Default,
		}}, reported)
	}
}

// askForBudget turns budget-exhausted into a question whether to raise the budget, and
// returns other errors as they are.
func (w *work) askForBudget(ctx context.Context, err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.BudgetExhausted {
		return err
	}
	_, err = w.recorder.Write(ctx, func() error {
		return w.tx.Apply(task.AskUser{Question: task.AskForBudget(w.tx.Status.State, f)}, event.Full{By: task.BySwitchyard})
	})
	return err
}

// agentPrompt returns the renderer of a role's prompt.
func (w *work) agentPrompt(ctx context.Context, role task.Role) (func(spawner.Attempt) (string, error), error) {
	root, id, text, round := w.project.Root, w.id, w.tx.TaskPrompt(), max(w.tx.Status.Round, 1)
	h, decided, err := handoff.Latest(ctx, w.tx, w.config)
	if err != nil {
		return nil, err
	}
	churn, err := handoff.Churn(ctx, w.tx)
	if err != nil {
		return nil, err
	}
	findings := handoff.Lines(h.Findings)
	return func(at spawner.Attempt) (string, error) {
		planFile, err := handoff.Plan(ctx, w.tx, w.config, at.Folder)
		if err != nil {
			return "", err
		}
		h, instructions := h, ""
		h.Files = slices.Clone(h.Files)
		for i, path := range h.Files {
			if path == w.config.Spawn.PlanOf(id) {
				h.Files[i] = planFile
			} else if h.Files[i], err = handoff.GiveFile(w.project, path, at.Folder, filepath.Base(path)); err != nil {
				return "", err
			}
		}
		h.Files = slices.DeleteFunc(h.Files, func(path string) bool { return path == "" })
		if h.Output != "" {
			if h.Output, err = handoff.GiveFile(w.project, h.Output, at.Folder, handoff.VerificationFile); err != nil {
				return "", err
			}
		}
		if decided {
			instructions = h.Markdown()
		}
		d := prompt.Data{
			Task: id, RunID: at.Run, Role: string(role), Round: round, MaxRounds: cmp.Or(w.tx.Status.MaxRounds, w.config.MaxRounds),
			Prompt: text, Plan: planFile, Findings: findings, Note: at.Note,
		}
		switch role {
		case task.RoleExecutor, task.RoleFixer:
			d.Handoff, d.Answers = instructions, h.Answers
			return prompt.Render(root, "executor", d)
		case task.RolePlanChecker:
			d.Findings, d.Churn = slices.Clone(findings), churn
			for _, qa := range h.Answers {
				d.Findings = append(d.Findings, fmt.Sprintf("The user was asked: %s The answer: %s", qa.Question, qa.Answer))
			}
			return prompt.Render(root, "plan-checker", d)
		default:
			d.Handoff = instructions
			return prompt.Render(root, "assistant", d)
		}
	}, nil
}
