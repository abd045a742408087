package verifycmd

import (
	"context"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// Report is a command whose standard output is a report. Keeper, Record, Command, Dir and
// Env are as in Plan.
type Report struct {
	Keeper  *supervise.Supervisor
	Record  func(supervise.Identity) error
	Command string
	Dir     string
	Env     []string
	// Timeout limits the run, and OutputLimit its output in bytes.
	Timeout     time.Duration
	OutputLimit int64
	// Output and Errors receive standard output and standard error. Both are regular
	// files.
	Output, Errors *os.File
}

// Run runs the command once and returns how it ended.
//
// # Errors
//
// process-start and process-lost. When ctx is done, an error that wraps its cause.
func (r Report) Run(ctx context.Context) (supervise.Result, error) {
	spec := shell(r.Command)
	spec.Dir, spec.Env = r.Dir, r.Env
	spec.Output, spec.Errors, spec.OutputLimit = r.Output, r.Errors, r.OutputLimit
	spec.Timeout, spec.Grace = r.Timeout, grace
	return runRecorded(ctx, r.Keeper, spec, r.Record)
}
