package main

import (
	"errors"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// The reference's codes for what the engine refuses.
const (
	codeLoopStarted      errs.Code = "loop-preflight-already-stamped"
	codeNoResearcher     errs.Code = "loop-post-researcher-missing-spawn-audit"
	codeNoArchitect      errs.Code = "loop-post-architect-missing-spawn-audit"
	codeNoTestWriter     errs.Code = "loop-post-test-writer-missing-spawn-audit"
	codeNoExecutor       errs.Code = "loop-post-executor-missing-spawn-audit"
	codeNoCritic         errs.Code = "loop-post-critics-missing-critic-audit"
	codeExecutorShifted  errs.Code = "loop-post-executor-round-shifted"
	codeCriticsShifted   errs.Code = "loop-post-critics-round-shifted"
	codeCommitIncomplete errs.Code = "loop-commit-precondition-missing"
)

// inLoopWords gives an error of the engine the reference's code and details,
// where the reference has any.
func (r *loopRound) inLoopWords(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	switch f.Code {
	case task.CodeStarted:
		return recoded(f, codeLoopStarted)
	case task.CodeRoundShifted:
		shifted := map[string]errs.Code{"post-executor": codeExecutorShifted, "post-critics": codeCriticsShifted}
		if code, ok := shifted[r.phase]; ok {
			return recoded(f, code)
		}
	case task.CodeEvidence:
		missing := map[string]errs.Code{
			"post-researcher": codeNoResearcher, "post-architect": codeNoArchitect, "post-test-writer": codeNoTestWriter,
			"post-executor": codeNoExecutor, "post-critics": codeNoCritic,
		}
		if code, ok := missing[r.phase]; ok {
			return recoded(f, code).With("missing", []any{f.Details["agent"]}).
				With("required_count", f.Details["required"]).With("found_count", f.Details["found"])
		}
	case task.CodeNotReady:
		return recoded(f, codeCommitIncomplete).With("missing", loopMissing(f))
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
