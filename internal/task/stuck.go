package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// StopTask puts a task aside as stuck.
type StopTask struct {
	Reason, By string
	// FindingCount is how many findings are open, -1 for those of the newest
	// decision.
	FindingCount int
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool
}

func (c StopTask) decide(s State) (Event, error) {
	if err := allow(s, KindStopped); err != nil {
		return nil, err
	}
	if c.FindingCount < 0 {
		c.FindingCount = 0
		if s.Last != nil {
			c.FindingCount = s.Last.FindingCount
		}
	}
	return WorkStopped{Stop: Stop{Round: max(s.Round, 1), Reason: c.Reason, By: c.By, FindingCount: c.FindingCount}, ForgetCap: c.ForgetCap}, nil
}

// Mode is how a stuck task goes on.
type Mode string

// The modes (reference section 8).
const (
	// MoreRounds: as before, with more rounds.
	MoreRounds Mode = "rounds"
	// Replan: the plan is made anew, and the executor begins with it.
	Replan Mode = "replan"
	// Manual: a person makes the next draft.
	Manual Mode = "manual"
	// Reset: the task begins anew, and its findings' past is forgotten.
	Reset Mode = "reset"
)

// ResumeTask takes a task out of being stuck, into its next round: no evidence of
// the round in which it got stuck counts there.
type ResumeTask struct {
	Mode Mode
	// Rounds are added to the cap in the mode MoreRounds.
	Rounds int
	// Fallback is the project's cap.
	Fallback   int
	Reason, By string
}

func (c ResumeTask) decide(s State) (Event, error) {
	if err := allow(s, KindResumed); err != nil {
		return nil, err
	}
	e := WorkResumed{Round: s.Round + 1, MaxRounds: min(s.Round+c.Fallback, MaxRounds), Mode: c.Mode, Reason: c.Reason, By: c.By}
	switch c.Mode {
	case MoreRounds:
		e.Rounds, e.MaxRounds = c.Rounds, max(s.MaxRounds, s.Round)+c.Rounds
	case Replan, Manual, Reset:
	default:
		return nil, fmt.Errorf("a task cannot be resumed with %q", c.Mode)
	}
	if err := checkCap(e.Round, e.MaxRounds); err != nil {
		return nil, err
	}
	if e.MaxRounds < e.Round {
		return nil, errs.New(errs.RoundsExhausted, "round %d lies beyond the cap that the task would have, %d", e.Round, e.MaxRounds)
	}
	return e, nil
}
