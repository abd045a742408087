// Package host is the engine of Switchyard: it normalises reports with plugins, merges
// their findings, lets the policy decide where a task goes next, and records why in the
// ledger.
//
// Route decides on reports alone. Round runs a round of a task; Answer and Resume continue
// a task that waits for its user or is stuck. Task, Tasks and Explain read what was
// recorded. The other methods serve the command line.
package host

import (
	"context"
	"iter"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Auto and Stdin are special values of a ReportRef: the one plugin that recognises the
// report, and standard input as its path.
const (
	Auto  = api.Auto
	Stdin = api.Stdin
)

// Requests and results.
type (
	Request        = api.Request
	ReportRef      = api.ReportRef
	VerifyRequest  = api.VerifyRequest
	AnswerRequest  = api.AnswerRequest
	ResumeRequest  = api.ResumeRequest
	SpawnRequest   = round.SpawnRequest
	Decision       = api.Decision
	Verification   = api.Verification
	ManualFallback = api.ManualFallback
	EventRef       = api.EventRef
	TaskStatus     = api.TaskStatus
	TaskDetail     = api.TaskDetail
	TaskResult     = api.TaskResult
	Explanation    = api.Explanation
	SpawnResult    = round.SpawnResult
	// Project is a project's folders.
	Project = project.Project
	// Error is an error with a stable code.
	Error = errs.Error
)

// FindProject returns the project that a folder belongs to: its root is the nearest
// parent folder that holds .switchyard, switchyard.yaml or .git, else the folder itself.
func FindProject(dir string) (Project, error) { return project.Find(dir) }

// Options configure an Engine.
type Options struct {
	// Project is the project to work on. Nothing is written before a decision is recorded.
	Project Project
	// Plugins configures the plugin runtime; the project's limits replace its limits.
	Plugins plugins.Config
	// Now returns the time of new events.
	Now func() time.Time
	// By is the recorded name of the user or program that runs the commands.
	By string
	// Environ is the environment in the form of os.Environ, from which those of agents and
	// commands derive.
	Environ []string
	// Engine evaluates policies; "" means the default.
	Engine policies.Engine
	// Observe receives the progress of agents, and of verifications, which have no
	// adapter. It may be nil, and may be called concurrently.
	Observe func(spawner.Progress)
	// Warn receives errors that do not fail the command. It may be nil, and may be called
	// concurrently.
	Warn func(error)
}

// Engine runs rounds and answers questions about them. It is safe for concurrent use, and
// several processes may work on one project at the same time.
type Engine struct{ rounds *round.Engine }

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine { return &Engine{rounds: round.New(round.Options(o))} }

// Close releases the engine's resources. No request may run at the same time or follow.
func (e *Engine) Close(ctx context.Context) error { return e.rounds.Close(ctx) }

// Policies returns the policies of the project.
func (e *Engine) Policies() *policyset.Set { return e.rounds.Policies() }

// Plugins returns the plugins of the project.
func (e *Engine) Plugins() *pluginset.Set { return e.rounds.Plugins() }

// Config returns the project's configuration, which the engine reads anew for each
// request.
func (e *Engine) Config(ctx context.Context) (project.Config, error) { return e.rounds.Config(ctx) }

// UncheckedConfig is Config without a check of plugin names: settings may be those of a
// plugin that another command loads by its file.
func (e *Engine) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return e.Plugins().UncheckedConfig(ctx)
}

// Route decides on reports alone. It records nothing and has no task.
func (e *Engine) Route(ctx context.Context, req Request) (Decision, error) {
	return e.rounds.Route(ctx, req)
}

// Ask evaluates a policy on a bare input, without findings.
func (e *Engine) Ask(ctx context.Context, req api.AskRequest) (Decision, error) {
	return e.rounds.Ask(ctx, req)
}

// Round runs a task's round and records its decision: verification, then the critic,
// unless its reports are given, then the policy. When it returns without an error, the
// decision is durable. A decision to commit commits the task.
//
// # Errors
//
// Those of reports, plugins, policies, verification, spawns and the ledger; the task's own
// (task-waiting and so on), report-wrong-task and report-wrong-round; round-shifted if
// another process decided the round first, and round-running if another process runs it.
func (e *Engine) Round(ctx context.Context, id string, req Request) (Decision, error) {
	return e.rounds.Round(ctx, id, req)
}

// Answer records the user's answer to a question. Repeating an answer has no effect.
func (e *Engine) Answer(ctx context.Context, id string, req AnswerRequest) (TaskResult, error) {
	return e.rounds.Answer(ctx, id, req)
}

// Resume moves a stuck task into its next round.
func (e *Engine) Resume(ctx context.Context, id string, req ResumeRequest) (TaskResult, error) {
	return e.rounds.Resume(ctx, id, req)
}

// Task returns the status of a task, or task-not-found.
func (e *Engine) Task(ctx context.Context, id string) (TaskDetail, error) {
	return e.rounds.Task(ctx, id)
}

// Tasks returns the status of every task, in the order of their ids.
func (e *Engine) Tasks(ctx context.Context) ([]TaskStatus, error) { return e.rounds.Tasks(ctx) }

// Explain returns the latest decision of a round, or of the task if round is 0, with
// everything that led to it.
func (e *Engine) Explain(ctx context.Context, id string, round int) (Explanation, error) {
	return e.rounds.Explain(ctx, id, round)
}

// Wait blocks until a task, or any task if id is "", has an event after the given one.
func (e *Engine) Wait(ctx context.Context, id string, after int64) error {
	return e.rounds.Wait(ctx, id, after)
}

// Review decides a round as a separate phase: it requires the critic's attestation, runs
// no verification, and leaves the commit to Commit.
func (e *Engine) Review(ctx context.Context, id string, req Request) (Decision, error) {
	return e.rounds.Review(ctx, id, req)
}

// Start begins the work on a task, or restarts it.
func (e *Engine) Start(ctx context.Context, id string, req api.StartRequest) (TaskResult, error) {
	return e.rounds.Start(ctx, id, req)
}

// Done records that a phase before the draft is done.
func (e *Engine) Done(ctx context.Context, id string, req api.PhaseRequest) (TaskResult, error) {
	return e.rounds.Done(ctx, id, req)
}

// Draft verifies a draft.
func (e *Engine) Draft(ctx context.Context, id string, req api.DraftRequest) (api.DraftResult, error) {
	return e.rounds.Draft(ctx, id, req)
}

// Commit commits a task whose latest decision is to commit.
func (e *Engine) Commit(ctx context.Context, id string, req api.CommitRequest) (TaskResult, error) {
	return e.rounds.Commit(ctx, id, req)
}

// Stop marks a task as stuck.
func (e *Engine) Stop(ctx context.Context, id string, req api.StopRequest) (TaskResult, error) {
	return e.rounds.Stop(ctx, id, req)
}

// Audit records a manual attestation that an agent ran in the task's round.
func (e *Engine) Audit(ctx context.Context, id string, req api.AuditRequest) (api.StampResult, error) {
	return e.rounds.Audit(ctx, id, req)
}

// Search records, as a manual claim, that an agent searched.
func (e *Engine) Search(ctx context.Context, id string, req api.SearchRequest) (TaskResult, error) {
	return e.rounds.Search(ctx, id, req)
}

// Stamps returns every attestation of a task, oldest first.
func (e *Engine) Stamps(ctx context.Context, id string) ([]api.StampEntry, error) {
	return e.rounds.Stamps(ctx, id)
}

// Spawn runs an agent outside any task.
func (e *Engine) Spawn(ctx context.Context, req SpawnRequest) (SpawnResult, error) {
	return e.rounds.Spawn(ctx, req)
}

// Import imports the unfinished tasks of nubos-pilot.
func (e *Engine) Import(ctx context.Context, tasks []nubospilot.Task) (api.ImportResult, error) {
	return e.rounds.Import(ctx, tasks)
}

// Summary reads every task's state and events once.
func (e *Engine) Summary(ctx context.Context) (api.Summary, error) { return e.rounds.Summary(ctx) }

// CriticFailures returns, by task id, the critic's failure of the tasks that are stuck
// because of it.
func (e *Engine) CriticFailures(ctx context.Context, ids []string) (map[string]string, error) {
	return e.rounds.CriticFailures(ctx, ids)
}

// Counters reads counters of the ledger as of one moment.
func (e *Engine) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	return e.rounds.Counters(ctx, queries...)
}

// Verify checks every chain of the ledger.
func (e *Engine) Verify(ctx context.Context) (ledger.Report, error) { return e.rounds.Verify(ctx) }

// Events yields every event of the ledger in the order of recording. It ends at the first
// error, with a zero Event.
func (e *Engine) Events(ctx context.Context) iter.Seq2[ledger.Event, error] {
	return e.rounds.Events(ctx)
}

// Recorded reports whether the engine has appended any event.
func (e *Engine) Recorded() bool { return e.rounds.Recorded() }

// Diagnose checks what the project's commands depend on and, if deep is set, every event
// of the ledger. It changes nothing.
func (e *Engine) Diagnose(ctx context.Context, deep bool) (api.Health, error) {
	return e.rounds.Diagnose(ctx, deep)
}

// AdapterNames returns the adapters that the project can use.
func (e *Engine) AdapterNames(ctx context.Context) ([]string, error) {
	return e.rounds.AdapterNames(ctx)
}

// Installed returns the built-in adapters whose programs are installed.
func (e *Engine) Installed() []string { return e.rounds.Installed() }

// AgentNames returns the agents that the project can spawn.
func (e *Engine) AgentNames() []string { return e.rounds.AgentNames() }
