package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The codes of a command that a task's status forbids.
const (
	// CodeNotFound: nothing is recorded for the task.
	CodeNotFound fault.Code = "task-not-found"
	// CodeExists: the task exists already.
	CodeExists fault.Code = "task-exists"
	// CodeStarted: the task has begun already.
	CodeStarted fault.Code = "task-started"
	// CodeWaiting: the task waits for the user's answer.
	CodeWaiting fault.Code = "task-waiting"
	// CodeNotWaiting: the task waits for no answer.
	CodeNotWaiting fault.Code = "task-not-waiting"
	// CodeStuck: the task is stuck.
	CodeStuck fault.Code = "task-stuck"
	// CodeNotStuck: the task is not stuck.
	CodeNotStuck fault.Code = "task-not-stuck"
	// CodeCommitted: the task is done.
	CodeCommitted fault.Code = "task-committed"
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
func Transition(s Status, k Kind) fault.Code {
	switch k {
	case KindStarted:
		return "" // An open task refuses it once its work has begun; see Begin.
	case KindStamped, KindSearched, KindStopped:
		return map[Status]fault.Code{Committed: CodeCommitted}[s]
	case KindSpawnEnded:
		return "" // A run that is not open refuses it; see Receive.
	case KindPrepared, KindRedrafted, KindDrafted, KindDecided, KindFinished, KindSpawnBegun:
		return map[Status]fault.Code{Waiting: CodeWaiting, Stuck: CodeStuck, Committed: CodeCommitted}[s]
	case KindAnswered:
		return map[Status]fault.Code{None: CodeNotFound, Open: CodeNotWaiting, Stuck: CodeStuck, Committed: CodeCommitted}[s]
	case KindResumed:
		return map[Status]fault.Code{None: CodeNotFound, Open: CodeNotStuck, Waiting: CodeWaiting, Committed: CodeCommitted}[s]
	case KindImported:
		return map[Status]fault.Code{Open: CodeExists, Waiting: CodeExists, Stuck: CodeExists, Committed: CodeExists}[s]
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
		return fault.New(code, "nothing is recorded for the task")
	case CodeExists:
		return fault.New(code, "the task exists already; it is %s, in round %d", s.Status, s.Round)
	case CodeWaiting:
		return fault.New(code, "the task waits for the user's answer since round %d", s.Questions.Round)
	case CodeNotWaiting:
		return fault.New(code, "the task waits for no answer; it is %s, in round %d", s.Status, s.Round)
	case CodeStuck:
		return fault.New(code, "the task is stuck since round %d (%s)", s.Stop.Round, s.Stop.Reason)
	case CodeNotStuck:
		return fault.New(code, "the task is not stuck; it is %s, in round %d", s.Status, s.Round)
	case CodeCommitted:
		return fault.New(code, "the task was committed in round %d", s.Round)
	default:
		return fmt.Errorf("an event %s follows in a task that is %s", k, s.Status)
	}
}
