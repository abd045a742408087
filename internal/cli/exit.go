package cli

import (
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The exit codes of every command.
const (
	ExitDone    = 0
	ExitFault   = 1
	ExitUsage   = 2
	ExitOther   = 15 // any other outcome
	ExitRefused = 18 // by gate
)

// ExitStatus is the end of a command's help.
const ExitStatus = `
Exit status:
  0  done
  1  a fault; the error on standard error says which
  2  the command line is wrong
`

// exits are the exit codes of outcomes: of the next action of a decision or a run, and of the
// outcome of gate. A policy cannot name a destination like one of the others.
var exits = map[string]int{
	"commit": ExitDone, "executor": 10, "researcher": 11, "askuser": 12, "plan-checker": 13, "stuck": 14,
	api.ActionFailed: ExitFault, api.ActionParked: 16,
	api.GatePassed: ExitDone, api.GateNotReviewed: 17, api.GateRefused: ExitRefused,
}

// ExitOf returns the exit code of an outcome.
func ExitOf(outcome string) int {
	if code, ok := exits[outcome]; ok {
		return code
	}
	return ExitOther
}

func faultExit(code errs.Code) int {
	switch code {
	case errs.Usage:
		return ExitUsage
	case errs.ProofInvalid, errs.ProofUnsigned, errs.ProofSignatureInvalid:
		return ExitRefused
	default:
		return ExitFault
	}
}

// TasksExit returns the exit code for several tasks: ExitFault if one failed, else the code
// that all uncommitted tasks have, or ExitOther if they differ. A blocked task counts only if no
// other explains it: the task that it depends on usually does.
func TasksExit(results []api.RunResult) int {
	all, blocked := ExitDone, false
	for _, r := range results {
		code := ExitOf(r.NextAction)
		switch {
		case code == ExitFault:
			return code
		case r.NextAction == api.ActionBlocked:
			blocked = true
		case code == ExitDone:
		case all == ExitDone:
			all = code
		case all != code:
			all = ExitOther
		}
	}
	if all == ExitDone && blocked {
		return ExitOther
	}
	return all
}
