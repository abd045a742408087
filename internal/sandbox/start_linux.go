//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox/helper"
)

// start starts a process at a level other than none.
func start(level confinement.Level, cmd *exec.Cmd, spec Spec) (c *Confined, err error) {
	if err := Available(level); err != nil {
		return nil, err
	}
	c = &Confined{Level: level}
	defer func() {
		if err != nil {
			c.Close()
			c = nil
		}
	}()
	var ports []uint16 // that the process may connect to
	var own net.Listener
	switch level {
	case confinement.Ports:
		if own, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			return c, errs.New(errs.ConfineFailed, "the proxy cannot listen: %w", err)
		}
		c.release = append(c.release, func() { _ = own.Close() })
		ports = append([]uint16{uint16(own.Addr().(*net.TCPAddr).Port)}, spec.Forward...)
	case confinement.Network:
		ports = append([]uint16{freePort(spec.Forward)}, spec.Forward...)
	}
	if len(ports) > 0 {
		cmd.Env = append(cmd.Environ(), spec.ProxyEnv(net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0]))))...)
	}
	o, err := spec.order(cmd, level, ports)
	if err != nil {
		return c, err
	}
	group := limit(&o, spec.Limits, &c.Notes)
	c.release = append(c.release, group.remove)
	if own != nil {
		spec.Listen(own, 0)
	}
	listeners, err := c.startHelper(cmd, o, group)
	for _, l := range listeners {
		forward := uint16(l.Addr().(*net.TCPAddr).Port)
		if forward == ports[0] {
			forward = 0
		}
		spec.Listen(l, forward)
	}
	return c, err
}

// order returns the helper's order for a process that may connect to the ports.
func (s Spec) order(cmd *exec.Cmd, level confinement.Level, ports []uint16) (o helper.Order, err error) {
	o = helper.Order{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Environ(), Capabilities: fileCapabilities()}
	portsOnly := level == confinement.Ports
	if level == confinement.Network {
		o.Namespaces, o.Protected = true, s.Protected
		if s.Private != "" {
			o.Writable = append(o.Writable, s.Private)
		}
		o.Writable = append(o.Writable, s.Write...)
		for _, port := range ports {
			o.Listen = append(o.Listen, uint64(port))
		}
		ports = nil
	}
	addRuleset(&o, s, portsOnly, ports)
	o.Filter, err = filter(s.FixedMetadata, portsOnly)
	return o, err
}

// fileCapabilities are the capabilities for files, which Landlock restricts. Without them,
// root in a container could not work on files of another user.
func fileCapabilities() uint64 {
	return 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID
}
