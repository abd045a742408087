package task

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// StartWork starts the work on a task, or starts it anew: after a commit, or after
// it was stuck, in the next round.
type StartWork struct {
	Query string
	// MaxRounds is the cap that the caller asks for, 0 for none; Fallback is the
	// project's.
	MaxRounds, Fallback int
	Force               *Force
}

func (c StartWork) decide(s State) (Event, error) {
	begun := s.isUnderWay()
	if begun && c.Force == nil {
		return nil, errs.New(errs.TaskStarted, "the task has begun already; it is %s, in round %d", s.Status, s.Round)
	}
	e := WorkStarted{Round: max(s.Round, 1), Query: c.Query, MaxRounds: c.MaxRounds, CustomCap: c.MaxRounds != 0}
	if begun {
		e.Force = c.Force
	}
	if begun || s.Status == Stuck || s.Status == Committed {
		e.Round++
	}
	if e.MaxRounds == 0 {
		e.MaxRounds, e.CustomCap = s.newCap(e.Round, c.Fallback)
	}
	if err := checkCap(e.Round, e.MaxRounds); err != nil {
		return nil, err
	}
	if e.MaxRounds < e.Round {
		return nil, errs.New(errs.RoundsExhausted, "round %[2]d, in which the task would begin, lies beyond its cap, %[1]d", e.MaxRounds, e.Round).
			With("limit", e.MaxRounds)
	}
	return e, nil
}

// isUnderWay says that the work is under way, so that only force begins it anew.
func (s State) isUnderWay() bool {
	return s.Status == Waiting || s.Status == Open && (s.Phase != "" || s.Last != nil)
}

// newCap is the cap of work that begins anew in a round: as many rounds as the
// project grants, counted from there, unless the task's own cap still stands.
func (s State) newCap(round, fallback int) (rounds int, raised bool) {
	if s.CustomCap && s.MaxRounds >= round {
		return s.MaxRounds, true
	}
	return min(round-1+fallback, MaxRounds), false
}

// checkCap refuses a cap that no task may have, or a round that lies beyond it.
func checkCap(round, rounds int) error {
	if round > MaxRounds || rounds > MaxRounds || rounds < MinRounds {
		return errs.New(errs.RoundsExhausted, "a task may have %d to %d rounds; this one would be in round %d of %d", MinRounds, MaxRounds, round, rounds).
			With("limit", MaxRounds)
	}
	return nil
}
