package api

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// RunRequest drives a task from its text to a commit (ADR-0022). Its JSON is for an engine
// on another machine, and omits the fields that only the caller's engine uses.
type RunRequest struct {
	// Prompt describes the task, in its author's words; "" keeps the recorded description.
	// A new task needs one.
	Prompt string
	// Base is the revision that a new task starts from, "" for HEAD.
	Base string
	// Adapter replaces the configured adapters of all agents and has no fallback; "" keeps
	// them.
	Adapter string
	// MaxRounds is the cap, 0 for the task's or the project's.
	MaxRounds int
	// Policy is a policy reference, "" for the project's policy.
	Policy string
	// Verify is a command that replaces the project's verification, or "".
	Verify string
	// Budget replaces the project's budget, unless it is nil.
	Budget *project.Budget
	// Merge merges the committed task into the branch that it started from. Push names the
	// remote that its branch is pushed to, or is "".
	Merge bool   `json:"-"`
	Push  string `json:"-"`
	// Jobs is the number of tasks that the caller runs at once, 0 for this task alone.
	Jobs int `json:"-"`
	// Wait is the total time to wait for usage limits to end.
	Wait time.Duration `json:"-"`
	// Ask returns the user's answer to a question, which need not name the question. If it
	// is nil, or returns nil while the question is open, the run ends. The question is asked
	// again after an answer that is not valid.
	Ask func(context.Context, task.Question) *AnswerRequest `json:"-"`
	// Observe receives each event of the run, and may be nil. The runs of several tasks call
	// it concurrently.
	Observe func(RunEvent) `json:"-"`
}

// RunEventKind is the kind of a RunEvent.
type RunEventKind string

// The events of a run, with the fields of RunEvent that they set.
const (
	RunStarted   RunEventKind = "started"   // Branch
	RunResumed   RunEventKind = "resumed"   // Branch: the task had begun before.
	RunNotice    RunEventKind = "notice"    // Message
	RunAgent     RunEventKind = "agent"     // Agent: it has ended.
	RunDecided   RunEventKind = "decided"   // Decision
	RunAsked     RunEventKind = "asked"     // Questions
	RunAnswered  RunEventKind = "answered"  // no field
	RunParked    RunEventKind = "parked"    // Until
	RunCommitted RunEventKind = "committed" // Commit, Subject
	RunMerged    RunEventKind = "merged"    // Merge
	RunPushed    RunEventKind = "pushed"    // Message: the remote
	RunEnded     RunEventKind = "ended"     // Result: the caller of the run adds this event.
)

// RunEvent is an event of a run.
type RunEvent struct {
	TaskID string       `json:"task_id"`
	Event  RunEventKind `json:"event"`
	// At is the time in RFC 3339, and Round the task's round, 0 if it has not begun.
	At        string          `json:"at"`
	Round     int             `json:"round,omitzero"`
	Message   string          `json:"message,omitzero"`
	Branch    *task.Branch    `json:"branch,omitzero"`
	Agent     *SpawnSummary   `json:"agent,omitzero"`
	Decision  *RoundResult    `json:"decision,omitzero"`
	Questions []task.Question `json:"questions,omitzero"`
	Until     string          `json:"until,omitzero"`
	Commit    string          `json:"commit,omitzero"`
	Subject   string          `json:"subject,omitzero"`
	Merge     *task.Merge     `json:"merge,omitzero"`
	Result    *RunResult      `json:"result,omitzero"`
}

// RunResult is the result of a run.
type RunResult struct {
	TaskID string      `json:"task_id"`
	Status task.Status `json:"status"`
	// NextAction is commit, askuser, stuck, parked, spawn-agent-tool (no agent could be
	// run), failed (see Error), or blocked.
	NextAction string `json:"next_action"`
	// Reason says why the task is stuck or blocked, or which decision was the last.
	Reason    string `json:"reason,omitzero"`
	Round     int    `json:"round,omitzero"`
	MaxRounds int    `json:"max_rounds,omitzero"`
	// Branch is the task's own branch, or nil. Commit and Subject describe the task's commit;
	// they are "" before it.
	Branch  *task.Branch `json:"branch,omitzero"`
	Commit  string       `json:"commit,omitzero"`
	Subject string       `json:"subject,omitzero"`
	Merge   *task.Merge  `json:"merge,omitzero"`
	// Verify is RunRequest.Verify. It is not recorded, so the next run needs it again.
	Verify string `json:"-"`
	// Until is when a parked task continues, "" for other tasks.
	Until     string          `json:"until,omitzero"`
	Questions []task.Question `json:"questions,omitzero"`
	// Spent is the total usage of the task's agents.
	Spent task.Spending `json:"spent,omitzero"`
	// Error says why the run failed, or is nil.
	Error *errs.Error `json:"error,omitzero"`
}

// Values of RunResult.NextAction that need not be destinations of the policy.
const (
	ActionParked  = "parked"
	ActionFailed  = "failed"
	ActionAskUser = "askuser"
	// ActionBlocked means that the task did not run, because a task that it depends on is
	// not committed.
	ActionBlocked = "blocked"
)

// RunTask is one of several tasks to run.
type RunTask struct {
	ID string
	// DependsOn lists the tasks that must be committed before it starts.
	DependsOn []string
	RunRequest
}
