// Package round runs the rounds of a project's tasks, with their verification, critic,
// decision and researchers, and implements the other commands that change tasks.
package round

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/decision"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Engine runs rounds and the other commands on tasks. It is safe for concurrent use.
type Engine struct{ project *core.Project }

// New returns an Engine that works on p, which the caller closes after it.
func New(p *core.Project) *Engine { return &Engine{p} }

// commandConfig returns the configuration for a command that changes a task. It refuses
// a command that an agent runs.
func (e *Engine) commandConfig(ctx context.Context) (project.Config, error) {
	if err := e.project.Inside(); err != nil {
		return project.Config{}, err
	}
	return e.project.Config(ctx)
}

// Round runs a task's round and records its decision: verification, then the critic,
// unless its reports are given, then the policy. When it returns, the decision is durable.
// A decision to commit commits the task. If Round fails, the task does not change, except
// that agent runs are recorded, and that a new verification invalidates an earlier green one.
//
// A round that spawns agents also writes the findings for the executor and runs
// researchers (see roundRunner). If the caller must run its critic, or a budget is
// exhausted, the result says so.
//
// # Errors
//
// Errors of reports, plugins, policies, verification, spawns and the ledger; errors of the
// task's status, such as task-waiting; report-wrong-task and report-wrong-round; round-shifted
// if another process decided the round first, and round-running if another process runs it.
func (e *Engine) Round(ctx context.Context, id string, req api.Request) (api.RoundResult, error) {
	r, err := e.round(ctx, id, req)
	return r, tasktx.RecordFailure(ctx, e.project, id, err)
}

func (e *Engine) round(ctx context.Context, id string, req api.Request) (api.RoundResult, error) {
	in, err := e.open(ctx, id, req)
	defer in.close()
	if err != nil {
		return api.RoundResult{}, err
	}
	agents := in.config.Spawn.For(criticName).Named || in.config.Spawn.For(researcherName).Named
	critic := req.Spawn || req.Adapter != "" || len(req.Reports) == 0 && UsesCritic(in.config)
	if critic || agents || len(in.config.Reports.Commands) > 0 {
		return e.runHeadless(ctx, in, req, critic, nil)
	}
	d, err := in.decide(ctx, req, true)
	return api.RoundResult{Decision: d}, err
}

// UsesCritic reports whether a project's rounds run the critic. If the project has report
// commands, they do so only if the critic is configured too.
func UsesCritic(config project.Config) bool {
	return len(config.Reports.Commands) == 0 || config.Spawn.For(criticName).Named
}

// Review decides a round like Round, but as a separate phase: it requires the critic's
// attestation, runs no verification, and leaves the commit to Commit.
func (e *Engine) Review(ctx context.Context, id string, req api.Request) (api.Decision, error) {
	in, err := e.open(ctx, id, req)
	defer in.close()
	var d api.Decision
	if err == nil {
		d, err = in.decide(ctx, req, false)
	}
	return d, tasktx.RecordFailure(ctx, e.project, id, err)
}

// roundInputs has a task and the inputs of its round, which are still loading.
type roundInputs struct {
	tx     *tasktx.Tx
	config project.Config
	inputs *pendingInputs
}

// open begins to decide a round. The caller must close the result, even after an error.
func (e *Engine) open(ctx context.Context, id string, req api.Request) (in roundInputs, err error) {
	// An agent must not decide the task that it works on.
	if err := e.project.Inside(); err != nil {
		return in, err
	}
	if in.config, err = e.project.Plugins().Config(ctx, req.Reports...); err != nil {
		return in, err
	}
	if err := task.CheckID(id); err != nil {
		return in, err
	}
	in.inputs = e.startLoading(ctx, req, in.config)
	if in.tx, err = tasktx.Open(ctx, e.project, id); err != nil {
		return in, err
	}
	in.tx.Prompt = req.Prompt
	if in.tx.BaseRev = req.Base; in.tx.BaseRev != "" {
		_, err = in.tx.Base(ctx) // An unknown base is rejected before any work.
	}
	return in, err
}

func (in roundInputs) close() {
	if in.tx != nil {
		in.tx.Close()
	}
	if in.inputs != nil {
		in.inputs.cancel()
	}
}

func (in roundInputs) load(ctx context.Context, round int) (policyset.Selection, []pluginset.Report, error) {
	policy, reports, err := in.inputs.wait(ctx)
	if err != nil {
		return policy, nil, err
	}
	if policy, err = in.tx.Project.Policies().CheckAdopted(ctx, in.tx.Ledger, policy); err != nil {
		return policy, nil, err
	}
	_, err = pluginset.CheckSubject(reports, in.tx.ID, round)
	return policy, reports, err
}

// decide decides a round on its reports. If it is final, it verifies the draft, and a decision
// to commit commits the task; else the review is a separate phase.
func (in roundInputs) decide(ctx context.Context, req api.Request, final bool) (api.Decision, error) {
	config := in.config
	if err := spawns.CheckNotRunning(ctx, in.tx); err != nil {
		return api.Decision{}, err
	}
	var phases []task.Phase // whose agents need attestations
	switch {
	// If the latest phase is the draft, it has already passed its gate.
	case config.Attestations && (final || in.tx.Status.Phase != task.Draft):
		phases = []task.Phase{task.Draft, task.Review}
	case !final:
		phases = []task.Phase{task.Review}
	}
	round, err := task.EnterRound(in.tx.Status.State, task.RoundEntry{
		Expected: req.Round, MaxRounds: req.MaxRounds, Fallback: config.MaxRounds, HardCap: config.HardCap,
		Phases: phases, Force: req.Force,
	})
	if err != nil {
		in.tx.RefreshStateMD(ctx, err)
		return api.Decision{}, in.tx.WithTaskID(err)
	}
	policy, all, err := in.load(ctx, round.Number)
	if err != nil {
		return api.Decision{}, err
	}
	if len(all) == 0 {
		return api.Decision{}, errNoEvidence()
	}
	var verified api.Verification
	if final {
		verified, err = verification.Again(ctx, in.tx, req.Verify, config, round.Number)
	} else {
		verified, err = verification.Of(ctx, in.tx, req.Verify, config, false)
	}
	if err != nil {
		return api.Decision{}, err
	}
	d, err := decide(ctx, in.tx, decisionInput{policy: policy, Evidence: Evidence{Reports: all, Verification: verified}, round: round, final: final, config: config})
	if err != nil {
		return api.Decision{}, in.tx.MapConflict(ctx, round.Number, err)
	}
	if d.NextAction == policies.Commit && !final {
		d.Missing = append([]string{}, in.tx.Status.MissingForCommit(config.Verify != nil)...)
	}
	return d, nil
}

type decisionInput struct {
	Evidence
	policy policyset.Selection
	round  task.Round
	final  bool
	config project.Config
	// tree returns the git tree of the verified draft, for a decision to commit. It may be
	// nil.
	tree func(context.Context) (string, error)
	// then is called before the decision is recorded; it may be nil.
	then func(*api.Decision) error
}

// decide evaluates the policy on a round and records the decision. If the task has changed
// meanwhile, the error is ledger-conflict.
func decide(ctx context.Context, tx *tasktx.Tx, r decisionInput) (api.Decision, error) {
	for i, ev := range r.Reports {
		if ev.Run != "" {
			r.Reports[i].Confinement = tx.Status.ConfinementOf(ev.Run, ev.Digest)
		}
	}
	q := decision.Query{
		Policy: r.policy.Policy, Evidence: r.Reports, Verify: r.Verification.Outcome,
		Round: r.round.Number, MaxRounds: r.round.MaxRounds, HardCap: r.round.HardCap, Bar: tx.Status.Bar,
	}
	// If the critic failed, the draft was not reviewed, whatever other reports say, so earlier
	// findings are not resolved.
	reviewed := len(r.Reports) > 0 && r.Critic == nil
	if reviewed {
		q.Audits, q.Changes, q.Task = auditFindings(tx), r.Draft.Changes, &tx.Task
	}
	if r.Critic != nil {
		q.Audits = append(q.Audits, *r.Critic)
	}
	d, timing, err := q.Decide(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	if !reviewed {
		if d.StillOpen, err = decision.StillOpen(ctx, &tx.Task); err != nil {
			return api.Decision{}, err
		}
	}
	destination, _ := r.policy.Destination(d.NextAction)
	if destination.Kind == policies.Human {
		d.Questions = decision.Questions(r.policy.Policy, d, tx.Project.Now())
	}
	d.Force = r.round.Force
	outcome := task.DecideRound{
		Round: r.round, AdvancesRound: destination.AdvancesRound, MustVerify: r.config.Verify != nil,
		RoundDecided: task.RoundDecided{
			NextAction: d.NextAction, DestinationKind: string(destination.Kind), Reason: d.Reason, Policy: r.policy.String(),
			FindingCount: len(d.Findings), Reviewed: reviewed, Verify: string(r.Verification.Outcome),
			Final: r.final, Evidence: boundDigests(r.Reports), Stalled: d.StalledRounds, Questions: d.Questions, Draft: r.Draft.Tree,
			Deferred: len(d.Deferred), Bar: tx.Status.Bar, Confinement: d.Confinement,
		},
	}
	if f := d.Input.Facts; f != nil {
		outcome.FirstTime, outcome.InducedRounds = f.FirstTimeCount, f.InducedRounds
		if d.Bar.Above(policies.BarAll) {
			outcome.Bar, d.BarSince = string(d.Bar), r.round.Number
			if outcome.Bar == tx.Status.Bar {
				d.BarSince = tx.Status.BarSince
			}
		}
	}
	if tx.Status.Branch != nil && d.NextAction == policies.Commit {
		if r.tree == nil {
			return api.Decision{}, tx.ErrNeedsRun()
		}
		if outcome.Tree, err = r.tree(ctx); err != nil {
			return api.Decision{}, err
		}
	}
	if r.Verification.Outcome != policies.Absent {
		d.Verification = &r.Verification
		outcome.Verification = &r.Verification.Verification
	}
	tx.Policy = &r.policy
	return recordDecision(ctx, tx, outcome, d, timing, r)
}

// recordDecision appends a decision to the task's chain, with the events that r.then adds,
// unless the task has changed since it was read. An executor's instructions are written
// before the decision.
func recordDecision(ctx context.Context, tx *tasktx.Tx, o task.DecideRound, d api.Decision, timing *event.Timing, r decisionInput) (api.Decision, error) {
	change, err := task.Decide(tx.Status.State, o)
	if err != nil {
		return api.Decision{}, tx.WithTaskID(err)
	}
	d.TaskID, d.Driven = tx.ID, tx.Status.Branch != nil
	if decided, ok := change.(task.RoundDecided); ok {
		d.NextRound = decided.NextRound
	}
	if err := tx.Add(change, event.Full{Decision: &d, Timing: timing}); err != nil {
		return api.Decision{}, err
	}
	var handOff func() error
	if d.NextAction == actionExecutor {
		path := handoff.Path(tx.ID, d.NextRound, handoff.FindingsFile)
		d.Handoff = &path
		handOff = func() error {
			_, err := handoff.Write(tx, r.config, d)
			return err
		}
	}
	if r.then != nil {
		if err := r.then(&d); err != nil {
			return api.Decision{}, err
		}
	}
	at, err := tx.Commit(ctx, handOff)
	if errs.CodeOf(err) == errs.LedgerConflict && d.Handoff != nil {
		restoreHandoff(ctx, tx, r.config, *d.Handoff)
	}
	if err != nil {
		return api.Decision{}, err
	}
	d.Event = at
	return d, nil
}

// restoreHandoff writes the executor's instructions of the decision that came first, which a
// later one has replaced before it was refused.
func restoreHandoff(ctx context.Context, tx *tasktx.Tx, config project.Config, path string) {
	if tx.Begin(ctx) != nil || tx.Status.Last == nil {
		return // Another command than a decision came first.
	}
	first, err := tx.LastDecision(ctx)
	if err == nil && first.Handoff != nil && *first.Handoff == path {
		_, err = handoff.Write(tx, config, first)
	}
	if err != nil {
		tx.Project.Warn(err)
	}
}

// boundDigests returns the digests of the reports that name their round. Two honest
// reports of one round never have the same bytes.
func boundDigests(all []pluginset.Report) []string {
	var digests []string
	for _, ev := range all {
		if ev.Result.Round != nil && !slices.Contains(digests, ev.Digest) {
			digests = append(digests, ev.Digest)
		}
	}
	return digests
}

// auditFindings returns the task's unrouted violations as findings, each with the
// attestation that raised it as its source.
func auditFindings(tx *tasktx.Tx) []finding.Finding {
	found := tx.Status.AuditFindings()
	for i := range found {
		raw, _ := json.Marshal(tx.Status.Violations[i], json.Deterministic(true)) // It was read from JSON.
		found[i].Sources = []finding.Source{{Critic: finding.AuditCritic, Plugin: finding.AuditCritic, Report: digest.Of(raw), Ref: "", Raw: raw}}
	}
	return found
}
