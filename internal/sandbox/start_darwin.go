package sandbox

import (
	"net"
	"os/exec"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// seatbeltProgram applies a profile to a program.
const seatbeltProgram = "/usr/bin/sandbox-exec"

// start starts a process at a level with sandbox-exec. It was never tried on macOS.
func start(level confinement.Level, cmd *exec.Cmd, spec Spec) (*Confined, error) {
	if err := Available(level); err != nil {
		return nil, err
	}
	c := &Confined{Level: level}
	if spec.Limits != (Limits{}) {
		c.Notes = append(c.Notes, "memory, processes and processor time are not limited on macOS")
	}
	port := uint16(0)
	if level == confinement.Ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, errs.New(errs.ConfineFailed, "the proxy cannot listen: %w", err)
		}
		c.release = append(c.release, func() { _ = l.Close() })
		port = uint16(l.Addr().(*net.TCPAddr).Port)
		cmd.Env = append(cmd.Environ(), spec.ProxyEnv(l.Addr().String())...)
		spec.Listen(l, 0)
	}
	cmd.Args = append([]string{seatbeltProgram, "-p", seatbelt(level, spec, port), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = seatbeltProgram
	if err := cmd.Start(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Available returns the reason why a level cannot be reached here.
//
// # Errors
//
// confine-unavailable.
func Available(l confinement.Level) error {
	if l == confinement.Network {
		return unavailable(l, "macOS has no network namespaces")
	}
	return nil
}
