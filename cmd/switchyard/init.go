package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
)

func newInitCmd(a *app) *cobra.Command {
	var from string
	var agents, here bool
	cmd := &cobra.Command{
		Use:   "init [--agents] [--from .nubos-pilot]",
		Short: "Set up a project",
		Long: `Init makes the current directory, or the one of -C, a project. It creates
switchyard.yaml, which explains every key and sets none, and proposes a
verification and reports that suit the project's files; and
.switchyard/.gitignore, which keeps the state out of version control. It replaces
no file and can be repeated. A project works without it, because every key has a
default.

With --from it imports from nubos-pilot: its settings, and the tasks in flight
with their rounds, caps, findings and forced gates. It does not import evidence:
drafts are verified and reviewed again. It lists everything that it could not
import.`,
		Example: `  switchyard init
  switchyard init --from .nubos-pilot`,
		Args: cli.NoArgs,
	}
	cmd.Flags().BoolVar(&agents, "agents", false, "write our agents' definitions, to change them")
	cmd.Flags().BoolVar(&here, "here", false, "make a directory inside another project a project of its own")
	cli.TextVar(cmd.Flags(), &from, "from", "import from nubos-pilot's directory `DIR`")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		result, err := a.init(cmd.Context(), from, agents, here)
		return cli.Show(&a.Program, result, err, (*render.Printer).Init)
	}
	return cmd
}

func (a *app) init(ctx context.Context, from string, agents, here bool) (render.Initialized, error) {
	p, err := project.Find(a.dir)
	if err != nil {
		return render.Initialized{}, cli.Usagef("-C: %w", err)
	}
	a.project = project.Project{Root: p.Dir, Dir: p.Dir}
	result := render.Initialized{Folder: p.Dir, Git: a.project.Exists(".git"), Within: p.GitAbove()}
	if outer := p.AtRoot(); p.Root != p.Dir && !here && (outer.Exists(project.ConfigFile) || outer.Exists(project.StateDir)) {
		return result, errs.New(errs.InitNested, "%s is inside the project %s", p.Dir, p.Root).With("root", p.Root).
			WithHint(fmt.Sprintf("switchyard -C %s init sets that project up; init --here makes this directory another one", p.Root))
	}
	var read nubospilot.Import
	if from != "" {
		dir, err := p.Folder(from)
		if err != nil {
			return result, err
		}
		if read, err = nubospilot.Read(ctx, dir); err != nil {
			return result, err
		}
	}
	write := settings(read.Settings)
	write.Suggestion = p.Suggest(ctx)
	var files map[string][]byte
	if agents {
		files = definition.Files()
	}
	result.Created, err = project.Init(ctx, p.Dir, write, files)
	e := a.engine(a.project)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	defer cli.Publish(ctx, e, a.project, a.warn)
	if err == nil {
		result.Adapters = e.Installed()
	}
	if from == "" {
		return result, err
	}
	if errs.CodeOf(err) == errs.InitExists {
		// The tasks can still be imported.
		read.Left, err = append(read.Left, nubospilot.Left{
			What: project.ConfigFile, Why: "it exists and says something else, so that the settings are yours to add: " + settings(read.Settings).String(),
		}), nil
	}
	if err != nil {
		return result, err
	}
	imports, err := e.Import(ctx, read.Tasks)
	result.Tasks, result.Left = imports.Tasks, append(read.Left, imports.Left...)
	return result, err
}

// settings converts the settings of nubos-pilot.
func settings(s nubospilot.Settings) project.Settings {
	ours := project.Settings{MaxRounds: s.MaxRounds, Researchers: s.Researchers, VerifyRuns: s.VerifyRuns}
	off := func(b *bool) bool { return b != nil && !*b }
	if off(s.Architect) || off(s.TestWriter) {
		ours.Phases = []string{}
		if !off(s.Architect) {
			ours.Phases = append(ours.Phases, project.PhaseDesign)
		}
		if !off(s.TestWriter) {
			ours.Phases = append(ours.Phases, project.PhaseTests)
		}
	}
	return ours
}
