//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

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
	r := spec.rules()
	if level == confinement.Ports {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, errs.New(errs.ConfineFailed, "the proxy cannot listen: %w", err)
		}
		c.release = append(c.release, func() { _ = l.Close() })
		r.portsOnly = true
		r.ports = append(spec.Forward, uint16(l.Addr().(*net.TCPAddr).Port))
		cmd.Env = append(cmd.Environ(), spec.ProxyEnv(l.Addr().String())...)
		spec.Listen(l, 0)
	}
	group, limits, err := groupOrLimits(spec.Limits, &c.Notes)
	if err != nil {
		c.Close()
		return nil, err
	}
	c.release = append(c.release, group.remove)
	group.use(cmd)
	release, err := onOwnThread(func() error {
		if err := restrict(r); err != nil {
			return err
		}
		if len(limits) == 0 {
			return cmd.Start()
		}
		return startLimited(cmd, limits)
	})
	if err != nil {
		c.Close()
		return nil, err
	}
	c.release = append(c.release, release)
	return c, nil
}

// rules are those of the thread that starts the process.
func (s Spec) rules() rules {
	return rules{list: s.List, read: append(systemFolders(), s.Read...), write: s.Write, fixedMetadata: s.FixedMetadata}
}

// restrict restricts the current thread, permanently.
func restrict(r rules) error {
	if err := dropCapabilities(); err != nil {
		return errs.New(errs.ConfineFailed, "the process cannot be confined: %w", err)
	}
	if err := restrictFiles(r); err != nil {
		return errs.New(errs.ConfineFailed, "the process cannot be confined: %w", err)
	}
	if err := filter(r); err != nil {
		return errs.New(errs.ConfineFailed, "the process cannot be confined: %w", err)
	}
	return nil
}

// startLimited starts a process with limits of the kernel for a process. They must be set
// before its first instruction, so it is traced up to there.
func startLimited(cmd *exec.Cmd, limits []limit) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	_, err := unix.Wait4(pid, &status, 0, nil)
	for _, l := range limits {
		if err == nil {
			err = unix.Prlimit(pid, l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}, nil)
		}
	}
	if err == nil {
		err = unix.PtraceDetach(pid)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return errs.New(errs.ConfineFailed, "the process cannot be limited: %w", err)
	}
	return nil
}
