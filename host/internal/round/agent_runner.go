package round

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/transcript"
	"github.com/switchyard-dev/switchyard/spawner"
)

// agentRunner bundles the spawner with the agent definitions.
type agentRunner struct {
	spawner *spawner.Spawner
	library definition.Library
}

// newAgentRunner prepares spawns in a working tree, for the task id, or outside any task if
// id is "".
//
// # Errors
//
// spawn-reentrant and CodeDepth inside a spawned agent, config-foreign, those of adapters
// and of leases.
func (e *Engine) newAgentRunner(ctx context.Context, config project.Config, id, tree string) (agentRunner, error) {
	if err := e.checkNotNested(); err != nil {
		return agentRunner{}, err
	}
	if err := config.Spawn.CheckTrusted(); err != nil {
		return agentRunner{}, err
	}
	if err := agents.CheckConfinement(e.project, config, id, tree); err != nil {
		return agentRunner{}, err
	}
	scope, err := e.treeScope(config, id, tree)
	if err != nil {
		return agentRunner{}, err
	}
	catalog, err := agents.Catalog(ctx, e.project, config)
	if err != nil {
		return agentRunner{}, err
	}
	keeper, err := e.project.Supervisor()
	if err != nil {
		return agentRunner{}, err
	}
	state, err := e.project.OpenState()
	if err != nil {
		return agentRunner{}, err
	}
	defer state.Close()
	s, err := spawner.New(spawner.Options{
		Root: e.project.Root, Tree: tree, State: e.project.State(), Temp: os.TempDir(),
		Scope: scope, Cache: &e.trees, Supervisor: keeper, Catalog: catalog, Environ: e.project.Environ,
		Confine: agents.Confinement(config.Spawn), Sandbox: &e.project.Sandbox,
		Now: e.project.Now, Random: rand.Float64, Transcript: e.keepTranscripts(config.Transcripts), Warn: e.project.Warn,
	})
	return agentRunner{spawner: s, library: definition.Library{Root: e.project.Root}}, err
}

func (a agentRunner) workingTree() worktree.Tree {
	return worktree.Tree{Root: a.spawner.Tree, Supervisor: a.spawner.Supervisor, Environ: a.spawner.Environ}
}

// treeScope returns the paths that count as a change of the working tree while agents run
// for a task ("" for none). It ignores files that other processes change, and always
// includes decidingFiles.
func (e *Engine) treeScope(config project.Config, id, tree string) (worktree.Scope, error) {
	ignored, err := ignoredPaths(config, tree)
	if err != nil {
		return worktree.Scope{}, err
	}
	return worktree.Scope{IgnorePaths: ignored, AlwaysTracked: agents.DecidingFiles(e.project, config, id), TaskTree: tree != e.project.Root}, nil
}

// ignoredPaths lists the paths that change without an agent's doing: the metrics file with
// its draft and lock, which other commands write, and the folder for temporary files if it
// is in the working tree.
func ignoredPaths(config project.Config, tree string) (ignored []string, err error) {
	if file := config.Metrics.Textfile; file != "" {
		dir, name := filepath.Split(file)
		ignored = append(ignored, file, dir+"."+name+".draft", dir+"."+name+".lock")
	}
	temp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, errs.New(errs.SpawnFolderFailed, "the folder for temporary files cannot be used: %w", safefile.Reason(err))
	}
	root, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return nil, err
	}
	switch rel, err := filepath.Rel(root, temp); {
	case err != nil || !filepath.IsLocal(rel):
		return ignored, nil
	case rel == ".":
		return nil, errs.New(errs.SpawnFolderFailed, "the folder for temporary files is the working tree itself, so an agent's changes could not be detected")
	default:
		return append(ignored, rel+"/"), nil
	}
}

// checkNotNested rejects spawns from inside a spawned agent.
func (e *Engine) checkNotNested() error {
	return cmp.Or(e.project.Inside(), childenv.Guard(e.project.Environ))
}

// findAgent returns an agent that this process may spawn, and that does not edit.
func (e *Engine) findAgent(name string) (definition.Definition, error) {
	if err := e.checkNotNested(); err != nil {
		return definition.Definition{}, err
	}
	agentDef, err := definition.Library{Root: e.project.Root}.Find(name)
	if err != nil {
		return definition.Definition{}, err
	}
	return agentDef, agentDef.Spawnable(profile.Report)
}

// reportsFolder is the folder in the state folder that has the reports of spawned agents, by
// run, and of commands, by task and round.
const reportsFolder = "reports"

// keepTranscripts returns the function that keeps what agents said, nil if transcripts are
// off. A transcript that cannot be kept is a warning: the agent's work is done.
func (e *Engine) keepTranscripts(limits transcript.Limits) func(context.Context, io.Reader) string {
	if limits == (transcript.Limits{}) {
		return nil
	}
	return func(ctx context.Context, stdout io.Reader) string {
		e.saving.Lock()
		defer e.saving.Unlock()
		dir, err := e.project.StateFolder(transcript.Folder)
		if err != nil {
			e.project.Warn(err)
			return ""
		}
		defer dir.Close()
		sum, err := transcript.Save(ctx, dir, stdout, limits)
		if err != nil {
			e.project.Warn(core.ErrStateWrite(project.StateDir+"/"+transcript.Folder, err))
		}
		return sum
	}
}
