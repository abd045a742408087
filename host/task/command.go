package task

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The codes of commands that a task's round or its evidence forbids.
const (
	// CodeRoundShifted: the task is in another round than the caller thinks.
	CodeRoundShifted fault.Code = "round-shifted"
	// CodeRoundsExhausted: the task would get more rounds than any task may have.
	CodeRoundsExhausted fault.Code = "rounds-exhausted"
	// CodeNotReady: the task may not be committed. The detail missing lists why.
	CodeNotReady fault.Code = "commit-precondition-missing"
	// CodeUnverified: the round's verification is missing, and the task may not
	// be committed without it.
	CodeUnverified fault.Code = "commit-unverified"
)

// Command is what somebody wants of a task: one of the types of this package
// that have a method decide.
type Command interface {
	decide(State) (Event, error)
}

// Decide says what a command makes of a task. A nil Event without an error
// says that there is nothing to do: it was done before.
//
// # Errors
//
// A *fault.Error that says why the command is refused, or another error where the
// caller asks for what no user can. The state is then as it was.
func Decide(s State, c Command) (Event, error) { return c.decide(s) }

// Begin starts the work on a task, or starts it anew: after a commit, or after
// it was stuck, in the next round.
type Begin struct {
	Query string
	// MaxRounds is the cap that the caller asks for, 0 for none; Fallback is the
	// project's.
	MaxRounds, Fallback int
	Force               *Force
}

func (c Begin) decide(s State) (Event, error) {
	begun := s.begun()
	if begun && c.Force == nil {
		return nil, fault.New(CodeStarted, "the task has begun already; it is %s, in round %d", s.Status, s.Round)
	}
	e := Started{Round: max(s.Round, 1), Query: c.Query, MaxRounds: c.MaxRounds, Raised: c.MaxRounds != 0}
	if begun {
		e.Force = c.Force
	}
	if begun || s.Status == Stuck || s.Status == Committed {
		e.Round++
	}
	if e.MaxRounds == 0 {
		e.MaxRounds, e.Raised = s.freshCap(e.Round, c.Fallback)
	}
	if err := capOf(e.Round, e.MaxRounds); err != nil {
		return nil, err
	}
	if e.MaxRounds < e.Round {
		return nil, fault.New(CodeRoundsExhausted, "a cap of %d rounds is over before round %d, in which the task would begin", e.MaxRounds, e.Round).
			With("limit", e.MaxRounds)
	}
	return e, nil
}

// begun says that the work is under way, so that only force begins it anew.
func (s State) begun() bool {
	return s.Status == Waiting || s.Status == Open && (s.Phase != "" || s.Last != nil)
}

// freshCap is the cap of work that begins anew in a round: as many rounds as the
// project grants, counted from there, unless the task's own cap still stands.
func (s State) freshCap(round, fallback int) (rounds int, raised bool) {
	if s.Raised && s.MaxRounds >= round {
		return s.MaxRounds, true
	}
	return min(round-1+fallback, MaxRounds), false
}

// capOf refuses a cap that no task may have, or a round that lies beyond it.
func capOf(round, rounds int) error {
	if round > MaxRounds || rounds > MaxRounds || rounds < MinRounds {
		return fault.New(CodeRoundsExhausted, "a task may have %d to %d rounds; this one would be in round %d of %d", MinRounds, MaxRounds, round, rounds).
			With("limit", MaxRounds)
	}
	return nil
}

// Prepare says that a phase before the draft is done.
type Prepare struct {
	Phase Phase
	// Required is how many stamps of the phase's agent it needs.
	Required int
	Tests    []string
	Force    *Force
}

func (c Prepare) decide(s State) (Event, error) {
	if err := allow(s, KindPrepared); err != nil {
		return nil, err
	}
	if c.Phase != Research && c.Phase != Design && c.Phase != Tests {
		return nil, fmt.Errorf("phase %q is none that prepares a draft", c.Phase)
	}
	if len(union(s.Tests, c.Tests)) > maxListed {
		return nil, fault.New(CodeTooMany, "the task would have %d test files", len(union(s.Tests, c.Tests))).With("limit", maxListed)
	}
	if slices.ContainsFunc(c.Tests, func(name string) bool { return len(name) > maxName }) {
		return nil, fault.New(CodeTooLong, "the name of a test file has more than %d bytes", maxName).With("limit", maxName)
	}
	e := Prepared{Round: max(s.Round, 1), Phase: c.Phase, Required: c.Required, Found: s.Found(s.wants(c.Phase)), Tests: c.Tests}
	if err := s.Evident(c.Phase, c.Required); err != nil {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// Redraft says that a draft is about to be verified: what is known of an earlier
// one of this round ends here, whatever becomes of the verification. It is an event
// also where nothing is known: of two verifications at a time, the older one is
// about an older draft.
type Redraft struct {
	// Same says that the draft is the reviewed one, verified once more: only its
	// verification ends here.
	Same bool
}

func (c Redraft) decide(s State) (Event, error) {
	if err := allow(s, KindRedrafted); err != nil {
		return nil, err
	}
	if c.Same && s.Verified == nil {
		return nil, nil // It has no verification that could end.
	}
	return Redrafted{Round: max(s.Round, 1), Same: c.Same}, nil
}

// Verify says that a draft is done and its verification green.
type Verify struct {
	Verification Verification
	Force        *Force
}

func (c Verify) decide(s State) (Event, error) {
	if err := allow(s, KindDrafted); err != nil {
		return nil, err
	}
	e := Drafted{Round: max(s.Round, 1), Verification: c.Verification}
	if err := s.Evident(Draft, 1); err != nil {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// Entry says which round of a task comes next, and what is needed to decide it.
type Entry struct {
	// Expected is the round that the caller means, 0 where it means whichever
	// comes.
	Expected int
	// MaxRounds is the caller's cap, 0 where the task keeps its own, or gets
	// Fallback if it has none.
	MaxRounds, Fallback int
	// Phases are those whose agents must have left their stamps.
	Phases []Phase
	Force  *Force
}

// Round is a round that may be decided.
type Round struct {
	Number, MaxRounds int
	// Raised says that the cap is the task's own.
	Raised bool
	// Force is set where a gate had to be forced.
	Force *Force
}

// Enter says which round is to be decided.
//
// # Errors
//
// CodeWaiting, CodeStuck or CodeCommitted where the task may not go on,
// CodeRoundShifted where it is in another round than expected, and CodeEvidence.
func Enter(s State, e Entry) (Round, error) {
	if err := allow(s, KindDecided); err != nil {
		return Round{}, err
	}
	due, err := s.due(e.Expected)
	if err != nil {
		return Round{}, err
	}
	r := Round{Number: due}
	for _, p := range e.Phases {
		if err := s.Evident(p, 1); err != nil {
			if e.Force == nil {
				return Round{}, err
			}
			r.Force = e.Force
		}
	}
	switch {
	case e.MaxRounds != 0:
		r.MaxRounds, r.Raised = e.MaxRounds, true
	case s.MaxRounds != 0:
		r.MaxRounds, r.Raised = s.MaxRounds, s.Raised
	default:
		r.MaxRounds = e.Fallback
	}
	return r, nil
}

// Shifted is the error of a caller that means another round than the task is
// in, or lost the race for it.
func Shifted(expected, actual int) error {
	return fault.New(CodeRoundShifted, "the task is in round %d, not in round %d", actual, expected).
		With("expected", expected).With("actual", actual)
}

// Outcome is what the policy made of a round that was entered.
type Outcome struct {
	Round      Round
	NextAction string
	Reason     string
	Policy     string
	// DestinationKind and AdvancesRound are the policy's declaration of
	// NextAction.
	DestinationKind string
	AdvancesRound   bool
	FindingCount    int
	// Reviewed says that reports were read.
	Reviewed bool
	// Verify is green, red or absent, and Verification what is known of it.
	Verify       string
	Verification *Verification
	// MustVerify says that the project wants every commit verified.
	MustVerify bool
	// Final says that a decision to commit commits the task.
	Final bool
	// Evidence lists the digests of reports that name their round.
	Evidence  []string
	Questions []Question
	// Stalled counts the reviews in a row that made no progress, this one included.
	Stalled int
}

// The destinations, kinds and outcomes that the state machine itself knows.
const (
	actionCommit = "commit"
	kindHuman    = "human"
	kindTerminal = "terminal"
	green        = "green"
	red          = "red"
	absent       = "absent"
)

// decide makes the event of a round's outcome. The round advances when the
// destination says so, and when verification was red, unless the task ends
// here.
func (o Outcome) decide(s State) (Event, error) {
	if err := allow(s, KindDecided); err != nil {
		return nil, err
	}
	if due := max(s.Round, 1); o.Round.Number != due {
		return nil, Shifted(o.Round.Number, due)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.fresh(s); err != nil {
		return nil, err
	}
	if missing := o.unready(s); len(missing) > 0 {
		return nil, notReady(o.Round.Number, missing)
	}
	if o.NextAction == actionCommit && o.Final && o.Verify != green && (o.MustVerify || s.Verifies) {
		return nil, fault.New(CodeUnverified, "round %d has no findings, but also no green verification, without which this task is not committed", o.Round.Number).
			With("round", o.Round.Number)
	}
	next := o.Round.Number
	// A round that nothing advances is decided as often as the task has rounds,
	// and no oftener: else a loop through it would have no end.
	if o.DestinationKind != kindTerminal && (o.AdvancesRound || o.Verify == red || s.Kept+1 >= o.Round.MaxRounds) {
		next++
	}
	if err := capOf(next, o.Round.MaxRounds); err != nil {
		return nil, err
	}
	return Decided{
		Round: o.Round.Number, NextRound: next, MaxRounds: o.Round.MaxRounds, Raised: o.Round.Raised,
		NextAction: o.NextAction, DestinationKind: o.DestinationKind, Reason: o.Reason, Policy: o.Policy,
		FindingCount: o.FindingCount, Reviewed: o.Reviewed, Verify: o.Verify, Verification: o.Verification,
		Final: o.Final, Evidence: o.Evidence, Stalled: o.Stalled, Questions: o.Questions, Force: o.Round.Force,
	}, nil
}

// fresh refuses a commit on a report that was decided on before in this round,
// unless its critic is known to have run since: then it found the same once more.
func (o Outcome) fresh(s State) error {
	if n := len(union(s.Evidence, o.Evidence)); n > maxListed {
		return fault.New(CodeTooMany, "round %d would rest on %d reports that name it", o.Round.Number, n).With("limit", maxListed)
	}
	if o.NextAction != actionCommit || s.Found(AgentCritic) > 0 {
		return nil
	}
	for _, digest := range o.Evidence {
		if slices.Contains(s.Evidence, digest) {
			return fault.New(CodeReplayed, "the report was decided on before, in this very round").With("digest", digest)
		}
	}
	return nil
}

// check refuses what no caller should say of a round: a task that waits without a
// question could never go on.
func (o Outcome) check() error {
	switch o.Verify {
	case green, red, absent:
	default:
		return fmt.Errorf("verification is neither green, red nor absent but %q", o.Verify)
	}
	seen := make(map[string]bool)
	for _, q := range o.Questions {
		if q.Fingerprint == "" || seen[q.Fingerprint] {
			return fmt.Errorf("the fingerprint %q of a question is not its own", q.Fingerprint)
		}
		seen[q.Fingerprint] = true
	}
	if o.DestinationKind == kindHuman && len(o.Questions) == 0 {
		return fmt.Errorf("round %d asks the user nothing", o.Round.Number)
	}
	return nil
}

// Green returns the outcome of this round's verification, where a stamp says
// more than the caller: given is green, red, absent or "".
func (s State) Green(given string) (string, *Verification) {
	if given != green && given != red && s.Verified != nil {
		return green, s.Verified
	}
	return given, nil
}

// Finish commits the task that the newest decision allowed to.
type Finish struct {
	// MustVerify says that the project wants every commit verified.
	MustVerify bool
	Force      *Force
}

func (c Finish) decide(s State) (Event, error) {
	if err := allow(s, KindFinished); err != nil {
		return nil, err
	}
	e := Finished{Round: max(s.Round, 1), Missing: s.Unready(c.MustVerify)}
	if len(e.Missing) == 0 {
		return e, nil
	}
	if c.Force == nil {
		return nil, notReady(e.Round, e.Missing)
	}
	e.Force = c.Force
	return e, nil
}

// What a commit may lack.
const (
	MissingVerification = "verification"
	MissingReview       = "review"
	MissingZeroFindings = "zero-findings"
)

// Unready lists what this round lacks for a commit.
func (s State) Unready(mustVerify bool) []string {
	var missing []string
	if s.Verified == nil && (mustVerify || s.Verifies) {
		missing = append(missing, MissingVerification)
	}
	switch last := s.Last; {
	case s.Phase != Review || last == nil || last.Round != s.Round:
		missing = append(missing, MissingReview)
	case last.FindingCount > 0 || last.NextAction != actionCommit || len(s.Violations) > 0:
		missing = append(missing, MissingZeroFindings)
	}
	return missing
}

// unready lists what a decision to commit lacks by its own account. No policy
// gets so far with one; but a commit is worth asking twice.
func (o Outcome) unready(s State) []string {
	if o.NextAction != actionCommit {
		return nil
	}
	var missing []string
	if o.Verify == red {
		missing = append(missing, MissingVerification)
	}
	if !o.Reviewed {
		missing = append(missing, MissingReview)
	}
	// A violation is a finding: a decision that counted none has not seen it.
	if o.FindingCount > 0 || len(s.Violations) > 0 {
		missing = append(missing, MissingZeroFindings)
	}
	return missing
}

func notReady(round int, missing []string) error {
	return fault.New(CodeNotReady, "round %d may not be committed: %s", round, inWords(missing)).
		With("round", round).With("missing", missing)
}

func inWords(missing []string) string {
	words := map[string]string{
		MissingVerification: "its green verification is missing",
		MissingReview:       "its review is missing",
		MissingZeroFindings: "findings are open, or its review did not decide to commit",
	}
	text := ""
	for i, m := range missing {
		if i > 0 {
			text += ", and "
		}
		text += words[m]
	}
	return text
}

// Halt puts a task aside as stuck.
type Halt struct {
	Reason, By string
	// FindingCount is how many findings are open, -1 for those of the newest
	// decision.
	FindingCount int
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool
}

func (c Halt) decide(s State) (Event, error) {
	if err := allow(s, KindStopped); err != nil {
		return nil, err
	}
	if c.FindingCount < 0 {
		c.FindingCount = 0
		if s.Last != nil {
			c.FindingCount = s.Last.FindingCount
		}
	}
	return Stopped{Stop: Stop{Round: max(s.Round, 1), Reason: c.Reason, By: c.By, FindingCount: c.FindingCount}, ForgetCap: c.ForgetCap}, nil
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

// Resume takes a task out of being stuck, into its next round: no evidence of
// the round in which it got stuck counts there.
type Resume struct {
	Mode Mode
	// Rounds are added to the cap in the mode MoreRounds.
	Rounds int
	// Fallback is the project's cap.
	Fallback   int
	Reason, By string
}

func (c Resume) decide(s State) (Event, error) {
	if err := allow(s, KindResumed); err != nil {
		return nil, err
	}
	e := Resumed{Round: s.Round + 1, MaxRounds: min(s.Round+c.Fallback, MaxRounds), Mode: c.Mode, Reason: c.Reason, By: c.By}
	switch c.Mode {
	case MoreRounds:
		e.Rounds, e.MaxRounds = c.Rounds, max(s.MaxRounds, s.Round)+c.Rounds
	case Replan, Manual, Reset:
	default:
		return nil, fmt.Errorf("a task cannot be resumed with %q", c.Mode)
	}
	if err := capOf(e.Round, e.MaxRounds); err != nil {
		return nil, err
	}
	if e.MaxRounds < e.Round {
		return nil, fault.New(CodeRoundsExhausted, "round %d lies beyond the cap of %d rounds that the task would have", e.Round, e.MaxRounds)
	}
	return e, nil
}

// Import takes a task over from another tool.
type Import struct{ Imported }

func (c Import) decide(s State) (Event, error) {
	if err := allow(s, KindImported); err != nil {
		return nil, err
	}
	// Without a cap of its own it gets the project's when it goes on.
	if err := capOf(c.Round, cmp.Or(c.MaxRounds, MaxRounds)); err != nil {
		return nil, err
	}
	if c.Round < 1 {
		return nil, fmt.Errorf("a task cannot be imported in round %d", c.Round)
	}
	return c.Imported, nil
}
