package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// ReserveRuns announces runs, all or none. The caller may start them once the event is
// recorded.
type ReserveRuns struct {
	// Round is the expected round, 0 for any.
	Round int
	// Intents has at least one entry. decide sets their Round.
	Intents []Intent
	Limits  Limits
}

func (c ReserveRuns) decide(s State) (Event, error) {
	round, err := s.checkRound(c.Round)
	if err != nil {
		return nil, err
	}
	e := SpawnBegun{Intents: slices.Clone(c.Intents)}
	for i := range e.Intents {
		e.Intents[i].Round = round
		if err := e.Intents[i].check(); err != nil {
			return nil, err
		}
	}
	if err := s.checkIntents(e.Intents); err != nil {
		return nil, err
	}
	open, limit := len(s.OpenRuns())+len(e.Intents), MaxOpenRuns
	if s.Status == NoTask && !hasRoundRole(e.Intents) {
		limit = maxListed // Runs outside of any task are independent of each other.
	}
	if open > limit || len(s.Runs)+len(e.Intents) > maxListed {
		return nil, errs.New(errs.StampsTooMany, "round %d would have %d open runs, and %d in all", round, open, len(s.Runs)+len(e.Intents)).
			With("limit", limit)
	}
	if err := c.Limits.checkBudget(s, e.Intents); err != nil {
		return nil, err
	}
	return e, nil
}

// hasRoundRole reports whether a run belongs to a round.
func hasRoundRole(intents []Intent) bool {
	return slices.ContainsFunc(intents, func(i Intent) bool { return i.Role != RoleOther })
}

func (i Intent) check() error {
	switch {
	case checkAgent(string(i.Role)) != nil:
		return fmt.Errorf("an agent is spawned as %q", i.Role)
	case i.Index < 0 || i.Attempt < 1:
		return fmt.Errorf("attempt %d of agent %d is announced", i.Attempt, i.Index)
	case i.Adapter == "" || i.Why == "":
		return fmt.Errorf("run %q names no adapter, or not why it is made", i.Run)
	}
	if err := checkAgent(i.Agent); err != nil {
		return err
	}
	return checkNames(i.Run, i.Adapter, i.Why, i.Prompt, i.Tree)
}

// checkNames rejects names that would make a state grow without bound.
func checkNames(names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return errs.New(errs.NameTooLong, "a name of a run has %d bytes, more than %d", len(name), maxName).With("limit", maxName)
		}
	}
	return nil
}

// checkIntents rejects runs that cannot follow the runs of the state.
func (s State) checkIntents(more []Intent) error {
	if len(more) == 0 {
		return fmt.Errorf("no run begins")
	}
	known := make(map[string]bool)
	for _, r := range s.Runs {
		known[r.Run] = true
	}
	for _, i := range more {
		if err := checkInRound(s, KindSpawnBegun, i.Round); err != nil {
			return err
		}
		if i.Run == "" || known[i.Run] {
			return fmt.Errorf("the id %q of a run is missing or not unique", i.Run)
		}
		known[i.Run] = true
		if err := i.Reserve.check(); err != nil {
			return err
		}
	}
	return nil
}

func (e SpawnBegun) apply(s State) (State, error) {
	if err := s.checkIntents(e.Intents); err != nil {
		return s, err
	}
	if hasRoundRole(e.Intents) {
		s = s.ensureExists()
	}
	if slices.ContainsFunc(e.Intents, func(i Intent) bool { return i.Edits }) {
		s = s.discardDraft()
	}
	s.Runs = slices.Clip(s.Runs)
	for _, i := range e.Intents {
		s.Runs = append(s.Runs, Run{Intent: i})
	}
	return s, nil
}
