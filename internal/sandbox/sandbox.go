// Package sandbox starts processes that the kernel confines, without root and without
// containers (ADR-0026, docs/confinement.md).
//
// On Linux a helper confines itself, and then becomes the process:
//
//   - files: Landlock allows what a Spec lists and nothing else, and a seccomp filter
//     refuses the system calls that go around files, such as sockets of other programs.
//   - files+ports: Landlock also allows connections to the ports of our listeners only.
//   - files+network: the helper is in namespaces of its own, and starts the process. Its
//     network has our listeners and nothing else, and the rest of the file system is
//     read-only.
//
// The helper is this program itself: it runs before main if it is called by the name
// helper.Name, so every program that imports this package can confine.
//
// A level is reached or the start fails. It never falls below what was asked for without
// saying so: see Confined.Level.
package sandbox

import (
	"net"
	"os"
	"os/exec"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Spec says what a confined process may do. All paths are absolute; those that do not
// exist are ignored.
type Spec struct {
	// Want is the level to reach. With none, nothing is confined.
	Want confinement.Want
	// List are folders whose files' names it may read, also those below. Read are files and
	// folders that it may read and execute, and Write those that it may change, besides.
	// Symbolic links are ignored; their targets have to be listed.
	List, Read, Write []string
	// Protected are paths below Write that it must not change. Only files+network can
	// protect them.
	Protected []string
	// Private is a folder that only this process uses, and that has the paths of Write that
	// files are moved between; "" for none.
	Private string
	// FixedMetadata makes calls that change modes, owners, times or attributes of files have
	// no effect, wherever the file is. They report success.
	FixedMetadata bool
	// Limits bound what it uses.
	Limits Limits
	// Listen is called above the level files with each listener that the process can
	// connect to: that of its proxy, whose forward is 0, and one for each port of Forward.
	// The callee closes them.
	Listen func(l net.Listener, forward uint16)
	// Forward are ports of this machine's loopback interface that the process may connect
	// to.
	Forward []uint16
	// ProxyEnv returns the variables that name the proxy at an address.
	ProxyEnv func(addr string) []string
}

// Limits bound the resources of a confined process and of what it starts. 0 is no limit.
type Limits struct {
	// Memory is in bytes, Processes counts processes and threads, and CPU is in thousandths
	// of a processor.
	Memory, Processes, CPU int64
}

// Confined is a confined process.
type Confined struct {
	// Level is what was reached.
	Level confinement.Level
	// Notes say which limits do not hold, and what holds instead.
	Notes   []string
	release []func()
	// ended receives the signal that ended the process; nil for none.
	ended *os.File
}

// Close releases what the process needed. It must have ended.
func (c *Confined) Close() {
	for _, f := range c.release {
		f()
	}
}

// Sandbox starts confined processes. It is safe for concurrent use. The zero value is
// ready for use.
type Sandbox struct {
	mu sync.Mutex
	// missing says why a level cannot be reached here, as a start showed.
	missing map[confinement.Level]error
}

// Start starts a process at the highest level that was asked for and can be reached. It
// sets what cmd leaves open, and appends to its environment. The caller closes what it
// returns when the process has ended.
//
// # Errors
//
// confine-unavailable if the level is required and cannot be reached, and the errors of
// cmd.Start.
func (s *Sandbox) Start(cmd *exec.Cmd, spec Spec) (*Confined, error) {
	for _, level := range descending(spec.Want.Level) {
		if why := s.why(level); why == nil {
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
			if errs.CodeOf(err) != errs.ConfineUnavailable {
				return nil, err
			}
			s.set(level, err)
		}
		if spec.Want.Required {
			return nil, s.why(level)
		}
	}
	return &Confined{Level: confinement.None}, cmd.Start()
}

// Probe returns why a process cannot be started at a level here. It starts one that does
// nothing.
//
// # Errors
//
// confine-unavailable and confine-failed.
func (s *Sandbox) Probe(l confinement.Level) error {
	program, err := exec.LookPath("true")
	if err != nil {
		return Available(l)
	}
	cmd := exec.Command(program)
	c, err := s.Start(cmd, Spec{
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

// descending returns the levels from highest down, without none.
func descending(highest confinement.Level) (levels []confinement.Level) {
	for _, l := range confinement.Levels()[1:] {
		if highest.AtLeast(l) {
			levels = append([]confinement.Level{l}, levels...)
		}
	}
	return levels
}

func (s *Sandbox) why(l confinement.Level) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[l]
}

func (s *Sandbox) set(l confinement.Level, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing == nil {
		s.missing = make(map[confinement.Level]error)
	}
	s.missing[l] = err
}

// unavailable is the error of a level that the system does not offer, with the reason.
func unavailable(l confinement.Level, why string, args ...any) error {
	return errs.New(errs.ConfineUnavailable, "the confinement "+string(l)+" cannot be reached here: "+why, args...).With("level", string(l))
}
