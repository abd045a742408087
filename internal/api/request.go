package api

import (
	"io"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Request is what a round is decided on.
type Request struct {
	Reports []ReportRef
	// Spawn has the critic spawned beside the reports; without reports it is
	// spawned anyway.
	Spawn bool
	// Adapter runs agents instead of those that the project configures, "" for
	// those. It has no fallback.
	Adapter string
	// Prompt is what the task is, in its author's words, from now on; "" for what an
	// earlier round was told.
	Prompt string
	// Base names the commit that the draft is compared with from now on, "" for the
	// task's own.
	Base string
	// AllowEmpty has the critic review a draft that differs in nothing from its base.
	AllowEmpty bool
	// Stdin is read where a report's path is Stdin.
	Stdin io.Reader
	// Verify says how verification ends.
	Verify VerifyRequest
	// Round is the round that the caller means, 0 for whichever it is.
	Round int
	// MaxRounds is the cap, 0 for the task's or the project's own.
	MaxRounds int
	// Policy is a policy reference, "" for the project's own. A path is
	// relative to the user's folder.
	Policy string
	// Explain has Route say why.
	Explain bool
	// Force passes the gates of missing evidence, nil for nobody's word.
	Force *task.Force
}

// ReportRef names a report and the plugin that reads it.
type ReportRef struct {
	// Plugin is a plugin's name, the path of a plugin's file or of a folder of
	// them, or Auto.
	Plugin string
	// Path is a file, or Stdin.
	Path string
}

// VerifyRequest says how a draft is verified. Its zero value leaves it to the
// project's configuration, else to the round's stamp, else it is absent.
type VerifyRequest struct {
	// Claim is the outcome as the caller knows it, "" where it says nothing.
	Claim routing.Verify
	// ExitCode is the exit code of the caller's own verification, nil for none.
	ExitCode *int
	// Excerpt and OutputBytes are what the caller kept of that one's output.
	Excerpt     string
	OutputBytes int64
	// Command is run by the host, "" for none.
	Command string
}

// AskRequest is a question to a policy.
type AskRequest struct {
	// Path is a file with a routing.Input as JSON, or Stdin.
	Path  string
	Stdin io.Reader
	// Policy is a reference, "" for the project's own.
	Policy string
	// Explain adds why.
	Explain bool
}

// AnswerRequest answers a question of a task that waits.
type AnswerRequest struct {
	// Round is the round that asked, 0 for the newest.
	Round int
	// Question is the fingerprint of its finding, "" where there is only one.
	Question string
	// Choice counts the question's choices from 1; 0 where Text is the answer.
	Choice int
	Text   string
}

// DraftRequest says that a draft is done.
type DraftRequest struct {
	Verify VerifyRequest
	// Round is the round that the caller means, 0 for whichever it is.
	Round int
	// Policy decides where a red draft goes, "" for the project's.
	Policy string
	Force  *task.Force
}

// StartRequest is how the work on a task begins.
type StartRequest struct {
	// Query says what the work is about.
	Query string
	// MaxRounds is the task's cap, 0 for the project's.
	MaxRounds int
	// Base names the commit that the draft is compared with, "" for the one at which
	// the work begins.
	Base  string
	Force *task.Force
}

// PhaseRequest says that a phase before the draft is done.
type PhaseRequest struct {
	// Phase is task.Research, task.Design or task.Tests.
	Phase task.Phase
	// Tests are the files that the phase Tests wrote.
	Tests []string
	Force *task.Force
}

// CommitRequest asks for the commit that the newest review allowed.
type CommitRequest struct {
	// MustVerify wants a green verification of the round, also where the
	// project has none and the task was never verified.
	MustVerify bool
	Force      *task.Force
}

// AuditRequest says what an agent did that the host did not run itself.
type AuditRequest struct {
	// Round is the round that the agent ran in, 0 for the task's.
	Round int
	Agent string
	// Run identifies the run, "" where nobody knows: a run is stamped once.
	Run string
	// Tools are the names of the tools that it used, each as often as it did.
	Tools []string
}

// SearchRequest says that an agent searched.
type SearchRequest struct {
	// Round is the round that it searched in, 0 for the task's.
	Round int
	// Agent is "" where nobody knows which it was.
	Agent, Query string
}

// StopRequest puts a task aside.
type StopRequest struct {
	// Reason says why; it is never empty.
	Reason string
	// Request has the reports that the task is left with; without any it keeps
	// the findings that it has.
	Request Request
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool
}

// ResumeRequest is how a stuck task goes on.
type ResumeRequest struct {
	Mode task.Mode
	// Rounds are added to the cap in the mode task.MoreRounds.
	Rounds int
	Reason string
}
