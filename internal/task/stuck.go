package task

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// StopTask makes a task stuck.
type StopTask struct {
	Reason, By string
	// FindingCount is the number of open findings, or -1 to take it from the last decision.
	FindingCount int
	// ForgetCap drops the task's own cap.
	ForgetCap bool
}

func (c StopTask) decide(s State) (Event, error) {
	if c.FindingCount < 0 {
		c.FindingCount = 0
		if s.Last != nil {
			c.FindingCount = s.Last.FindingCount
		}
	}
	return WorkStopped{Stop: Stop{Round: max(s.Round, 1), Reason: c.Reason, By: c.By, FindingCount: c.FindingCount}, ForgetCap: c.ForgetCap}, nil
}

// Mode says how a stuck task continues.
type Mode string

// The modes.
const (
	// MoreRounds continues with more rounds.
	MoreRounds Mode = "rounds"
	// Replan restarts with a new plan and the executor.
	Replan Mode = "replan"
	// Manual lets a person make the next draft.
	Manual Mode = "manual"
	// Reset restarts the task and forgets the history of its findings.
	Reset Mode = "reset"
)

// ResumeTask continues a stuck task in its next round, without the evidence of the round
// in which it got stuck.
type ResumeTask struct {
	Mode Mode
	// Rounds are added to the cap in the mode MoreRounds.
	Rounds int
	// Fallback is the project's cap, and HardCap its hard cap, 0 if unset.
	Fallback, HardCap int
	Reason, By        string
}

func (c ResumeTask) decide(s State) (Event, error) {
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
		return nil, errs.New(errs.RoundsExhausted, "round %d is beyond the cap that the task would have, %d", e.Round, e.MaxRounds)
	}
	// A resume takes no rounds away.
	e.HardCap = max(s.hardCap(), hardCap(e.MaxRounds, s.Round, c.HardCap))
	return e, nil
}
