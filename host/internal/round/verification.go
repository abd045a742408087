package round

import (
	"cmp"
	"context"
	"fmt"
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

func runsVerification(r api.VerifyRequest, config project.Config) bool {
	return r.Command != "" || r.ExitCode == nil && r.Claim == "" && config.Verify != nil
}

// verifyCommand returns the command that verifies a draft, nil for none: the caller's with
// the repetitions, the time limit and the confinement of the project's, or that of the
// project.
func verifyCommand(command string, config project.Config) *project.Verify {
	if command == "" {
		return config.Verify
	}
	v := project.Verify{Command: command, Runs: 1}
	if config.Verify != nil {
		v.Runs, v.Timeout, v.Confine = config.Verify.Runs, config.Verify.Timeout, config.Verify.Confine
	}
	return &v
}

// checkMayVerify rejects a verification command that is nested or not trusted.
func checkMayVerify(tx *tasktx.Tx, req api.VerifyRequest, config project.Config) error {
	switch {
	case !runsVerification(req, config):
		return nil
	case isNested(tx):
		return errs.New(errs.VerifyNested, "a verification in %s verifies task %s in its turn", tx.Project.Root, tx.ID).With("task", tx.ID)
	case req.Command == "":
		return config.Verify.CheckTrusted()
	default:
		return nil
	}
}

// verify determines how a round's draft was verified. It runs a command, which may take
// minutes, only if run is set or the request has one. An attestation that names its tree
// counts for that tree only.
func verify(ctx context.Context, tx *tasktx.Tx, req api.VerifyRequest, config project.Config, run bool) (api.Verification, error) {
	switch {
	case req.Command != "":
		return runVerification(ctx, tx, config, *verifyCommand(req.Command, config), tx.Tree())
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
	if run && config.Verify != nil && req.Claim == "" {
		return runVerification(ctx, tx, config, *config.Verify, tx.Tree())
	}
	outcome, attestation := tx.Status.VerificationOutcome(string(req.Claim))
	if attestation != nil && attestation.Tree != "" {
		now, err := snapshot(ctx, tx, config, &tx.Project.Trees)
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

// verifyAgain verifies the draft of a round. An earlier verification no longer counts: one
// that is killed, or loses a race, may have been red.
func verifyAgain(ctx context.Context, tx *tasktx.Tx, req api.VerifyRequest, config project.Config, round int) (api.Verification, error) {
	if err := checkMayVerify(tx, req, config); err != nil {
		return api.Verification{}, err
	}
	if runsVerification(req, config) {
		if err := beginVerification(ctx, tx, task.BeginVerification{Same: true}); err != nil {
			return api.Verification{}, tx.MapConflict(ctx, round, err)
		}
	}
	return verify(ctx, tx, req, config, true)
}

// snapshot scans the working tree in the scope that spawns use. A command that takes only
// one is faster without a cache.
func snapshot(ctx context.Context, tx *tasktx.Tx, config project.Config, cache *worktree.Cache) (*worktree.Snapshot, error) {
	tree, err := workingTree(tx)
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

// workingTree returns the task's working tree.
func workingTree(tx *tasktx.Tx) (worktree.Tree, error) {
	keeper, err := tx.Project.Supervisor()
	return worktree.Tree{Root: tx.Tree(), Supervisor: keeper, Environ: tx.Project.Environ}, err
}

// rootsVariable lists the marks of the projects whose verification this process is part
// of. It prevents tasks from verifying each other endlessly.
const rootsVariable = "SWITCHYARD_VERIFYING"

// projectMark identifies the project in that list; a path could contain the separator.
func projectMark(tx *tasktx.Tx) string { return digest.Of(tx.Project.Root) }

// verificationSlot is the name of the leases of running verifications. The next command
// ends a verification whose host was killed.
const verificationSlot = "verification"

// isNested reports whether this process was started by one of the project's commands.
func isNested(tx *tasktx.Tx) bool {
	return slices.Contains(strings.Split(childenv.Value(tx.Project.Environ, rootsVariable), ","), projectMark(tx))
}

// prepare prepares one of the project's own commands. The caller must release the lease
// after it has run.
func prepare(ctx context.Context, tx *tasktx.Tx, line, run string) (verifycmd.Command, *lease.Lease, error) {
	keeper, err := tx.Project.Supervisor()
	if err != nil {
		return verifycmd.Command{}, nil, err
	}
	pool, err := tx.Project.Leases()
	if err != nil {
		return verifycmd.Command{}, nil, err
	}
	held, err := pool.Take(ctx, verificationSlot, lease.MaxLimit, lease.Forever)
	return verifycmd.Command{
		Keeper: keeper, Line: line, Dir: tx.Tree(),
		Record: func(child supervise.Identity) error {
			return held.Record(lease.Record{Process: child, Run: run, Task: tx.ID, Began: tx.Project.Now().UTC().Format(time.RFC3339)})
		},
		Env: append(slices.Clip(tx.Project.Environ),
			"SWITCHYARD_TASK="+tx.ID, fmt.Sprintf("SWITCHYARD_ROUND=%d", max(tx.Status.Round, 1)),
			rootsVariable+"="+childenv.Value(tx.Project.Environ, rootsVariable)+","+projectMark(tx),
		),
	}, held, err
}

func runVerification(ctx context.Context, tx *tasktx.Tx, config project.Config, v project.Verify, dir string) (api.Verification, error) {
	command, held, err := prepare(ctx, tx, v.Command, "verification")
	if err != nil {
		return api.Verification{}, err
	}
	defer tx.Project.Release(held)
	command.Dir, command.Timeout = dir, v.Timeout
	if v.Confine.Level.AtLeast(confinement.Files) {
		confined, err := confineCommand(tx, config, v.Confine, &command)
		if err != nil {
			return api.Verification{}, err
		}
		defer confined.close(tx.Project.Warn)
		command.Start, command.Signal = func(cmd *exec.Cmd) error { return confined.Start(ctx, cmd) }, confined.Signal
	}
	// Without an adapter, it is not shown as an agent.
	at := spawner.Progress{Phase: spawner.Running, Agent: "verification", Run: "verification", Since: tx.Project.Now(), Limit: time.Duration(v.Runs) * cmp.Or(v.Timeout, verifycmd.DefaultTimeout)}
	tx.Project.Observe(at)
	defer func() {
		at.Phase = spawner.Ended
		tx.Project.Observe(at)
	}()
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

// verifyDraft verifies the draft. A green verification that the engine ran on this working
// tree is reused.
func (rr *roundRunner) verifyDraft(ctx context.Context) (api.Verification, error) {
	if !runsVerification(rr.req.Verify, rr.config) {
		return verify(ctx, rr.tx, rr.req.Verify, rr.config, true)
	}
	if rr.shot != nil {
		rr.tree = rr.shot.Digest()
	} else if err := rr.readTree(ctx); err != nil {
		return api.Verification{}, err
	}
	command := verifyCommand(rr.req.Verify.Command, rr.config).Command
	if v := rr.tx.Status.Verified; v != nil && !v.Claimed && v.Command == command && v.Tree == rr.tree {
		return api.Verification{Outcome: policies.Green, Verification: *v}, nil
	}
	// A review of this tree stays valid, whatever the verification's result.
	review := rr.tx.Status.LatestRun(task.RoleCritic, 0)
	begun, err := rr.recorder.Write(ctx, func() error {
		return rr.tx.Apply(task.BeginVerification{Same: review != nil && review.Tree == rr.tree}, event.Full{})
	})
	if err != nil {
		return api.Verification{}, err
	}
	since := rr.tx.Head.N
	if begun != nil {
		since = begun.N
	}
	rr.shot = nil
	v, err := verify(ctx, rr.tx, rr.req.Verify, rr.config, true)
	if err != nil || v.Outcome != policies.Green {
		return v, err
	}
	// The command may have changed the tree, including untracked files.
	if err := rr.readTree(ctx); err != nil {
		return api.Verification{}, err
	}
	v.Tree = rr.tree
	_, err = rr.recorder.Write(ctx, func() error {
		newer, err := hasNewerDraft(ctx, rr.tx, since)
		if err == nil && (newer || max(rr.tx.Status.Round, 1) != rr.round.Number) {
			err = tasktx.ErrLostRace(rr.round.Number, rr.tx.Status.State)
		}
		if err != nil {
			return err
		}
		return rr.tx.Apply(task.RecordVerification{Verification: v.Verification, InRound: true}, event.Full{Verification: &v})
	})
	return v, err
}

func (rr *roundRunner) readTree(ctx context.Context) (err error) {
	if rr.shot, err = snapshot(ctx, rr.tx, rr.config, &rr.tx.Project.Trees); err == nil {
		rr.tree = rr.shot.Digest()
	}
	return err
}

// VerifyMerge runs the task's verification in another directory; it is absent if there is
// none. line is the caller's command, "" for that of the project.
func VerifyMerge(ctx context.Context, tx *tasktx.Tx, config project.Config, line, dir string) (api.Verification, error) {
	v := verifyCommand(line, config)
	if v == nil {
		return api.Verification{Outcome: policies.Absent}, nil
	}
	if err := checkMayVerify(tx, api.VerifyRequest{Command: line}, config); err != nil {
		return api.Verification{}, err
	}
	return runVerification(ctx, tx, config, *v, dir)
}

// confinedCommand is a command of the project that is confined, with a folder of its own.
type confinedCommand struct {
	*access.Process
	private string
}

// confineCommand prepares the confinement of a verification, which may change its working
// tree, but not what decides about the round.
func confineCommand(tx *tasktx.Tx, config project.Config, c project.Confine, command *verifycmd.Command) (confinedCommand, error) {
	private, err := os.MkdirTemp("", "switchyard-verify-")
	if err == nil {
		private, err = filepath.EvalSymlinks(private)
	}
	if err != nil {
		return confinedCommand{}, errs.New(errs.ConfineFailed, "the command has no folder for temporary files: %w", safefile.Reason(err))
	}
	command.Env = append(command.Env, "TMPDIR="+private)
	process, err := access.New(&tx.Project.Sandbox, agents.CommandConfinement(c),
		agents.Site(tx.Project, config, tx.ID, command.Dir),
		access.Needs{Edits: true, Private: private, Cache: filepath.Join(private, "cache"), Write: []string{private}})
	if err != nil {
		_ = os.RemoveAll(private)
	}
	return confinedCommand{process, private}, err
}

func (c confinedCommand) close(warn func(error)) {
	c.Process.Close()
	if err := os.RemoveAll(c.private); err != nil {
		warn(errs.New(errs.ConfineFailed, "a folder for temporary files is left: %w", safefile.Reason(err)))
	}
}
