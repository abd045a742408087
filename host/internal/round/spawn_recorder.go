package round

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// spawnRecorder records a task's spawns: an intent before each attempt and a receipt after
// it. It is safe for concurrent use and owns tx while agents run.
type spawnRecorder struct {
	config project.Config
	// jobs is how many tasks the command runs at once, 0 for this one.
	jobs int

	mu sync.Mutex // guards tx and spawns
	tx *taskTx
	// spawns are the runs of this command.
	spawns []api.SpawnSummary
}

// withAgents calls f under the task's lock, after it recovers what a killed command left.
func (rec *spawnRecorder) withAgents(ctx context.Context, f func(agentRunner) error) error {
	e := rec.tx.engine
	agents, err := e.newAgentRunner(ctx, rec.config, rec.tx.ID, rec.tx.tree())
	if err != nil {
		return err
	}
	held, err := rec.tx.lockRound(ctx)
	if err != nil {
		return err
	}
	defer e.project.Release(held)
	if err := e.recoverOrphans(ctx); err != nil {
		return err
	}
	if err := rec.closeLostRuns(ctx, func(task.Run) bool { return true }); err != nil {
		return err
	}
	return f(agents)
}

// write records what f applies to the current task. If another process appends first, f is
// called again.
func (rec *spawnRecorder) write(ctx context.Context, f func() error) (*api.EventRef, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for {
		if err := rec.tx.begin(ctx); err != nil {
			return nil, err
		}
		if err := f(); err != nil {
			return nil, err
		}
		at, err := rec.tx.commit(ctx, nil)
		if errs.CodeOf(err) != errs.LedgerConflict {
			return at, err
		}
	}
}

// spawnTarget is the purpose of a spawn.
type spawnTarget struct {
	role  task.Role
	index int
	// attested is the agent whose attestation the run gives, "" for none.
	attested string
	// cannotSearch is set if its definition has no search tool: then the
	// search-before-write rule does not apply to it.
	cannotSearch bool
	round        int
	// edits is set if it edits the task's tree.
	edits bool
	// store returns what is kept of a good answer, nil for nothing. It may be nil: then a
	// critic's report is kept.
	store func(spawner.Result) []byte
	// ended adds events to the receipt of the last attempt. It may be nil.
	ended func(*taskTx, spawner.Result) error
}

func (rec *spawnRecorder) intent(p spawnTarget, agent string, at spawner.Attempt) task.Intent {
	return task.Intent{
		Run: at.Run, Role: p.role, Agent: agent, Index: p.index, Attempt: rec.tx.Status.Attempts(p.role, p.index) + 1,
		Adapter: at.Adapter, Why: at.Why, Prompt: at.Prompt, Tree: at.Tree, Edits: p.edits,
		Reserve: task.Amount{
			Millis: max(at.Timeout.Milliseconds(), 1), Tokens: rec.config.Budget.Spawn.Tokens, MicroDollars: rec.config.Budget.Spawn.MicroDollars,
		},
	}
}

func (rec *spawnRecorder) limits() task.Limits {
	amount := func(a project.Allowance) task.Amount {
		return task.Amount{Millis: a.Time.Milliseconds(), Tokens: a.Tokens, MicroDollars: a.MicroDollars}
	}
	return task.Limits{Task: amount(rec.config.Budget.Task), Round: amount(rec.config.Budget.Round), Rounds: rec.config.Budget.Task.Rounds}
}

// begin records an attempt's intent durably, unless it was reserved before.
func (rec *spawnRecorder) begin(ctx context.Context, p spawnTarget, agent string, at spawner.Attempt) error {
	limits, reported := rec.limits(), event.Full{By: bySwitchyard}
	if p.role == task.RoleOther {
		limits = task.Limits{} // Budgets belong to tasks; this chain never ends.
	} else {
		reported.Limits = &limits
	}
	_, err := rec.write(ctx, func() error {
		if slices.ContainsFunc(rec.tx.Status.OpenRuns(), func(r task.Run) bool { return r.Intent.Run == at.Run }) {
			return nil
		}
		return rec.tx.apply(task.ReserveRuns{Round: p.round, Intents: []task.Intent{rec.intent(p, agent, at)}, Limits: limits}, reported)
	})
	return err
}

// end records an attempt's receipt durably, with the agent's attestation, and stores its
// report.
func (rec *spawnRecorder) end(ctx context.Context, p spawnTarget, res spawner.Result, manualFallback bool) error {
	receipt := receiptOf(res)
	if manualFallback && res.Next == outcome.Stop && !res.Verdict.Good() {
		receipt.Next = record.NextManualFallback
	}
	stored := res.Report
	if p.store != nil && res.Verdict.Good() {
		stored = p.store(res)
	}
	if stored != nil && res.Verdict.Good() {
		path, err := rec.tx.engine.project.WriteStateFile(reportsFolder, res.Run+".json", stored)
		if err != nil {
			return err
		}
		receipt.Path, receipt.Report = path, digest.Of(stored)
	}
	_, err := rec.write(ctx, func() error {
		err := rec.tx.apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: bySwitchyard, Spawn: &res.Record})
		if err == nil {
			err = rec.attest(p, res, receipt)
		}
		if err == nil && p.ended != nil && res.Next != outcome.Retry && res.Next != outcome.Fallback {
			err = p.ended(rec.tx, res)
		}
		return err
	})
	return err
}

// attest records that an agent ran. One that failed, or whose round is over, gives no
// evidence.
func (rec *spawnRecorder) attest(p spawnTarget, res spawner.Result, receipt task.Receipt) error {
	if p.attested == "" || !res.Verdict.Good() || rec.tx.Status.Status == task.Committed || max(rec.tx.Status.Round, 1) != p.round {
		return nil
	}
	audited := rec.config.Audit.Agents
	if !res.SeesTools || p.cannotSearch {
		audited = nil // Without reported tools, a search cannot be seen.
	}
	var tools []string
	search := slices.Clone(rec.config.Audit.SearchTools)
	for _, tool := range res.Output.Tools {
		tools = append(tools, tool.Name)
		if tool.Search && !slices.Contains(search, tool.Name) {
			search = append(search, tool.Name)
		}
	}
	return rec.tx.apply(task.AttestAgent{
		Agent: p.attested, Source: task.ByHost, By: bySwitchyard, Run: res.Run, Spawn: receipt.Spawn, Tools: tools,
		Audited: audited, SearchTools: search,
	}, event.Full{By: bySwitchyard})
}

// receiptOf returns the receipt of an attempt.
func receiptOf(res spawner.Result) task.Receipt {
	r := task.Receipt{
		Run: res.Run, Outcome: res.Verdict.Outcome, Reason: res.Verdict.Reason, Class: res.Verdict.Class,
		Used: task.Amount{Millis: max(res.Record.DurationMS, 0)}, Output: digest.Of([]byte(res.Output.Text)), Trail: res.LogDigest,
		Confinement: res.Record.Confinement,
	}
	if res.Next == outcome.Retry || res.Next == outcome.Fallback {
		r.Next = string(res.Next)
	}
	if res.Record.Model != nil {
		r.Model = *res.Record.Model
	}
	if res.Record.PID == 0 {
		return r // Without a process nothing was used.
	}
	r.Spawn = &task.Spawn{PID: res.Record.PID, Session: res.Record.Session, Trail: res.LogDigest}
	in, out := res.Output.Tokens.In, res.Output.Tokens.Out
	for _, n := range []*int64{in, out} {
		if n != nil && *n > 0 {
			r.Used.Tokens += *n
		}
	}
	if in == nil || out == nil {
		r.Unknown = append(r.Unknown, task.UnknownTokens)
	}
	if cost := res.Output.Dollars; cost != nil {
		r.Used.MicroDollars = max(*cost, 0)
	} else {
		r.Unknown = append(r.Unknown, task.UnknownMoney)
	}
	return r
}

// newJob returns a spawn job whose attempts are recorded.
func (rec *spawnRecorder) newJob(config project.Config, agentDef definition.Definition, settings project.SpawnAgent, p spawnTarget) spawner.Job {
	j := spawner.Job{
		Agent: agentDef, Adapters: append([]string{settings.Adapter}, settings.Fallback...), Model: settings.Model,
		Command: config.Spawn.Command, Env: config.Spawn.Env,
		Web: web(agentDef),
		Limits: spawner.Limits{
			Timeout: settings.Timeout, Idle: settings.Idle, Retries: settings.Retries, Repeats: 1,
			Concurrency: config.Spawn.Limit(rec.jobs), QueueTimeout: timeout,
			Tokens: config.Budget.Spawn.Tokens, MicroDollars: config.Budget.Spawn.MicroDollars,
		},
		Hooks: spawner.Hooks{
			Begin: func(ctx context.Context, at spawner.Attempt) error { return rec.begin(ctx, p, agentDef.Name, at) },
			End: func(ctx context.Context, res spawner.Result) error {
				return rec.end(ctx, p, res, settings.ManualFallback && p.role != task.RoleResearcher && agents.FallbackMayHelp(res.Verdict))
			},
			Observe: rec.tx.engine.project.Observe,
		},
	}
	if p.role != task.RoleOther {
		j.Task, j.Round, j.Role = rec.tx.ID, p.round, string(p.role)
	}
	return j
}

// web reports whether a definition's tools include web access.
func web(d definition.Definition) bool {
	return slices.ContainsFunc(d.Tools, func(tool string) bool {
		name, _, _ := strings.Cut(tool, "(")
		return strings.EqualFold(name, "WebSearch") || strings.EqualFold(name, "WebFetch")
	})
}

// closeLostRuns closes the matching open runs, whose host was killed.
func (rec *spawnRecorder) closeLostRuns(ctx context.Context, was func(task.Run) bool) error {
	_, err := rec.write(ctx, func() error { return rec.tx.loseRuns(was) })
	return err
}

// loseRuns adds to the pending events that the matching open runs were lost.
func (tx *taskTx) loseRuns(was func(task.Run) bool) error {
	for _, r := range tx.Status.OpenRuns() {
		if !was(r) {
			continue
		}
		receipt := task.Receipt{Run: r.Intent.Run, Outcome: task.OutcomeLost, Reason: "host-killed", Class: outcome.Lost}
		if err := tx.apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: bySwitchyard}); err != nil {
			return err
		}
	}
	return nil
}

// earlierSpawn summarizes a run of a killed command.
func earlierSpawn(run task.Run) api.SpawnSummary {
	s := api.SpawnSummary{
		Run: run.Intent.Run, Agent: run.Agent, Adapter: run.Adapter, Attempt: run.Attempt, Why: run.Why, Resumed: true,
		Outcome: run.Receipt.Outcome, Reason: run.Receipt.Reason, Class: run.Receipt.Class, DurationMS: run.Receipt.Used.Millis,
		Confinement: run.Receipt.Confinement,
	}
	if !slices.Contains(run.Receipt.Unknown, task.UnknownMoney) {
		s.CostMicroDollars = &run.Receipt.Used.MicroDollars
	}
	return s
}

// addSpawns adds the attempts to the decision's list.
func (rr *roundRunner) addSpawns(o spawner.Outcome) {
	rr.recorder.mu.Lock()
	defer rr.recorder.mu.Unlock()
	for _, res := range o.Results {
		rr.recorder.spawns = append(rr.recorder.spawns, api.SummarizeSpawn(res.Record))
	}
}
