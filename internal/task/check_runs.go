package task

import (
	"fmt"
)

// checkRuns rejects runs that no sequence of events folds to.
func (s State) checkRuns() error {
	if len(s.Runs) > maxListed || s.Spent.Runs < 0 {
		return fmt.Errorf("a task with %d runs, and %d that have ended", len(s.Runs), s.Spent.Runs)
	}
	for _, a := range []Amount{s.Spent.Task, s.Spent.Round} {
		if err := a.check(); err != nil {
			return err
		}
	}
	known := make(map[string]bool)
	for _, r := range s.Runs {
		switch {
		case r.Run == "" || known[r.Run]:
			return fmt.Errorf("the id %q of a run is not its own", r.Run)
		case r.Round < 1 || r.Round > max(s.Round, 1):
			return fmt.Errorf("a task in round %d with a run of round %d", s.Round, r.Round)
		case r.Receipt != nil && (r.Receipt.Run != r.Run || r.Round != s.Round):
			return fmt.Errorf("a run %q of round %d that has ended as %q", r.Run, r.Round, r.Receipt.Run)
		}
		known[r.Run] = true
		if err := r.Reserve.check(); err != nil {
			return err
		}
		if r.Receipt != nil {
			if err := r.Receipt.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOutside rejects a state without a task that has fields of a task.
func (s State) checkOutside() error {
	if s.Round != 0 || s.StartedRound != 0 || s.MaxRounds != 0 || s.Last != nil || s.Stop != nil || s.Questions != nil {
		return fmt.Errorf("a task that does not exist, in round %d", s.Round)
	}
	for _, r := range s.Runs {
		if r.Role != RoleOther {
			return fmt.Errorf("a run of a %s that has made no task", r.Role)
		}
	}
	return nil
}
