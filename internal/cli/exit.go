package cli

import (
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The exit codes of every command.
const (
	ExitDone  = 0
	ExitFault = 1
	ExitUsage = 2
	ExitOther = 15 // with --exit-code: any other destination
	// ExitParked is the code of run if the task waits for the end of a usage limit.
	ExitParked = 16
	// ExitNotReviewed and ExitRefused are codes of gate.
	ExitNotReviewed = 17
	ExitRefused     = 18
)

// ExitStatus is the end of a command's help.
const ExitStatus = `
Exit status:
  0  done
  1  a fault; the error on standard error says which
  2  the command line is wrong
`

// decisionExits are the exit codes of --exit-code by next action.
var decisionExits = map[string]int{"commit": 0, "executor": 10, "researcher": 11, "askuser": 12, "plan-checker": 13, "stuck": 14}

// DecisionExit returns the exit code of --exit-code for a decision's next action.
func DecisionExit(nextAction string) int {
	if code, ok := decisionExits[nextAction]; ok {
		return code
	}
	return ExitOther
}

// RunExit returns the exit code for the next action of a run.
func RunExit(nextAction string) int {
	switch nextAction {
	case api.ActionFailed:
		return ExitFault
	case api.ActionParked:
		return ExitParked
	default:
		return DecisionExit(nextAction)
	}
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

// GateExit returns the exit code for a gate's outcome.
func GateExit(outcome string) int {
	switch outcome {
	case api.GatePassed:
		return ExitDone
	case api.GateNotReviewed:
		return ExitNotReviewed
	case api.GateRefused:
		return ExitRefused
	default:
		return DecisionExit(outcome)
	}
}

// TasksExit returns the exit code for several tasks: ExitFault if one failed, else the code
// that all uncommitted tasks have, or ExitOther if they differ. A blocked task counts only if no
// other explains it: the task that it depends on usually does.
func TasksExit(results []api.RunResult) int {
	all, blocked := ExitDone, false
	for _, r := range results {
		code := RunExit(r.NextAction)
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
