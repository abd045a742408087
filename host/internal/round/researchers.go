package round

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/agent/research"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/spawner"
)

// reserveResearchers records intents for the researchers, of k, that have not answered yet:
// together with the decision that asks for them, or to resume a killed command's research.
// It fails if the budget does not cover all of them.
func (rr *roundRunner) reserveResearchers(k int) error {
	settings := agents.Settings(rr.config, researcherName, rr.req.Adapter)
	var intents []task.Intent
	for i := range k {
		if run := rr.tx.Status.LatestRun(task.RoleResearcher, i); run != nil && run.Receipt.Path != "" {
			continue
		}
		why := "first"
		if rr.tx.Status.Attempts(task.RoleResearcher, i) > 0 {
			why = "resume"
		}
		intents = append(intents, rr.recorder.Intent(spawns.Target{Role: task.RoleResearcher, Index: i}, researcherName, spawner.Attempt{
			Run: spawner.NewRun(), Why: why, Adapter: settings.Adapter, Timeout: settings.Timeout,
		}))
	}
	if len(intents) == 0 {
		return nil
	}
	limits := rr.recorder.Limits()
	return rr.tx.Apply(task.ReserveRuns{Intents: intents, Limits: limits}, event.Full{By: task.BySwitchyard, Limits: &limits})
}

// resumeResearch continues the research of a killed command and returns the decision that
// asked for it.
func (rr *roundRunner) resumeResearch(ctx context.Context) (r api.RoundResult, pending bool, err error) {
	round := max(rr.tx.Status.Round, 1)
	asked := slices.ContainsFunc(rr.tx.Status.Runs, func(r task.Run) bool {
		return r.Role == task.RoleResearcher && r.Round == round && !r.Stale
	})
	if !asked || rr.tx.Project.AtRoot().Exists(handoff.Path(rr.tx.ID, round, "research.json")) {
		return api.RoundResult{}, false, nil
	}
	last, err := rr.tx.LastDecision(ctx)
	if err != nil {
		return api.RoundResult{}, true, err
	}
	_, err = rr.recorder.Write(ctx, func() error { return rr.reserveResearchers(rr.researcherCount(round)) })
	switch {
	case errs.CodeOf(err) == errs.BudgetExhausted:
		r, err = rr.stopOnBudget(ctx, err)
	case err == nil:
		r, err = rr.research(ctx, last)
	}
	return r, true, err
}

// research runs the researchers that a decision asks for, merges their answers and writes
// them for the next executor.
func (rr *roundRunner) research(ctx context.Context, d api.Decision) (api.RoundResult, error) {
	rr.shot = nil
	round := max(rr.tx.Status.Round, 1)
	asked := slices.DeleteFunc(slices.Clone(d.Findings), func(f finding.Finding) bool { return f.Route != actionResearcher })
	k := rr.researcherCount(round)
	q := researchInput{before: rr.tx.Status.State, k: k, round: round, text: rr.tx.TaskPrompt(), asked: asked}
	var err error
	if q.churn, err = handoff.Churn(ctx, rr.tx); err != nil {
		return api.RoundResult{}, err
	}
	answers := make([]research.Answer, k)
	failures := make([]error, k)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for i, p := range research.Perspectives(k) {
		all.Go(func() {
			answers[i], failures[i] = rr.askResearcher(ctx, p, q)
			if code := errs.CodeOf(failures[i]); failures[i] != nil && code != errs.SpawnAuth && code != errs.SpawnQuota {
				cancel() // A run that cannot be recorded must not continue.
			}
		})
	}
	all.Wait()
	if err := firstCause(failures); err != nil {
		if rr.tx.Status.Status == task.Parked {
			err = rr.enter()
		}
		return api.RoundResult{}, err
	}
	consensus := research.Merge(answers)
	result := &api.Research{Round: round, K: k, AgreementScore: consensus.Meta.AgreementScore, Silent: consensus.Silent}
	if result.Path, err = rr.tx.Project.WriteStateFile(handoff.Folder, handoff.File(rr.tx.ID, round, "research.md"), []byte(consensus.Markdown(rr.tx.ID, round, questionFor(asked)))); err != nil {
		return api.RoundResult{}, err
	}
	text, err := json.Marshal(consensus, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		return api.RoundResult{}, err
	}
	// The next draft must also settle the other findings.
	path, err := handoff.Write(rr.tx, rr.config, d)
	if err != nil {
		return api.RoundResult{}, err
	}
	d.Handoff = &path
	// This file marks the research as done, so it is written last.
	if result.Data, err = rr.tx.Project.WriteStateFile(handoff.Folder, handoff.File(rr.tx.ID, round, "research.json"), textutil.JSON(text)); err != nil {
		return api.RoundResult{}, err
	}
	_, err = rr.recorder.Write(ctx, func() error {
		required := k
		if rr.driven { // The phase ends with the merge, even if a researcher failed.
			required = rr.tx.Status.CountAttestations(task.AgentResearcher)
		}
		err := rr.tx.Apply(task.CompletePhase{Phase: task.Research, Required: required}, event.Full{By: task.BySwitchyard})
		if code := errs.CodeOf(err); code == errs.EvidenceMissing || code == errs.TaskStuck || code == errs.TaskCommitted || code == errs.TaskWaiting {
			return nil // A researcher failed, so the phase is not done; the task can continue.
		}
		return err
	})
	d.Research, d.Spawns = result, rr.recorder.Spawns
	return api.RoundResult{Decision: d}, err
}

func (rr *roundRunner) researcherCount(round int) int {
	k := 0
	for _, r := range rr.tx.Status.Runs {
		if r.Role == task.RoleResearcher && r.Round == round {
			k = max(k, r.Index+1)
		}
	}
	return max(k, 1)
}

// researchInput is the common input of the researchers of a round.
type researchInput struct {
	before   task.State // without their runs, which change the transaction
	k, round int
	text     string // of the task
	asked    []finding.Finding
	churn    []string
}

// askResearcher returns one researcher's answer, or the reason why it failed. An error ends
// all researchers.
func (rr *roundRunner) askResearcher(ctx context.Context, p research.Perspective, q researchInput) (research.Answer, error) {
	v, index := research.Answer{Index: p.Index}, p.Index-1
	if answer, err := rr.earlierAnswer(ctx, q.before.LatestRun(task.RoleResearcher, index)); err != nil || answer != nil {
		v.Output = answer
		return v, err
	}
	agentDef, err := spawns.FindAgent(rr.tx.Project, researcherName)
	if err != nil {
		return v, err
	}
	settings := agents.Settings(rr.config, researcherName, rr.req.Adapter)
	at := spawns.Target{Role: task.RoleResearcher, Index: index, Attested: task.AgentResearcher, Round: q.round, Store: spawns.FinalText}
	if rr.driven {
		at.Ended = spawns.ParkOnLimit
	}
	job := rr.recorder.NewJob(agentDef, settings, at)
	job.Concurrency = max(job.Concurrency, q.k)
	job.Run, job.Resumed = reservedRun(q.before, index)
	job.Prompt = func(a spawner.Attempt) (string, error) {
		r := prompt.Data{
			Task: rr.tx.ID, RunID: a.Run, Round: q.round, Index: index, K: q.k, Nudge: p.Nudge, Question: questionFor(q.asked), Note: a.Note, Prompt: q.text,
			Findings: handoff.Lines(q.asked), Churn: q.churn,
		}
		if plan := rr.config.Spawn.PlanOf(rr.tx.ID); plan != "" {
			r.Files = append(r.Files, plan)
		}
		return prompt.Render(rr.agents.Spawner.Root, "researcher", r)
	}
	job.Check = func(_ context.Context, res spawner.Result) error {
		_, err := research.Parse(res.Output.Text)
		return err
	}
	result, err := rr.agents.Spawner.Run(ctx, job)
	rr.recorder.AddRuns(result)
	last := result.Last()
	switch {
	case errs.CodeOf(err) == errs.BudgetExhausted:
		v.Failure = "the budget is exhausted"
		return v, nil
	case err != nil:
		return v, err
	case last == nil:
		// Its intent is recorded, but no process will run.
		v.Failure = errors.Join(result.Skipped...).Error()
		return v, rr.abandon(ctx, job.Run, v.Failure)
	case agents.LoginErrorCode(last.Verdict) != "":
		return v, rr.tx.WithTaskID(agents.ErrFailed(*last, settings))
	case !last.Verdict.Good():
		v.Failure = string(last.Verdict.Reason)
		return v, nil
	}
	v.Output, err = research.Parse(last.Output.Text)
	return v, err
}

// reservedRun returns the run that is reserved for a researcher and has not begun, and
// whether another attempt was made before.
func reservedRun(s task.State, index int) (run string, resumed bool) {
	attempts := s.Attempts(task.RoleResearcher, index)
	for _, r := range s.OpenRuns() {
		if r.Role == task.RoleResearcher && r.Index == index {
			return r.Intent.Run, attempts > 1
		}
	}
	return "", attempts > 0
}

// earlierAnswer returns a researcher's answer in a run of a killed command, or nil.
func (rr *roundRunner) earlierAnswer(ctx context.Context, run *task.Run) (*research.Output, error) {
	if run == nil || run.Receipt.Outcome != outcome.OK || run.Receipt.Path == "" {
		return nil, nil
	}
	data, err := handoff.ReadReport(ctx, rr.tx, run.Receipt.Path, run.Receipt.Report)
	if err != nil || data == nil {
		return nil, err
	}
	answer, err := research.Parse(string(data))
	if err != nil {
		return nil, nil // The researcher is asked again.
	}
	rr.recorder.AddEarlier(*run)
	return answer, nil
}

// abandon records a failed receipt for an intent that is still open.
func (rr *roundRunner) abandon(ctx context.Context, run, why string) error {
	_, err := rr.recorder.Write(ctx, func() error {
		if !slices.ContainsFunc(rr.tx.Status.OpenRuns(), func(r task.Run) bool { return r.Intent.Run == run }) {
			return nil
		}
		receipt := task.Receipt{Run: run, Outcome: outcome.Failed, Reason: outcome.Reason(why), Class: outcome.NotFound}
		return rr.tx.Apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: task.BySwitchyard})
	})
	return err
}

// firstCause returns the first error, preferring one that is not a cancellation.
func firstCause(failures []error) error {
	var first error
	for _, err := range failures {
		if err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

func questionFor(asked []finding.Finding) string {
	var lines []string
	for _, f := range asked {
		lines = append(lines, f.Remediation)
	}
	return strings.Join(lines, "\n")
}

// The engine itself acts on these destinations.
const (
	actionExecutor   = "executor"
	actionResearcher = "researcher"
)
