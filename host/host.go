// Package host is the engine of Switchyard: it normalises reports with plugins, merges
// their findings, lets the policy decide where a task goes next, and records why in the
// ledger.
//
// Route decides on reports alone. Round runs a round of a task; Answer and Resume continue
// a task that waits for its user or is stuck. Task, Tasks and Explain read the ledger. The
// other methods serve the command line.
package host

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/doctor"
	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/query"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/run"
	"github.com/switchyard-dev/switchyard/host/internal/runqueue"
	"github.com/switchyard-dev/switchyard/host/internal/sessions"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
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
	RoundResult    = api.RoundResult
	Decision       = api.Decision
	Verification   = api.Verification
	ManualFallback = api.ManualFallback
	EventRef       = api.EventRef
	TaskStatus     = api.TaskStatus
	TaskDetail     = api.TaskDetail
	TaskResult     = api.TaskResult
	Explanation    = api.Explanation
	SpawnResult    = api.SpawnResult
	// Order is a step that an engine on another machine carries out, and OrderResult is its
	// result. See Engine.Advance and Engine.Carry.
	Order          = run.Order
	OrderResult    = run.OrderResult
	OrderEvent     = run.OrderEvent
	StateFile      = run.StateFile
	LostRun        = run.LostRun
	AdvanceRequest = run.AdvanceRequest
	Position       = run.Position
	Project        = project.Project
	// Error is an error with a stable code.
	Error = errs.Error
)

// Engine runs rounds and answers questions about them. It is safe for concurrent use, and
// several processes may work on one project at the same time. Options configure it.
type Engine struct {
	opened
	*reader
	*checker
	*rounds
	*runs
	*stops
}

// Options configure an Engine.
type Options = core.Options

// opened has the methods of the project itself that an Engine shows. No request may run
// during Close or after it.
type opened interface {
	Policies() *policyset.Set
	Plugins() *pluginset.Set
	Config(context.Context) (project.Config, error)
	UncheckedConfig(context.Context) (project.Config, error)
	Recorded() bool
	Compact(context.Context) (ledger.Compaction, error)
	Archive(ctx context.Context, unchanged time.Duration) (ledger.Archived, error)
	HoldHome(context.Context) (release func(), err error)
	Close(context.Context) error
}

// The parts of an Engine have unexported names, because its fields are not for callers.
type (
	reader  = query.Reader
	checker = doctor.Doctor
	rounds  = round.Engine
	runs    = run.Engine
	stops   = sessions.Engine
)

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine {
	p := core.New(o)
	q, r := query.New(p), round.New(p)
	return &Engine{p, q, doctor.New(p, q), r, run.New(p, r), sessions.New(p)}
}

// FindProject returns the project that a directory belongs to: its root is the nearest
// parent directory that holds .switchyard, switchyard.yaml or .git, else the directory itself.
func FindProject(dir string) (Project, error) { return project.Find(dir) }

// RunTasks runs several tasks with an engine's Run, as runqueue.Run says.
func RunTasks(ctx context.Context, e *Engine, tasks []api.RunTask, jobs int, ended func(api.RunResult)) {
	runqueue.Run(ctx, tasks, jobs, e.Run, ended)
}
