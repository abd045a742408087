package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The codes of a command that a task's status forbids.
const (
	// CodeNotFound: nothing is recorded for the task.
	CodeNotFound errs.Code = "task-not-found"
	// CodeExists: the task exists already.
	CodeExists errs.Code = "task-exists"
	// CodeStarted: the task has begun already.
	CodeStarted errs.Code = "task-started"
	// CodeWaiting: the task waits for the user's answer.
	CodeWaiting errs.Code = "task-waiting"
	// CodeNotWaiting: the task waits for no answer.
	CodeNotWaiting errs.Code = "task-not-waiting"
	// CodeStuck: the task is stuck.
	CodeStuck errs.Code = "task-stuck"
	// CodeNotStuck: the task is not stuck.
	CodeNotStuck errs.Code = "task-not-stuck"
	// CodeCommitted: the task is done.
	CodeCommitted errs.Code = "task-committed"
)

// Statuses lists every status, the one of a task that does not exist first.
func Statuses() []Status { return []Status{None, Open, Waiting, Stuck, Committed} }

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
		return map[Status]errs.Code{Committed: CodeCommitted}[s]
	case KindSpawnEnded:
		return "" // A run that is not open refuses it; see Receive.
	case KindPrepared, KindRedrafted, KindDrafted, KindDecided, KindFinished, KindSpawnBegun:
		return map[Status]errs.Code{Waiting: CodeWaiting, Stuck: CodeStuck, Committed: CodeCommitted}[s]
	case KindAnswered:
		return map[Status]errs.Code{None: CodeNotFound, Open: CodeNotWaiting, Stuck: CodeStuck, Committed: CodeCommitted}[s]
	case KindResumed:
		return map[Status]errs.Code{None: CodeNotFound, Open: CodeNotStuck, Waiting: CodeWaiting, Committed: CodeCommitted}[s]
	case KindImported:
		return map[Status]errs.Code{Open: CodeExists, Waiting: CodeExists, Stuck: CodeExists, Committed: CodeExists}[s]
	default:
		return CodeExists
	}
}

// allow returns the error of an event that may not follow, or nil.
func allow(s State, k Kind) error {
	switch code := Transition(s.Status, k); code {
	case "":
		return nil
	case CodeNotFound:
		return errs.New(code, "nothing is recorded for the task")
	case CodeExists:
		return errs.New(code, "the task exists already; it is %s, in round %d", s.Status, s.Round)
	case CodeWaiting:
		return errs.New(code, "the task waits for the user's answer since round %d", s.Questions.Round)
	case CodeNotWaiting:
		return errs.New(code, "the task waits for no answer; it is %s, in round %d", s.Status, s.Round)
	case CodeStuck:
		return errs.New(code, "the task is stuck since round %d (%s)", s.Stop.Round, s.Stop.Reason)
	case CodeNotStuck:
		return errs.New(code, "the task is not stuck; it is %s, in round %d", s.Status, s.Round)
	case CodeCommitted:
		return errs.New(code, "the task was committed in round %d", s.Round)
	default:
		return fmt.Errorf("an event %s follows in a task that is %s", k, s.Status)
	}
}
