// Package supervise runs child processes, well-kept: each has a time limit and an
// output limit, and when Run returns neither it nor what it started is left.
//
// A child runs in a session of its own, without a terminal: it cannot stop to
// ask, and a signal meant for us does not reach it. Its streams are files and no
// pipes, so that no slow reader cuts its output, no child that does not read
// blocks us, and no grandchild that holds a file open makes us wait.
//
// # What is ended
//
// However a child ends, everything that descends from it is ended too: a soft
// signal, a grace, a hard kill that is repeated until nobody is left.
//
//   - Linux: the child, its process group and session, and everything below
//     them. A Keeper makes this program a subreaper: who loses its parent comes to
//     us and to nobody else. So a descendant is found in a session of its own,
//     without its parent and with its environment cleared, and it does not stay a
//     zombie. When this program has no child at all, nobody can be left, and one
//     question to the kernel shows that.
//   - Other Unix systems: the process group. Who left it is not found.
//   - Windows: the child alone, at once and without a soft signal.
//
// Not covered is what a child only asked for: a service, a container or a
// terminal server that was already there works on. What runs as another user is
// found, but may outlive us; that is process-lost.
//
// # Whose an orphan is
//
// An orphan that came to us may be anybody's. It belongs to the child in whose
// session it is, that was seen above it, whose mark it has in its environment, or in
// whose folder it works. One that nothing of this tells apart is ended with a child
// as soon as it cannot be that of another one: it is older than all the others that
// run, or no other runs. So it may outlive its own child, but never the last one.
//
// Other parts of this program may have children of their own, with os/exec. None
// of them is touched, nor is its exit status taken, that
//
//   - is in our own session, where os/exec leaves it: a descendant of our children
//     can never get there; or
//   - was there before the first of the children that now run.
//
// That leaves one assumption: while a child runs, nothing else that comes to this
// program makes a session of its own, neither a daemon that another part of it starts
// nor, where this program is the first one of a container, an orphan from elsewhere
// in there. It would be taken for an orphan of that child.
//
// # When this program is killed
//
// Linux then sends the child a soft signal. The rest is for the next start: the
// child's Identity is written down, and Sweep ends what is left of it. Announce
// hands out what is known before the start, so that no moment is without a record,
// and Started what is known after it. Sweep finds the child, whoever has its mark,
// whoever works in its folder, the sessions of these, and everything below.
//
// Who works in a folder: has a file open there for writing, as an orphan has its
// output, or its working directory or its program there. This is no proof like the
// mark, which nobody else can have, so some are left out:
//
//   - who only reads there. That may be a user who follows the output with tail, or
//     a backup; an orphan nearly always has a file to write to.
//   - who has a terminal: a user who went there to look, with a shell or an editor.
//     A child has none, and what it starts gets one only by making it.
//   - who was there before the child, or belongs to another user.
//   - this program, and those that it descends from.
//
// Not found is an orphan with a session, an environment and files of its own that
// works elsewhere.
package supervise

import (
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Spec says what to run. Argv, Output, OutputLimit and Timeout are needed: a child
// without limits is not run.
type Spec struct {
	// Argv is the program and its arguments. A program without a path separator
	// is looked for in PATH, that of this program.
	Argv []string
	// CommandLine replaces Argv as what a child on Windows is told, for programs
	// with quoting rules of their own. Elsewhere it is not used.
	CommandLine string
	// Dir is the folder to run in, "" for ours.
	Dir string
	// Env is the whole environment, nil for ours. On Linux, Run adds one variable
	// whose name begins with SWITCHYARD_CHILD_.
	Env []string
	// Reserved is what Announce returned for this child and for no other; the zero
	// value is for one that was not announced and has no folder of its own.
	Reserved Identity
	// Input is standard input, a regular file that is read from where it stands; nil
	// is the null device. The child gets this very file, as it does with Output and
	// Errors; the caller keeps and closes it.
	Input *os.File
	// Output takes standard output, and Errors standard error; without Errors,
	// Output takes both. They are written at their end if they were opened for
	// appending. They must be regular files, and not the same one, for OutputLimit
	// and Idle to mean anything.
	Output, Errors *os.File
	// OutputLimit is by how many bytes both together may grow. It is looked at now
	// and then, so a fast writer is ended some way beyond it.
	OutputLimit int64
	// Timeout is how long the child may take, and Grace how long it and its
	// descendants have between the soft signal and the hard kill. The grace is over
	// at once for one that still writes far beyond its limit.
	Timeout, Grace time.Duration
	// Idle is for how long neither file may change its size, 0 for ever.
	Idle time.Duration
	// Started is called right after the start with what tells the child from all
	// others. If it fails, the child is ended at once, and Run returns the error,
	// wrapped. Nothing is watched until it returns. nil: none.
	Started func(Identity) error
	// Watch is called at every look, in the goroutine of Run, so it should be quick.
	// If it returns an End, the child is ended for that reason. nil: none.
	Watch func() End
}

// End is why a child ended. A Spec's Watch may have reasons of its own.
type End string

// The ends of a child.
const (
	// Exited: by itself, with an exit code or by a signal that was not ours.
	Exited End = "exited"
	// TimedOut: it was ended after its time limit.
	TimedOut End = "timed-out"
	// Idle: it was ended because it wrote nothing for too long.
	Idle End = "idle"
	// OutputLimit: it was ended because it wrote more than it may, or had already
	// done so when it ended by itself.
	OutputLimit End = "output-limit"
)

// Result is how a child ended.
type Result struct {
	// PID is the number that it had.
	PID int
	// ExitCode is -1 where a signal ended the child.
	ExitCode int
	// Signal is the name of that signal, such as SIGKILL, else "".
	Signal string
	// End is why the child ended. A child that we end may still choose its
	// ExitCode, 0 too, so this comes first.
	End End
	// Duration is the time from its start to its end; cleaning up comes on top.
	Duration time.Duration
	// OutputBytes is by how much Output has grown, and ErrorBytes by how much
	// Errors has.
	OutputBytes, ErrorBytes int64
}

// Identity tells a process from every other one, also after our own death. On
// systems other than Linux it has only the number, which may pass to another, and
// the folder.
type Identity struct {
	// PID is the number, 0 for a process that is not started yet.
	PID int `json:"pid,omitzero"`
	// Start is the time of the start, in ticks since the machine started; without a
	// number it is when the process was announced.
	Start uint64 `json:"start,omitzero"`
	// Boot is the id of that start of the machine.
	Boot string `json:"boot,omitzero"`
	// EnvMarker is in the environment of the process, and of all that inherit it.
	EnvMarker string `json:"mark,omitzero"`
	// Folder is the absolute path, without symbolic links, of a folder that is the
	// process's alone, "" for none. Whoever works there may be ended with it.
	Folder string `json:"folder,omitzero"`
}

// check refuses what would run without a limit.
func (s Spec) check() error {
	var lacks string
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errs.New(errs.ProcessStart, "no program to run was named").With("argv0", "")
	case s.Output == nil:
		lacks = "a file for its output"
	case s.OutputLimit <= 0:
		lacks = "a limit for its output"
	case s.Timeout <= 0:
		lacks = "a time limit"
	case s.Grace < 0 || s.Idle < 0:
		lacks = "limits that are no less than nothing"
	case s.Input != nil && !regular(s.Input):
		lacks = "a regular file for its input"
	case !s.Reserved.validFolder():
		lacks = "a proper path for its folder"
	default:
		return nil
	}
	return errs.New(errs.ProcessStart, "%s is not started without %s", s.Argv[0], lacks).With("argv0", s.Argv[0])
}

// validFolder reports whether the folder of an Identity can be one process's alone.
func (id Identity) validFolder() bool {
	f := id.Folder
	return f == "" || filepath.IsAbs(f) && filepath.Clean(f) == f && filepath.Dir(f) != f
}

// regular reports whether a file is one whose reader never has to wait for a
// writer.
func regular(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
