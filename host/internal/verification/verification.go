// Package verification verifies a task's draft: it runs the project's commands in the task's
// working tree, and knows which earlier verification still counts.
package verification

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Runs reports whether a request runs a verification command.
func Runs(r api.VerifyRequest, config project.Config) bool {
	return r.Command != "" || r.ExitCode == nil && r.Claim == "" && config.Verify != nil
}

// Command returns the command that verifies a draft, or nil: the caller's with the
// repetitions, the time limit and the confinement of the project's, or the project's own.
func Command(command string, config project.Config) *project.Verify {
	if command == "" {
		return config.Verify
	}
	v := project.Verify{Command: command, Runs: 1}
	if config.Verify != nil {
		v.Runs, v.Timeout, v.Confine = config.Verify.Runs, config.Verify.Timeout, config.Verify.Confine
	}
	return &v
}

// CheckAllowed rejects a verification command that is nested or not trusted.
func CheckAllowed(tx *tasktx.Tx, req api.VerifyRequest, config project.Config) error {
	switch {
	case !Runs(req, config):
		return nil
	case IsNested(tx):
		return errs.New(errs.VerifyNested, "a verification in %s cannot verify task %s", tx.Project.Root, tx.ID).With("task", tx.ID)
	case req.Command == "":
		return config.Verify.CheckTrusted()
	default:
		return nil
	}
}

// Of returns the verification of a round's draft. It runs a command, which may take minutes,
// only if run is set or the request has one. An attestation that names its tree counts for
// that tree only.
func Of(ctx context.Context, tx *tasktx.Tx, req api.VerifyRequest, config project.Config, run bool) (api.Verification, error) {
	switch {
	case Runs(req, config) && (run || req.Command != ""):
		return Run(ctx, tx, config, *Command(req.Command, config), tx.Tree())
	case req.ExitCode != nil:
		v := api.Verification{
			Outcome: policies.Green, Excerpt: req.Excerpt,
			Verification: task.Verification{Claimed: true, ExitCode: req.ExitCode, OutputBytes: req.OutputBytes},
		}
		if *req.ExitCode != 0 {
			v.Outcome = policies.Red
		}
		return v, nil
	}
	outcome, attestation := tx.Status.VerificationOutcome(string(req.Claim))
	if attestation != nil && attestation.Tree != "" {
		now, err := Snapshot(ctx, tx, config, &tx.Project.Trees)
		if err != nil {
			return api.Verification{}, err
		}
		if now.Digest() != attestation.Tree {
			attestation = nil // It belongs to another draft.
		}
	}
	switch {
	case attestation != nil:
		return api.Verification{Outcome: policies.Verify(outcome), Verification: *attestation}, nil
	case req.Claim != "":
		return api.Verification{Outcome: req.Claim, Verification: task.Verification{Claimed: true}}, nil
	default:
		return api.Verification{Outcome: policies.Absent}, nil
	}
}

// Again verifies the draft of a round. An earlier verification no longer counts: one
// that is killed, or loses a race, may have been red.
func Again(ctx context.Context, tx *tasktx.Tx, req api.VerifyRequest, config project.Config, round int) (api.Verification, error) {
	if err := CheckAllowed(tx, req, config); err != nil {
		return api.Verification{}, err
	}
	if Runs(req, config) {
		if err := Begin(ctx, tx, task.BeginVerification{Same: true}); err != nil {
			return api.Verification{}, tx.MapConflict(ctx, round, err)
		}
	}
	return Of(ctx, tx, req, config, true)
}

// Begin invalidates the results of an earlier draft of the round, before a
// verification that may take long or be killed. If another process begins one right after
// it, the error is ledger-conflict: the other draft is the newer one.
func Begin(ctx context.Context, tx *tasktx.Tx, c task.BeginVerification) error {
	if err := tx.Apply(c, event.Full{}); err != nil {
		return err
	}
	begun, err := tx.Commit(ctx, nil)
	if err != nil || begun == nil {
		return err
	}
	if err := tx.Begin(ctx); err != nil {
		return err
	}
	if tx.Head.N != begun.N {
		return errs.New(errs.LedgerConflict, "event %d is no longer the latest", begun.N)
	}
	return nil
}

// Snapshot scans the working tree in the scope that spawns use. A command that takes only
// one is faster without a cache.
func Snapshot(ctx context.Context, tx *tasktx.Tx, config project.Config, cache *worktree.Cache) (*worktree.Snapshot, error) {
	tree, err := WorkingTree(tx)
	if err != nil {
		return nil, err
	}
	scope, err := agents.Scope(tx.Project, config, tx.ID, tx.Tree())
	if err != nil {
		return nil, err
	}
	tree.Cache = cache
	return tree.Snapshot(ctx, scope)
}

// WorkingTree returns the task's working tree.
func WorkingTree(tx *tasktx.Tx) (worktree.Tree, error) {
	keeper, err := tx.Project.Supervisor()
	return worktree.Tree{Root: tx.Tree(), Supervisor: keeper, Environ: tx.Project.Environ}, err
}

// rootsVariable lists the marks of the projects that this process helps to verify. It
// prevents tasks from verifying each other endlessly.
const rootsVariable = "SWITCHYARD_VERIFYING"

// projectMark identifies the project in that list; a path could contain the separator.
func projectMark(tx *tasktx.Tx) string { return digest.Of(tx.Project.Root) }

// verificationSlot is the name of the leases of running verifications, reports and hooks. By
// its lease, the next command finds and ends what a killed command left.
const verificationSlot = "verification"

// IsNested reports whether this process was started by one of the project's commands.
func IsNested(tx *tasktx.Tx) bool {
	return slices.Contains(strings.Split(childenv.Value(tx.Project.Environ, rootsVariable), ","), projectMark(tx))
}

// Hold takes a lease and returns a function that records under it a process of the task's
// command run, so that the next command ends that process if this one is killed. The caller
// must release the lease after the process has ended.
func Hold(ctx context.Context, tx *tasktx.Tx, run string) (record func(supervise.Identity) error, held *lease.Lease, err error) {
	pool, err := tx.Project.Leases()
	if err != nil {
		return nil, nil, err
	}
	held, err = pool.Take(ctx, verificationSlot, lease.MaxLimit, lease.Forever)
	return func(child supervise.Identity) error {
		return held.Record(lease.Record{Process: child, Run: run, Task: tx.ID, Began: tx.Project.Now().UTC().Format(time.RFC3339)})
	}, held, err
}

// Prepare prepares one of the project's own commands. The caller must release the lease
// after it has run.
func Prepare(ctx context.Context, tx *tasktx.Tx, line, run string) (verifycmd.Command, *lease.Lease, error) {
	keeper, err := tx.Project.Supervisor()
	if err != nil {
		return verifycmd.Command{}, nil, err
	}
	record, held, err := Hold(ctx, tx, run)
	return verifycmd.Command{
		Keeper: keeper, Line: line, Dir: tx.Tree(), Record: record,
		Env: append(slices.Clip(tx.Project.Environ),
			"SWITCHYARD_TASK="+tx.ID, fmt.Sprintf("SWITCHYARD_ROUND=%d", max(tx.Status.Round, 1)),
			rootsVariable+"="+childenv.Value(tx.Project.Environ, rootsVariable)+","+projectMark(tx),
		),
	}, held, err
}

// Show shows that a command of the task runs, until end is called. Without an adapter, it does
// not appear as an agent.
func Show(tx *tasktx.Tx, name string, limit time.Duration) (end func()) {
	at := spawner.Progress{Phase: spawner.Running, Agent: name, Run: name + " of " + tx.ID, Task: tx.ID, Since: tx.Project.Now(), Limit: limit}
	tx.Project.Observe(at)
	return func() {
		at.Phase = spawner.Ended
		tx.Project.Observe(at)
	}
}

// Run runs a verification in a directory.
func Run(ctx context.Context, tx *tasktx.Tx, config project.Config, v project.Verify, dir string) (api.Verification, error) {
	command, held, err := Prepare(ctx, tx, v.Command, "verification")
	if err != nil {
		return api.Verification{}, err
	}
	defer tx.Project.Release(held)
	command.Dir, command.Timeout = dir, v.Timeout
	if v.Confine.Level.AtLeast(confinement.Files) {
		end, err := confineCommand(ctx, tx, config, v.Confine, &command)
		if err != nil {
			return api.Verification{}, err
		}
		defer end()
	}
	defer Show(tx, "verification", time.Duration(v.Runs)*cmp.Or(v.Timeout, verifycmd.DefaultTimeout))()
	outcome, err := verifycmd.Run(ctx, verifycmd.Plan{Command: command, Runs: v.Runs, Root: tx.Project.Root, Task: tx.ID, Round: max(tx.Status.Round, 1)})
	if err != nil {
		return api.Verification{}, err
	}
	last := outcome.Runs[len(outcome.Runs)-1]
	result := api.Verification{
		Outcome: policies.Red, Excerpt: outcome.Excerpt,
		Verification: task.Verification{
			Command: v.Command, ExitCode: &last.ExitCode, Signal: last.Signal, Runs: len(outcome.Runs),
			Output: outcome.Output, OutputDigest: outcome.OutputDigest, OutputBytes: outcome.OutputBytes,
		},
	}
	if last.End != supervise.Exited {
		result.End = string(last.End)
	}
	if outcome.Green {
		result.Outcome = policies.Green
	}
	return result, nil
}

// RunIn runs the task's verification in another directory. The result is absent if neither
// the caller nor the project has a command. line is the caller's command, or "".
func RunIn(ctx context.Context, tx *tasktx.Tx, config project.Config, line, dir string) (api.Verification, error) {
	v := Command(line, config)
	if v == nil {
		return api.Verification{Outcome: policies.Absent}, nil
	}
	if err := CheckAllowed(tx, api.VerifyRequest{Command: line}, config); err != nil {
		return api.Verification{}, err
	}
	return Run(ctx, tx, config, *v, dir)
}

// confineCommand confines a verification, which may change its working tree, but not the
// files that affect later rounds. The caller must call end after the command has run.
func confineCommand(ctx context.Context, tx *tasktx.Tx, config project.Config, s access.Settings, command *verifycmd.Command) (end func(), err error) {
	temp, err := filepath.EvalSymlinks(os.TempDir())
	private := filepath.Join(temp, lease.PrivateName(rand.Uint64()))
	if err == nil {
		err = os.Mkdir(private, 0o700)
	}
	if err != nil {
		return nil, errs.New(errs.ConfineFailed, "failed to create a directory for temporary files: %w", safefile.Reason(err))
	}
	command.Env, command.Private = append(command.Env, "TMPDIR="+private), private
	process, err := access.New(s,
		agents.Site(tx.Project, config, tx.ID, command.Dir),
		access.Needs{Edits: true, Private: private, Cache: filepath.Join(private, "cache"), Write: []string{private}})
	if err != nil {
		_ = os.RemoveAll(private)
		return nil, err
	}
	command.Start, command.Signal = func(cmd *exec.Cmd) error { return process.Start(ctx, cmd) }, process.Signal
	return func() {
		process.Close()
		if err := safefile.RemovePath(private); err != nil {
			tx.Project.Warn(errs.New(errs.ConfineFailed, "failed to remove the directory for temporary files %s: %w", private, safefile.Reason(err)))
		}
	}, nil
}
