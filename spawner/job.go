package spawner

import (
	"context"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Agent is the definition of an agent. Its body is the beginning of the prompt.
type Agent = definition.Definition

// Job is one spawn with all its attempts.
type Job struct {
	Agent Agent
	// Prompt renders the prompt of an attempt, without the agent's own text.
	Prompt func(Attempt) (string, error)
	// Adapters are tried in turn.
	Adapters []string
	// Model is requested from the first adapter, "" for its default.
	Model string
	// Command is the command for the adapter exec.
	Command []string
	// Env names variables that are passed in addition to the adapter's.
	Env []string
	// Web permits web searches and reading pages.
	Web bool
	// Profile is the agent's write access. With profile.Report it has to write a critic's
	// report to Attempt.ReportPath; with profile.Edit it edits the working tree.
	Profile profile.Profile
	// Role is the value of SWITCHYARD_ROLE, which is not set if Role is "".
	Role string
	// Task and Round are "" and 0 for an agent that runs without a task.
	Task  string
	Round int
	// Run is the id of the first attempt, "" for a new id. Resumed is set if an earlier
	// attempt of this job was killed or met a usage limit.
	Run     string
	Resumed bool
	// Before is Attempt.Tree of the first of these earlier attempts, "" if unknown.
	// Edits since then count as edits of the agent, if it may edit.
	Before string
	// Tree is a recent snapshot of the working tree, which saves a scan before the first
	// attempt; nil scans the tree. The caller must not have started anything there since.
	// Changes by other processes since then count as the agent's.
	Tree *worktree.Snapshot
	// Check may reject a good result with an error that gives the reason. It may be nil.
	Check func(context.Context, Result) error
	Limits
	Hooks
}

// Limits bound a job. Timeout and Concurrency are required.
type Limits struct {
	// Timeout bounds all attempts together, without the time in the queue. Idle is the time
	// that an attempt may run without output, 0 for no limit.
	Timeout, Idle time.Duration
	// Retries is the number of retries of an adapter, and Repeats the number of attempts that
	// are repeated because another process may have changed the working tree.
	Retries, Repeats int
	// Concurrency is the number of spawns of this agent that may run in the project at once,
	// and QueueTimeout the time to wait for the end of one; 0 does not wait.
	Concurrency  int
	QueueTimeout time.Duration
	// Tokens and MicroDollars (1e-6 $) bound each attempt, 0 for no limit.
	Tokens, MicroDollars int64
}

// Hooks are called at the steps of a job. Each may be nil. An error of Begin, End or Deliver
// ends the job.
type Hooks struct {
	// Begin must make the attempt durable before its process starts, and End its record before
	// its output is used.
	Begin func(context.Context, Attempt) error
	End   func(context.Context, Result) error
	// Deliver receives the result after End, unless the job was cancelled.
	Deliver func(Result) error
	// Observe receives progress. It is called by one goroutine at a time.
	Observe func(Progress)
}

// WhyRepeated is Attempt.Why after the working tree changed during the previous attempt.
const WhyRepeated = string(outcome.Retry) + ":" + string(outcome.ReasonTreeChanged)

// Attempt describes one attempt of a job before its process starts.
type Attempt struct {
	Run string
	// N counts retries and fallbacks from 1, and Why is the reason for the attempt.
	N       int
	Why     string
	Adapter string
	// Timeout is its time limit.
	Timeout time.Duration
	// ReportPath is the path of the report to write, or "".
	ReportPath string
	// Note tells the agent what was wrong with the previous attempt; it may be "".
	Note string
	// Folder is a private directory of the attempt that the agent can read.
	Folder string
	// Prompt and Tree are the digests of the whole prompt and of the working tree. They
	// are empty while the prompt is rendered.
	Prompt, Tree string
}

// Record describes one attempt in the run log and the ledger.
type Record = outcome.Record

// Result is the result of an attempt.
type Result struct {
	Attempt
	Record Record
	// LogDigest is the digest of the record's line in the run log.
	LogDigest string
	Verdict   outcome.Verdict
	Output    adapter.Output
	// SeesTools is set if the CLI's output lists the tools that were used.
	SeesTools bool
	// Report is the report, if one was expected and written.
	Report []byte
	// StartErr is the error that prevented the start, nil if there was a process.
	StartErr error
	// Changes are the changes of the working tree during the attempt, and After is the tree at
	// its end, nil if it could not be compared.
	Changes []worktree.Change
	After   *worktree.Snapshot
	// CheckErr is the error of Job.Check.
	CheckErr error
	// Next is the action after this attempt.
	Next outcome.Action
	// Stdout is the CLI's standard output, open until Deliver has returned.
	Stdout *os.File
}

// Phase is the state of a spawn.
type Phase string

// The phases of a spawn.
const (
	Queued   Phase = "queued"
	Running  Phase = "running"
	Ended    Phase = "ended"
	Retrying Phase = "retrying"
)

// Progress reports the state of a spawn.
type Progress struct {
	Phase   Phase
	Agent   string
	Adapter string
	Run     string
	// Attempt counts from 1.
	Attempt int
	// Since is the start of the attempt, and Limit its time limit, 0 if unknown.
	Since time.Time
	Limit time.Duration
	// Tokens counts the tokens used so far, 0 if unknown, and Tools the uses of tools.
	Tokens int64
	Tools  int
	// Task is the agent's task, Tool the last tool that it used, and Note its last warning since
	// then. Each may be "".
	Task, Tool, Note string
	// Outcome, Reason and Took are set in the phase Ended, unless an error prevented the start,
	// Reason and Pause in Retrying.
	Outcome, Reason string
	Took, Pause     time.Duration
}

// Outcome is the result of a job.
type Outcome struct {
	// Results has the attempts that started a process. The last one counts.
	Results []Result
	// Skipped has an error for each adapter with a program that is missing or could not be
	// started.
	Skipped []error
}

// Last returns the result that counts, or nil if no attempt started a process.
func (o Outcome) Last() *Result {
	if len(o.Results) == 0 {
		return nil
	}
	return &o.Results[len(o.Results)-1]
}

// check refuses a job without a limit.
func (j Job) check() error {
	var lacks string
	switch {
	case j.Prompt == nil:
		lacks = "a prompt"
	case len(j.Adapters) == 0:
		lacks = "an adapter"
	case j.Timeout <= 0:
		lacks = "a time limit"
	case j.Concurrency < 1:
		lacks = "a slot"
	default:
		return nil
	}
	return errs.New(errs.SpawnJobInvalid, "%s is not spawned without %s", j.Agent.Name, lacks).With("agent", j.Agent.Name)
}
