package main

import (
	"errors"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// inLoopWords gives an error of the engine the reference's code and details,
// where the reference has any.
func (r *loopRound) inLoopWords(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	switch f.Code {
	case errs.TaskStarted:
		return recoded(f, errs.LoopPreflightAlreadyStamped)
	case errs.RoundShifted:
		shifted := map[string]errs.Code{"post-executor": errs.LoopPostExecutorRoundShifted, "post-critics": errs.LoopPostCriticsRoundShifted}
		if code, ok := shifted[r.phase]; ok {
			return recoded(f, code)
		}
	case errs.EvidenceMissing:
		missing := map[string]errs.Code{
			"post-researcher": errs.LoopPostResearcherMissingSpawnAudit, "post-architect": errs.LoopPostArchitectMissingSpawnAudit, "post-test-writer": errs.LoopPostTestWriterMissingSpawnAudit,
			"post-executor": errs.LoopPostExecutorMissingSpawnAudit, "post-critics": errs.LoopPostCriticsMissingCriticAudit,
		}
		if code, ok := missing[r.phase]; ok {
			return recoded(f, code).With("missing", []any{f.Details["agent"]}).
				With("required_count", f.Details["required"]).With("found_count", f.Details["found"])
		}
	case errs.CommitPreconditionMissing:
		return recoded(f, errs.LoopCommitPreconditionMissing).With("missing", loopMissing(f))
	}
	return err
}

// loopMissing says in the reference's words what a commit lacks.
func loopMissing(f *errs.Error) []string {
	missing, _ := f.Details["missing"].([]string)
	words := make([]string, len(missing))
	for i, m := range missing {
		words[i] = "findings"
		if m == task.MissingVerification {
			words[i] = "verify_exit_code"
		}
	}
	return words
}

// inLoopWords gives an error of one code another one.
func inLoopWords(err error, from, to errs.Code) error {
	if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == from {
		return recoded(f, to)
	}
	return err
}

// recoded is an error under another code. Its hint is then that code's own.
func recoded(f *errs.Error, code errs.Code) *errs.Error {
	c := *f
	c.Code, c.Hint = code, ""
	return &c
}
