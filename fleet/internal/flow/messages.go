// Package flow is the workflow of a task of a fleet (ADR-0023). It is deterministic: it only
// decides which activity is next, and waits.
package flow

import (
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Names of the workflow, its activities and its signals. They are part of every history.
const (
	Workflow = "Task"

	// Advance runs at home, the others run on workers.
	Advance  = "Advance"
	Draft    = "Draft"
	Review   = "Review"
	Assist   = "Assist"
	Research = "Research"
	Commit   = "Commit"

	// SignalAnswer has an Answer, SignalDependency a Dependency. SignalDependents has the ids
	// of dependents, which may start later than the task.
	SignalAnswer     = "answer"
	SignalDependency = "dependency"
	SignalDependents = "dependents"
)

// Orders returns the names of the activities of workers.
func Orders() []string { return []string{Draft, Review, Assist, Research, Commit} }

// TaskQueue is the queue of workflows.
const TaskQueue = "switchyard-tasks"

// HomeQueue is the queue of a project's home.
func HomeQueue(project string) string { return "switchyard-home-" + project }

// WorkQueue is the queue of the workers that have an adapter, or AnyAdapter, and can enforce a
// confinement level.
func WorkQueue(adapter string, level confinement.Level) string {
	return "switchyard-work-" + adapter + "-" + string(level)
}

// AnyAdapter is the adapter of an order that runs no agent.
const AnyAdapter = "any"

// WorkflowID is the id of a task's workflow.
func WorkflowID(project, id string) string { return "switchyard/" + project + "/" + id }

// DraftRef is the ref on a project's remote that has the draft of the task with a branch. The
// name of the branch is valid in git, and a task's id need not be.
func DraftRef(branch string) string {
	return "refs/switchyard/drafts/" + strings.TrimPrefix(branch, "switchyard/")
}

// Input starts or continues the workflow of a task.
type Input struct {
	Project string
	Task    string
	// Request is the digest of the task's request in the store.
	Request string
	// Heartbeat is the HeartbeatTimeout of orders, 0 for the default.
	Heartbeat time.Duration
	// DependsOn lists the tasks that must be committed first.
	DependsOn []string
	// Dependents, Answers and Result are left over from the run before: dependents to signal,
	// answers that are not recorded yet, and the result that is not accepted yet, or "".
	Dependents []string
	Answers    []Answer
	Result     string
}

// Dependency tells a dependent how a task ended.
type Dependency struct {
	Task       string
	NextAction string
}

// Answer answers a question. It is dropped if the question is not open.
type Answer struct {
	// Question is the question's fingerprint.
	Question string
	// Choice is the number of a choice, from 1, or 0 if Text is the answer. The text has up
	// to MaxAnswer bytes.
	Choice int
	Text   string
	By     string
}

// MaxAnswer is the maximum size of an answer in bytes. It is less than task.MaxAnswer, because
// answers become longer when they are escaped in a payload.
const MaxAnswer = 8 << 10

// Move is the input of Advance: the changes since the last position.
type Move struct {
	Task    string
	Request string
	// Result is the digest of the result of the last order, or "".
	Result string
	// Draft is the commit at the ref of the draft, or "" if the workflow does not know it.
	Draft   string
	Answers []Answer
	// Stop makes the task stuck with this reason, unless it is "".
	Stop string
}

// Position is the state of a task, the output of Advance.
type Position struct {
	Step   task.Step
	Status task.Status
	// Round is the current round, and MaxRounds the cap.
	Round, MaxRounds int
	// Order is the digest of the order for a worker, and Queue the worker's queue. They are ""
	// if the step does not need a worker.
	Order, Queue string
	// Question is the first open question, or nil. Its text is clipped.
	Question *Question
	// Until is the time at which a parked task continues or a question takes its default, in
	// RFC 3339, or "".
	Until string
	// Decision is the last decision's next action.
	Decision string
	// NextAction is the next action that `run` prints for a task that has ended, else "".
	NextAction string
	// Reason is the reason for the end of the task or, before, for the last decision.
	Reason string
	// Commit and Subject describe the task's commit, or are "".
	Commit, Subject string
	Failure         *Failure
	// Spent is the usage of all agents. It is set once the task has ended.
	Spent task.Spending
}

// Question is an open question of a task.
type Question struct {
	Fingerprint string
	Text        string
	Choices     []string
	Default     string
}

// Failure is a permanent error of a step.
type Failure struct {
	Code    errs.Code
	Message string
	Hint    string
}

// Order is the input of the activities of workers.
type Order struct {
	Project string
	Task    string
	Round   int
	// Digest is the digest of the order in the store.
	Digest string
}

// Done is the output of the activities of workers.
type Done struct {
	// Result is the digest of the result in the store, and Draft the commit at the ref of the
	// draft, or "" if the order was interrupted.
	Result, Draft string
}

// Progress is the state of an agent of an order. Heartbeats have a list of them.
type Progress struct {
	Run, Agent, Adapter string
	// Output is the time of its last output, in RFC 3339.
	Output string
	Tool   string
}
