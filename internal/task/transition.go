package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Statuses lists every status, the one of a task that does not exist first.
func Statuses() []Status { return []Status{NoTask, Open, Waiting, Stuck, Committed} }

// Kinds lists every kind of event.
func Kinds() []Kind {
	return []Kind{
		KindStarted, KindStamped, KindSearched, KindPrepared, KindRedrafted, KindDrafted, KindDecided,
		KindFinished, KindStopped, KindAnswered, KindResumed, KindImported, KindSpawnBegun, KindSpawnEnded,
	}
}

// Transition says what an event means in a status: "" where it may follow, else
// the code of the error. It is the whole table of docs/tasks.md; what an event
// needs beyond the status, its command says.
func Transition(s Status, k Kind) errs.Code {
	switch k {
	case KindStarted:
		return "" // An open task refuses it once its work has begun; see Begin.
	case KindStamped, KindSearched, KindStopped:
		return map[Status]errs.Code{Committed: errs.TaskCommitted}[s]
	case KindSpawnEnded:
		return "" // A run that is not open refuses it; see Receive.
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

// checkBudget returns the error of an event that may not follow, or nil.
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
