package main

// The exit codes of every command.
const (
	exitDone  = 0
	exitFault = 1
	exitUsage = 2
	exitOther = 15 // with --exit-code: any other destination
)

// exitStatus is the end of a command's help.
const exitStatus = `
Exit status:
  0  done
  1  a fault; the error on standard error says which
  2  the command line is wrong
`

// decisionStatus is the end of the help of a command that decides.
const decisionStatus = `
Exit status:
  0   done, or with --exit-code: commit
  1   a fault; the error on standard error says which
  2   the command line is wrong
With --exit-code also:
  10  executor      12  askuser         14  stuck
  11  researcher    13  plan-checker    15  any other destination, or run the critic yourself
`

// decisionExit returns the exit code of --exit-code for a decision's next action.
func decisionExit(nextAction string) int {
	switch nextAction {
	case "commit":
		return 0
	case "executor":
		return 10
	case "researcher":
		return 11
	case "askuser":
		return 12
	case "plan-checker":
		return 13
	case "stuck":
		return 14
	default:
		return exitOther
	}
}
