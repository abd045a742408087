package round

import (
	"os"
	"path/filepath"

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

func confineAs(c project.Confine) access.Settings {
	return access.Settings{Want: c.Want, Read: c.Read, Write: c.Write, Hosts: c.Hosts}
}

// confinedCommand is a command of the project that is confined, with a folder of its own.
type confinedCommand struct {
	*access.Process
	private string
}

// confineCommand prepares the confinement of a command, which may change the working tree,
// but not what decides about the round.
func (tx *taskTx) confineCommand(c project.Confine, command *verifycmd.Command) (confinedCommand, error) {
	private, err := os.MkdirTemp("", "switchyard-verify-")
	if err == nil {
		private, err = filepath.EvalSymlinks(private)
	}
	if err != nil {
		return confinedCommand{}, errs.New(errs.ConfineFailed, "the command has no folder for temporary files: %w", safefile.Reason(err))
	}
	command.Env = append(command.Env, "TMPDIR="+private)
	process, err := access.New(&tx.engine.sandbox, confineAs(c),
		access.Site{
			Root: tx.engine.project.Root, Tree: tx.tree(), State: tx.engine.project.State(), Environ: tx.engine.environ,
			Deciding: worktree.EffectiveFiles(),
		},
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
