//go:build unix

package verify

import "github.com/switchyard-dev/switchyard/spawner/process"

// shell is how the shell is asked to run a command.
func shell(command string) process.Spec {
	return process.Spec{Argv: []string{"sh", "-c", command}}
}
