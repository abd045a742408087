package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Statuses lists all statuses, NoTask first.
func Statuses() []Status { return []Status{NoTask, Open, Waiting, Parked, Stuck, Committed, Merging} }

// Transition returns "" if an event may follow in a status, and the code of the error
// otherwise. It is the table of docs/tasks.md. Commands check further conditions.
func Transition(s Status, k Kind) errs.Code {
	follows := slices.ContainsFunc(kinds, func(row kindOfEvent) bool { return row.kind == k && slices.Contains(row.follows, s) })
	switch {
	case follows:
		return ""
	case k == KindImported:
		return errs.TaskExists
	case s == Open && k == KindAnswered:
		return errs.TaskNotWaiting
	case s == Open && k == KindResumed:
		return errs.TaskNotStuck
	case s == Open && k == KindUnparked:
		return errs.TaskNotParked
	default:
		return map[Status]errs.Code{
			NoTask: errs.TaskNotFound, Open: errs.TaskNotCommitted, Waiting: errs.TaskWaiting, Parked: errs.TaskParked,
			Stuck: errs.TaskStuck, Committed: errs.TaskCommitted, Merging: errs.TaskMerging,
		}[s]
	}
}

// checkAllowed returns an error if an event may not follow in the status of the task.
func checkAllowed(s State, k Kind) error {
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
		return errs.New(code, "the task is not waiting for an answer; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskParked:
		return errs.New(code, "the task is parked until %s, when the usage limit of %s ends", s.Parked.Until, s.Parked.Adapter).
			With("until", s.Parked.Until)
	case errs.TaskMerging:
		return errs.New(code, "the task is being merged into %s", s.Merge.Into)
	case errs.TaskNotCommitted:
		return errs.New(code, "the task is not committed; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskStuck:
		return errs.New(code, "the task is stuck since round %d (%s)", s.Stop.Round, s.Stop.Reason)
	case errs.TaskNotParked:
		return errs.New(code, "the task is not parked; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskNotStuck:
		return errs.New(code, "the task is not stuck; it is %s, in round %d", s.Status, s.Round)
	case errs.TaskCommitted:
		return errs.New(code, "the task was committed in round %d", s.Round)
	default:
		return fmt.Errorf("an event %s follows in a task that is %s", k, s.Status)
	}
}

// Command is a request to change a task. The types of this package with a method decide
// are commands.
type Command interface {
	// kind returns the kind of the event, or "" if decide checks whether it may follow.
	kind() Kind
	decide(State) (Event, error)
}

// Decide returns the event of a command. A nil Event without an error means that the
// command was carried out before.
//
// # Errors
//
// A *errs.Error if the command is refused, or another error if the caller's request is
// impossible. The state is unchanged.
func Decide(s State, c Command) (Event, error) {
	if k := c.kind(); k != "" {
		if err := checkAllowed(s, k); err != nil {
			return nil, err
		}
	}
	return c.decide(s)
}

func (StartWork) kind() Kind          { return KindStarted }
func (CreateBranch) kind() Kind       { return KindBranched }
func (AttestAgent) kind() Kind        { return KindAttested }
func (RecordSearch) kind() Kind       { return KindSearched }
func (CompletePhase) kind() Kind      { return KindPrepared }
func (BeginVerification) kind() Kind  { return KindRedrafted }
func (RecordVerification) kind() Kind { return KindDrafted }
func (DecideRound) kind() Kind        { return KindDecided }
func (CommitTask) kind() Kind         { return KindFinished }
func (StopTask) kind() Kind           { return KindStopped }
func (AskUser) kind() Kind            { return KindAsked }
func (ParkTask) kind() Kind           { return KindParked }
func (ResumeTask) kind() Kind         { return KindResumed }
func (ImportTask) kind() Kind         { return KindImported }
func (RecordCommit) kind() Kind       { return KindCommitCreated }
func (BeginMerge) kind() Kind         { return KindMergeBegun }
func (EndMerge) kind() Kind           { return KindMergeEnded }
func (ReserveRuns) kind() Kind        { return KindSpawnBegun }
func (RecordReceipt) kind() Kind      { return KindSpawnEnded }

func (AnswerQuestion) kind() Kind  { return "" }
func (ExpireQuestions) kind() Kind { return "" }
func (EndParking) kind() Kind      { return "" }
