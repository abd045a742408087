package task

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The codes of commands that a task's round or its evidence forbids.
const (
	// CodeRoundShifted: the task is in another round than the caller thinks.
	CodeRoundShifted errs.Code = "round-shifted"
	// CodeRoundsExhausted: the task would get more rounds than any task may have.
	CodeRoundsExhausted errs.Code = "rounds-exhausted"
	// CodeNotReady: the task may not be committed. The detail missing lists why.
	CodeNotReady errs.Code = "commit-precondition-missing"
	// CodeUnverified: the round's verification is missing, and the task may not
	// be committed without it.
	CodeUnverified errs.Code = "commit-unverified"
)

// Command is what somebody wants of a task: one of the types of this package
// that have a method decide.
type Command interface {
	decide(State) (Event, error)
}

// Decide says what a command makes of a task. A nil Event without an error
// says that there is nothing to do: it was done before.
//
// # Errors
//
// A *errs.Error that says why the command is refused, or another error where the
// caller asks for what no user can. The state is then as it was.
func Decide(s State, c Command) (Event, error) { return c.decide(s) }
