//go:build unix

package verifycmd

import "github.com/switchyard-dev/switchyard/internal/supervise"

// shell returns the spec that runs a command in the shell.
func shell(command string) supervise.Spec {
	return supervise.Spec{Argv: []string{"sh", "-c", command}}
}
