package task

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RecordReceipt ends a run, whatever the status of the task is: its cost always counts.
type RecordReceipt struct{ Receipt }

func (c RecordReceipt) decide(s State) (Event, error) {
	if s.openRun(c.Run) < 0 {
		return nil, errs.New(errs.SpawnRunUnknown, "the task has no open run %q", c.Run).With("run", c.Run)
	}
	r := c.Receipt
	if r.Outcome == "" {
		return nil, fmt.Errorf("run %q ends without an outcome", r.Run)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := checkNames(string(r.Outcome), string(r.Class), r.Next, r.Report, r.Path, r.Output, r.Trail); err != nil {
		return nil, err
	}
	// An agent can influence these texts, and must not be able to prevent its receipt.
	r.Reason, r.Model = cleanText(r.Reason), cleanText(r.Model)
	if r.Spawn != nil {
		spawn := *r.Spawn
		spawn.Session = cleanText(spawn.Session)
		r.Spawn = &spawn
	}
	return SpawnEnded{Receipt: r}, nil
}

// cleanText returns a text as valid UTF-8 within the limit of a name.
func cleanText[T ~string](text T) T {
	return T(textutil.ClipBytes(strings.ToValidUTF8(string(text), "\uFFFD"), maxName))
}

// openRun returns the index of an open run, or -1.
func (s State) openRun(id string) int {
	return slices.IndexFunc(s.Runs, func(r Run) bool { return r.Run == id && r.Receipt == nil })
}

// check rejects an invalid cost or confinement level.
func (r Receipt) check() error {
	for i, what := range r.Unknown {
		if what != UnknownTokens && what != UnknownMoney || slices.Contains(r.Unknown[:i], what) {
			return fmt.Errorf("run %q does not know %q of what it used", r.Run, r.Unknown)
		}
	}
	if r.Confinement != "" && !r.Confinement.Known() {
		return fmt.Errorf("run %q ran at the unknown confinement level %q", r.Run, r.Confinement)
	}
	return r.Used.check()
}

func (e SpawnEnded) apply(s State) (State, error) {
	at := s.openRun(e.Receipt.Run)
	if at < 0 {
		return s, fmt.Errorf("run %q ends, which is not open", e.Receipt.Run)
	}
	if err := e.Receipt.check(); err != nil {
		return s, err
	}
	s.Runs = slices.Clone(s.Runs)
	ended := &s.Runs[at]
	ended.Receipt = &e.Receipt
	if ended.Role == RolePlanChecker && e.Receipt.Path != "" && ended.Round == s.Round && !ended.Stale {
		s.Plan = &RevisedPlan{Path: e.Receipt.Path, Digest: e.Receipt.Report}
	}
	cost := ended.Cost()
	s.Spent.Task = s.Spent.Task.Add(cost)
	s.Spent.Runs++
	if ended.Round == s.Round {
		s.Spent.Round = s.Spent.Round.Add(cost)
		return s, nil
	}
	// A run of an earlier round, or without a task, is not needed any more.
	s.Runs = slices.Delete(s.Runs, at, at+1)
	return s, nil
}
