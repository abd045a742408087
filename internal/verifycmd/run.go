// Package verifycmd runs a project's own commands: its verification, and the commands that
// print reports.
//
// A verification is green if every run ends by itself, within its limits, with exit code 0,
// and red otherwise. An error means that there is no result.
//
// The output goes to a file in the state directory while the command runs, so that the
// user can follow it. It is never in memory as a whole: the Outcome has its digest and an
// excerpt.
package verifycmd

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The default limits of a run.
const (
	DefaultTimeout     = 10 * time.Minute
	defaultOutputLimit = 256 << 20 // bytes
)

// grace is the time between the soft signal and the kill of a command.
const grace = 2 * time.Second

// Command is a command line for the shell: sh, or cmd on Windows.
type Command struct {
	// Keeper runs the command.
	Keeper *supervise.Supervisor
	// Start and Signal are as in supervise.Spec. They may be nil.
	Start  func(*exec.Cmd) error
	Signal func() syscall.Signal
	// Record stores the identity of the process, before each run and once the process has
	// started, so that orphans are found after this process was killed. It may be nil.
	Record func(supervise.Identity) error
	// Private is the private directory of the command, which is recorded with it, or "".
	Private string
	Line    string
	// Dir is the directory in which the command runs.
	Dir string
	// Env is the whole environment, as NAME=value. The last entry of a name applies.
	Env []string
	// Timeout and OutputLimit, in bytes, apply to each run. For a verification, 0 means
	// the default.
	Timeout     time.Duration
	OutputLimit int64
}

// RunOnce runs the command once with its standard output and standard error in files.
//
// # Errors
//
// process-start and process-lost. When ctx is done, an error that wraps its cause.
func (c Command) RunOnce(ctx context.Context, output, errors *os.File) (supervise.Result, error) {
	spec := shell(c.Line)
	spec.Dir, spec.Env, spec.Output, spec.Errors, spec.Start = c.Dir, c.Env, output, errors, c.Start
	spec.Signal, spec.Timeout, spec.Grace, spec.OutputLimit = c.Signal, c.Timeout, grace, c.OutputLimit
	if c.Record != nil {
		spec.Reserved, spec.Started = c.Keeper.Reserve(c.Private), c.Record
		if err := c.Record(spec.Reserved); err != nil {
			return supervise.Result{}, err
		}
	}
	return c.Keeper.Run(ctx, spec)
}

// Plan is the request for a verification.
type Plan struct {
	Command
	// Runs is the number of runs that must succeed, at least 1.
	Runs int
	// Root is the path of the project's root. Task and Round name the output file:
	// .switchyard/verify/TASK-rROUND.log.
	Root  string
	Task  string
	Round int
}

// Outcome is the result of a verification.
type Outcome struct {
	// Green is true if all planned runs succeeded.
	Green bool
	// Runs has the results of the runs. The last one is the cause of a red outcome.
	Runs []supervise.Result
	// Excerpt is the output, or its beginning and its end (see Excerpt).
	Excerpt string
	// OutputBytes is the size of the output file, and OutputDigest its digest, "sha256:"
	// and hex digits.
	OutputBytes  int64
	OutputDigest string
	// Output is the output file's path below the project's root, with slashes.
	Output string
}

func isGreen(r supervise.Result) bool {
	return r.End == supervise.Exited && r.ExitCode == 0 && r.Signal == ""
}

// Run runs the command as often as the plan says, or until a run is red. With several
// runs, a header line precedes the output of each. A command that the shell cannot find
// is red, with exit code 127.
//
// # Errors
//
// verify-plan-invalid for a blank command, because it would succeed; verify-output-unsafe
// and verify-output-failed; process-start if the shell or the root is missing, and
// process-lost. When ctx is done, the error wraps its cause. The output file stays, with
// the output so far.
func Run(ctx context.Context, p Plan) (Outcome, error) {
	if strings.TrimSpace(p.Line) == "" {
		return Outcome{}, errs.New(errs.VerifyPlanInvalid, "the verification command is blank")
	}
	p.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
	p.OutputLimit = cmp.Or(p.OutputLimit, defaultOutputLimit)
	log, err := createLog(p)
	if err != nil {
		return Outcome{}, err
	}
	defer log.Close() // Its content was read before, so an error has no effect.
	outcome := Outcome{Output: log.path}
	for n := 1; n <= p.Runs; n++ {
		before, err := log.begin(n, p.Runs)
		if err != nil {
			return Outcome{}, log.failed(err)
		}
		run, err := p.RunOnce(ctx, log.File, nil)
		if err != nil {
			return Outcome{}, err
		}
		if run.OutputBytes > p.OutputLimit {
			if err := log.Truncate(before + p.OutputLimit); err != nil {
				return Outcome{}, log.failed(err)
			}
		}
		outcome.Runs = append(outcome.Runs, run)
		if outcome.Green = isGreen(run); !outcome.Green {
			break
		}
	}
	if err := log.describe(&outcome); err != nil {
		return Outcome{}, log.failed(err)
	}
	return outcome, nil
}

// ParseExitCode parses an exit code that the caller measured: a decimal number without
// sign, space or leading zeros, up to 4294967295, the maximum on Windows. An empty text,
// such as an unset variable, is not a success.
//
// # Errors
//
// verify-exit-code-invalid.
func ParseExitCode(text string) (int, error) {
	code, err := strconv.ParseUint(text, 10, 32)
	if err != nil || len(text) > 1 && text[0] == '0' {
		return 0, errs.New(errs.VerifyExitCodeInvalid, "%q is not an exit code", text).With("exit_code", text)
	}
	return int(code), nil
}
