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
	"github.com/switchyard-dev/switchyard/spawner"
)

// The agents that a round runs.
const (
	criticName     = "critic"
	researcherName = "researcher"
)

// review runs the critic on the draft, unless an earlier command already did, and returns its
// report. If the draft changes meanwhile, it is verified again; if that is red, there is no
// report. A failure of the critic is added to the evidence. If the caller must run the critic, a
// fallback says how.
func (rr *roundRunner) review(ctx context.Context) (own []pluginset.Report, fallback *api.ManualFallback, err error) {
	ev := &rr.evidence
	if own, err = rr.resumeReview(ctx); err != nil || own != nil {
		return own, nil, err
	}
	agentDef, err := spawns.FindAgent(rr.tx.Project, criticName)
	if err != nil {
		return nil, nil, err
	}
	modules, err := rr.modules()
	if err != nil {
		return nil, nil, err
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
	job.Prompt = func(at spawner.Attempt) (text string, err error) {
		if at.Why == spawner.WhyRepeated { // The working tree has changed.
			if ev.Verification, err = rr.verifyDraft(ctx); err != nil {
				return "", err
			}
			if rr.isRed() {
				return "", errors.New("the verification is red by now")
			}
		}
		text, err = rr.criticPrompt(ctx, at, modules)
		rr.shot = nil // The critic may change the tree.
		return text, err
	}
	var report pluginset.Report // of the latest attempt whose report was checked
	job.Check = func(ctx context.Context, res spawner.Result) (err error) {
		report, err = rr.judgeReport(ctx, res.Report)
		return err
	}
	if job.Tree, err = rr.snapshot(ctx); err != nil {
		return nil, nil, err
	}
	result, err := rr.agents.Spawner.Run(ctx, job)
	rr.recorder.AddRuns(result)
	last := result.Last()
	if rr.shot = nil; last != nil && len(last.Changes) == 0 {
		rr.shot = last.After
	}
	switch {
	case rr.tx.Status.Status == task.Parked:
		return nil, nil, rr.enter()
	case rr.isRed():
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case last != nil && last.Verdict.Good():
		ev.Run = last.Run
		report.Path, report.Run = spawns.ReportPath(last.Run), last.Run
		return []pluginset.Report{report}, nil, nil
	case settings.ManualFallback && (last == nil || agents.FallbackMayHelp(last.Verdict)):
		fallback, err = rr.manualFallback(ctx, agentDef, result, modules)
	case last == nil:
		err = errors.Join(result.Skipped...)
	case agents.LoginErrorCode(last.Verdict) != "":
		err = rr.tx.WithTaskID(agents.ErrFailed(*last, settings))
	default:
		ev.Run, ev.Critic = last.Run, failureFinding(last.Record)
	}
	return nil, fallback, err
}

// resumeReview returns the report about this draft that a killed command left, if any.
func (rr *roundRunner) resumeReview(ctx context.Context) ([]pluginset.Report, error) {
	run := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	if run == nil || run.Receipt.Path == "" || run.Receipt.Outcome != outcome.Clean && run.Receipt.Outcome != outcome.Findings {
		return nil, nil
	}
	if now, err := rr.snapshot(ctx); err != nil || run.Tree != now.Digest() {
		return nil, err
	}
	if same, err := rr.hasInputsOf(ctx, run.Intent.Run); err != nil || !same {
		return nil, err
	}
	data, err := handoff.ReadReport(ctx, rr.tx, run.Receipt.Path, run.Receipt.Report)
	if err != nil || data == nil {
		return nil, err
	}
	ev, err := rr.judgeReport(ctx, data)
	if err != nil {
		return nil, context.Cause(ctx) // The plugin or the policy may have changed; a new critic can write another report.
	}
	ev.Path, ev.Run = run.Receipt.Path, run.Intent.Run
	rr.recorder.AddEarlier(*run)
	rr.evidence.Run = run.Intent.Run
	return []pluginset.Report{ev}, nil
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

// addRecordedFailure adds the critic failure that an interrupted round left, if any.
// The round is decided on it: another critic would judge changes that the failed one may
// have left in the tree.
func (rr *roundRunner) addRecordedFailure(ctx context.Context) error {
	run := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	if run == nil || run.Receipt.Outcome != outcome.CriticError || run.Receipt.Next != "" ||
		run.Receipt.Spawn == nil || run.Receipt.Reason == outcome.ReasonCancelled {
		return nil
	}
	record, err := rr.tx.EndedRun(ctx, run.Intent.Run)
	verdict := outcome.Verdict{Class: record.Class, Changed: len(record.Changed) > 0} // A critic must not edit.
	if err != nil || agents.LoginErrorCode(verdict) != "" {
		return err
	}
	rr.recorder.AddEarlier(*run)
	rr.evidence.Run, rr.evidence.Critic = run.Intent.Run, failureFinding(record)
	return nil
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
	all := append(slices.Clone(rr.evidence.Reports), ev)
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
