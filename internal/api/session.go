package api

import "github.com/switchyard-dev/switchyard/internal/finding"

// SessionBlock says how often the Stop hook has blocked sessions because of a task's
// decision.
type SessionBlock struct {
	// Round is the round that begins with the fix, and DecidedAt is TaskStatus.DecidedAt of
	// the decision.
	Round     int    `json:"round"`
	DecidedAt string `json:"decided_at"`
	// Blocks counts the blocks. Session is the id of the session that was blocked last, Tree
	// the digest of the working tree then, and At the time.
	Blocks  int    `json:"blocks"`
	Session string `json:"session,omitzero"`
	Tree    string `json:"tree,omitzero"`
	At      string `json:"at,omitzero"`
	// Released is set once a person has ended the blocking.
	Released *SessionRelease `json:"released,omitzero"`
}

// SessionRelease says who ended the blocking of sessions, and why.
type SessionRelease struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
	At     string `json:"at"`
}

// SessionRequest asks whether a session of an agent may end.
type SessionRequest struct {
	// Session is the agent's id of the session.
	Session string
	// Verify runs the project's verification before the session is blocked.
	Verify bool
}

// SessionResult says whether a session may end.
type SessionResult struct {
	Blocked bool
	// Tasks are the tasks with a fix that is due in the project's checkout.
	Tasks []SessionTask
}

// SessionTask is a task that its last decision sent to the executor.
type SessionTask struct {
	TaskID    string
	Round     int
	MaxRounds int
	// Red reports whether its verification is red. Output is the file with the output of the
	// verification, or "".
	Red      bool
	Output   string
	Findings []finding.Finding
	// Handoff is the file with the executor's instructions, relative to the project's root,
	// or nil.
	Handoff *string
}
