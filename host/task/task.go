// Package task is the state machine of one task: which round it is in, whether
// it may go on, and what a decision makes of it (design section 5).
//
// It is pure. Events go in and states come out; there is no I/O, no clock, no
// randomness and no order of maps, so the same events always fold to the same
// state, here or under any other engine.
package task

import (
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The codes of a command that a task's state forbids.
const (
	// CodeInvalidID: the text is no task id.
	CodeInvalidID fault.Code = "task-invalid-id"
	// CodeWaiting: the task waits for the user's answer.
	CodeWaiting fault.Code = "task-waiting"
	// CodeStuck: the task is stuck.
	CodeStuck fault.Code = "task-stuck"
	// CodeCommitted: the task is done.
	CodeCommitted fault.Code = "task-committed"
	// CodeRoundShifted: the task is in another round than the caller thinks.
	CodeRoundShifted fault.Code = "round-shifted"
)

// Status says whether a task may go on.
type Status string

// The statuses of a task.
const (
	Open      Status = "open"
	Waiting   Status = "waiting"
	Stuck     Status = "stuck"
	Committed Status = "committed"
)

// The bounds of a task's cap, and the cap where nobody sets one.
const (
	MinRounds     = 1
	MaxRounds     = 100
	DefaultRounds = 3
)

// State is where a task stands: the fold of its events. The zero State is a
// task that does not exist yet.
type State struct {
	// Round is the round that the next decision is about, from 1.
	Round int `json:"round"`
	// MaxRounds is the task's cap; 0 until its first decision.
	MaxRounds int    `json:"max_rounds"`
	Status    Status `json:"status"`
	// Last is the newest decision, or nil.
	Last *Decided `json:"last"`
}

// Decided is the event that a round was decided.
type Decided struct {
	Round     int `json:"round"`
	NextRound int `json:"next_round"`
	MaxRounds int `json:"max_rounds"`
	// NextAction is the destination and Kind its kind, as the policy declares
	// it: agent, human or terminal.
	NextAction string `json:"next_action"`
	Kind       string `json:"kind"`
	Reason     string `json:"reason"`
	// FindingCount is how many findings were open.
	FindingCount int `json:"finding_count"`
}

// Outcome is what the policy made of a round.
type Outcome struct {
	NextAction string
	Reason     string
	// Kind and AdvancesRound are the policy's declaration of NextAction.
	Kind          string
	AdvancesRound bool
	FindingCount  int
	// VerifyRed says that verification failed in this round.
	VerifyRed bool
}

// The destinations and kinds that the state machine itself knows.
const (
	actionCommit = "commit"
	kindHuman    = "human"
	kindTerminal = "terminal"
)

// Begin says which round of a task comes next, and its cap. expected is the
// round that the caller means, 0 where it means whichever comes; maxRounds is
// the caller's cap, 0 where the task keeps its own, or gets fallback if it has
// none.
//
// # Errors
//
// CodeWaiting, CodeStuck or CodeCommitted where the task may not go on, and
// CodeRoundShifted where it is in another round than expected.
func Begin(s State, expected, maxRounds, fallback int) (round, rounds int, err error) {
	switch s.Status {
	case Waiting:
		return 0, 0, fault.New(CodeWaiting, "the task waits for the user's answer since round %d", s.Last.Round)
	case Stuck:
		return 0, 0, fault.New(CodeStuck, "the task is stuck since round %d (%s)", s.Last.Round, s.Last.Reason)
	case Committed:
		return 0, 0, fault.New(CodeCommitted, "the task was committed in round %d", s.Last.Round)
	}
	round = max(s.Round, 1)
	if expected != 0 && expected != round {
		return 0, 0, Shifted(expected, round)
	}
	switch {
	case maxRounds != 0:
		rounds = maxRounds
	case s.MaxRounds != 0:
		rounds = s.MaxRounds
	default:
		rounds = fallback
	}
	return round, rounds, nil
}

// Shifted is the error of a caller that means another round than the task is
// in, or lost the race for it.
func Shifted(expected, actual int) error {
	return fault.New(CodeRoundShifted, "the task is in round %d, not in round %d", actual, expected).
		With("expected", expected).With("actual", actual)
}

// Decide makes the event of a round's outcome. The round advances when the
// destination says so, and when verification was red, unless the task ends
// here.
func Decide(round, maxRounds int, o Outcome) Decided {
	next := round
	if o.Kind != kindTerminal && (o.AdvancesRound || o.VerifyRed) {
		next++
	}
	return Decided{
		Round: round, NextRound: next, MaxRounds: maxRounds,
		NextAction: o.NextAction, Kind: o.Kind, Reason: o.Reason, FindingCount: o.FindingCount,
	}
}

// Apply folds an event into a state.
//
// # Errors
//
// An error says that the event cannot have followed the state: the history is
// not one that this package wrote.
func Apply(s State, e Decided) (State, error) {
	if s.Status != "" && s.Status != Open {
		return s, fmt.Errorf("a decision follows in a task that is %s", s.Status)
	}
	if want := max(s.Round, 1); e.Round != want {
		return s, fmt.Errorf("a decision of round %d follows where round %d is due", e.Round, want)
	}
	if e.NextRound != e.Round && e.NextRound != e.Round+1 {
		return s, fmt.Errorf("round %d is followed by round %d", e.Round, e.NextRound)
	}
	return State{Round: e.NextRound, MaxRounds: e.MaxRounds, Status: status(e), Last: &e}, nil
}

// Check refuses a state that no sequence of events folds to, as one has that
// was edited by hand.
func (s State) Check() error {
	switch {
	case s.Last == nil:
		return errors.New("a task without a decision")
	case s.Round < 1 || s.Last.Round < 1:
		return fmt.Errorf("a task in round %d", s.Round)
	case s.MaxRounds < MinRounds || s.MaxRounds > MaxRounds:
		return fmt.Errorf("a task with a cap of %d rounds", s.MaxRounds)
	case s.Round != s.Last.NextRound || s.MaxRounds != s.Last.MaxRounds || s.Status != status(*s.Last):
		return fmt.Errorf("a task that is %s in round %d after a decision for %s", s.Status, s.Round, s.Last.NextAction)
	}
	return nil
}

// Ends reports whether a destination leaves a task stuck: any terminal one but
// commit. What is not done and has nowhere to go needs a person.
func Ends(nextAction, kind string) bool {
	return kind == kindTerminal && nextAction != actionCommit
}

// status is what a decision makes of a task.
func status(e Decided) Status {
	switch {
	case e.NextAction == actionCommit:
		return Committed
	case Ends(e.NextAction, e.Kind):
		return Stuck
	case e.Kind == kindHuman:
		return Waiting
	default:
		return Open
	}
}

// CheckID refuses what is no task id: a letter or digit, then up to 127
// letters, digits, dots, underscores and dashes (design section 5).
func CheckID(id string) error {
	ok := len(id) >= 1 && len(id) <= 128
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		ok = alnum || i > 0 && (c == '.' || c == '_' || c == '-')
	}
	if !ok {
		return fault.New(CodeInvalidID, "%q is no task id", id)
	}
	return nil
}
