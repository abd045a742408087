package spawner

import (
	"context"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Job is one spawn: an agent with a prompt, over all its attempts.
type Job struct {
	Agent definition.Definition
	// Prompt renders the prompt of an attempt, without the agent's own text.
	Prompt func(Attempt) (string, error)
	// Adapters are tried in turn: the first, and then its fallbacks.
	Adapters []string
	// Model is what the first adapter is asked for, "" for its own choice.
	Model string
	// Command is what the adapter exec runs.
	Command []string
	// Env are names of variables that the agent gets besides those of its adapter.
	Env []string

	// Timeout is how long all attempts together may take, once there is a slot,
	// and Idle how long one may say nothing.
	Timeout, Idle time.Duration
	// Retries is how often an adapter may be tried again.
	Retries int
	// Repeats is how often an attempt is made again because the working tree changed
	// meanwhile, if that may be the work of another process.
	Repeats int
	// Concurrency is how many spawns of this agent the project may have at once,
	// and Patience how long to wait for a slot; 0 does not wait.
	Concurrency  int
	QueueTimeout time.Duration
	// Allowed is what one attempt may use; 0 for no limit.
	Allowed Allowance

	// Web says that the agent may search the web and read pages.
	Web bool
	// ExpectedReport is the report that the agent owes, nil for none.
	ExpectedReport *ExpectedReport
	// Task and Round are those that it runs for, "" and 0 for none.
	Task  string
	Round int
	// Run is the id of the first attempt, "" for a new one. Resumed says that an
	// run of this job was killed before.
	Run     string
	Resumed bool

	// Begin makes the intent of an attempt durable before its process starts, and
	// End its receipt, with the record's digest, before anybody sees the output.
	// An error of either ends the job.
	Begin func(context.Context, Attempt) error
	End   func(context.Context, Result) error
	// Check refuses what nobody else objects to; its error says why. nil for no
	// further rules.
	Check func(context.Context, Result) error
	// Deliver is given what came back once its record is durable; nil for nobody.
	Deliver func(Result) error
	// Observe is told how it goes, by one goroutine; nil for nobody.
	Observe func(Progress)
}

// Allowance is what an attempt may use.
type Allowance struct {
	Tokens, MicroDollars int64
}

// ExpectedReport is the report that a critic owes.
type ExpectedReport struct {
	// Critic is who the report has to be from, "" for anybody.
	Critic string
}

// WhyRepeated is why an attempt is made during whose forerunner the working tree
// changed.
const WhyRepeated = string(outcome.Retry) + ":" + string(outcome.ReasonTreeChanged)

// Attempt is one try of a job, before its process starts.
type Attempt struct {
	// Run identifies it.
	Run string
	// N counts from 1 over retries and fallbacks, and Why says why it is made.
	N   int
	Why string
	// Adapter runs it.
	Adapter string
	// Timeout is how long it may take.
	Timeout time.Duration
	// ReportPath is where the report is wanted, "" where none is.
	ReportPath string
	// Note is what to tell the agent of the attempt before, "" for nothing.
	Note string
	// Folder is private to the attempt, and the agent can read what lies there.
	Folder string
	// Prompt and Tree are the digests of the whole prompt and of the working tree.
	// They are empty while the prompt is rendered.
	Prompt, Tree string
}

// Result is what became of an attempt.
type Result struct {
	Attempt
	Record Record
	// LogDigest is the digest of the record's line in the trail.
	LogDigest string
	Verdict   outcome.Verdict
	Output    adapter.Output
	// SeesTools says that the output tells which tools were used.
	SeesTools bool
	// Report is the report, where one was owed and is there.
	Report []byte
	// StartErr is why there was no process, nil where there was one.
	StartErr error
	// Changes are those of the working tree while it ran.
	Changes []worktree.Change
	// CheckErr is what Check said, nil for nothing.
	CheckErr error
	// Next is what follows.
	Next outcome.Action
	// Stdout is what the agent's CLI wrote, open until Deliver has returned.
	Stdout *os.File
	// Stderr is the end of its standard error, redacted.
	Stderr string
}

// Phase says how far a spawn is.
type Phase string

// The phases of a spawn.
const (
	Queued   Phase = "queued"
	Running  Phase = "running"
	Ended    Phase = "ended"
	Retrying Phase = "retrying"
)

// Progress is how a spawn goes.
type Progress struct {
	Phase   Phase
	Agent   string
	Adapter string
	Run     string
	// Attempt counts from 1.
	Attempt int
	// Since is when the attempt began, and Limit how long it may take, 0 if that is not known.
	Since time.Time
	Limit time.Duration
	// Tokens are those so far, 0 where nobody knows, and Tools how many tools it
	// used.
	Tokens int64
	Tools  int
	// Outcome, Reason and Took are set when it has ended, and Reason and Pause
	// where it is tried again.
	Outcome, Reason string
	Took, Pause     time.Duration
}

// Outcome is what became of a job.
type Outcome struct {
	// Results has every attempt that became a process; the last one counts.
	Results []Result
	// Skipped says of each adapter that had no program, or whose program could not be
	// started, why.
	Skipped []error
}

// Last is the result that counts, or nil where no attempt became a process.
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
