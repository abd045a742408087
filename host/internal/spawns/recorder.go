package spawns

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Recorder records a task's spawns: an intent before each attempt and a receipt after
// it. Write, AddRuns and AddEarlier are safe for concurrent use. While agents run, they use Tx
// and Spawns, and callers must not.
type Recorder struct {
	Config project.Config
	// Jobs is how many tasks the command runs at once, 0 for this one.
	Jobs int
	Tx   *tasktx.Tx
	// Spawns are the runs of this command.
	Spawns []api.SpawnSummary

	mu sync.Mutex // guards Tx and Spawns while agents run
}

// WithAgents calls f under the task's lock, after it recovers from commands that were killed.
func (rec *Recorder) WithAgents(ctx context.Context, f func(Runner) error) error {
	p := rec.Tx.Project
	runner, err := NewRunner(ctx, p, rec.Config, rec.Tx.ID, rec.Tx.Tree())
	if err != nil {
		return err
	}
	held, err := lockRound(ctx, rec.Tx)
	if err != nil {
		return err
	}
	defer p.Release(held)
	if err := RecoverOrphans(ctx, p); err != nil {
		return err
	}
	if _, err := rec.Write(ctx, func() error { return LoseRuns(rec.Tx, rec.Tx.Status.OpenRuns()) }); err != nil {
		return err
	}
	return f(runner)
}

// Write begins a command on the task, and records the events of the commands that f applies, as
// tasktx.Tx.Write does.
func (rec *Recorder) Write(ctx context.Context, f func() error) (*api.EventRef, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if err := rec.Tx.Begin(ctx); err != nil {
		return nil, err
	}
	return rec.Tx.Write(ctx, f)
}

// Target is the purpose of a spawn.
type Target struct {
	Role  task.Role
	Index int // of the researcher, from 0
	// Attested is the agent that the run attests, "" if it attests no agent.
	Attested string
	// CannotSearch is set if the agent's definition has no search tool: then the
	// search-before-write rule does not apply to it.
	CannotSearch bool
	Round        int
	// Edits is set if the agent edits the task's tree.
	Edits bool
	// Store returns the part of a good answer to store, nil to store nothing. If Store is
	// nil, the critic's report is stored.
	Store func(spawner.Result) []byte
	// Ended adds events to the receipt of the last attempt. It may be nil.
	Ended func(*tasktx.Tx, spawner.Result) error
}

// Intent returns the intent of an attempt of an agent.
func (rec *Recorder) Intent(p Target, agent string, at spawner.Attempt) task.Intent {
	return task.Intent{
		Run: at.Run, Role: p.Role, Agent: agent, Index: p.Index, Attempt: rec.Tx.Status.Attempts(p.Role, p.Index) + 1,
		Adapter: at.Adapter, Why: at.Why, Prompt: at.Prompt, Tree: at.Tree, Edits: p.Edits,
		Reserve: task.Amount{
			Millis: max(at.Timeout.Milliseconds(), 1), Tokens: rec.Config.Budget.Spawn.Tokens, MicroDollars: rec.Config.Budget.Spawn.MicroDollars,
		},
	}
}

// Limits returns the task's budgets.
func (rec *Recorder) Limits() task.Limits {
	amount := func(a project.Allowance) task.Amount {
		return task.Amount{Millis: a.Time.Milliseconds(), Tokens: a.Tokens, MicroDollars: a.MicroDollars}
	}
	return task.Limits{Task: amount(rec.Config.Budget.Task), Round: amount(rec.Config.Budget.Round), Rounds: rec.Config.Budget.Task.Rounds}
}

// begin records an attempt's intent durably, unless it was reserved before.
func (rec *Recorder) begin(ctx context.Context, p Target, agent string, at spawner.Attempt) error {
	limits, reported := rec.Limits(), event.Full{By: task.BySwitchyard}
	if p.Role == task.RoleOther {
		limits = task.Limits{} // Budgets belong to tasks; this chain never ends.
	} else {
		reported.Limits = &limits
	}
	_, err := rec.Write(ctx, func() error {
		if slices.ContainsFunc(rec.Tx.Status.OpenRuns(), func(r task.Run) bool { return r.Intent.Run == at.Run }) {
			return nil
		}
		return rec.Tx.Apply(task.ReserveRuns{Round: p.Round, Intents: []task.Intent{rec.Intent(p, agent, at)}, Limits: limits}, reported)
	})
	return err
}

// end records an attempt's receipt durably, with the agent's attestation, and stores its
// report.
func (rec *Recorder) end(ctx context.Context, p Target, res spawner.Result, manualFallback bool) error {
	receipt := receiptOf(res)
	if manualFallback && res.Next == outcome.Stop && !res.Verdict.Good() {
		receipt.Next = record.NextManualFallback
	}
	stored := res.Report
	if p.Store != nil && res.Verdict.Good() {
		stored = p.Store(res)
	}
	if stored != nil && res.Verdict.Good() {
		path, err := rec.Tx.Project.WriteStateFile(ReportsFolder, res.Run+".json", stored)
		if err != nil {
			return err
		}
		receipt.Path, receipt.Report = path, digest.Of(stored)
	}
	_, err := rec.Write(ctx, func() error {
		err := rec.Tx.Apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: task.BySwitchyard, Spawn: &res.Record})
		if err == nil {
			err = rec.attest(p, res, receipt)
		}
		if err == nil && p.Ended != nil && !res.Next.Continues() {
			err = p.Ended(rec.Tx, res)
		}
		return err
	})
	return err
}

// attest records that an agent ran, unless it failed or its round is over.
func (rec *Recorder) attest(p Target, res spawner.Result, receipt task.Receipt) error {
	if p.Attested == "" || !res.Verdict.Good() || rec.Tx.Status.Status == task.Committed || max(rec.Tx.Status.Round, 1) != p.Round {
		return nil
	}
	audited := rec.Config.Audit.Agents
	if !res.SeesTools || p.CannotSearch {
		audited = nil // Without reported tools, a search cannot be seen.
	}
	var tools []string
	search := slices.Clone(rec.Config.Audit.SearchTools)
	for _, tool := range res.Output.Tools {
		tools = append(tools, tool.Name)
		if tool.Search && !slices.Contains(search, tool.Name) {
			search = append(search, tool.Name)
		}
	}
	return rec.Tx.Apply(task.AttestAgent{
		Agent: p.Attested, Source: task.ByHost, By: task.BySwitchyard, Run: res.Run, Spawn: receipt.Spawn, Tools: tools,
		Audited: audited, SearchTools: search,
	}, event.Full{By: task.BySwitchyard})
}

func receiptOf(res spawner.Result) task.Receipt {
	r := task.Receipt{
		Run: res.Run, Outcome: res.Verdict.Outcome, Reason: res.Verdict.Reason, Class: res.Verdict.Class,
		Used: task.Amount{Millis: max(res.Record.DurationMS, 0)}, Output: digest.Of([]byte(res.Output.Text)), Trail: res.LogDigest,
		Confinement: res.Record.Confinement,
	}
	if res.Next.Continues() {
		r.Next = string(res.Next)
	}
	if res.Record.Model != nil {
		r.Model = *res.Record.Model
	}
	if res.Record.PID == 0 {
		return r // There was no process to use tokens.
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

// NewJob returns a spawn job whose attempts are recorded.
func (rec *Recorder) NewJob(agentDef definition.Definition, settings project.SpawnAgent, p Target) spawner.Job {
	config := rec.Config
	j := spawner.Job{
		Agent: agentDef, Adapters: settings.AdapterChain(), Model: settings.Model,
		Command: config.Spawn.Command, Env: config.Spawn.Env, Web: hasWebAccess(agentDef),
		Limits: spawner.Limits{
			Timeout: settings.Timeout, Idle: settings.Idle, Retries: settings.Retries, Repeats: 1,
			Concurrency: config.Spawn.Limit(rec.Jobs), QueueTimeout: queueTimeout,
			Tokens: config.Budget.Spawn.Tokens, MicroDollars: config.Budget.Spawn.MicroDollars,
		},
		Hooks: spawner.Hooks{
			Begin: func(ctx context.Context, at spawner.Attempt) error { return rec.begin(ctx, p, agentDef.Name, at) },
			End: func(ctx context.Context, res spawner.Result) error {
				return rec.end(ctx, p, res, settings.ManualFallback && p.Role != task.RoleResearcher && agents.FallbackMayHelp(res.Verdict))
			},
			Observe: rec.Tx.Project.Observe,
		},
	}
	if p.Role != task.RoleOther {
		j.Task, j.Round, j.Role = rec.Tx.ID, p.Round, string(p.Role)
	}
	return j
}

// CanSearch reports whether a definition has a tool that searches.
func CanSearch(d definition.Definition, config project.Config) bool {
	return hasWebAccess(d) || slices.ContainsFunc(d.Tools, func(tool string) bool { return slices.Contains(config.Audit.SearchTools, tool) })
}

// hasWebAccess reports whether a definition's tools include web access.
func hasWebAccess(d definition.Definition) bool {
	return slices.ContainsFunc(d.Tools, func(tool string) bool {
		name, _, _ := strings.Cut(tool, "(")
		return strings.EqualFold(name, "WebSearch") || strings.EqualFold(name, "WebFetch")
	})
}

// LoseRuns adds pending events that say that open runs were lost with their host.
func LoseRuns(tx *tasktx.Tx, open []task.Run) error {
	for _, r := range open {
		receipt := task.Receipt{Run: r.Intent.Run, Outcome: task.OutcomeLost, Reason: "host-killed", Class: outcome.Lost}
		if err := tx.Apply(task.RecordReceipt{Receipt: receipt}, event.Full{By: task.BySwitchyard}); err != nil {
			return err
		}
	}
	return nil
}

// AddEarlier adds a run of a killed command to Spawns.
func (rec *Recorder) AddEarlier(run task.Run) {
	s := api.SpawnSummary{
		Run: run.Intent.Run, Agent: run.Agent, Adapter: run.Adapter, Attempt: run.Attempt, Why: run.Why, Resumed: true,
		Outcome: run.Receipt.Outcome, Reason: run.Receipt.Reason, Class: run.Receipt.Class, DurationMS: run.Receipt.Used.Millis,
		Confinement: run.Receipt.Confinement,
	}
	if !slices.Contains(run.Receipt.Unknown, task.UnknownMoney) {
		s.CostMicroDollars = &run.Receipt.Used.MicroDollars
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.Spawns = append(rec.Spawns, s)
}

// AddRuns adds the attempts of a spawn to Spawns.
func (rec *Recorder) AddRuns(o spawner.Outcome) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, res := range o.Results {
		rec.Spawns = append(rec.Spawns, api.SummarizeSpawn(res.Record))
	}
}

// FinalText returns the final message of an agent, without secrets.
func FinalText(res spawner.Result) []byte { return []byte(redact.Text(res.Output.Text)) }

// ReportPath returns the path of the report of a run, relative to the project's root, with
// slashes.
func ReportPath(run string) string {
	return project.StateDir + "/" + ReportsFolder + "/" + run + ".json"
}

// queueTimeout is how long a spawn waits for a free lease of its agent.
const queueTimeout = time.Hour

// ReportsFolder is the subdirectory of the state directory for reports of spawned agents, by
// run, and of commands, by task and round.
const ReportsFolder = "reports"

// parkMargin is how long after the end of a usage limit agents run again.
const parkMargin = time.Minute

// ParkOnLimit is the Ended of a critic or researcher in a task that Run drives.
func ParkOnLimit(tx *tasktx.Tx, res spawner.Result) error {
	if tx.Status.Status != task.Open {
		return nil
	}
	_, err := ParkFor(tx, res)
	return err
}

// ParkFor parks the task if a run ended with a usage limit whose end is known.
func ParkFor(tx *tasktx.Tx, res spawner.Result) (bool, error) {
	if res.Verdict.Class != outcome.Quota || res.Record.ResetsAt == "" {
		return false, nil
	}
	ends, err := time.Parse(time.RFC3339, res.Record.ResetsAt)
	if err != nil {
		return false, err
	}
	until := ends.Add(parkMargin)
	if !until.After(tx.Project.Now()) {
		return false, nil // The limit should be over and is not; the agent would meet it at once.
	}
	return true, tx.Apply(task.ParkTask{Parking: task.Parking{
		Until: until.UTC().Format(ledger.TimeFormat), Run: res.Run, Adapter: res.Record.Adapter,
	}}, event.Full{By: task.BySwitchyard})
}
