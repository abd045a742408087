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

// Agent is the definition of an agent: its name, and the text that begins its prompt.
type Agent = definition.Definition

// Job is one spawn: an agent with a prompt, over all its attempts.
type Job struct {
	Agent Agent
	// Prompt renders the prompt of an attempt, without the agent's own text.
	Prompt func(Attempt) (string, error)
	// Adapters are tried in turn: the first one, then its fallbacks.
	Adapters []string
	// Model is requested from the first adapter, "" for its default.
	Model string
	// Command is what the adapter exec runs.
	Command []string
	// Env names variables that the agent gets in addition to those of its adapter.
	Env []string
	// Web allows web searches and reading pages.
	Web bool
	// Profile is what the agent may write. With profile.Report it has to write a critic's
	// report to Attempt.ReportPath; with profile.Edit it edits the working tree.
	Profile profile.Profile
	// Role is the value of SWITCHYARD_ROLE, "" to set none.
	Role string
	// Task and Round are what it runs for, "" and 0 for nothing.
	Task  string
	Round int
	// Run is the id of the first attempt, "" for a new one. Resumed says that an earlier
	// attempt of this job was killed.
	Run     string
	Resumed bool
	// Before is Attempt.Tree of the first attempt of a job that was killed, "" if unknown.
	// Edits since then count as those of an agent that edits.
	Before string
	// Tree is the working tree as it was a moment ago, if nothing that the caller started has
	// run there since. It saves scanning the tree before the first attempt; nil scans it.
	// What others change meanwhile counts as the agent's.
	Tree *worktree.Snapshot
	// Check may reject a result that is good otherwise; its error says why. It may be nil.
	Check func(context.Context, Result) error
	Limits
	Hooks
}

// Limits bound a job. Timeout and Concurrency are required.
type Limits struct {
	// Timeout is for all attempts together, without the time in the queue. Idle is how
	// long an attempt may write nothing, 0 for any time.
	Timeout, Idle time.Duration
	// Retries is how often an adapter may be retried, and Repeats how often an attempt is
	// repeated because another process may have changed the working tree.
	Retries, Repeats int
	// Concurrency is how many spawns of this agent may run in the project at once, and
	// QueueTimeout how long to wait for one of them to end; 0 does not wait.
	Concurrency  int
	QueueTimeout time.Duration
	// Tokens and MicroDollars (1e-6 $) are what one attempt may use, 0 for any amount.
	Tokens, MicroDollars int64
}

// Hooks record what a job does. Each may be nil. An error of Begin, End or Deliver ends
// the job.
type Hooks struct {
	// Begin makes the intent of an attempt durable before its process starts, and End its
	// receipt before its output is used.
	Begin func(context.Context, Attempt) error
	End   func(context.Context, Result) error
	// Deliver receives a result after End, unless the job was cancelled.
	Deliver func(Result) error
	// Observe receives progress. It is called by one goroutine at a time.
	Observe func(Progress)
}

// WhyRepeated is Attempt.Why after the working tree changed during the previous attempt.
const WhyRepeated = string(outcome.Retry) + ":" + string(outcome.ReasonTreeChanged)

// Attempt is one try of a job, before its process starts.
type Attempt struct {
	Run string
	// N counts from 1 over retries and fallbacks, and Why is the reason for the attempt.
	N       int
	Why     string
	Adapter string
	// Timeout is how long it may take.
	Timeout time.Duration
	// ReportPath is where to write the report, "" for none.
	ReportPath string
	// Note tells the agent what was wrong with the previous attempt, "" for nothing.
	Note string
	// Folder is private to the attempt, and readable by the agent.
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
	// SeesTools says that the CLI's output lists the tools that were used.
	SeesTools bool
	// Report is the report, if one was expected and written.
	Report []byte
	// StartErr is why there was no process, nil if there was one.
	StartErr error
	// Changes are those of the working tree while it ran, and After is the tree then, nil if
	// it could not be compared.
	Changes []worktree.Change
	After   *worktree.Snapshot
	// CheckErr is the error of Job.Check.
	CheckErr error
	// Next is what follows this attempt.
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
	// Since is when the attempt began, and Limit how long it may take, 0 if unknown.
	Since time.Time
	Limit time.Duration
	// Tokens counts the tokens used so far, 0 if unknown, and Tools the uses of tools.
	Tokens int64
	Tools  int
	// Task is what it runs for, and Tool the last tool that it used, "" if unknown.
	Task, Tool string
	// Outcome, Reason and Took are set when it has ended, Reason and Pause when it is
	// retried.
	Outcome, Reason string
	Took, Pause     time.Duration
}

// Outcome is the result of a job.
type Outcome struct {
	// Results has every attempt that started a process; the last one counts.
	Results []Result
	// Skipped says for each adapter whose program is missing or could not be started, why.
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
