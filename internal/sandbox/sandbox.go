// Package sandbox starts processes that the kernel confines. It needs neither root nor
// containers (ADR-0026, docs/confinement.md).
//
// On Linux a helper confines itself, and then becomes the process:
//
//   - files: Landlock allows only the files that a Spec lists, and a seccomp filter refuses
//     system calls that would bypass this, such as connections to sockets of other programs.
//   - files+ports: Landlock also restricts connections to the ports of our listeners.
//   - files+network: the helper runs in new namespaces, and starts the process. Their network
//     has only our listeners, and all other files are read-only.
//
// The helper is this program itself: it runs before main if the program is called by the name
// helper.Name, so every program that imports this package can confine processes.
//
// A process is confined completely or not started at that level; Confined.Level says which
// level was reached.
package sandbox

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Spec says what a confined process may do. All paths are absolute. Paths that do not exist,
// or that contain symbolic links, are ignored.
type Spec struct {
	// Want is the level to reach. The level none starts the process without confinement.
	Want confinement.Want
	// The process may list the directories of List and all directories below them. It may read
	// and execute the files in Read, and also change the files in Write.
	List, Read, Write []string
	// Protected are paths below Write that it must not change. Only files+network enforces
	// this.
	Protected []string
	// Private is a directory that only this process uses, or "". Files can be moved between
	// the paths of Write that are in it.
	Private string
	// FixedMetadata makes calls that change modes, owners, times or attributes of any file
	// report success without an effect.
	FixedMetadata bool
	// Limits bound the resources that it uses.
	Limits Limits
	// Listen is called, above the level files, with each listener that the process can connect
	// to: one for its proxy, with forward 0, and one or two for each port of Forward. The
	// callee closes them.
	Listen func(l net.Listener, forward uint16)
	// Forward are the ports of this machine's loopback interface that the process may connect
	// to.
	Forward []uint16
	// ProxyEnv returns the environment variables for a proxy at an address.
	ProxyEnv func(addr string) []string
}

// Limits bound the resources of a confined process and its descendants together. 0 is no
// limit.
type Limits struct {
	// Memory is in bytes, Processes counts processes and threads, and CPU is in thousandths
	// of a processor.
	Memory, Processes, CPU int64
}

// Confined is a confined process.
type Confined struct {
	// Level is the level that was reached.
	Level confinement.Level
	// Notes say which limits are not enforced, and which apply instead.
	Notes   []string
	release []func()
	// ended receives the signal that ended the process. It is nil without namespaces.
	ended *os.File
}

// Close releases the resources of the process, which must have ended.
func (c *Confined) Close() {
	for _, f := range c.release {
		f()
	}
}

// Signal returns the signal that ended the process, or 0. The process must have ended. In
// namespaces its own exit status is only that of the helper.
func (c *Confined) Signal() syscall.Signal {
	if c.ended == nil {
		return 0
	}
	number := make([]byte, 1)
	_ = c.ended.SetReadDeadline(time.Now().Add(time.Second)) // The helper has closed the other end.
	if n, _ := c.ended.Read(number); n == 0 {
		return 0
	}
	return syscall.Signal(number[0])
}

// Start starts a process at the highest possible level up to Spec.Want. It changes cmd and
// appends to its environment. The caller must close the result when the process has ended. With
// an error, the result is of no process.
//
// # Errors
//
// confine-unavailable if the level is required and cannot be reached, confine-failed, and
// errors from cmd.Start.
func Start(cmd *exec.Cmd, spec Spec) (*Confined, error) {
	for _, level := range slices.Backward(confinement.Levels()[1:]) {
		if !spec.Want.Level.AtLeast(level) {
			continue
		}
		attempt := *cmd // A Cmd can be started once, and start changes it.
		if cmd.SysProcAttr != nil {
			attributes := *cmd.SysProcAttr
			attempt.SysProcAttr = &attributes
		}
		c, err := start(level, &attempt, spec)
		if err == nil {
			*cmd = attempt
			return c, nil
		}
		if errs.CodeOf(err) != errs.ConfineUnavailable || spec.Want.Required {
			return &Confined{Level: confinement.None}, err
		}
	}
	return &Confined{Level: confinement.None}, cmd.Start()
}

// Probe returns the reason why a process cannot be started at a level here. It tries to start
// a program that exits at once.
//
// # Errors
//
// confine-unavailable and confine-failed.
func Probe(l confinement.Level) error {
	program, err := exec.LookPath("true")
	if err != nil {
		return Available(l)
	}
	cmd := exec.Command(program)
	c, err := Start(cmd, Spec{
		Want:     confinement.Want{Level: l, Required: true},
		Listen:   func(l net.Listener, _ uint16) { _ = l.Close() },
		ProxyEnv: func(string) []string { return nil },
	})
	if err != nil {
		return err
	}
	defer c.Close()
	return cmd.Wait()
}

// unavailable returns the error for a level that the system does not offer.
func unavailable(l confinement.Level, why string, args ...any) error {
	return errs.New(errs.ConfineUnavailable, "the confinement "+string(l)+" cannot be reached here: "+why, args...).With("level", string(l))
}
