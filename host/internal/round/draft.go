package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
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
	tx, err := tasktx.Open(ctx, e.project, id)
	if err != nil {
		return api.DraftResult{}, err
	}
	defer tx.Close()
	policy, err := AdoptedPolicy(ctx, e.project, tx.Ledger, req.Policy, config)
	if err != nil {
		return api.DraftResult{}, err
	}
	if err := spawns.CheckNotRunning(ctx, tx); err != nil {
		return api.DraftResult{}, err
	}
	entry := task.RoundEntry{
		Expected: req.Round, Fallback: config.MaxRounds, HardCap: config.HardCap, Phases: []task.Phase{task.Draft}, Force: req.Force,
	}
	round, err := task.EnterRound(tx.Status.State, entry)
	if err != nil {
		tx.RefreshStateMD(ctx, err)
		return api.DraftResult{}, tx.WithTaskID(err)
	}
	if err := verification.CheckAllowed(tx, req.Verify, config); err != nil {
		return api.DraftResult{}, err
	}
	entry.Expected = round.Number // Other commands must not change it.
	if !verification.Runs(req.Verify, config) {
		tx.Status.Verified = nil // A claim is about this draft; an earlier verification is not.
	} else if err := verification.Begin(ctx, tx, task.BeginVerification{}); err != nil {
		return api.DraftResult{}, tx.MapConflict(ctx, round.Number, err)
	}
	verified, err := verification.Of(ctx, tx, req.Verify, config, true)
	if err != nil {
		return api.DraftResult{}, err
	}
	if verified.Outcome == policies.Absent {
		return api.DraftResult{}, errs.New(errs.VerifyMissing, "nothing verifies the draft of round %d", round.Number)
	}
	for {
		drafted, err := recordDraft(ctx, tx, req, decisionInput{policy: policy, round: round, Evidence: Evidence{Verification: verified}, config: config})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return drafted, err
		}
		// Another command may have changed the task without changing the draft.
		since := tx.Head.N
		if err := tx.Begin(ctx); err != nil {
			return api.DraftResult{}, err
		}
		newer, err := hasNewerDraft(ctx, tx, since)
		if err != nil {
			return api.DraftResult{}, err
		}
		if newer || max(tx.Status.Round, 1) != round.Number {
			return api.DraftResult{}, tasktx.ErrLostRace(round.Number, tx.Status.State)
		}
		if round, err = task.EnterRound(tx.Status.State, entry); err != nil {
			return api.DraftResult{}, tx.WithTaskID(err)
		}
	}
}

// hasNewerDraft reports whether a newer draft was recorded after event n: another
// verification, or an agent that drafted.
func hasNewerDraft(ctx context.Context, tx *tasktx.Tx, n int64) (bool, error) {
	for e, err := range tx.Events(ctx, n+1, task.KindRedrafted, task.KindDrafted, task.KindAttested) {
		if err != nil {
			return false, err
		}
		attested, ok := e.Event.(*task.AgentAttested)
		if !ok || attested.Attestation.Agent == task.AgentExecutor || attested.Attestation.Agent == task.AgentFixer {
			return true, nil
		}
	}
	return false, nil
}

// recordDraft records a draft's verification; a red one is decided.
func recordDraft(ctx context.Context, tx *tasktx.Tx, req api.DraftRequest, r decisionInput) (api.DraftResult, error) {
	if r.Verification.Outcome == policies.Red {
		d, err := decide(ctx, tx, r)
		if err != nil {
			return api.DraftResult{}, err
		}
		return api.DraftResult{TaskResult: api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: d.Event}, Verification: r.Verification, Decision: &d}, nil
	}
	command := task.RecordVerification{Verification: r.Verification.Verification, Force: req.Force}
	if err := tx.Apply(command, event.Full{Verification: &r.Verification}); err != nil {
		return api.DraftResult{}, err
	}
	event, err := tx.Commit(ctx, nil)
	if err != nil {
		return api.DraftResult{}, err
	}
	result := api.DraftResult{TaskResult: api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: event}, Verification: r.Verification}
	result.MaxRounds, result.HardCap = r.round.MaxRounds, r.round.HardCap // The task itself has no caps before its first decision.
	return result, nil
}
