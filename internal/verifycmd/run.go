// Package verifycmd runs a project's verification command and says whether it is
// green.
//
// Green is the exception: every run has to end by itself, within its limits, with
// exit code 0. Whatever else happens is red, or an error where nothing can be
// said at all. A caller must take an error for neither.
//
// What the command writes goes to a file in the state directory while it runs, so
// that the user can follow it. It is never held in memory: the Outcome has its
// digest and an excerpt.
package verifycmd

import (
	"context"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of a run for which a Plan names none.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultOutputLimit = 256 << 20 // bytes
)

// grace is how long a command that has to end may take for it.
const grace = 2 * time.Second

// Plan says what to verify, and how.
type Plan struct {
	// Keeper runs the command.
	Keeper *supervise.Supervisor
	// Record writes down which process runs the command: before each run as it is
	// announced, and again once it is started. So the next start finds what is left
	// of it if we are killed. nil: it is not written down.
	Record func(supervise.Identity) error
	// Command is a line for the shell: sh, or cmd on Windows. A blank one, which
	// would verify nothing and succeed, is refused.
	Command string
	// Runs is how often the command has to succeed, at least 1.
	Runs int
	// Timeout is for each run, and so is OutputLimit, in bytes. 0 stands for the
	// default.
	Timeout     time.Duration
	OutputLimit int64
	// Dir is the folder to run in, "" for the project's root.
	Dir string
	// Env is the command's whole environment, as NAME=value. The last entry of a name
	// counts.
	Env []string
	// Output is where the output goes.
	Output OutputFile
}

// Outcome is what a verification came to.
type Outcome struct {
	// Green reports whether all the runs that were asked for took place and
	// succeeded.
	Green bool `json:"green"`
	// Runs has those that took place. Of a red verification, the last one is why.
	Runs []RunResult `json:"runs"`
	// Excerpt is the output, or its beginning and its end (see Excerpt).
	Excerpt string `json:"excerpt"`
	// OutputBytes is the size of the output file, and OutputDigest its digest, as in
	// sha256:… with hex digits.
	OutputBytes  int64  `json:"output_bytes"`
	OutputDigest string `json:"output_digest"`
	// Output is the output file's path below the project's root, with slashes.
	Output string `json:"output"`
}

// RunResult is how one run of the command ended.
type RunResult struct {
	// ExitCode is -1 where a signal ended the shell; Signal then is its name.
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitzero"`
	// End is why it ended: only supervise.Exited can be green.
	End supervise.End `json:"end"`
	// DurationMS is in milliseconds.
	DurationMS int64 `json:"duration_ms"`
}

// green reports whether the run speaks for the draft. All that is known of it has
// to agree.
func (r RunResult) green() bool {
	return r.End == supervise.Exited && r.ExitCode == 0 && r.Signal == ""
}

// Run runs the command as often as the plan says, or until a run is not green.
// Where the plan has several runs, a header line precedes the output of each. A
// command that the shell cannot find is red, with exit code 127.
//
// # Errors
//
// verify-plan-invalid, verify-output-unsafe and verify-output-failed; process-start where there is no shell
// or no Dir, and process-lost. When ctx is done, an error that wraps its
// cause. With an error the Outcome is empty; the output file stays, if there was
// one, with what was written until then.
func Run(ctx context.Context, p Plan) (Outcome, error) {
	p, err := p.complete()
	if err != nil {
		return Outcome{}, err
	}
	log, err := p.Output.create()
	if err != nil {
		return Outcome{}, err
	}
	defer log.close()
	runs, err := p.run(ctx, log)
	if err != nil {
		return Outcome{}, err
	}
	evidence, err := log.evidence(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{
		Green:        len(runs) == p.Runs && runs[len(runs)-1].green(),
		Runs:         runs,
		Excerpt:      evidence.excerpt,
		OutputBytes:  evidence.size,
		OutputDigest: evidence.digest,
		Output:       p.Output.path(),
	}, nil
}

// complete returns the plan with its defaults, if it is one that can be run.
func (p Plan) complete() (Plan, error) {
	switch {
	case p.Keeper == nil:
		return p, errs.New(errs.VerifyPlanInvalid, "nobody would look after the verification command")
	case strings.TrimSpace(p.Command) == "":
		return p, errs.New(errs.VerifyPlanInvalid, "the verification command is blank")
	case p.Runs < 1:
		return p, errs.New(errs.VerifyPlanInvalid, "%d runs verify nothing", p.Runs).With("runs", p.Runs)
	case p.Timeout < 0:
		return p, errs.New(errs.VerifyPlanInvalid, "%v is no time limit", p.Timeout)
	case p.OutputLimit < 0:
		return p, errs.New(errs.VerifyPlanInvalid, "%d bytes are no limit for the output", p.OutputLimit)
	}
	if p.Timeout == 0 {
		p.Timeout = DefaultTimeout
	}
	if p.OutputLimit == 0 {
		p.OutputLimit = DefaultOutputLimit
	}
	if p.Dir == "" {
		p.Dir = p.Output.Root
	}
	return p, nil
}

// run returns the runs that took place: all but the last one are green.
func (p Plan) run(ctx context.Context, log *logFile) ([]RunResult, error) {
	spec := shell(p.Command)
	spec.Dir = p.Dir
	spec.Env = p.Env
	spec.Output = log.file
	spec.OutputLimit = p.OutputLimit
	spec.Timeout, spec.Grace = p.Timeout, grace
	var runs []RunResult
	for n := 1; n <= p.Runs; n++ {
		if p.Runs > 1 {
			if err := log.header(n, p.Runs); err != nil {
				return nil, err
			}
		}
		before, err := log.size()
		if err != nil {
			return nil, err
		}
		result, err := runRecorded(ctx, p.Keeper, spec, p.Record)
		if err != nil {
			return nil, err
		}
		if result.OutputBytes > p.OutputLimit {
			if err := log.truncate(before + p.OutputLimit); err != nil {
				return nil, err
			}
		}
		run := RunResult{result.ExitCode, result.Signal, result.End, result.Duration.Milliseconds()}
		runs = append(runs, run)
		if !run.green() {
			break
		}
	}
	return runs, nil
}

// runRecorded runs a child that record writes down, if it is not nil.
func runRecorded(ctx context.Context, k *supervise.Supervisor, spec supervise.Spec, record func(supervise.Identity) error) (supervise.Result, error) {
	if record != nil {
		spec.Reserved, spec.Started = k.Reserve(""), record
		if err := record(spec.Reserved); err != nil {
			return supervise.Result{}, err
		}
	}
	return k.Run(ctx, spec)
}
