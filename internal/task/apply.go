package task

import (
	"fmt"
	"slices"
)

// Apply folds an event into a state.
//
// # Errors
//
// An error means that the event cannot follow the state, so this package did not write
// the history.
func Apply(s State, e Event) (State, error) {
	if code := Transition(s.Status, e.Kind()); code != "" {
		return s, fmt.Errorf("an event %s follows in a task that is %q", e.Kind(), s.Status)
	}
	next := s
	if e, ok := e.(roundEvent); ok {
		if err := checkInRound(s, e.Kind(), e.round()); err != nil {
			return s, err
		}
		next = s.ensureExists()
	}
	next, err := e.apply(next)
	if err != nil {
		return s, err
	}
	return next, nil
}

// roundEvent is an event of the current round. It creates the task if it is the first.
type roundEvent interface {
	Event
	round() int
}

func (e AgentAttested) round() int  { return e.Attestation.Round }
func (e SearchRecorded) round() int { return e.Search.Round }
func (e PhaseDone) round() int      { return e.Round }
func (e DraftBegun) round() int     { return e.Round }
func (e DraftVerified) round() int  { return e.Round }
func (e RoundDecided) round() int   { return e.Round }
func (e WorkCommitted) round() int  { return e.Round }
func (e WorkStopped) round() int    { return e.Stop.Round }

// checkInRound returns an error unless the round is the current one.
func checkInRound(s State, k Kind, round int) error {
	if want := max(s.Round, 1); round != want {
		return fmt.Errorf("an event %s of round %d follows where round %d is due", k, round, want)
	}
	return nil
}

// ensureExists creates the task if it does not exist yet, as any first event does.
func (s State) ensureExists() State {
	if s.Status == NoTask {
		s.Status, s.Round, s.StartedRound = Open, 1, 1
	}
	return s
}

// enterRound begins a round without the evidence of earlier ones.
func (s State) enterRound(round int) State {
	s.Round, s.Phase, s.Manual, s.NonAdvancing = round, "", false, 0
	s.Attestations, s.Searches, s.Verified, s.Evidence = nil, nil, nil, nil
	s.Runs, s.Spent.Round = s.OpenRuns(), Amount{}
	s.Commit, s.Merge = nil, nil
	return s
}

// discardDraft drops the evidence about the previous draft: the new one is neither
// verified nor reviewed.
func (s State) discardDraft() State {
	s.Verified, s.Attestations = nil, markUsed(s.Attestations, AgentCritic)
	s.Runs = markStale(s.Runs, func(r Run) bool { return r.Role == RoleCritic })
	if s.Phase == Draft || s.Phase == Review {
		s.Phase = Start
	}
	return s
}

// union appends the entries of more that list lacks.
func union(list, more []string) []string {
	list = slices.Clip(list)
	for _, one := range more {
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// markUsed returns a copy with the attestations of an agent, or of all for "", marked as
// used.
func markUsed(attestations []Attestation, agent string) []Attestation {
	attestations = slices.Clone(attestations)
	for i := range attestations {
		attestations[i].Used = attestations[i].Used || agent == "" || attestations[i].Agent == agent
	}
	return attestations
}

// markStale returns a copy with some runs marked as stale.
func markStale(runs []Run, stale func(Run) bool) []Run {
	runs = slices.Clone(runs)
	for i, r := range runs {
		runs[i].Stale = r.Stale || stale(r)
	}
	return runs
}

func (s State) startOver(round int) State {
	s = s.enterRound(round)
	s.StartedRound, s.Tests, s.Plan, s.Draft = round, nil, nil, ""
	s.Restarts++
	return s
}

// forgetTrend resets the bar, and the counts that later reviews are compared with.
func (s State) forgetTrend() State {
	s.Bar, s.BarSince, s.FewestFirstTime, s.SinceLow, s.InducedRounds = "", 0, 0, 0, 0
	return s
}

// withBar sets the bar. BarSince changes only if the bar does.
func (s State) withBar(bar string, round int) State {
	if bar != s.Bar {
		s.Bar, s.BarSince = bar, round
	}
	return s
}

func (s State) recordForce(f *Force, p Phase) State {
	if f != nil {
		s.Overrides++
		s.Forced = &Override{Round: s.Round, Phase: p, Force: *f}
	}
	return s
}

func (e WorkStarted) apply(s State) (State, error) {
	if s.isUnderWay() != (e.Force != nil) {
		return s, fmt.Errorf("a start of round %d follows in a task that is %q, forced: %t", e.Round, s.Status, e.Force != nil)
	}
	restart := s.Status == Stuck || s.Status == Committed || e.Force != nil
	want := max(s.Round, 1)
	if restart {
		want++
	}
	if e.Round != want {
		return s, fmt.Errorf("a start in round %d follows where round %d is due", e.Round, want)
	}
	s = s.ensureExists()
	if restart {
		s = s.startOver(e.Round)
		s.ResetReview, s.Stalled = s.Reviews, 0
		s = s.forgetTrend()
	}
	s.Status, s.Phase, s.MaxRounds, s.HardCap, s.CustomCap, s.Query = Open, Start, e.MaxRounds, e.HardCap, e.CustomCap, e.Query
	s.Stop, s.Questions, s.Parked, s.Verifies = nil, nil, nil, s.Verifies || e.MustVerify
	if e.Branch != nil {
		s.Branch = e.Branch
	}
	return s.recordForce(e.Force, Start), nil
}

func (e AgentAttested) apply(s State) (State, error) {
	if e.Attestation.Agent == AgentExecutor || e.Attestation.Agent == AgentFixer {
		s = s.discardDraft()
	}
	s.Attestations = append(slices.Clip(s.Attestations), e.Attestation)
	if e.Attestation.Violation != "" && !s.hasViolation(e.Attestation.Agent, e.Attestation.Violation) {
		s.Violations = append(slices.Clip(s.Violations), Violation{Round: e.Attestation.Round, Agent: e.Attestation.Agent, Kind: e.Attestation.Violation})
	}
	return s, nil
}

func (e SearchRecorded) apply(s State) (State, error) {
	s.Searches = append(slices.Clip(s.Searches), e.Search)
	return s, nil
}

func (e PhaseDone) apply(s State) (State, error) {
	s.Phase = e.Phase
	s.Tests = union(s.Tests, e.Tests)
	return s.recordForce(e.Force, e.Phase), nil
}

func (e DraftBegun) apply(s State) (State, error) {
	s.Verifies = true
	if e.Same {
		s.Verified = nil
		return s, nil
	}
	return s.discardDraft(), nil
}

func (e DraftVerified) apply(s State) (State, error) {
	s = s.discardDraft()
	s.Phase, s.Verified, s.Verifies = Draft, &e.Verification, true
	return s.recordForce(e.Force, Draft), nil
}

func (e RoundDecided) apply(s State) (State, error) {
	if e.NextRound != e.Round && e.NextRound != e.Round+1 {
		return s, fmt.Errorf("round %d is followed by round %d", e.Round, e.NextRound)
	}
	if e.NextAction == "" {
		return s, fmt.Errorf("the decision of round %d has no next action", e.Round)
	}
	last := e
	last.Questions, last.Evidence, last.Draft = nil, nil, "" // stored in the state, below
	s.Last, s.MaxRounds, s.HardCap, s.CustomCap = &last, e.MaxRounds, e.HardCap, e.CustomCap
	if barRank(e.Bar) < barRank(s.Bar) {
		return s, fmt.Errorf("the bar falls from %q to %q", s.Bar, e.Bar)
	}
	s = s.withBar(e.Bar, e.Round)
	s.Verifies = s.Verifies || e.Verify == green || e.Verify == red
	phase := Draft
	if e.Reviewed {
		phase = Review
		s = s.AfterReview(e.FindingCount, Progress{Stalled: e.Stalled, FirstTime: e.FirstTime, InducedRounds: e.InducedRounds})
		s.Draft = e.Draft
	}
	s.Phase = phase
	s = s.recordForce(e.Force, phase)
	s.Status = e.status()
	if e.Reviewed && s.Status == Open {
		s.Violations = nil
	}
	s.Questions = nil
	if s.Status == Waiting {
		s.Questions = &Questions{Round: e.Round, Open: e.Questions}
	}
	if s.Status == Stuck {
		s.Stop = &Stop{Round: e.Round, Reason: e.Reason, By: e.Policy, FindingCount: e.FindingCount}
	}
	if e.NextRound != e.Round {
		s = s.enterRound(e.NextRound)
	} else {
		// The round continues and remembers its reports.
		s.Evidence = union(s.Evidence, e.Evidence)
		s.Runs = markStale(s.Runs, func(Run) bool { return true })
		if e.DestinationKind != kindTerminal {
			s.NonAdvancing++
		}
	}
	switch {
	case e.NextRound != e.Round:
	case e.NextAction != actionCommit:
		// The next decision needs its own evidence.
		s.Attestations, s.Searches, s.Verified = markUsed(s.Attestations, ""), nil, nil
	case e.Verify == green && s.Verified == nil:
		s.Verified = &Verification{Claimed: true}
		if e.Verification != nil {
			s.Verified = e.Verification
		}
	}
	if s.Status == Committed {
		s = s.markCommitted()
	}
	return s, nil
}

func (e RoundDecided) status() Status {
	switch {
	case e.NextAction == actionCommit && e.Final:
		return Committed
	case IsStuckDestination(e.NextAction, e.DestinationKind):
		return Stuck
	case e.DestinationKind == kindHuman:
		return Waiting
	default:
		return Open
	}
}

// IsStuckDestination reports whether a destination leaves a task stuck: any terminal one
// except commit.
func IsStuckDestination(nextAction, destinationKind string) bool {
	return destinationKind == kindTerminal && nextAction != actionCommit
}

// markCommitted marks the task as committed, and drops the fields that end with a commit.
func (s State) markCommitted() State {
	s.Status, s.CustomCap, s.Violations, s.Questions = Committed, false, nil, nil
	s.Attestations, s.Searches = nil, nil
	return s
}

func (e WorkCommitted) apply(s State) (State, error) {
	s = s.markCommitted()
	s.Phase = Commit
	return s.recordForce(e.Force, Commit), nil
}

func (e WorkStopped) apply(s State) (State, error) {
	s.Status, s.Stop, s.Questions, s.Parked = Stuck, &e.Stop, nil, nil
	if s.Merge != nil && s.Merge.Outcome == "" {
		s.Merge = nil
	}
	if e.ForgetCap {
		s.CustomCap = false
	}
	return s, nil
}

func (e QuestionsAnswered) apply(s State) (State, error) {
	if s.Questions == nil || e.Round != s.Questions.Round {
		return s, fmt.Errorf("an answer to round %d follows where none was asked", e.Round)
	}
	q := Questions{Round: s.Questions.Round, Inserted: s.Questions.Inserted, Open: slices.Clone(s.Questions.Open), Answers: slices.Clone(s.Questions.Answers)}
	stop := false
	for _, a := range e.Answers {
		at := slices.IndexFunc(q.Open, func(o Question) bool { return o.Fingerprint == a.Fingerprint })
		if at < 0 {
			return s, fmt.Errorf("an answer to question %q follows, which is not open", a.Fingerprint)
		}
		if budget := q.Open[at].Budget; budget != "" {
			raise, ok := parseRaise(budget, a.Text)
			if !ok {
				return s, fmt.Errorf("a budget is raised by %q", a.Text)
			}
			s.Raised, stop = s.Raised.add(raise), raise == Raise{}
		}
		if q.Open[at].Churn {
			s = s.settleChurn(a.Text)
		}
		q.Open = slices.Delete(q.Open, at, at+1)
		q.Answers = append(q.Answers, a)
	}
	s.Questions = &q
	if len(q.Open) == 0 {
		s.Status = Open
	}
	if stop {
		s.Status, s.Questions = Stuck, nil
		s.Stop = &Stop{Round: s.Round, Reason: ReasonBudget, By: e.Answers[0].By}
	}
	return s, nil
}

func (e WorkResumed) apply(s State) (State, error) {
	if e.Round != s.Round+1 {
		return s, fmt.Errorf("a task is resumed in round %d where round %d is due", e.Round, s.Round+1)
	}
	switch e.Mode {
	case MoreRounds:
		s = s.enterRound(e.Round)
	case Manual:
		s = s.enterRound(e.Round)
		s.Manual = true
	case Replan:
		s = s.startOver(e.Round)
	case Reset:
		s = s.startOver(e.Round)
		s.ResetReview = s.Reviews
	default:
		return s, fmt.Errorf("a task is resumed with %q", e.Mode)
	}
	s = s.forgetTrend()
	s.Status, s.Stop, s.Stalled = Open, nil, 0
	s.MaxRounds, s.HardCap, s.CustomCap = e.MaxRounds, e.HardCap, e.Mode == MoreRounds
	return s, nil
}

func (e TaskImported) apply(s State) (State, error) {
	if e.Round < 1 {
		return s, fmt.Errorf("a task is imported in round %d", e.Round)
	}
	s = State{
		Round: e.Round, MaxRounds: e.MaxRounds, HardCap: e.HardCap, CustomCap: e.CustomCap, Status: Open, Internals: Internals{StartedRound: 1},
		Violations: e.Violations, Overrides: e.Overrides, Verifies: true,
		// Runs before the import still count.
		Runs: s.Runs, Spent: Spending{Task: s.Spent.Task, Runs: s.Spent.Runs},
	}
	if e.FindingCount > 0 {
		s.Reviews, s.Remaining = 1, e.FindingCount
	}
	if e.Stop != nil {
		s.Status, s.Stop = Stuck, e.Stop
	}
	return s, nil
}

// Check rejects a state that no sequence of events folds to, such as one edited by hand.
// It accepts a state without a status if it has runs outside of any task.
func (s State) Check() error {
	if err := s.checkRuns(); err != nil {
		return err
	}
	if s.Status == NoTask && s.Spent.Runs+len(s.Runs) > 0 {
		return s.checkOutside()
	}
	switch {
	case !slices.Contains(Statuses()[1:], s.Status):
		return fmt.Errorf("a task that is %q", s.Status)
	case s.Round < 1 || s.Round > MaxRounds || s.StartedRound < 1 || s.StartedRound > s.Round:
		return fmt.Errorf("a task in round %d that was started in round %d", s.Round, s.StartedRound)
	case s.MaxRounds < 0 || s.MaxRounds > MaxRounds || s.MaxRounds == 0 && s.Last != nil:
		return fmt.Errorf("a task with a cap of %d rounds", s.MaxRounds)
	case s.HardCap != 0 && (s.HardCap < s.MaxRounds || s.HardCap > MaxRounds):
		return fmt.Errorf("a task with a cap of %d rounds and a hard cap of %d", s.MaxRounds, s.HardCap)
	case barRank(s.Bar) < 0:
		return fmt.Errorf("a task with the bar %q", s.Bar)
	case s.Last != nil && (s.Last.Round < 1 || s.Last.NextRound > s.Round):
		return fmt.Errorf("a task in round %d after a decision of round %d", s.Round, s.Last.Round)
	case (s.Status == Parked) != (s.Parked != nil):
		return fmt.Errorf("a task that is %s and parked because of %v", s.Status, s.Parked)
	case s.Commit != nil && (s.Branch == nil || s.Commit.Tree != s.decidedTree()), (s.Status == Merging) != (s.Merge != nil && s.Merge.Outcome == ""):
		return fmt.Errorf("a task that is %s with the commit %v and the merge %v", s.Status, s.Commit, s.Merge)
	case (s.Status == Stuck) != (s.Stop != nil):
		return fmt.Errorf("a task that is %s with a reason %v", s.Status, s.Stop)
	case s.Status == Waiting && (s.Questions == nil || s.Last == nil && !s.Questions.Inserted):
		return fmt.Errorf("a task that waits and has asked nothing")
	case s.Status == Committed && s.Phase != Commit && (s.Last == nil || s.Last.status() != Committed):
		return fmt.Errorf("a task that is committed without a decision to commit")
	case s.Last != nil && s.Last.NextRound == s.Round && s.Phase == Review && s.Status == Open && s.Last.status() != Open && !s.hasAllAnswers() && (s.Questions == nil || !s.Questions.Inserted):
		return fmt.Errorf("a task that is %s after a decision for %s", s.Status, s.Last.NextAction)
	}
	return nil
}

// hasAllAnswers reports whether the last decision asked the user and has all answers.
func (s State) hasAllAnswers() bool {
	return s.Last.status() == Waiting && s.Questions != nil && len(s.Questions.Open) == 0
}
