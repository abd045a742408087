//go:build unix

package verifycmd

import "github.com/switchyard-dev/switchyard/internal/supervise"

func shell(command string) supervise.Spec {
	return supervise.Spec{Argv: []string{"sh", "-c", command}}
}
