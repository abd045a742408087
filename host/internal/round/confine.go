package round

import (
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

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
