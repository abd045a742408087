package outcome

import "github.com/switchyard-dev/switchyard/internal/confinement"

// Record describes one attempt of a spawn: a line of the run log, and evidence in the
// ledger. Its texts are redacted.
type Record struct {
	RunID string `json:"run_id"`
	// Task and Round are "" and 0 for a run without a task.
	Task  string `json:"task_id,omitzero"`
	Round int    `json:"round,omitzero"`
	Agent string `json:"agent"`
	// AgentSHA256 is the digest of the agent's definition.
	AgentSHA256 string `json:"agent_sha256"`
	Adapter     string `json:"adapter"`
	Bin         string `json:"bin"`
	// Attempt counts from 1 over retries and fallbacks. Why is first, retry:CLASS,
	// fallback:CLASS or resume.
	Attempt    int    `json:"attempt"`
	Why        string `json:"why"`
	StartedAt  string `json:"started_at"`
	EndedAt    string `json:"ended_at"`
	DurationMS int64  `json:"duration_ms"`
	PID        int    `json:"pid"`
	ExitCode   int    `json:"exit_code"`
	Signal     string `json:"signal,omitzero"`
	// End is "exited", or the reason why we ended the process.
	End      string `json:"end"`
	TimedOut bool   `json:"timed_out"`
	// The prompt is standard input, and the response standard output. Digests are 64 hex
	// digits.
	PromptSHA256   string `json:"prompt_sha256"`
	PromptBytes    int64  `json:"prompt_bytes"`
	ResponseSHA256 string `json:"response_sha256"`
	ResponseBytes  int64  `json:"response_bytes"`
	StderrExcerpt  string `json:"stderr_excerpt"`
	// Confinement is the level that the agent ran at, "" in records of older versions, which
	// confined nothing. Refused lists hosts that the proxy refused, at most 20.
	Confinement confinement.Level `json:"confinement,omitzero"`
	Refused     []string          `json:"refused,omitempty"`
	// Unknown values are null.
	Model            *string `json:"model_actual"`
	TokensIn         *int64  `json:"tokens_in"`
	TokensOut        *int64  `json:"tokens_out"`
	TokensCached     *int64  `json:"tokens_cached"`
	CostMicroDollars *int64  `json:"cost_microdollars"`
	Session          string  `json:"session_id,omitzero"`
	// PayloadParseOK is set if the output has the form that its adapter describes.
	PayloadParseOK bool    `json:"payload_parse_ok"`
	Outcome        Outcome `json:"outcome"`
	Reason         Reason  `json:"reason,omitzero"`
	Class          Class   `json:"class,omitzero"`
	// Next is retry, fallback, or "" if this attempt counts.
	Next string `json:"next,omitzero"`
	// ToolUses counts the uses of tools in the output, and Searches counts the searches among
	// these.
	ToolUses int      `json:"tool_uses"`
	Searches int      `json:"searches"`
	Denials  []string `json:"denials,omitzero"`
	// Changed lists the changes of the working tree.
	Changed      []string `json:"changed,omitzero"`
	ReportSHA256 string   `json:"report_sha256,omitzero"`
	Notes        []string `json:"notes,omitzero"`
	// ResetsAt is the end of a usage limit in RFC 3339, "" if unknown.
	ResetsAt string `json:"resets_at,omitzero"`
	// Summary is the description of its work by an agent that may edit, at most 8 KiB.
	Summary string `json:"summary,omitzero"`
	// Transcript is the digest of the stored output, "" if it was not stored.
	Transcript string `json:"transcript,omitzero"`
}

// Said returns the agent's account of a failed attempt: denied tools, then its own notes. It
// is empty for a successful attempt.
func (r Record) Said() []string {
	words := []string{}
	if r.Outcome.Good() {
		return words
	}
	for _, tool := range r.Denials {
		words = append(words, "denied tool: "+tool)
	}
	words = append(words, r.Notes...)
	return words[max(len(words)-maxSaid, 0):] // The agent's own notes come last.
}

// maxSaid is the number of notes shown per attempt; the run log has all.
const maxSaid = 5
