package round

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// spawnRecorder records a task's spawns: an intent before each attempt, and a receipt
// after it. It is safe for concurrent use; the taskTx is its own meanwhile.
type spawnRecorder struct {
	config project.Config

	mu sync.Mutex // guards tx and spawns
	tx *taskTx
	// spawns are the runs of this command.
	spawns []api.SpawnSummary
}

// write records what f makes of the task as it stands. Where another process is
// first, f is asked again.
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

// spawnTarget is what a spawn is for.
type spawnTarget struct {
	role  task.Role
	index int
	// stamps is the agent that its stamp is of, "" for none.
	stamps string
	// round is the one that it is for.
	round int
}

// intent announces an attempt.
func (rec *spawnRecorder) intent(p spawnTarget, agent string, at spawner.Attempt) task.Intent {
	return task.Intent{
		Run: at.Run, Role: p.role, Agent: agent, Index: p.index, Attempt: rec.tx.status.Attempts(p.role, p.index) + 1,
		Adapter: at.Adapter, Why: at.Why, Prompt: at.Prompt, Tree: at.Tree,
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

// begin makes an attempt's intent durable. One that was announced before is there
// already.
func (rec *spawnRecorder) begin(ctx context.Context, p spawnTarget, agent string, at spawner.Attempt) error {
	limits, reported := rec.limits(), event.Full{By: bySwitchyard}
	if p.role == task.RoleOther {
		limits = task.Limits{} // A budget is a task's, and what runs outside of any never ends.
	} else {
		reported.Limits = &limits
	}
	_, err := rec.write(ctx, func() error {
		if slices.ContainsFunc(rec.tx.status.OpenRuns(), func(r task.Run) bool { return r.Intent.Run == at.Run }) {
			return nil
		}
		return rec.tx.apply(task.ReserveRuns{Round: p.round, Intents: []task.Intent{rec.intent(p, agent, at)}, Limits: limits}, reported)
	})
	return err
}

// end makes an attempt's receipt durable, with what the host has seen of it as its
// agent's stamp, and keeps what it reported.
func (rec *spawnRecorder) end(ctx context.Context, p spawnTarget, res spawner.Result, handBack bool) error {
	receipt := receiptOf(res)
	if handBack && res.Next == outcome.Stop && !res.Verdict.Good() {
		receipt.Next = NextHandBack
	}
	stored := res.Report
	if stored == nil && res.Verdict.Outcome == outcome.OK && p.role == task.RoleResearcher {
		stored = []byte(res.Output.Text)
	}
	if stored != nil && res.Verdict.Good() {
		path, err := rec.tx.engine.writeStateFile(reportsFolder, res.Run+".json", stored)
		if err != nil {
			return err
		}
		receipt.Path, receipt.Report = path, digest.Of(stored)
	}
	_, err := rec.write(ctx, func() error {
		if err := rec.tx.apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: bySwitchyard, Spawn: &res.Record}); err != nil {
			return err
		}
		// The evidence of an agent that did not do its work is none, and neither is
		// that of one whose round is over.
		if p.stamps == "" || !res.Verdict.Good() || rec.tx.status.Status == task.Committed || max(rec.tx.status.Round, 1) != p.round {
			return nil
		}
		audited := rec.config.Audit.Agents
		if !res.SeesTools {
			audited = nil // Nobody can tell whether it searched.
		}
		var tools []string
		search := slices.Clone(rec.config.Audit.SearchTools)
		for _, tool := range res.Output.Tools {
			tools = append(tools, tool.Name)
			if tool.Search && !slices.Contains(search, tool.Name) {
				search = append(search, tool.Name)
			}
		}
		return rec.tx.apply(task.StampAgent{
			Agent: p.stamps, Source: task.ByHost, By: bySwitchyard, Run: res.Run, Spawn: receipt.Spawn, Tools: tools,
			Audited: audited, SearchTools: search,
		}, event.Full{By: bySwitchyard})
	})
	return err
}

// NextHandBack says in a receipt that the caller runs the agent in some other way.
const NextHandBack = "hand-back"

// receiptOf is what the ledger keeps of an attempt.
func receiptOf(res spawner.Result) task.Receipt {
	r := task.Receipt{
		Run: res.Run, Outcome: res.Verdict.Outcome, Reason: res.Verdict.Reason, Class: res.Verdict.Class,
		Used: task.Amount{Millis: max(res.Record.DurationMS, 0)}, Output: digest.Of([]byte(res.Output.Text)), Trail: res.LogDigest,
	}
	if res.Next == outcome.Retry || res.Next == outcome.Fallback {
		r.Next = string(res.Next)
	}
	if res.Record.Model != nil {
		r.Model = *res.Record.Model
	}
	if res.Record.PID == 0 {
		return r // What never was a process has used up nothing.
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

// newJob is a spawn that the spawnRecorder records.
func (rec *spawnRecorder) newJob(config project.Config, agentDef definition.Definition, settings project.SpawnAgent, p spawnTarget) spawner.Job {
	j := spawner.Job{
		Agent: agentDef, Adapters: append([]string{settings.Adapter}, settings.Fallback...), Model: settings.Model,
		Command: config.Spawn.Command, Env: config.Spawn.Env,
		Web: web(agentDef),
		Limits: spawner.Limits{
			Timeout: settings.Timeout, Idle: settings.Idle, Retries: settings.Retries, Repeats: 1,
			Concurrency: config.Spawn.Concurrency, QueueTimeout: timeout,
			Tokens: config.Budget.Spawn.Tokens, MicroDollars: config.Budget.Spawn.MicroDollars,
		},
		Hooks: spawner.Hooks{
			Begin: func(ctx context.Context, at spawner.Attempt) error { return rec.begin(ctx, p, agentDef.Name, at) },
			End: func(ctx context.Context, res spawner.Result) error {
				return rec.end(ctx, p, res, settings.HandBack && p.role != task.RoleResearcher && fallbackMayHelp(res.Verdict))
			},
			Observe: rec.tx.engine.observe,
		},
	}
	if p.role != task.RoleOther {
		j.Task, j.Round = rec.tx.id, p.round
	}
	return j
}

// web says that a definition wants its agent to look things up in the web.
func web(d definition.Definition) bool {
	return slices.ContainsFunc(d.Tools, func(tool string) bool {
		name, _, _ := strings.Cut(tool, "(")
		return strings.EqualFold(name, "WebSearch") || strings.EqualFold(name, "WebFetch")
	})
}

// closeLostRuns closes those of the open runs that were under way when their host was
// killed.
func (rec *spawnRecorder) closeLostRuns(ctx context.Context, was func(task.Run) bool) error {
	_, err := rec.write(ctx, func() error { return rec.tx.loseRuns(was) })
	return err
}

// loseRuns adds to what is pending that open runs were lost.
func (tx *taskTx) loseRuns(was func(task.Run) bool) error {
	for _, r := range tx.status.OpenRuns() {
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

// findRecord is what the ledger keeps of a run that has ended.
func (rec *spawnRecorder) findRecord(ctx context.Context, run string) (spawner.Record, error) {
	for e, err := range rec.tx.ledger.Events(ctx, rec.tx.id, 1) {
		if err != nil {
			return spawner.Record{}, err
		}
		if e.Kind != string(task.KindSpawnEnded) {
			continue
		}
		if r, err := spawnRecord(e); err != nil || r.RunID == run {
			return r, err
		}
	}
	return spawner.Record{}, errTampered(rec.tx.id, "run %s has a receipt and no record", run)
}

// spawnRecord reads the record of a run that has ended. That of a run that was lost with
// its host is empty.
func spawnRecord(e ledger.Event) (spawner.Record, error) {
	body, err := event.Decode(e)
	if err != nil {
		return spawner.Record{}, errTampered(e.Task, "event %d cannot be read: %w", e.N, err)
	}
	if body.Spawn == nil {
		return spawner.Record{}, nil
	}
	return *body.Spawn, nil
}

// explainAttempt is why an attempt came to nothing, in its own words and ours; nothing for one
// that went well.
func explainAttempt(r spawner.Record) []string {
	words := []string{}
	if (outcome.Verdict{Outcome: r.Outcome}).Good() {
		return words
	}
	for _, tool := range r.Denials {
		words = append(words, "denied tool: "+tool)
	}
	words = append(words, r.Notes...)
	return words[max(len(words)-maxSaid, 0):] // Its own words come last.
}

// maxSaid is how many of an attempt's words are shown; the trail has all.
const maxSaid = 5

func summarizeSpawn(r spawner.Record) api.SpawnSummary {
	s := api.SpawnSummary{
		Run: r.RunID, Agent: r.Agent, Adapter: r.Adapter, Attempt: r.Attempt, Why: r.Why, Outcome: r.Outcome, Reason: r.Reason, Class: r.Class,
		DurationMS: r.DurationMS, TokensIn: r.TokensIn, TokensOut: r.TokensOut, CostMicroDollars: r.CostMicroDollars,
		Changed: r.Changed, Stderr: r.StderrExcerpt,
	}
	if words := explainAttempt(r); len(words) > 0 {
		s.Said = words
	}
	return s
}

// earlierSpawn is a run of a command that was killed.
func earlierSpawn(run task.Run) api.SpawnSummary {
	s := api.SpawnSummary{
		Run: run.Intent.Run, Agent: run.Agent, Adapter: run.Adapter, Attempt: run.Attempt, Why: run.Why, Resumed: true,
		Outcome: run.Receipt.Outcome, Reason: run.Receipt.Reason, Class: run.Receipt.Class, DurationMS: run.Receipt.Used.Millis,
	}
	if !slices.Contains(run.Receipt.Unknown, task.UnknownMoney) {
		s.CostMicroDollars = &run.Receipt.Used.MicroDollars
	}
	return s
}

// addSpawns remembers what was spawned, for the decision.
func (rr *roundRunner) addSpawns(o spawner.Outcome) {
	rr.recorder.mu.Lock()
	defer rr.recorder.mu.Unlock()
	for _, res := range o.Results {
		rr.recorder.spawns = append(rr.recorder.spawns, summarizeSpawn(res.Record))
	}
}
