//go:build unix

package verifycmd

import "github.com/switchyard-dev/switchyard/internal/supervise"

// shell is how the shell is asked to run a command.
func shell(command string) supervise.Spec {
	return supervise.Spec{Argv: []string{"sh", "-c", command}}
}
