// Package supervise runs child processes with limits for time and output, and ends them
// together with everything they started.
//
// A child runs in its own session, without a terminal: it cannot ask the user, and terminal
// signals do not reach it. Its streams are files instead of pipes, so that a slow reader
// cannot truncate the output, and a grandchild that keeps them open cannot block us.
//
// # Descendants
//
// However a child ends, its descendants are ended too: with SIGTERM, and after a grace period
// with SIGKILL, which is repeated until there are no more.
//
//   - Linux: the child, its process group and session, and all their descendants. A Supervisor
//     makes this program a subreaper, so that orphans become our children. They are found even
//     in other sessions, after their parents have ended and with a cleared environment, and do
//     not remain as zombies. If this program has no child, there are no descendants.
//   - Other Unix systems: the process group. A process that has left the group is not found.
//   - Windows: only the child, which is killed at once.
//
// Services, containers or terminal servers that existed before the child, and that it only
// talked to, are not covered. Processes of another user are found but may survive; this is the
// error process-lost.
//
// # Which child an orphan belongs to
//
// An orphan belongs to a child if it is in the session of the child, was seen among its
// descendants, has its marker in the environment, or works in its private directory. Otherwise
// it is ended together with a child as soon as it cannot belong to another child, because it
// is older than all others or no other child runs. So it may outlive its own child, but not
// the last one.
//
// Other parts of this program may have children. They are neither signalled nor reaped if
//
//   - they are in our own session, like children of os/exec: a descendant of our children can
//     never enter it; or
//   - they existed before the first of the children that now run.
//
// This assumes that, while a child runs, no other process with its own session becomes our
// child: neither a daemon of another part of this program nor, if this program is the first
// process of a container, an unrelated orphan.
//
// # If this program is killed
//
// Linux then sends SIGTERM to the child. The next start of this program does the rest: callers
// store the child's Identity before its start (Reserve) and after it (Spec.Started), and Sweep
// ends the remaining processes. It finds the child, processes that have its marker or work in
// its directory, all processes in their sessions, and all descendants.
//
// A process works in a directory if its working directory, its program or a file that it has
// open for writing is there. Unlike the marker this does not prove that it belongs to the
// child, so Sweep leaves out
//
//   - processes that only read files there, such as a user's tail or a backup. An orphan
//     nearly always has a file open for writing;
//   - processes with a terminal, such as a user's shell or editor;
//   - processes that are older than the child, or of another user; and
//   - this program and its ancestors.
//
// Sweep does not find an orphan that has left the session, cleared its environment and works
// in other directories.
package supervise

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Spec describes a child to run. Argv, Output, OutputLimit and Timeout are required.
type Spec struct {
	// Argv is the program and its arguments. A program without a path separator is
	// searched in this program's PATH.
	Argv []string
	// CommandLine replaces the arguments on Windows, for programs with their own quoting
	// rules.
	CommandLine string
	// Dir is the working directory, "" for ours.
	Dir string
	// Env is the whole environment, nil for ours. On Linux, Run adds a variable with the
	// prefix SWITCHYARD_CHILD_.
	Env []string
	// Reserved is the result of Reserve for this child, or the zero Identity.
	Reserved Identity
	// Input is standard input, a regular file that is read from its current offset; nil is the
	// null device. The child inherits the file, like Output and Errors; the caller closes it.
	Input *os.File
	// Output receives standard output, and Errors standard error; if Errors is nil,
	// Output receives both. They must be different regular files, so that OutputLimit
	// and Idle work.
	Output, Errors *os.File
	// OutputLimit is the limit for the growth of both files together, in bytes. It is polled,
	// so a fast writer can exceed it.
	OutputLimit int64
	// Timeout is the time limit of the child, and Grace the time between SIGTERM and SIGKILL
	// for it and its descendants. A child that keeps writing far beyond its limit has no
	// grace.
	Timeout, Grace time.Duration
	// Idle is the time after which the child is ended if neither file changes its size, 0 for
	// no limit.
	Idle time.Duration
	// Start starts the process instead of cmd.Start, for example in a sandbox. It may change
	// the program, but the process must be a child of this one. It may be nil.
	Start func(*exec.Cmd) error
	// Signal returns the signal that ended the program, or 0, if Start has started a parent of
	// it. It is called after the end. It may be nil.
	Signal func() syscall.Signal
	// Started is called right after the start. If it fails, the child is ended, and Run
	// returns the error. The child is not watched until it returns. It may be nil.
	Started func(Identity) error
	// Watch is called at every poll in Run's goroutine. If it returns an End, the child
	// is ended for that reason. It may be nil.
	Watch func() End
}

// End is the reason for the end of a child. Spec.Watch may add more reasons.
type End string

// The ends of a child.
const (
	// Exited: it ended by itself, or by a signal that was not ours.
	Exited End = "exited"
	// TimedOut: it exceeded its time limit.
	TimedOut End = "timed-out"
	// Idle: it did not write for too long.
	Idle End = "idle"
	// OutputLimit: it wrote more than allowed, even if it then ended by itself.
	OutputLimit End = "output-limit"
)

// Result describes the end of a child.
type Result struct {
	PID int
	// ExitCode is -1 if a signal ended the child.
	ExitCode int
	// Signal is the name of that signal, such as SIGKILL, or "".
	Signal string
	// End takes precedence over ExitCode: a child that we end may still exit with 0.
	End End
	// Duration is the time from the start to the end, without cleaning up.
	Duration time.Duration
	// OutputBytes and ErrorBytes are the growth of Output and Errors.
	OutputBytes, ErrorBytes int64
}

// Identity identifies a process, even after this program has ended. On systems other than
// Linux it has only the number, which may be reused, and the directory.
type Identity struct {
	// PID is 0 for a process that is not started yet.
	PID int `json:"pid,omitzero"`
	// Start is the start time in ticks since boot; without a PID it is the time of
	// Reserve.
	Start uint64 `json:"start,omitzero"`
	// Boot is the boot id of the machine.
	Boot string `json:"boot,omitzero"`
	// EnvMarker is in the environment of the process and its descendants.
	EnvMarker string `json:"mark,omitzero"`
	// Folder is the absolute path, without symbolic links, of a private directory of the
	// process, or "". Processes that work there may be ended with it.
	Folder string `json:"folder,omitzero"`
}

func (s Spec) start(cmd *exec.Cmd) error {
	if s.Start != nil {
		return s.Start(cmd)
	}
	return cmd.Start()
}

// check refuses a process without limits.
func (s Spec) check() error {
	var lacks string
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errs.New(errs.ProcessStart, "no program to run is given").With("argv0", "")
	case s.Output == nil:
		lacks = "a file for its output"
	case s.OutputLimit <= 0:
		lacks = "a limit for its output"
	case s.Timeout <= 0:
		lacks = "a time limit"
	case s.Grace < 0 || s.Idle < 0:
		return errs.New(errs.ProcessStart, "%s: grace and idle timeouts must not be negative", s.Argv[0]).With("argv0", s.Argv[0])
	case s.Input != nil && !regular(s.Input):
		lacks = "a regular file for its input"
	case !s.Reserved.validFolder():
		lacks = "a proper path for its directory"
	default:
		return nil
	}
	return errs.New(errs.ProcessStart, "%s is not started without %s", s.Argv[0], lacks).With("argv0", s.Argv[0])
}

// validFolder reports whether the directory can be private.
func (id Identity) validFolder() bool {
	f := id.Folder
	return f == "" || filepath.IsAbs(f) && filepath.Clean(f) == f && filepath.Dir(f) != f
}

// regular reports whether a file is regular, so that reading it never blocks.
func regular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
