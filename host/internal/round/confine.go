package round

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

// confineAgents is what confines the project's agents.
func confineAgents(s project.Spawn) access.Settings {
	settings := confineAs(s.Confine)
	settings.Limits = sandbox.Limits(s.Limits)
	return settings
}

// checkConfinement returns why no agent of a task could be confined in a working tree as the
// settings want it, so that a command fails before anything runs. A required level is tried.
//
// # Errors
//
// confine-path-invalid, confine-host-invalid, confine-unavailable and confine-failed.
func (e *Engine) checkConfinement(config project.Config, id, tree string) error {
	s := confineAgents(config.Spawn)
	process, err := access.New(&e.sandbox, s, e.site(config, id, tree), access.Needs{})
	if err != nil {
		return err
	}
	process.Close()
	if !s.Required {
		return nil
	}
	return e.sandbox.Probe(s.Level)
}

// site is where a process runs in a working tree, for the task id.
func (e *Engine) site(config project.Config, id, tree string) access.Site {
	return access.Site{
		Root: e.project.Root, Tree: tree, State: e.project.State(), Environ: e.environ,
		Deciding: slices.Concat(worktree.EffectiveFiles(), e.decidingFiles(config, id)),
	}
}

func confineAs(c project.Confine) access.Settings {
	return access.Settings{Want: c.Want, Read: c.Read, Write: c.Write, Hosts: c.Hosts}
}

// confinedCommand is a command of the project that is confined, with a folder of its own.
type confinedCommand struct {
	*access.Process
	private string
}

// confineCommand prepares the confinement of a verification, which may change its working
// tree, but not what decides about the round.
func (tx *taskTx) confineCommand(config project.Config, c project.Confine, command *verifycmd.Command) (confinedCommand, error) {
	private, err := os.MkdirTemp("", "switchyard-verify-")
	if err == nil {
		private, err = filepath.EvalSymlinks(private)
	}
	if err != nil {
		return confinedCommand{}, errs.New(errs.ConfineFailed, "the command has no folder for temporary files: %w", safefile.Reason(err))
	}
	command.Env = append(command.Env, "TMPDIR="+private)
	process, err := access.New(&tx.engine.sandbox, confineAs(c),
		tx.engine.site(config, tx.ID, command.Dir),
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
