package host

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/finding"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Step is what a command left of a task.
type Step struct {
	TaskStatus
	// Recorded is the event, or nil where there was nothing to do.
	Recorded *Event `json:"recorded"`
}

// step carries out a command that needs nothing but the task's state.
func (e *Engine) step(ctx context.Context, id string, c task.Command) (Step, error) {
	status, event, err := e.change(ctx, id, func(*session) (task.Command, record, error) { return c, record{}, nil })
	return Step{TaskStatus: status, Recorded: event}, err
}

// StartRequest is how the work on a task begins.
type StartRequest struct {
	// Query says what the work is about.
	Query string
	// MaxRounds is the task's cap, 0 for the project's.
	MaxRounds int
	Force     *task.Force
}

// maxQuery is how much of a query is kept, in bytes.
const maxQuery = 2000

// Start begins the work on a task; after a commit, or after it was stuck, it
// begins anew in the next round.
//
// # Errors
//
// task.CodeStarted where the work goes on already, task.CodeRoundsExhausted.
func (e *Engine) Start(ctx context.Context, id string, req StartRequest) (Step, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	return e.step(ctx, id, task.Begin{
		Query: cut(req.Query, maxQuery), MaxRounds: req.MaxRounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Force: req.Force,
	})
}

// PhaseRequest says that a phase before the draft is done.
type PhaseRequest struct {
	// Phase is task.Research, task.Design or task.Tests.
	Phase task.Phase
	// Tests are the files that the phase Tests wrote.
	Tests []string
	Force *task.Force
}

// Done records that a phase before the draft is done.
//
// # Errors
//
// task.CodeEvidence where the phase's agents left too few stamps in this round.
func (e *Engine) Done(ctx context.Context, id string, req PhaseRequest) (Step, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	required := 1
	if req.Phase == task.Research {
		required = config.Researchers
	}
	return e.step(ctx, id, task.Prepare{Phase: req.Phase, Required: required, Tests: req.Tests, Force: req.Force})
}

// DraftRequest says that a draft is done.
type DraftRequest struct {
	Verify VerifyRequest
	// Round is the round that the caller means, 0 for whichever it is.
	Round int
	// Policy decides where a red draft goes, "" for the project's.
	Policy string
	Force  *task.Force
}

// Drafted is what became of a draft.
type Drafted struct {
	Step
	// Verification says how it was verified, and how that ended.
	Verification Verification `json:"verification"`
	// Decision is where a red draft goes; nil for a green one, which waits for
	// its review.
	Decision *Decision `json:"decision,omitzero"`
}

// Draft verifies a draft. A green one is stamped; a red one is decided at once,
// and uses up its round.
//
// # Errors
//
// task.CodeEvidence where the executor, or in later rounds the build-fixer, left
// no stamp in this round, and CodeNoVerification where nothing verifies it.
func (e *Engine) Draft(ctx context.Context, id string, req DraftRequest) (Drafted, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Drafted{}, err
	}
	policy, err := e.policy(ctx, req.Policy, config.Policy)
	if err != nil {
		return Drafted{}, err
	}
	s, err := e.begin(ctx, id)
	defer s.close()
	if err != nil {
		return Drafted{}, err
	}
	entry := task.Entry{
		Expected: req.Round, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Phases: []task.Phase{task.Draft}, Force: req.Force,
	}
	round, err := task.Enter(s.status.State, entry)
	if err != nil {
		s.repair(ctx, err)
		return Drafted{}, s.about(err)
	}
	if err := s.mayVerify(req.Verify, config); err != nil {
		return Drafted{}, err
	}
	entry.Expected = round.Number // Whatever others do meanwhile.
	if !req.Verify.runs(config) {
		s.status.Verified = nil // A claim is about this draft, and nothing else is.
	} else if err := s.redraft(ctx, task.Redraft{}); err != nil {
		return Drafted{}, s.raced(ctx, round.Number, err)
	}
	verification, err := s.verification(ctx, req.Verify, config, true)
	if err != nil {
		return Drafted{}, err
	}
	if verification.Outcome == policies.Absent {
		return Drafted{}, fault.New(CodeNoVerification, "nothing verifies the draft of round %d", round.Number)
	}
	for {
		drafted, err := s.drafted(ctx, req, ruling{policy: policy, round: round, verification: verification})
		if fault.CodeOf(err) != ledger.CodeConflict {
			return drafted, err
		}
		// What was verified may still be this round's draft, whoever did what
		// meanwhile.
		since := s.head.N
		if err := s.look(ctx); err != nil {
			return Drafted{}, err
		}
		newer, err := s.draftedSince(ctx, since)
		if err != nil {
			return Drafted{}, err
		}
		if newer || max(s.status.Round, 1) != round.Number {
			return Drafted{}, lostRace(round.Number, s.status.State)
		}
		if round, err = task.Enter(s.status.State, entry); err != nil {
			return Drafted{}, s.about(err)
		}
	}
}

// redraft ends what is known of an earlier draft of the round, before a
// verification that may take long, or never end, is run. Where somebody else comes
// right behind, the error is ledger.CodeConflict: theirs is the newer draft.
func (s *session) redraft(ctx context.Context, c task.Redraft) error {
	if err := s.apply(c, record{}); err != nil {
		return err
	}
	begun, err := s.commit(ctx)
	if err != nil || begun == nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if s.head.N != begun.N {
		return fault.New(ledger.CodeConflict, "event %d is not the newest any more", begun.N)
	}
	return nil
}

// draftedSince reports whether there is a newer draft than the one that was known
// at an event: another that is verified, or an agent that drafted.
func (s *session) draftedSince(ctx context.Context, n int64) (bool, error) {
	for event, err := range s.ledger.Events(ctx, s.id, n+1) {
		if err != nil {
			return false, err
		}
		told, err := decode(event)
		if err != nil {
			return false, tampered(s.id, "event %d: %w", event.N, err)
		}
		switch e := told.event.(type) {
		case *task.Redrafted, *task.Drafted:
			return true, nil
		case *task.Stamped:
			if e.Stamp.Agent == task.AgentExecutor || e.Stamp.Agent == task.AgentFixer {
				return true, nil
			}
		}
	}
	return false, nil
}

// drafted records what a verification made of a draft.
func (s *session) drafted(ctx context.Context, req DraftRequest, r ruling) (Drafted, error) {
	if r.verification.Outcome == policies.Red {
		d, err := s.decide(ctx, r)
		if err != nil {
			return Drafted{}, err
		}
		return Drafted{Step: Step{TaskStatus: s.status.public(), Recorded: d.Event}, Verification: r.verification, Decision: &d}, nil
	}
	command := task.Verify{Verification: r.verification.Verification, Force: req.Force}
	if err := s.apply(command, record{Verification: &r.verification}); err != nil {
		return Drafted{}, err
	}
	event, err := s.commit(ctx)
	if err != nil {
		return Drafted{}, err
	}
	return Drafted{Step: Step{TaskStatus: s.status.public(), Recorded: event}, Verification: r.verification}, nil
}

// CommitRequest asks for the commit that the newest review allowed.
type CommitRequest struct {
	// MustVerify wants a green verification of the round, also where the
	// project has none and the task was never verified.
	MustVerify bool
	Force      *task.Force
}

// Commit commits a task whose review decided so.
//
// # Errors
//
// task.CodeNotReady; its detail missing lists what the round lacks.
func (e *Engine) Commit(ctx context.Context, id string, req CommitRequest) (Step, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	return e.step(ctx, id, task.Finish{MustVerify: req.MustVerify || config.Verify != nil, Force: req.Force})
}

// StopRequest puts a task aside.
type StopRequest struct {
	// Reason says why; it is never empty.
	Reason string
	// Request has the reports that the task is left with; without any it keeps
	// the findings that it has.
	Request Request
	// ForgetCap says that a cap of the task's own ends here.
	ForgetCap bool
}

// Stop puts a task aside as stuck, on a person's word.
func (e *Engine) Stop(ctx context.Context, id string, req StopRequest) (Step, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	var policy *policies.Policy
	var all []evidence
	if len(req.Request.Reports) > 0 {
		loading := e.load(ctx, req.Request, config)
		defer loading.cancel()
		if policy, all, err = loading.wait(ctx); err != nil {
			return Step{}, err
		}
	}
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, record, error) {
		halt := task.Halt{Reason: req.Reason, By: e.by, FindingCount: -1, ForgetCap: req.ForgetCap}
		if policy == nil {
			return halt, record{}, nil
		}
		if _, err := bind(all, id, max(s.status.Round, 1)); err != nil {
			return nil, record{}, err
		}
		findings := merge(policy, found(all))
		halt.FindingCount = len(findings)
		return halt, record{Findings: findings}, nil
	})
	return Step{TaskStatus: status, Recorded: event}, err
}

// found lists the findings of reports; none is not nil.
func found(all []evidence) []finding.Finding {
	findings := []finding.Finding{}
	for _, ev := range all {
		findings = append(findings, ev.result.Findings...)
	}
	return findings
}

// ResumeRequest is how a stuck task goes on.
type ResumeRequest struct {
	Mode task.Mode
	// Rounds are added to the cap in the mode task.MoreRounds.
	Rounds int
	Reason string
}

// Resume takes a task out of being stuck, into its next round.
//
// # Errors
//
// task.CodeNotStuck, task.CodeRoundsExhausted.
func (e *Engine) Resume(ctx context.Context, id string, req ResumeRequest) (Step, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	return e.step(ctx, id, task.Resume{
		Mode: req.Mode, Rounds: req.Rounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Reason: req.Reason, By: e.by,
	})
}

// AnswerRequest answers a question of a task that waits.
type AnswerRequest struct {
	// Round is the round that asked, 0 for the newest.
	Round int
	// Question is the fingerprint of its finding, "" where there is only one.
	Question string
	// Choice counts the question's choices from 1; 0 where Text is the answer.
	Choice int
	Text   string
}

// Answer records the user's answer. Once all questions of the round have one,
// the task goes on. The same answer again does nothing.
func (e *Engine) Answer(ctx context.Context, id string, req AnswerRequest) (Step, error) {
	return e.step(ctx, id, task.Reply{Round: req.Round, Fingerprint: req.Question, Choice: req.Choice, Text: req.Text, By: e.by})
}
