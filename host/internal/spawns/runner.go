// Package spawns runs agents and records their runs: an intent before each attempt and a
// receipt after it, so that a killed command can resume. It locks rounds, and ends the
// processes that killed commands left.
package spawns

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Runner bundles the spawner with the agent definitions.
type Runner struct {
	Spawner *spawner.Spawner
	Library definition.Library
}

// NewRunner prepares spawns in a working tree, for the task id, or outside any task if
// id is "".
//
// # Errors
//
// spawn-reentrant and spawn-depth-exceeded inside a spawned agent, config-foreign, and errors
// of confinement, adapters and the state directory.
func NewRunner(ctx context.Context, p *core.Project, config project.Config, id, tree string) (Runner, error) {
	if err := cmp.Or(checkNotNested(p), config.Spawn.CheckTrusted()); err != nil {
		return Runner{}, err
	}
	if err := agents.CheckConfinement(p, config, id, tree); err != nil {
		return Runner{}, err
	}
	scope, err := agents.Scope(p, config, id, tree)
	if err != nil {
		return Runner{}, err
	}
	catalog, err := agents.Catalog(ctx, p, config)
	if err != nil {
		return Runner{}, err
	}
	keeper, err := p.Supervisor()
	if err != nil {
		return Runner{}, err
	}
	state, err := p.OpenState()
	if err != nil {
		return Runner{}, err
	}
	defer state.Close()
	s, err := spawner.New(spawner.Options{
		Root: p.Root, Tree: tree, State: p.State(), Temp: os.TempDir(),
		Scope: scope, Cache: &p.Trees, Supervisor: keeper, Catalog: catalog, Environ: p.Environ,
		Confine: config.Spawn.Confine,
		Now:     p.Now, Random: rand.Float64, Transcript: p.KeepTranscripts(config.Transcripts), Warn: p.Warn,
	})
	return Runner{Spawner: s, Library: definition.Library{Root: p.Root}}, err
}

// WorkingTree returns the tree that the agents work in.
func (r Runner) WorkingTree() worktree.Tree {
	return worktree.Tree{Root: r.Spawner.Tree, Supervisor: r.Spawner.Supervisor, Environ: r.Spawner.Environ}
}

func checkNotNested(p *core.Project) error {
	return cmp.Or(p.Inside(), childenv.Guard(p.Environ))
}

// FindAgent returns an agent that this process may spawn, and that does not edit.
func FindAgent(p *core.Project, name string) (definition.Definition, error) {
	if err := checkNotNested(p); err != nil {
		return definition.Definition{}, err
	}
	agentDef, err := definition.Library{Root: p.Root}.Find(name)
	if err != nil {
		return definition.Definition{}, err
	}
	return agentDef, agentDef.Spawnable(profile.Report)
}
