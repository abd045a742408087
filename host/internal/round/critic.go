package round

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// The agents that a round runs.
const (
	criticName     = "critic"
	researcherName = "researcher"
)

// review is the result of running the critic. At most one of evidence, failure and
// fallback is set.
type review struct {
	verification api.Verification // of the reviewed draft
	// run is the id of the run that produced the review.
	run      string
	evidence pluginset.Report
	// failure is the finding that the critic failed.
	failure *finding.Finding
	// fallback is set if the caller must run the critic.
	fallback *api.ManualFallback
}

// review runs the critic on the draft, which has the verification v, unless an earlier
// command already did. If the draft changes meanwhile and its verification is red, only that
// verification is set.
func (rr *roundRunner) review(ctx context.Context, v api.Verification) (review, error) {
	r, ok, err := rr.resumeReview(ctx)
	if r.verification = v; err != nil || ok {
		return r, err
	}
	agentDef, err := spawns.FindAgent(rr.tx.Project, criticName)
	if err != nil {
		return r, err
	}
	if rr.shot == nil {
		if err := rr.readTree(ctx); err != nil {
			return r, err
		}
	}
	modules, err := rr.modules()
	if err != nil {
		return r, err
	}
	settings := agents.Settings(rr.config, criticName, rr.req.Adapter)
	p := spawns.Target{Role: task.RoleCritic, Attested: task.AgentCritic, Round: rr.round.Number}
	if rr.driven {
		p.Ended = spawns.ParkOnLimit
	}
	job := rr.recorder.NewJob(agentDef, settings, p)
	job.Profile = profile.Report
	job.Resumed = rr.tx.Status.Attempts(p.Role, p.Index) > 0
	if run := rr.tx.Status.LatestRun(p.Role, p.Index); run != nil && run.Receipt.Reason == outcome.ReasonTreeChanged {
		job.Repeats = 0 // The repeat was used before the kill.
	}
	job.Prompt = func(at spawner.Attempt) (_ string, err error) {
		if at.Why == spawner.WhyRepeated { // The working tree has changed.
			if r.verification, err = rr.verifyDraft(ctx); err != nil {
				return "", err
			}
			if r.verification.Outcome == policies.Red {
				return "", errors.New("the verification is red by now")
			}
		}
		return rr.criticPrompt(ctx, at, modules, r.verification)
	}
	var report pluginset.Report // of the latest attempt whose report was checked
	job.Check = func(ctx context.Context, res spawner.Result) (err error) {
		report, err = rr.judgeReport(ctx, res.Report)
		return err
	}
	job.Tree, rr.reviewing, rr.shot = rr.shot, rr.shot, nil
	result, err := rr.agents.Spawner.Run(ctx, job)
	rr.recorder.AddRuns(result)
	last := result.Last()
	if rr.shot = nil; last != nil && len(last.Changes) == 0 {
		rr.shot = last.After
	}
	switch {
	case rr.tx.Status.Status == task.Parked:
		return r, rr.enter()
	case r.verification.Outcome == policies.Red:
		return r, nil
	case err != nil:
		return r, err
	case last != nil && last.Verdict.Good():
		r.run, r.evidence = last.Run, report
		r.evidence.Path, r.evidence.Run = spawns.ReportPath(last.Run), last.Run
	case settings.ManualFallback && (last == nil || agents.FallbackMayHelp(last.Verdict)):
		r.fallback, err = rr.manualFallback(ctx, agentDef, result, modules, r.verification)
	case last == nil:
		err = errors.Join(result.Skipped...)
	case agents.LoginErrorCode(last.Verdict) != "":
		err = rr.tx.WithTaskID(agents.ErrFailed(*last, settings))
	default:
		r.run, r.failure = last.Run, failureFinding(last.Record)
	}
	return r, err
}

// resumeReview returns the review of this draft that a killed command left, if any.
func (rr *roundRunner) resumeReview(ctx context.Context) (review, bool, error) {
	run := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	if run == nil || run.Receipt.Path == "" || run.Receipt.Outcome != outcome.Clean && run.Receipt.Outcome != outcome.Findings {
		return review{}, false, nil
	}
	if rr.tree == "" {
		if err := rr.readTree(ctx); err != nil {
			return review{}, false, err
		}
	}
	if run.Tree != rr.tree {
		return review{}, false, nil
	}
	if same, err := rr.hasInputsOf(ctx, run.Intent.Run); err != nil || !same {
		return review{}, false, err
	}
	data, err := handoff.ReadReport(ctx, rr.tx, run.Receipt.Path, run.Receipt.Report)
	if err != nil || data == nil {
		return review{}, false, err
	}
	ev, err := rr.judgeReport(ctx, data)
	if err != nil {
		return review{}, false, context.Cause(ctx) // The plugin or the policy may have changed; a new critic can write another report.
	}
	ev.Path, ev.Run = run.Receipt.Path, run.Intent.Run
	rr.recorder.AddEarlier(*run)
	return review{run: run.Intent.Run, evidence: ev}, true, nil
}

// hasInputsOf reports whether the task has the base and the description that a run of the
// critic began with. With others, the critic would see another diff, or other criteria.
func (rr *roundRunner) hasInputsOf(ctx context.Context, run string) (bool, error) {
	now, err := rr.tx.Base(ctx)
	if err != nil {
		return false, err
	}
	base, description := "", ""
	for e, err := range rr.tx.Events(ctx, 1) {
		if err != nil {
			return false, err
		}
		base, description = cmp.Or(e.Base, base), cmp.Or(e.Prompt, description)
		begun, ok := e.Event.(*task.SpawnBegun)
		if ok && slices.ContainsFunc(begun.Intents, func(i task.Intent) bool { return i.Run == run }) {
			break
		}
	}
	return base == now && description == rr.tx.TaskPrompt(), nil
}

// recordedCriticFailure returns the critic failure that an interrupted round left, if any.
// The round is decided on it: another critic would judge changes that the failed one may
// have left in the tree.
func (rr *roundRunner) recordedCriticFailure(ctx context.Context) (review, error) {
	run := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	if run == nil || run.Receipt.Outcome != outcome.CriticError || run.Receipt.Next != "" ||
		run.Receipt.Spawn == nil || run.Receipt.Reason == outcome.ReasonCancelled {
		return review{}, nil
	}
	record, err := rr.tx.EndedRun(ctx, run.Intent.Run)
	verdict := outcome.Verdict{Class: record.Class, Changed: len(record.Changed) > 0} // A critic must not edit.
	if err != nil || agents.LoginErrorCode(verdict) != "" {
		return review{}, err
	}
	rr.recorder.AddEarlier(*run)
	return review{run: run.Intent.Run, failure: failureFinding(record)}, nil
}

// judgeReport normalizes a critic's report and checks that it is about this round, and
// that the round's reports can be decided on together.
func (rr *roundRunner) judgeReport(ctx context.Context, data []byte) (pluginset.Report, error) {
	ev, err := rr.tx.Project.Plugins().Resolver(rr.config).In(rr.tx.Tree()).Normalize(ctx, api.ReportRef{Plugin: decision.CriticPlugin, Path: api.Stdin}, bytes.NewReader(data))
	if err != nil {
		return pluginset.Report{}, err
	}
	if ev.Result.TaskID == nil || ev.Result.Round == nil {
		return pluginset.Report{}, errors.New("the report does not say which task and round it is about")
	}
	if _, err = pluginset.CheckSubject([]pluginset.Report{ev}, rr.tx.ID, rr.round.Number); err != nil {
		return ev, err
	}
	all := append(slices.Clone(rr.others), ev)
	_, err = decision.AnswerPrevious(ctx, &rr.tx.Task, all, finding.Merge(decision.Found(all)))
	return ev, err
}

// failureFinding returns the finding that the critic failed. The text begins with the part that
// distinguishes failures, so that it is part of the finding's identity.
func failureFinding(r spawner.Record) *finding.Finding {
	file := "-"
	text := fmt.Sprintf("The critic gave nothing to rely on (%s): %s", r.Reason, r.Reason.Message())
	if len(r.Changed) > 0 {
		if r.Reason != outcome.ReasonTreeChanged {
			text += "; the working tree changed meanwhile"
		}
		text += fmt.Sprintf(" (%s)", textutil.List(r.Changed, MaxNamedChanges))
	}
	if words := r.Said(); len(words) > 0 {
		text += ". It said: " + strings.TrimSuffix(strings.Join(words, "; "), ".")
	}
	text += fmt.Sprintf(". Look at run %s in %s/%s before the task goes on.", r.RunID, project.StateDir, spawner.RunLogFile)
	raw, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		raw = []byte("{}") // Cannot happen: it holds only numbers and strings.
	}
	return &finding.Finding{
		Critic: decision.SpawnCritic, Category: task.CategoryCriticError, Severity: finding.Fail, File: &file, Remediation: text, ConfirmedBy: []string{decision.SpawnCritic},
		Sources: []finding.Source{{Critic: decision.SpawnCritic, Plugin: decision.SpawnCritic, Report: digest.Of(raw), Raw: raw}},
	}
}

// MaxNamedChanges is the number of changed files that a message names.
const MaxNamedChanges = 5
