package round

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// The agents that a round runs, and the plugin that reads the critic's report.
const (
	criticName     = "critic"
	researcherName = "researcher"
	criticPlugin   = "np-critic"
)

// review is what became of spawning the critic. One of its fields but run is set.
type review struct {
	// run is the run that the review rests on.
	run      string
	evidence pluginset.Report
	// failure is a critic that came to nothing, as a finding.
	failure *finding.Finding
	// handBack is set where the caller is to run the critic in some other way.
	handBack *api.ManualFallback
}

// review has the critic review the draft, unless it has. If the working tree changes
// meanwhile, the draft is another one and is verified again: v becomes the verification
// of the draft that was reviewed. One that is red then ends the review, which is empty.
func (rr *roundRunner) review(ctx context.Context, v *api.Verification) (review, error) {
	if r, ok, err := rr.resumeReview(ctx); err != nil || ok {
		return r, err
	}
	agentDef, err := rr.tx.engine.findAgent(criticName)
	if err != nil {
		return review{}, err
	}
	modules, err := rr.modules()
	if err != nil {
		return review{}, err
	}
	settings := agentSettings(rr.config, criticName, rr.req.Adapter)
	p := spawnTarget{role: task.RoleCritic, stamps: task.AgentCritic, round: rr.round.Number}
	job := rr.recorder.newJob(rr.config, agentDef, settings, p)
	job.WantsReport = true
	job.Resumed = rr.tx.status.Attempts(p.role, p.index) > 0
	if run := rr.tx.status.LatestRun(p.role, p.index); run != nil && run.Receipt.Reason == outcome.ReasonTreeChanged {
		job.Repeats = 0 // This is the repeat, after a kill.
	}
	job.Prompt = func(at spawner.Attempt) (string, error) {
		if at.Why == spawner.WhyRepeated {
			if *v, err = rr.verifyDraft(ctx); err != nil {
				return "", err
			}
			if v.Outcome == policies.Red {
				return "", errors.New("the verification is red by now")
			}
		}
		return rr.criticPrompt(ctx, at, modules, *v)
	}
	var judged pluginset.Report // of the last attempt whose report got so far
	job.Check = func(ctx context.Context, res spawner.Result) (err error) {
		judged, err = rr.judgeReport(ctx, res.Report)
		return err
	}
	result, err := rr.agents.spawner.Run(ctx, job)
	rr.addSpawns(result)
	switch {
	case v.Outcome == policies.Red:
		return review{}, nil
	case err != nil:
		return review{}, err
	}
	last := result.Last()
	if last != nil && last.Verdict.Good() {
		judged.Path = reportPath(last.Run)
		return review{run: last.Run, evidence: judged}, nil
	}
	switch {
	case settings.HandBack && (last == nil || fallbackMayHelp(last.Verdict)):
		hand, err := rr.manualFallback(ctx, agentDef, result, modules, *v)
		return review{handBack: hand}, err
	case last == nil:
		return review{}, errors.Join(result.Skipped...)
	case loginErrorCode(last.Record) != "":
		return review{}, rr.tx.withTaskID(errSpawnFailed(*last, settings))
	default:
		return review{run: last.Run, failure: failed(last.Record)}, nil
	}
}

// fallbackMayHelp says that another way of running an agent may succeed. It may not where
// the agent itself is not to be trusted, or used up what it was given.
func fallbackMayHelp(v outcome.Verdict) bool {
	switch v.Class {
	case outcome.RateLimit, outcome.Overloaded, outcome.Quota, outcome.Auth, outcome.NotFound, outcome.Config, outcome.Timeout, outcome.Crashed, outcome.Refused:
		return !v.Changed
	default:
		return false
	}
}

// resumeReview is the review of this very draft by a command that was killed before
// it decided.
func (rr *roundRunner) resumeReview(ctx context.Context) (review, bool, error) {
	run := rr.tx.status.LatestRun(task.RoleCritic, 0)
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
	data, err := rr.readRunReport(ctx, *run)
	if err != nil || data == nil {
		return review{}, false, err
	}
	ev, err := rr.judgeReport(ctx, data)
	if err != nil {
		return review{}, false, context.Cause(ctx) // What the plugin takes no more, a new critic may write otherwise.
	}
	ev.Path = run.Receipt.Path
	rr.recorder.spawns = append(rr.recorder.spawns, earlierSpawn(*run))
	return review{run: run.Intent.Run, evidence: ev}, true, nil
}

// recordedCriticFailure is the review of a command that ended before it decided, where its critic
// came to nothing by itself; else it has no failure. The round is decided on that: a
// critic that is asked now would judge what this one may have left in the tree.
func (rr *roundRunner) recordedCriticFailure(ctx context.Context) (review, error) {
	run := rr.tx.status.LatestRun(task.RoleCritic, 0)
	if run == nil || run.Receipt.Outcome != outcome.CriticError || run.Receipt.Next != "" ||
		run.Receipt.Spawn == nil || run.Receipt.Reason == outcome.ReasonCancelled {
		return review{}, nil
	}
	record, err := rr.recorder.findRecord(ctx, run.Intent.Run)
	if err != nil || loginErrorCode(record) != "" {
		return review{}, err
	}
	rr.recorder.spawns = append(rr.recorder.spawns, earlierSpawn(*run))
	return review{run: run.Intent.Run, failure: failed(record)}, nil
}

// readRunReport is what a run reported, or nil where it is not there any more or is
// something else by now.
func (rr *roundRunner) readRunReport(ctx context.Context, run task.Run) ([]byte, error) {
	data, err := rr.tx.engine.rooted().Read(ctx, run.Receipt.Path, outcome.MaxReport)
	if err != nil {
		return nil, ctx.Err()
	}
	if digest.Of(data) != run.Receipt.Report {
		return nil, nil
	}
	return data, nil
}

// reportPath is where a run's report is kept.
func reportPath(run string) string {
	return project.StateDir + "/" + reportsFolder + "/" + run + ".json"
}

// judgeReport has the plugin read a critic's report.
func (rr *roundRunner) judgeReport(ctx context.Context, data []byte) (pluginset.Report, error) {
	ev, err := rr.tx.engine.plugins.Resolver(rr.config).Normalize(ctx, api.ReportRef{Plugin: criticPlugin, Path: api.Stdin}, bytes.NewReader(data))
	if err != nil {
		return pluginset.Report{}, err
	}
	if ev.Result.TaskID == nil || ev.Result.Round == nil {
		return pluginset.Report{}, errors.New("the report does not say which task and round it is about")
	}
	_, err = pluginset.CheckSubject([]pluginset.Report{ev}, rr.tx.id, rr.round.Number)
	return ev, err
}

// failed is the finding that the critic came to nothing. What tells two failures
// apart comes first, so that it is part of the finding's identity.
func failed(r spawner.Record) *finding.Finding {
	file := "-"
	text := fmt.Sprintf("The critic gave nothing to rely on (%s): %s", r.Reason, r.Reason.Message())
	if len(r.Changed) > 0 {
		if r.Reason != outcome.ReasonTreeChanged {
			text += "; the working tree changed meanwhile"
		}
		text += fmt.Sprintf(" (%s)", textutil.List(r.Changed, maxNamedChanges))
	}
	if words := explainAttempt(r); len(words) > 0 {
		text += ". It said: " + strings.TrimSuffix(strings.Join(words, "; "), ".")
	}
	text += fmt.Sprintf(". Look at run %s in %s/%s before the task goes on.", r.RunID, project.StateDir, spawner.RunLogFile)
	raw, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		raw = []byte("{}") // Cannot happen: it is numbers and texts of our own.
	}
	return &finding.Finding{
		Critic: spawnCritic, Category: task.CategoryCriticError, Severity: finding.Fail, File: &file, Remediation: text, ConfirmedBy: []string{spawnCritic},
		Sources: []finding.Source{{Critic: spawnCritic, Plugin: spawnCritic, Report: digestOf(raw), Raw: raw}},
	}
}

// spawnCritic is the critic of the finding that a critic failed.
const spawnCritic = "spawner"

// maxNamedChanges is how many changes a sentence names.
const maxNamedChanges = 5
