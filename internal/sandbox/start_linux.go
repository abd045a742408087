//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os/exec"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// start starts a process at a level, which is not none.
func start(level confinement.Level, cmd *exec.Cmd, spec Spec) (*Confined, error) {
	if err := Available(level); err != nil {
		return nil, err
	}
	if level == confinement.Network {
		return startInNamespaces(cmd, spec)
	}
	c := &Confined{Level: level}
	o := spec.order(cmd)
	if level == confinement.Ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, errs.New(errs.ConfineFailed, "the proxy cannot listen: %w", err)
		}
		c.release = append(c.release, func() { _ = l.Close() })
		o.PortsOnly = true
		o.Ports = append(spec.Forward, uint16(l.Addr().(*net.TCPAddr).Port))
		cmd.Env = append(cmd.Environ(), spec.ProxyEnv(l.Addr().String())...)
		spec.Listen(l, 0)
	}
	group, limits := groupOrLimits(spec.Limits, &c.Notes)
	c.release = append(c.release, group.remove)
	o.Limits = limits
	if _, err := c.startHelper(cmd, o, group); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
