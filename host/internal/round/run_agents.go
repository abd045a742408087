package round

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/plan"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
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
	rr := &roundRunner{tx: w.tx, recorder: w.recorder, config: w.config, req: api.Request{Adapter: w.req.Adapter}, driven: true}
	return w.recorder.withAgents(ctx, func(runner agentRunner) error {
		rr.agents = runner
		last, err := rr.tx.LastDecision(ctx)
		if err != nil {
			return err
		}
		wanted := max(rr.researcherCount(max(w.tx.Status.Round, 1)), w.config.Researchers)
		if _, err := w.recorder.write(ctx, func() error { return rr.reserveResearchers(wanted) }); err != nil {
			return w.askForBudget(ctx, err)
		}
		_, err = rr.research(ctx, last)
		w.emitSpawns(w.recorder)
		return err
	})
}

// emitSpawns emits what a recorder's agents did.
func (w *work) emitSpawns(rec *spawnRecorder) {
	for _, spawn := range rec.spawns {
		w.emit(api.RunEvent{Event: api.RunAgent, Round: max(w.tx.Status.Round, 1), Agent: &spawn})
	}
}

// runAgent runs the agent of a role.
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
	return w.recorder.withAgents(ctx, func(runner agentRunner) error {
		def, may, err := agents.FindForRun(runner.library, string(role), drafts)
		if err != nil {
			return err
		}
		job, err := w.agentJob(ctx, runner, def, role, may)
		if err != nil {
			return err
		}
		job.Tree = w.tree
		ran, err := runner.spawner.Run(ctx, job)
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
		case last.Verdict.Good() || w.tx.Status.Status != task.Open: // Its end has made the task stuck or parked.
			return nil
		default:
			return w.tx.withTaskID(agents.ErrFailed(*last, agents.Settings(w.config, def.Name, w.req.Adapter)))
		}
	})
}

// agentJob returns the spawn of a role, with its prompt and what its end records.
func (w *work) agentJob(ctx context.Context, runner agentRunner, def definition.Definition, role task.Role, may profile.Profile) (spawner.Job, error) {
	round := max(w.tx.Status.Round, 1)
	p := spawnTarget{role: role, round: round, edits: may == profile.Edit, ended: w.agentEnded(role)}
	p.cannotSearch = !web(def) && !slices.ContainsFunc(def.Tools, func(tool string) bool { return slices.Contains(w.config.Audit.SearchTools, tool) })
	switch {
	case role == task.RolePlanChecker:
		p.store = planOf
	case p.edits: // It makes the round's draft, whatever its role.
		p.attested = w.tx.Status.DraftAgent()
	default:
		p.store = finalText
	}
	text, err := w.agentPrompt(ctx, runner, role)
	if err != nil {
		return spawner.Job{}, err
	}
	job := w.recorder.newJob(w.config, def, agents.Settings(w.config, def.Name, w.req.Adapter), p)
	job.Profile, job.Prompt = may, text
	job.Resumed = w.tx.Status.Attempts(role, 0) > 0
	for _, run := range slices.Backward(w.tx.Status.Runs) { // The first one's counts.
		if run.Role == role && run.Round == round && !run.Stale {
			job.Before = run.Tree
		}
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

// agentEnded returns what the end of a role's last attempt records beside its receipt, in
// the same transaction: otherwise a kill in between would run the agent again.
func (w *work) agentEnded(role task.Role) func(*taskTx, spawner.Result) error {
	return func(tx *taskTx, res spawner.Result) error {
		reported := event.Full{By: bySwitchyard}
		if tx.Status.Status != task.Open {
			return nil // A user has stopped it meanwhile.
		}
		if parked, err := tx.parkFor(res); parked || err != nil {
			return err
		}
		switch res.Verdict.Reason {
		case outcome.ReasonNoChange, outcome.ReasonGitChanged, outcome.ReasonProtectedChanged, outcome.ReasonTreeGone, outcome.ReasonTreeUnreadable:
			return tx.apply(task.StopTask{Reason: string(role) + "-" + string(res.Verdict.Reason), By: bySwitchyard, FindingCount: -1}, reported)
		}
		if role != task.RolePlanChecker || !res.Verdict.Good() {
			return nil
		}
		answer, err := plan.Parse(res.Output.Text)
		if err != nil || answer.Question == "" {
			return err
		}
		return tx.apply(task.AskUser{Question: task.Question{
			Fingerprint: "plan-" + res.Run, Text: answer.Question, Choices: answer.Choices, Default: answer.Default,
		}}, reported)
	}
}

// parkOnLimit is what the end of a critic or a researcher records for Run.
func parkOnLimit(tx *taskTx, res spawner.Result) error {
	if tx.Status.Status != task.Open {
		return nil
	}
	_, err := tx.parkFor(res)
	return err
}

// parkFor parks the task if a run ended with a usage limit whose end is known.
func (tx *taskTx) parkFor(res spawner.Result) (bool, error) {
	if res.Verdict.Class != outcome.Quota || res.Record.ResetsAt == "" {
		return false, nil
	}
	ends, err := time.Parse(time.RFC3339, res.Record.ResetsAt)
	if err != nil {
		return false, err
	}
	until := ends.Add(parkMargin)
	if !until.After(tx.engine.project.Now()) {
		return false, nil // The limit should be over and is not; the agent would meet it at once.
	}
	return true, tx.apply(task.ParkTask{Parking: task.Parking{
		Until: timestamp(until), Run: res.Run, Adapter: res.Record.Adapter,
	}}, event.Full{By: bySwitchyard})
}

// askForBudget turns budget-exhausted into a question whether to raise the budget, and
// returns other errors as they are.
func (w *work) askForBudget(ctx context.Context, err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.BudgetExhausted {
		return err
	}
	_, err = w.recorder.write(ctx, func() error {
		return w.tx.apply(task.AskUser{Question: task.AskForBudget(w.tx.Status.State, f)}, event.Full{By: bySwitchyard})
	})
	return err
}
