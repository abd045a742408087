//go:build !(linux && (amd64 || arm64)) && !darwin

package sandbox

import (
	"os/exec"
	"runtime"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

func start(level confinement.Level, _ *exec.Cmd, _ Spec) (*Confined, error) {
	return nil, Available(level)
}

// Available returns the reason why a level cannot be reached here.
//
// # Errors
//
// confine-unavailable.
func Available(l confinement.Level) error {
	if l == confinement.None {
		return nil
	}
	return unavailable(l, "there is no confinement on %s/%s", runtime.GOOS, runtime.GOARCH)
}
