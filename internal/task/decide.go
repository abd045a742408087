package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Statuses lists all statuses, NoTask first.
func Statuses() []Status { return []Status{NoTask, Open, Waiting, Stuck, Committed} }

// Kinds lists all kinds of events.
func Kinds() []Kind {
	return []Kind{
		KindStarted, KindAttested, KindSearched, KindPrepared, KindRedrafted, KindDrafted, KindDecided,
		KindFinished, KindStopped, KindAnswered, KindResumed, KindImported, KindSpawnBegun, KindSpawnEnded,
	}
}

// Transition returns "" if an event may follow in a status, else the code of the error.
// It is the table of docs/tasks.md. Commands check further conditions.
func Transition(s Status, k Kind) errs.Code {
	switch k {
	case KindStarted:
		return "" // StartWork rejects it for a task under way.
	case KindAttested, KindSearched, KindStopped:
		return map[Status]errs.Code{Committed: errs.TaskCommitted}[s]
	case KindSpawnEnded:
		return "" // RecordReceipt rejects it for a run that is not open.
	case KindPrepared, KindRedrafted, KindDrafted, KindDecided, KindFinished, KindSpawnBegun:
		return map[Status]errs.Code{Waiting: errs.TaskWaiting, Stuck: errs.TaskStuck, Committed: errs.TaskCommitted}[s]
	case KindAnswered:
		return map[Status]errs.Code{NoTask: errs.TaskNotFound, Open: errs.TaskNotWaiting, Stuck: errs.TaskStuck, Committed: errs.TaskCommitted}[s]
	case KindResumed:
		return map[Status]errs.Code{NoTask: errs.TaskNotFound, Open: errs.TaskNotStuck, Waiting: errs.TaskWaiting, Committed: errs.TaskCommitted}[s]
	case KindImported:
		return map[Status]errs.Code{Open: errs.TaskExists, Waiting: errs.TaskExists, Stuck: errs.TaskExists, Committed: errs.TaskExists}[s]
	default:
		return errs.TaskExists
	}
}

// allow returns the error of an event that may not follow in the status, or nil.
func allow(s State, k Kind) error {
	switch code := Transition(s.Status, k); code {
	case "":
		return nil
	case errs.TaskNotFound:
		return errs.New(code, "nothing is recorded for the task")
	case errs.TaskExists:
		return errs.New(code, "the task exists already; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskWaiting:
		return errs.New(code, "the task waits for the user's answer since round %d", s.Questions.Round)
	case errs.TaskNotWaiting:
		return errs.New(code, "the task waits for no answer; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskStuck:
		return errs.New(code, "the task is stuck since round %d (%s)", s.Stop.Round, s.Stop.Reason)
	case errs.TaskNotStuck:
		return errs.New(code, "the task is not stuck; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskCommitted:
		return errs.New(code, "the task was committed in round %d", s.Round)
	default:
		return fmt.Errorf("an event %s follows in a task that is %s", k, s.Status)
	}
}

// Command is a request to change a task: one of the types of this package with a method
// decide.
type Command interface {
	decide(State) (Event, error)
}

// Decide returns the event of a command. A nil Event without an error means that there is
// nothing to do: it was done before.
//
// # Errors
//
// A *errs.Error if the command is refused, or another error if the caller's request is
// impossible. The state is unchanged.
func Decide(s State, c Command) (Event, error) { return c.decide(s) }
