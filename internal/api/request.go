package api

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Request is the input of a round.
type Request struct {
	Reports []ReportRef
	// Spawn runs the critic in addition to the reports. Without reports it runs anyway.
	Spawn bool
	// Adapter replaces the configured adapters and has no fallback; "" keeps them.
	Adapter string
	// Prompt describes the task, in its author's words, from now on; "" keeps the recorded
	// description.
	Prompt string
	// Base names the commit that the draft is compared with from now on; "" keeps the
	// task's base.
	Base string
	// AllowEmpty lets the critic review a draft that equals its base.
	AllowEmpty bool
	// Stdin is read if a report's path is Stdin.
	Stdin io.Reader
	// Verify says how the draft is verified.
	Verify VerifyRequest
	// Round is the round that the caller expects, 0 for any.
	Round int
	// MaxRounds is the cap, 0 for the task's or the project's.
	MaxRounds int
	// Policy is a policy reference, "" for the project's policy. A path is relative to the
	// user's current directory.
	Policy string
	// Explain makes Route explain its decision.
	Explain bool
	// Force passes the gates for missing evidence, unless it is nil.
	Force *task.Force
}

// ReportRef names a report and the plugin that reads it.
type ReportRef struct {
	// Plugin is the name of a plugin, the path of a plugin file or of a directory of plugins,
	// or Auto.
	Plugin string
	// Path is a file, or Stdin.
	Path string
	// Name is the report's name in results and errors, by default Path.
	Name string
}

// VerifyRequest says how a draft is verified. The zero value uses the project's
// configuration, else the round's attestation, else the verification is absent.
type VerifyRequest struct {
	// Claim is the outcome that the caller claims, or "".
	Claim routing.Verify
	// ExitCode is the exit code of a verification that the caller ran, or nil.
	ExitCode *int
	// Excerpt and OutputBytes describe the output of the caller's verification.
	Excerpt     string
	OutputBytes int64
	// Command is a command that the engine runs, or "".
	Command string
}

// AskRequest evaluates a policy on a bare input.
type AskRequest struct {
	// Path is a file with a routing.Input as JSON, or Stdin.
	Path  string
	Stdin io.Reader
	// Policy is a policy reference, "" for the project's policy.
	Policy string
	// Explain adds an explanation.
	Explain bool
}

// AnswerRequest answers a question of a waiting task.
type AnswerRequest struct {
	// Round is the round that asked, 0 for the latest.
	Round int
	// Question is the fingerprint of the question's finding, "" if there is only one
	// question.
	Question string
	// Choice is the number of the choice, from 1; 0 if Text is the answer.
	Choice int
	Text   string
	// By is the user who answers, "" for the engine's user.
	By string
}

// DraftRequest reports that a draft is done.
type DraftRequest struct {
	Verify VerifyRequest
	// Round is the round that the caller expects, 0 for any.
	Round int
	// Policy decides on a red draft; "" means the project's policy.
	Policy string
	Force  *task.Force
}

// StartRequest begins the work on a task.
type StartRequest struct {
	// Query describes the work.
	Query string
	// MaxRounds is the task's cap, 0 for the project's.
	MaxRounds int
	// Base names the commit that the draft is compared with, "" for that of the task's
	// branch, else the configured base or the current commit.
	Base  string
	Force *task.Force
}

// PhaseRequest reports that a phase before the draft is done.
type PhaseRequest struct {
	// Phase is task.Research, task.Design or task.Tests.
	Phase task.Phase
	// Tests are the files written in the phase task.Tests.
	Tests []string
	Force *task.Force
}

// CommitRequest commits a task if its latest review allows it.
type CommitRequest struct {
	// MustVerify requires a green verification of the round, even if the project has no
	// verification and the task was never verified.
	MustVerify bool
	Force      *task.Force
}

// AuditRequest attests a run of an agent that the engine did not spawn.
type AuditRequest struct {
	// Round is the round that the agent ran in, 0 for the task's current round.
	Round int
	Agent string
	// Run identifies the run, "" if unknown. A run is attested only once.
	Run string
	// Tools are the names of the tools used, once per use.
	Tools []string
}

// ParseToolLog returns the names of the tools in a log, a JSON list.
//
// # Errors
//
// tool-use-log-invalid.
func ParseToolLog(log []byte) ([]string, error) {
	var entries []jsontext.Value
	err := json.Unmarshal(log, &entries)
	if err == nil && entries == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, errs.New(errs.ToolUseLogInvalid, "the log is not a JSON list: %w", textutil.JSONReason(err))
	}
	tools := make([]string, len(entries))
	for i, entry := range entries {
		name, err := toolOf(entry)
		if err != nil {
			return nil, errs.New(errs.ToolUseLogInvalid, "entry %d of the log: %w", i, err).With("index", i)
		}
		tools[i] = name
	}
	return tools, nil
}

// toolOf returns a tool's name from a log entry, which is a string or an object.
func toolOf(entry jsontext.Value) (string, error) {
	var named struct {
		Tool     string `json:"tool"`
		Name     string `json:"name"`
		ToolName string `json:"tool_name"`
	}
	var err error
	if entry.Kind() == '"' {
		err = json.Unmarshal(entry, &named.Tool)
	} else {
		err = json.Unmarshal(entry, &named)
	}
	if err != nil {
		return "", fmt.Errorf("it is neither a tool's name nor an object with one: %w", textutil.JSONReason(err))
	}
	if name := cmp.Or(named.Tool, named.Name, named.ToolName); name != "" {
		return name, nil
	}
	return "", fmt.Errorf("it names no tool")
}

// SearchRequest reports that an agent searched.
type SearchRequest struct {
	// Round is the round of the search, 0 for the task's current round.
	Round int
	// Agent is "" if unknown.
	Agent, Query string
}

// StopRequest marks a task as stuck.
type StopRequest struct {
	// Reason must not be empty.
	Reason string
	// Request has reports with the findings to leave open; without reports the open
	// findings stay.
	Request Request
	// ForgetCap removes the task's own cap.
	ForgetCap bool
}

// ResumeRequest resumes a stuck or parked task.
type ResumeRequest struct {
	// Mode has no effect on a parked task, which continues at once.
	Mode task.Mode
	// Rounds are added to the cap in the mode task.MoreRounds.
	Rounds int
	Reason string
}
