package task

import (
	"cmp"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// StartWork starts the work on a task, or restarts it in the next round after a commit or
// after it was stuck.
type StartWork struct {
	Query string
	// MaxRounds is the caller's cap, 0 if unset, and Fallback is the project's. HardCap is
	// the project's hard cap, 0 if unset.
	MaxRounds, Fallback, HardCap int
	// MustVerify is set if the caller has a verification. Then the task is not committed without
	// one.
	MustVerify bool
	// Branch is the new branch to work on, or nil.
	Branch *Branch
	Force  *Force
}

func (c StartWork) decide(s State) (Event, error) {
	begun := s.isUnderWay()
	if begun && c.Force == nil {
		return nil, errs.New(errs.TaskStarted, "the task has begun already; it is %s, in round %d", s.Status, s.Round)
	}
	e := WorkStarted{Round: max(s.Round, 1), Query: c.Query, MustVerify: c.MustVerify, Branch: c.Branch, MaxRounds: c.MaxRounds, CustomCap: c.MaxRounds != 0}
	if begun {
		e.Force = c.Force
	}
	if begun || s.Status == Stuck || s.Status == Committed {
		e.Round++
	}
	switch {
	case c.MaxRounds != 0:
	case s.CustomCap && s.MaxRounds >= e.Round: // The task's own cap still applies.
		e.MaxRounds, e.CustomCap = s.MaxRounds, true
	default: // The project's number of rounds counts from here.
		e.MaxRounds = min(e.Round-1+c.Fallback, MaxRounds)
	}
	if err := checkCap(e.Round, e.MaxRounds); err != nil {
		return nil, err
	}
	if e.MaxRounds < e.Round {
		return nil, errs.New(errs.RoundsExhausted, "round %[2]d, in which the task would begin, is beyond its cap, %[1]d", e.MaxRounds, e.Round).
			With("limit", e.MaxRounds)
	}
	e.HardCap = hardCap(e.MaxRounds, e.Round-1, c.HardCap)
	return e, nil
}

// isUnderWay reports whether the work is under way, so that only force restarts it.
func (s State) isUnderWay() bool {
	return s.Status == Waiting || s.Status == Parked || s.Status == Open && (s.Phase != "" || s.Last != nil)
}

// hardCap returns the hard cap that belongs to a cap: the project's, counted from the end
// of the round from, or twice the cap if the project's is 0.
func hardCap(rounds, from, project int) int {
	hard := 2 * rounds
	if project != 0 {
		hard = from + project
	}
	return max(rounds, min(hard, MaxRounds))
}

// HardCap returns the hard cap of a new task with the cap rounds in a project with the hard
// cap project, which is 0 if unset.
func HardCap(rounds, project int) int { return hardCap(rounds, 0, project) }

func (s State) hardCap() int { return cmp.Or(s.HardCap, hardCap(s.MaxRounds, 0, 0)) }

// CheckMaxRounds rejects a caller's cap that differs from the task's; 0 is no cap. Only a
// resume or a restart changes a cap, so that an agent cannot give itself more rounds.
func (s State) CheckMaxRounds(rounds int) error {
	if rounds == 0 || s.MaxRounds == 0 || rounds == s.MaxRounds {
		return nil
	}
	return errs.New(errs.CapFixed, "the task's cap is %s, not %d", textutil.Count(s.MaxRounds, "round"), rounds).With("limit", s.MaxRounds)
}

// checkCap rejects an invalid cap, and a round beyond it.
func checkCap(round, rounds int) error {
	if round > MaxRounds || rounds > MaxRounds || rounds < MinRounds {
		return errs.New(errs.RoundsExhausted, "a task may have %d to %d rounds; this one would be in round %d of %d", MinRounds, MaxRounds, round, rounds).
			With("limit", MaxRounds)
	}
	return nil
}

// ImportTask imports a task from another tool. Its HardCap is the project's, 0 if unset.
type ImportTask struct{ TaskImported }

func (c ImportTask) decide(s State) (Event, error) {
	// A task without its own cap gets the project's when it continues.
	if err := checkCap(c.Round, cmp.Or(c.MaxRounds, MaxRounds)); err != nil {
		return nil, err
	}
	if c.Round < 1 {
		return nil, fmt.Errorf("a task cannot be imported in round %d", c.Round)
	}
	if c.MaxRounds != 0 {
		c.HardCap = hardCap(c.MaxRounds, 0, c.HardCap)
	}
	return c.TaskImported, nil
}
