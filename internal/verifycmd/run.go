// Package verifycmd runs a project's verification command.
//
// The result is green if every run ends by itself, within its limits, with exit code 0,
// and red otherwise. An error means that there is no result.
//
// The output goes to a file in the state directory while the command runs, so that the
// user can follow it. It is never held in memory: the Outcome has its digest and an
// excerpt.
package verifycmd

import (
	"context"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The default limits of a run.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultOutputLimit = 256 << 20 // bytes
)

// grace is the time between the soft signal and the kill of a command.
const grace = 2 * time.Second

// Plan is the request for a verification.
type Plan struct {
	// Keeper runs the command.
	Keeper *supervise.Supervisor
	// Record stores the identity of the process, before each run and once it has started,
	// so that the next start finds orphans if this process is killed. It may be nil.
	Record func(supervise.Identity) error
	// Command is a command line for the shell: sh, or cmd on Windows. A blank command is
	// rejected, because it would succeed.
	Command string
	// Runs is the number of runs that must succeed, at least 1.
	Runs int
	// Timeout and OutputLimit, in bytes, apply to each run. 0 means the default.
	Timeout     time.Duration
	OutputLimit int64
	// Dir is the working folder, "" for the project's root.
	Dir string
	// Env is the whole environment, as NAME=value. The last entry of a name applies.
	Env []string
	// Output is the file for the output.
	Output OutputFile
}

// Outcome is the result of a verification.
type Outcome struct {
	// Green is true if all runs took place and succeeded.
	Green bool `json:"green"`
	// Runs has the runs that took place. The last one is the cause of a red result.
	Runs []RunResult `json:"runs"`
	// Excerpt is the output, or its beginning and its end (see Excerpt).
	Excerpt string `json:"excerpt"`
	// OutputBytes is the size of the output file, and OutputDigest its digest, "sha256:"
	// and hex digits.
	OutputBytes  int64  `json:"output_bytes"`
	OutputDigest string `json:"output_digest"`
	// Output is the output file's path below the project's root, with slashes.
	Output string `json:"output"`
}

// RunResult describes how one run of the command ended.
type RunResult struct {
	// ExitCode is -1 if a signal ended the shell; Signal is then its name.
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitzero"`
	// End is why it ended: only supervise.Exited can be green.
	End supervise.End `json:"end"`
	// DurationMS is in milliseconds.
	DurationMS int64 `json:"duration_ms"`
}

func (r RunResult) green() bool {
	return r.End == supervise.Exited && r.ExitCode == 0 && r.Signal == ""
}

// Run runs the command as often as the plan says, or until a run is red. With several
// runs, a header line precedes the output of each. A command that the shell cannot find
// is red, with exit code 127.
//
// # Errors
//
// verify-plan-invalid, verify-output-unsafe and verify-output-failed; process-start if
// the shell or Dir is missing, and process-lost. When ctx is done, the error wraps its
// cause. The output file stays, with the output so far.
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

// complete checks the plan and fills in its defaults.
func (p Plan) complete() (Plan, error) {
	switch {
	case p.Keeper == nil:
		return p, errs.New(errs.VerifyPlanInvalid, "the verification command has no supervisor")
	case strings.TrimSpace(p.Command) == "":
		return p, errs.New(errs.VerifyPlanInvalid, "the verification command is blank")
	case p.Runs < 1:
		return p, errs.New(errs.VerifyPlanInvalid, "%d runs verify nothing", p.Runs).With("runs", p.Runs)
	case p.Timeout < 0:
		return p, errs.New(errs.VerifyPlanInvalid, "%v is not a time limit", p.Timeout)
	case p.OutputLimit < 0:
		return p, errs.New(errs.VerifyPlanInvalid, "%d bytes is not a limit for the output", p.OutputLimit)
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

// run returns the runs that took place. All but the last one are green.
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

// runRecorded runs a child and records its identity if record is not nil.
func runRecorded(ctx context.Context, k *supervise.Supervisor, spec supervise.Spec, record func(supervise.Identity) error) (supervise.Result, error) {
	if record != nil {
		spec.Reserved, spec.Started = k.Reserve(""), record
		if err := record(spec.Reserved); err != nil {
			return supervise.Result{}, err
		}
	}
	return k.Run(ctx, spec)
}
