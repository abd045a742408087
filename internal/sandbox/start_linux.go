//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox/helper"
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
	portsOnly, ports := level == confinement.Ports, []uint16(nil)
	if portsOnly {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, errs.New(errs.ConfineFailed, "the proxy cannot listen: %w", err)
		}
		c.release = append(c.release, func() { _ = l.Close() })
		ports = append(spec.Forward, uint16(l.Addr().(*net.TCPAddr).Port))
		cmd.Env = append(cmd.Environ(), spec.ProxyEnv(l.Addr().String())...)
		spec.Listen(l, 0)
	}
	o, err := spec.order(cmd, portsOnly, ports)
	if err != nil {
		c.Close()
		return nil, err
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

// order returns what a helper is asked to do for a process at every level.
func (s Spec) order(cmd *exec.Cmd, portsOnly bool, ports []uint16) (helper.Order, error) {
	o := helper.Order{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ(), Capabilities: fileCapabilities()}
	addRuleset(&o, s, portsOnly, ports)
	var err error
	o.Filter, err = filter(s.FixedMetadata, portsOnly)
	return o, err
}

// fileCapabilities are the capabilities over files, which Landlock bounds. Without them,
// root in a container could not work on files of another user.
func fileCapabilities() uint64 {
	return 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID
}
