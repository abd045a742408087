// Package process runs one child process, well-kept: it has a time limit and an
// output limit, and when Run returns neither it nor what it started is left.
//
// A child runs in a session of its own, without a terminal: it cannot stop to
// ask, and a signal meant for us does not reach it. Its output goes to a file
// and not through a pipe, so that no slow reader cuts it and no grandchild that
// holds it open makes us wait.
//
// # What is ended
//
// However a child ends, everything that descends from it is ended too: a soft
// signal, a grace, a hard kill that is repeated until nobody is left.
//
//   - Linux: the child's process group and session, all children of these, and
//     every process that inherited the mark that Run puts into the child's
//     environment. So a grandchild is found in a session of its own, and also
//     after its parent is gone. Not found is one that did all three: it left the
//     session, lost its parent before we looked, and cleared or overwrote its
//     environment, or runs as another user, whose environment we may not read.
//     We are no subreaper, which would find that one too: a subreaper adopts the
//     orphans of the whole program, and could not tell those of a child from
//     what another part of the program left running on purpose.
//   - Other Unix systems: the process group. Who left it is not found.
//   - Windows: the child alone, at once and without a soft signal.
//
// Where this program itself is killed, Linux sends the child a soft signal.
// Nobody then looks after the rest.
package process

import (
	"context"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The codes of this package's errors.
const (
	// CodeStart: the process cannot be started, or the Spec is not complete. No
	// process is left. Detail: argv0.
	CodeStart fault.Code = "process-start"
	// CodeLost: the process was started and cannot be accounted for. It outlived
	// its hard kill, as when it runs as another user or the disk does not answer;
	// or its output cannot be measured, or somebody else took its exit status.
	// Detail: argv0.
	CodeLost fault.Code = "process-lost"
)

// Spec says what to run. All fields but Dir, Env, CommandLine and Grace are
// needed: a child without limits is not run.
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
	// Output takes standard output and standard error, at its end if it was opened
	// for appending. The child gets this very file; the caller keeps and closes it.
	// It must be a regular file for OutputLimit to mean anything. Standard input is
	// the null device.
	Output *os.File
	// OutputLimit is by how many bytes Output may grow. It is looked at now and
	// then, so a fast writer is ended some way beyond it.
	OutputLimit int64
	// Timeout is how long the child may take, and Grace how long it and its
	// descendants have between the soft signal and the hard kill.
	Timeout, Grace time.Duration
}

// End is why a child ended.
type End string

// The ends of a child.
const (
	// Exited: by itself, with an exit code or by a signal that was not ours.
	Exited End = "exited"
	// TimedOut: it was ended after its time limit.
	TimedOut End = "timed-out"
	// OutputLimit: it was ended because it wrote more than it may, or had already
	// done so when it ended by itself.
	OutputLimit End = "output-limit"
)

// Result is how a child ended.
type Result struct {
	// ExitCode is -1 where a signal ended the child.
	ExitCode int
	// Signal is the name of that signal, such as SIGKILL, else "".
	Signal string
	// End is why the child ended. A child that we end may still choose its
	// ExitCode, 0 too, so this comes first.
	End End
	// Duration is the time from its start to its end; cleaning up comes on top.
	Duration time.Duration
	// OutputBytes is by how much Output has grown.
	OutputBytes int64
}

// Run runs a child to its end and cleans up after it. It returns at the latest
// after Timeout, Grace and some seconds. It may be called concurrently, with an
// Output each.
//
// # Errors
//
// CodeStart and CodeLost. When ctx is done, the child is ended as on a timeout,
// and the error wraps ctx's cause. Only without an error the Result says anything.
func Run(ctx context.Context, s Spec) (Result, error) {
	return run(ctx, s, killTime)
}

// check refuses what would run without a limit.
func (s Spec) check() error {
	var lacks string
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return fault.New(CodeStart, "no program to run was named").With("argv0", "")
	case s.Output == nil:
		lacks = "a file for its output"
	case s.OutputLimit <= 0:
		lacks = "a limit for its output"
	case s.Timeout <= 0:
		lacks = "a time limit"
	default:
		return nil
	}
	return fault.New(CodeStart, "%s is not started without %s", s.Argv[0], lacks).With("argv0", s.Argv[0])
}
