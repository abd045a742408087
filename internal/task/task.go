// Package task is the state machine of one task: which round it is in, what may
// follow, and what every event makes of it (design section 5, ADR-0014).
//
// Decide turns a command into an event, or says why not; Apply folds an event
// into a state. Both are pure: there is no I/O, no clock, no randomness and no
// order of maps, so the same events always fold to the same state, here or under
// any other engine. Times come in as texts of one fixed form, which sort as
// times do.
package task

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Status says whether a task may go on. The zero Status is that of a task that
// does not exist yet.
type Status string

// The statuses of a task.
const (
	NoTask    Status = ""
	Open      Status = "open"
	Waiting   Status = "waiting"
	Stuck     Status = "stuck"
	Committed Status = "committed"
)

// Phase is a step of a round.
type Phase string

// The phases, in the order of a round. Research, Design and Tests are optional.
const (
	Start    Phase = "start"
	Research Phase = "research"
	Design   Phase = "design"
	Tests    Phase = "tests"
	Draft    Phase = "draft"
	Review   Phase = "review"
	Commit   Phase = "commit"
)

// The bounds of a task's cap, and the cap where nobody sets one.
const (
	MinRounds     = 1
	MaxRounds     = 100
	DefaultRounds = 3
)

// State is where a task stands: the fold of its events. It is bounded: what
// grows with a task's history is not part of it. The zero State is a task that
// does not exist yet. Runs that belong to no task fold like one that never exists:
// its Status stays None.
type State struct {
	// Round is the round that the next decision is about, from 1.
	Round int `json:"round"`
	// MaxRounds is the task's cap; 0 until its first decision or start.
	MaxRounds int `json:"max_rounds"`
	// CustomCap says that somebody gave this task a cap of its own. It ends with
	// the incident that it was given for.
	CustomCap bool   `json:"own_cap,omitzero"`
	Status    Status `json:"status"`
	// Phase is the newest phase of this round that is done, "" for none.
	Phase Phase `json:"phase,omitzero"`
	// Restarts counts how often the task began anew.
	Restarts int `json:"restarts,omitzero"`
	// Query is what the task was last started with.
	Query string `json:"query,omitzero"`
	// Tests are the test files that were written before the draft.
	Tests []string `json:"tests,omitzero"`
	// Last is the newest decision, or nil.
	Last *RoundDecided `json:"last"`

	// The evidence of this round. A decision uses it up.

	// Verified is this round's green verification, or nil.
	Verified *Verification `json:"verification,omitzero"`
	// Stamps are the agents that are known to have run.
	Stamps   []Stamp  `json:"stamps,omitzero"`
	Searches []Search `json:"searches,omitzero"`

	// Verifies says that the task was verified at least once. From then on
	// nothing is committed without a green verification of its round.
	Verifies bool `json:"verification_required,omitzero"`
	// Violations are those that no decision has routed yet.
	Violations []Violation `json:"violations,omitzero"`
	// Questions are those of the newest decision that asked the user.
	Questions *Questions `json:"questions,omitzero"`
	// Stop is why the task is stuck, or nil.
	Stop *Stop `json:"stop,omitzero"`
	// Overrides counts the gates that somebody forced, ever.
	Overrides int `json:"override_count,omitzero"`
	// Forced is the newest of them.
	Forced *Override `json:"last_override,omitzero"`

	// Convergence, see Measure.

	// Reviews counts the decisions that rested on reports.
	Reviews int `json:"reviews,omitzero"`
	// Stalled is how many reviews in a row made no progress.
	Stalled int `json:"stalled_rounds,omitzero"`

	// Runs are the spawns of this round, and those of earlier ones that are
	// still open, in the order in which they began.
	Runs  []Run    `json:"spawns,omitzero"`
	Spent Spending `json:"spent,omitzero"`

	Internals `json:"memory,omitzero"`
}

// Internals is what a state keeps for its own decisions. It is nobody else's
// business, and may change.
type Internals struct {
	// StartedRound is the round in which the work began or began anew: its draft is
	// the executor's, that of later rounds the build-fixer's.
	StartedRound int `json:"fresh,omitzero"`
	// Manual says that a person makes this round's draft, so that no agent's
	// stamp is wanted for it.
	Manual bool `json:"manual,omitzero"`
	// Evidence lists the reports about exactly this round that were decided on.
	Evidence []string `json:"evidence,omitzero"`
	// NonAdvancing counts the decisions of this round that did not end it.
	NonAdvancing int `json:"kept,omitzero"`
	// Remaining is how many findings the newest review left.
	Remaining int `json:"remaining,omitzero"`
	// ResetReview is the newest review that a reset has made history: a finding
	// that was last seen then, or earlier, counts as new.
	ResetReview int `json:"forgotten,omitzero"`
}

// Stop is why a task is stuck.
type Stop struct {
	Round  int    `json:"round"`
	Reason string `json:"reason"`
	// By is who put it there: a policy, as routing@1.2.0, a person, or
	// BySwitchyard.
	By string `json:"by"`
	// FindingCount is how many findings were open.
	FindingCount int `json:"finding_count"`
}

// Override is a gate that somebody forced.
type Override struct {
	Round int   `json:"round"`
	Phase Phase `json:"phase"`
	Force
}

// CheckID refuses what is no task id: a letter or digit, then up to 127
// letters, digits, dots, underscores and dashes (design section 5).
func CheckID(id string) error {
	ok := len(id) >= 1 && len(id) <= 128
	for i := 0; ok && i < len(id); i++ {
		ok = isWord(id[i]) || i > 0 && id[i] == '.'
		ok = ok && (i > 0 || id[i] != '_' && id[i] != '-')
	}
	if !ok {
		f := errs.New(errs.TaskInvalidID, "%.200q is not a task id: 1 to 128 letters, digits and any of . _ -, a letter or digit first", id)
		if near := nearID(id); near != "" {
			f = f.WithHint("choose another id, such as " + near)
		}
		return f
	}
	return nil
}

// nearID makes a task id of a text that is none, such as the name of a branch: a dash
// for each run of other characters. It is "" if too little is left.
func nearID(text string) string {
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < 128; i++ {
		switch c := text[i]; {
		case isWord(c) && c != '-' || c == '.':
			b.WriteByte(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-_.")
}

// isWord reports whether c is a letter, a digit, an underscore or a dash.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}
