// Package supervise runs child processes with limits for time and output, and ends them
// together with everything they started.
//
// A child runs in a session of its own, without a terminal: it cannot stop to ask, and
// terminal signals do not reach it. Its streams are files instead of pipes, so that a slow
// reader does not cut its output, and a grandchild that holds them open does not block us.
//
// # What is ended
//
// However a child ends, its descendants are ended too: SIGTERM, a grace period, SIGKILL
// repeated until none is left.
//
//   - Linux: the child, its process group and session, and all their descendants. A
//     Supervisor makes this program a subreaper, so that orphans become our children.
//     They are found in sessions of their own, without their parents and with a cleared
//     environment, and do not stay zombies. If this program has no child at all, none
//     can be left.
//   - Other Unix systems: the process group. A process that left it is not found.
//   - Windows: only the child, at once and without a soft signal.
//
// Services, containers or terminal servers that existed before and that a child only
// talked to are not covered. Processes of another user are found but may survive; that is
// process-lost.
//
// # Which child an orphan belongs to
//
// An orphan belongs to the child in whose session it is, that was seen among its ancestors,
// whose marker it has in its environment, or in whose private folder it works. If none of
// this decides, it is ended with a child as soon as it cannot belong to another one, because
// it is older than all the others or no other one runs. So it may outlive its own child, but
// not the last one.
//
// Other parts of this program may have children. These are neither signalled nor reaped if
//
//   - they are in our own session, as with os/exec: a descendant of our children can never
//     get there; or
//   - they existed before the first of the children that now run.
//
// This assumes that, while a child runs, no other process with a session of its own becomes
// our child: no daemon of another part of this program and, if this program is the first one
// of a container, no orphan from elsewhere in it.
//
// # If this program is killed
//
// Linux then sends SIGTERM to the child. The rest is done at the next start: the child's
// Identity is written down before the start (Reserve) and after it (Spec.Started), and Sweep
// ends what is left. Sweep finds the child, processes with its marker, processes that work
// in its folder, their sessions, and all descendants.
//
// A process works in a folder if its working directory, its program or a file that it has
// open for writing is there. Unlike the marker this is no proof, so these are excluded:
//
//   - processes that only read there, such as a user's tail or a backup. An orphan nearly
//     always has a file open for writing.
//   - processes with a terminal, such as a user's shell or editor.
//   - processes that are older than the child, or of another user.
//   - this program and its ancestors.
//
// An orphan with a session, an environment and files of its own that works elsewhere is not
// found.
package supervise

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Spec says what to run. Argv, Output, OutputLimit and Timeout are required.
type Spec struct {
	// Argv is the program and its arguments. A program without a path separator is
	// searched in this program's PATH.
	Argv []string
	// CommandLine replaces the arguments on Windows, for programs with their own quoting
	// rules.
	CommandLine string
	// Dir is the working directory, "" for ours.
	Dir string
	// Env is the whole environment, nil for ours. On Linux, Run adds a variable whose
	// name begins with SWITCHYARD_CHILD_.
	Env []string
	// Reserved is the result of Reserve for this child, or the zero value.
	Reserved Identity
	// Input is standard input, a regular file that is read from its current offset; nil
	// is the null device. The child inherits the file itself, like Output and Errors;
	// the caller closes it.
	Input *os.File
	// Output receives standard output, and Errors standard error; if Errors is nil,
	// Output receives both. They must be different regular files, so that OutputLimit
	// and Idle work.
	Output, Errors *os.File
	// OutputLimit is by how many bytes both files together may grow. It is polled, so a
	// fast writer exceeds it.
	OutputLimit int64
	// Timeout is how long the child may run, and Grace how long it and its descendants
	// have between SIGTERM and SIGKILL. A child that goes on writing far beyond its
	// limit has no grace.
	Timeout, Grace time.Duration
	// Idle is how long neither file may change its size, 0 for any time.
	Idle time.Duration
	// Start starts the process instead of cmd.Start, for example in a sandbox. It may change
	// what cmd runs, but not whose process it is. It may be nil.
	Start func(*exec.Cmd) error
	// Signal returns the signal that ended what Start started, 0 for none, if the process
	// itself is only its parent. It is called after the end. It may be nil.
	Signal func() syscall.Signal
	// Started is called right after the start. If it fails, the child is ended, and Run
	// returns the error. The child is not watched until it returns. It may be nil.
	Started func(Identity) error
	// Watch is called at every poll in Run's goroutine. If it returns an End, the child
	// is ended for that reason. It may be nil.
	Watch func() End
}

// End is why a child ended. Spec.Watch may add its own reasons.
type End string

// The ends of a child.
const (
	// Exited: by itself, with an exit code or by a signal that was not ours.
	Exited End = "exited"
	// TimedOut: after its time limit.
	TimedOut End = "timed-out"
	// Idle: it wrote nothing for too long.
	Idle End = "idle"
	// OutputLimit: it wrote more than allowed, even if it then ended by itself.
	OutputLimit End = "output-limit"
)

// Result is how a child ended.
type Result struct {
	PID int
	// ExitCode is -1 if a signal ended the child.
	ExitCode int
	// Signal is the name of that signal, such as SIGKILL, else "".
	Signal string
	// End takes precedence over ExitCode: a child that we end may still exit with 0.
	End End
	// Duration is the time from the start to the end, without cleaning up.
	Duration time.Duration
	// OutputBytes and ErrorBytes are by how much Output and Errors grew.
	OutputBytes, ErrorBytes int64
}

// Identity identifies a process, also after our own death. On systems other than Linux it
// has only the number, which may be reused, and the folder.
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
	// Folder is the absolute path, without symbolic links, of a private folder of the
	// process, "" for none. Processes that work there may be ended with it.
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
		lacks = "a proper path for its folder"
	default:
		return nil
	}
	return errs.New(errs.ProcessStart, "%s is not started without %s", s.Argv[0], lacks).With("argv0", s.Argv[0])
}

// validFolder reports whether the folder can be private.
func (id Identity) validFolder() bool {
	f := id.Folder
	return f == "" || filepath.IsAbs(f) && filepath.Clean(f) == f && filepath.Dir(f) != f
}

// regular reports whether a file is regular, so that reading it never blocks.
func regular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
