// Package flow is the workflow of a task of a fleet (ADR-0023). It is deterministic: it
// decides nothing but who is next, and waits.
package flow

import (
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

	// SignalAnswer has an Answer, SignalDependency a Dependency. SignalDependents has the
	// ids of tasks that are told when this one ends: they may be started later than it.
	SignalAnswer     = "answer"
	SignalDependency = "dependency"
	SignalDependents = "dependents"
)

// Orders returns the names of the activities of workers.
func Orders() []string { return []string{Draft, Review, Assist, Research, Commit} }

// TaskQueue is where workers run workflows.
const TaskQueue = "switchyard-tasks"

// HomeQueue is the queue of a project's home.
func HomeQueue(project string) string { return "switchyard-home-" + project }

// WorkQueue is the queue of the workers that have an adapter, AnyAdapter for all workers,
// and reach a confinement level.
func WorkQueue(adapter string, level confinement.Level) string {
	return "switchyard-work-" + adapter + "-" + string(level)
}

// AnyAdapter is the adapter of an order that runs no agent.
const AnyAdapter = "any"

// WorkflowID is the id of a task's workflow.
func WorkflowID(project, id string) string { return "switchyard/" + project + "/" + id }

// DraftRef is the ref on a project's remote that has the draft of a task.
func DraftRef(id string) string { return "refs/switchyard/drafts/" + id }

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
	// Dependents, Answers and Result are carried over from the run before: the tasks to
	// tell, answers that are not recorded yet, and the result that is not accepted yet, ""
	// for none.
	Dependents []string
	Answers    []Answer
	Result     string
}

// Dependency says how a task ended that others depend on.
type Dependency struct {
	Task       string
	NextAction string
}

// Answer answers a question. An answer to a question that is not open is dropped.
type Answer struct {
	// Question is the fingerprint.
	Question string
	// Choice is the number of a choice, from 1, or 0 if Text is the answer. The text has up
	// to MaxAnswer bytes.
	Choice int
	Text   string
	By     string
}

// MaxAnswer is the maximum size of an answer in bytes. It is less than task.MaxAnswer: the
// answers that wait are part of a payload, where escapes make them longer.
const MaxAnswer = 8 << 10

// Move is the input of Advance: what happened since the position before.
type Move struct {
	Task    string
	Request string
	// Result is the digest of the result of the last order, "" for none.
	Result string
	// Draft is the commit that the ref of the draft is at, "" if the workflow does not know.
	Draft   string
	Answers []Answer
	// Stop makes the task stuck with this reason, "" for not.
	Stop string
}

// Position is where a task stands, the output of Advance.
type Position struct {
	Step   task.Step
	Status task.Status
	// Round is the current round, and MaxRounds the cap.
	Round, MaxRounds int
	// Order is the digest of the order for a worker, and Queue the worker's queue; "" if no
	// worker takes the step.
	Order, Queue string
	// Question is the first open question, nil for none. Its text is clipped.
	Question *Question
	// Until is when a parked task continues, or a question takes its default; RFC 3339, ""
	// for never.
	Until string
	// Decision is the last decision's next action.
	Decision string
	// NextAction is how the task ended, "" if it goes on. It is that of `run`.
	NextAction string
	// Reason says why it ended, or why the last decision was made.
	Reason string
	// Commit and Subject are those of the commit, "" for none.
	Commit, Subject string
	Failure         *Failure
	// Spent is what all agents have used. It is set once the task has ended.
	Spent task.Spending
}

// Question is an open question of a task.
type Question struct {
	Fingerprint string
	Text        string
	Choices     []string
	Default     string
}

// Failure is an error of a step that repeating does not help.
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
	// Digest is the order's in the store.
	Digest string
}

// Done is their output.
type Done struct {
	// Result is the digest of the result in the store, and Draft the commit that the ref of
	// the draft is at with it.
	Result, Draft string
}

// Progress is what heartbeats say of each agent of an order, in a list.
type Progress struct {
	Run, Agent, Adapter string
	// Output is when it was last heard of, RFC 3339.
	Output string
	Tool   string
}
