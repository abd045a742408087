package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Draft verifies a draft. A green draft gets an attestation; a red one is decided at once
// and uses up its round.
//
// # Errors
//
// evidence-missing if the executor, or in later rounds the build-fixer, has no attestation
// in this round, and verify-missing if nothing verifies the draft.
func (e *Engine) Draft(ctx context.Context, id string, req api.DraftRequest) (api.DraftResult, error) {
	config, err := e.commandConfig(ctx)
	if err != nil {
		return api.DraftResult{}, err
	}
	policy, err := e.project.Policies().Select(ctx, req.Policy, config)
	if err != nil {
		return api.DraftResult{}, err
	}
	tx, err := e.beginTx(ctx, id)
	if err != nil {
		return api.DraftResult{}, err
	}
	defer tx.Close()
	if err := tx.checkNotRunning(ctx); err != nil {
		return api.DraftResult{}, err
	}
	if policy, err = e.project.Policies().CheckAdopted(ctx, tx.Ledger, policy); err != nil {
		return api.DraftResult{}, err
	}
	entry := task.RoundEntry{
		Expected: req.Round, Fallback: config.MaxRounds, HardCap: config.HardCap, Phases: []task.Phase{task.Draft}, Force: req.Force,
	}
	round, err := task.EnterRound(tx.Status.State, entry)
	if err != nil {
		tx.refreshStateMD(ctx, err)
		return api.DraftResult{}, tx.withTaskID(err)
	}
	if err := tx.checkMayVerify(req.Verify, config); err != nil {
		return api.DraftResult{}, err
	}
	entry.Expected = round.Number // Other commands must not change it.
	if !runsVerification(req.Verify, config) {
		tx.Status.Verified = nil // A claim is about this draft; an earlier verification is not.
	} else if err := tx.beginVerification(ctx, task.BeginVerification{}); err != nil {
		return api.DraftResult{}, tx.mapConflict(ctx, round.Number, err)
	}
	verification, err := tx.verify(ctx, req.Verify, config, true)
	if err != nil {
		return api.DraftResult{}, err
	}
	if verification.Outcome == policies.Absent {
		return api.DraftResult{}, errs.New(errs.VerifyMissing, "nothing verifies the draft of round %d", round.Number)
	}
	for {
		drafted, err := tx.recordDraft(ctx, req, decisionInput{policy: policy, round: round, Evidence: Evidence{Verification: verification}, config: config})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return drafted, err
		}
		// Another command may have changed the task without changing the draft.
		since := tx.Head.N
		if err := tx.begin(ctx); err != nil {
			return api.DraftResult{}, err
		}
		newer, err := tx.hasNewerDraft(ctx, since)
		if err != nil {
			return api.DraftResult{}, err
		}
		if newer || max(tx.Status.Round, 1) != round.Number {
			return api.DraftResult{}, errLostRace(round.Number, tx.Status.State)
		}
		if round, err = task.EnterRound(tx.Status.State, entry); err != nil {
			return api.DraftResult{}, tx.withTaskID(err)
		}
	}
}

// beginVerification invalidates the results of an earlier draft of the round, before a
// verification that may take long or be killed. If another process begins one right after
// it, the error is ledger-conflict: the other draft is the newer one.
func (tx *taskTx) beginVerification(ctx context.Context, c task.BeginVerification) error {
	if err := tx.apply(c, event.Full{}); err != nil {
		return err
	}
	begun, err := tx.commit(ctx, nil)
	if err != nil || begun == nil {
		return err
	}
	if err := tx.begin(ctx); err != nil {
		return err
	}
	if tx.Head.N != begun.N {
		return errs.New(errs.LedgerConflict, "event %d is no longer the latest", begun.N)
	}
	return nil
}

// hasNewerDraft reports whether a newer draft was recorded after event n: another
// verification, or an agent that drafted.
func (tx *taskTx) hasNewerDraft(ctx context.Context, n int64) (bool, error) {
	for e, err := range tx.Ledger.Events(ctx, tx.ID, n+1) {
		if err != nil {
			return false, err
		}
		body, err := event.Decode(e)
		if err != nil {
			return false, event.Tampered(tx.ID, "event %d: %w", e.N, err)
		}
		switch change := body.Event.(type) {
		case *task.DraftBegun, *task.DraftVerified:
			return true, nil
		case *task.AgentAttested:
			if change.Attestation.Agent == task.AgentExecutor || change.Attestation.Agent == task.AgentFixer {
				return true, nil
			}
		}
	}
	return false, nil
}

// recordDraft records a draft's verification; a red one is decided.
func (tx *taskTx) recordDraft(ctx context.Context, req api.DraftRequest, r decisionInput) (api.DraftResult, error) {
	if r.Verification.Outcome == policies.Red {
		d, err := tx.decide(ctx, r)
		if err != nil {
			return api.DraftResult{}, err
		}
		return api.DraftResult{TaskResult: api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: d.Event}, Verification: r.Verification, Decision: &d}, nil
	}
	command := task.RecordVerification{Verification: r.Verification.Verification, Force: req.Force}
	if err := tx.apply(command, event.Full{Verification: &r.Verification}); err != nil {
		return api.DraftResult{}, err
	}
	event, err := tx.commit(ctx, nil)
	if err != nil {
		return api.DraftResult{}, err
	}
	return api.DraftResult{TaskResult: api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: event}, Verification: r.Verification}, nil
}
