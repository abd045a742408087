package host

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Draft verifies a draft. A green one is stamped; a red one is decided at once,
// and uses up its round.
//
// # Errors
//
// evidence-missing where the executor, or in later rounds the build-fixer, left
// no stamp in this round, and verify-missing where nothing verifies it.
func (e *Engine) Draft(ctx context.Context, id string, req DraftRequest) (DraftResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return DraftResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return DraftResult{}, err
	}
	policy, err := e.policies.Select(ctx, req.Policy, config)
	if err != nil {
		return DraftResult{}, err
	}
	s, err := e.begin(ctx, id)
	defer s.close()
	if err != nil {
		return DraftResult{}, err
	}
	if err := s.undisturbed(ctx); err != nil {
		return DraftResult{}, err
	}
	if policy, err = e.policies.CheckAdopted(ctx, s.ledger, policy); err != nil {
		return DraftResult{}, err
	}
	entry := task.RoundEntry{
		Expected: req.Round, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Phases: []task.Phase{task.Draft}, Force: req.Force,
	}
	round, err := task.EnterRound(s.status.State, entry)
	if err != nil {
		s.repair(ctx, err)
		return DraftResult{}, s.about(err)
	}
	if err := s.mayVerify(req.Verify, config); err != nil {
		return DraftResult{}, err
	}
	entry.Expected = round.Number // Whatever others do meanwhile.
	if !runsVerification(req.Verify, config) {
		s.status.Verified = nil // A claim is about this draft, and nothing else is.
	} else if err := s.redraft(ctx, task.BeginVerification{}); err != nil {
		return DraftResult{}, s.raced(ctx, round.Number, err)
	}
	verification, err := s.verification(ctx, req.Verify, config, true)
	if err != nil {
		return DraftResult{}, err
	}
	if verification.Outcome == policies.Absent {
		return DraftResult{}, errs.New(errs.VerifyMissing, "nothing verifies the draft of round %d", round.Number)
	}
	for {
		drafted, err := s.drafted(ctx, req, ruling{policy: policy, round: round, verification: verification, config: config})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return drafted, err
		}
		// What was verified may still be this round's draft, whoever did what
		// meanwhile.
		since := s.head.N
		if err := s.look(ctx); err != nil {
			return DraftResult{}, err
		}
		newer, err := s.draftedSince(ctx, since)
		if err != nil {
			return DraftResult{}, err
		}
		if newer || max(s.status.Round, 1) != round.Number {
			return DraftResult{}, lostRace(round.Number, s.status.State)
		}
		if round, err = task.EnterRound(s.status.State, entry); err != nil {
			return DraftResult{}, s.about(err)
		}
	}
}

// redraft ends what is known of an earlier draft of the round, before a
// verification that may take long, or never end, is run. Where somebody else comes
// right behind, the error is ledger-conflict: theirs is the newer draft.
func (s *session) redraft(ctx context.Context, c task.BeginVerification) error {
	if err := s.apply(c, event.Full{}); err != nil {
		return err
	}
	begun, err := s.commit(ctx, nil)
	if err != nil || begun == nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	if s.head.N != begun.N {
		return errs.New(errs.LedgerConflict, "event %d is not the newest any more", begun.N)
	}
	return nil
}

// draftedSince reports whether there is a newer draft than the one that was known
// at an event: another that is verified, or an agent that drafted.
func (s *session) draftedSince(ctx context.Context, n int64) (bool, error) {
	for e, err := range s.ledger.Events(ctx, s.id, n+1) {
		if err != nil {
			return false, err
		}
		body, err := event.Decode(e)
		if err != nil {
			return false, tampered(s.id, "event %d: %w", e.N, err)
		}
		switch change := body.Event.(type) {
		case *task.DraftBegun, *task.DraftVerified:
			return true, nil
		case *task.AgentStamped:
			if change.Stamp.Agent == task.AgentExecutor || change.Stamp.Agent == task.AgentFixer {
				return true, nil
			}
		}
	}
	return false, nil
}

// drafted records what a verification made of a draft.
func (s *session) drafted(ctx context.Context, req DraftRequest, r ruling) (DraftResult, error) {
	if r.verification.Outcome == policies.Red {
		d, err := s.decide(ctx, r)
		if err != nil {
			return DraftResult{}, err
		}
		return DraftResult{TaskResult: TaskResult{TaskStatus: s.status.public(), Recorded: d.Event}, Verification: r.verification, Decision: &d}, nil
	}
	command := task.RecordVerification{Verification: r.verification.Verification, Force: req.Force}
	if err := s.apply(command, event.Full{Verification: &r.verification}); err != nil {
		return DraftResult{}, err
	}
	event, err := s.commit(ctx, nil)
	if err != nil {
		return DraftResult{}, err
	}
	return DraftResult{TaskResult: TaskResult{TaskStatus: s.status.public(), Recorded: event}, Verification: r.verification}, nil
}
