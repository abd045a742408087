package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/hook"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func newHookCmd(a *app) *cobra.Command {
	return cli.NewGroup(&cobra.Command{
		Use:   "hook",
		Short: "Keep sessions of Claude Code and Codex from ending with open findings",
		Long: `Hook is the Stop hook of Claude Code and Codex: a session does not end while a task
of its project has findings, or a red verification, that its agent must fix.`,
	}, newHookStopCmd(a), newHookReleaseCmd(a), newHookInstallCmd(a, true), newHookInstallCmd(a, false))
}

const hookStopStatus = `
Exit status:
  0  always; the answer says whether the session may end
`

func newHookStopCmd(a *app) *cobra.Command {
	var verify bool
	limit := time.Minute
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Answer a Stop event",
		Long: `Stop reads a Stop event of Claude Code or Codex from standard input, and prints the
answer. Switchyard hook install makes them run it.

It blocks only because of recorded findings, or a recorded red verification, that
the session's agent must fix; docs/hooks.md has the rules. If stop itself fails, the
session ends, and its user reads why.

With --verify it first runs the project's verification, if files have changed.
--limit is the time limit of the hook in the program's settings.`,
		Example: `  switchyard hook stop < event.json`,
		// Programs treat the exit status of a wrong command line as a block.
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "run the verification, unless no file has changed since the last block")
	cli.DurationVar(cmd.Flags(), &limit, "limit", "end before `DURATION`, the time limit of the hook")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return a.printAnswer(hook.Failed(cli.Usage(err))) })
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if isTerminal(a.In) {
			return cmd.Help()
		}
		return a.printAnswer(hook.Answer(cmd.Context(), limit, func(ctx context.Context) (hook.Output, error) {
			if err := cli.NoArgs(cmd, args); err != nil {
				return hook.Output{}, cli.Usage(err)
			}
			return a.stopSession(ctx, verify)
		}))
	}
	return cmd
}

func (a *app) printAnswer(out hook.Output) error {
	a.Output = cli.OutputJSON
	return cli.Show(&a.Program, out, nil, nil)
}

// stopSession answers the event on standard input. It publishes no metrics: a gateway may
// be slow.
func (a *app) stopSession(ctx context.Context, verify bool) (hook.Output, error) {
	in, err := hook.ReadInput(ctx, a.In)
	if err != nil {
		return hook.Output{}, err
	}
	p, err := project.Find(in.Dir)
	if err != nil {
		return hook.Output{}, errs.New(errs.HookInputInvalid, "the event's cwd: %w", err)
	}
	e := a.engine(p)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	result, err := e.StopSession(ctx, api.SessionRequest{Session: in.Session, Verify: verify})
	return hook.Decide(result), err
}

func newHookReleaseCmd(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "release [TASK] --reason TEXT",
		Short: "Let sessions end with a task's findings",
		Long: `Release lets sessions end although a task has findings to fix, until its next
decision. Without TASK it releases all tasks that block sessions now. The ledger
records who did it, when and why. The findings stay open.`,
		Example: `  switchyard hook release TASK-1 --reason 'fixed tomorrow'`,
		Args:    cli.OrNothing(cli.OneTask),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "the reason: `TEXT`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		if strings.TrimSpace(reason) == "" {
			return cli.Usagef("--reason is missing: say why sessions may end")
		}
		released, err := e.ReleaseSession(ctx, cli.FirstArg(args), textutil.Fit(reason, maxReason))
		return cli.Show(&a.Program, render.SessionRelease{Tasks: released}, err, (*render.Printer).SessionRelease)
	})
	return cmd
}

func newHookInstallCmd(a *app, install bool) *cobra.Command {
	var claude, codex, inProject, user, yes bool
	cmd := &cobra.Command{
		Use:   "install --claude|--codex [--user] [--yes]",
		Short: "Add the Stop hook to the settings of Claude Code or Codex",
		Long: `Install adds the Stop hook to the settings of the project, or with --user to the
user's settings: for Claude Code to .claude/settings.json, for Codex to
.codex/hooks.json. It shows the change, and with --yes it writes the file. Other
settings keep their order and values, but the whole file is indented.`,
		Example: `  switchyard hook install --claude
  switchyard hook install --claude --codex --user --yes`,
		Args: cli.NoArgs,
	}
	edit := hook.Install
	if !install {
		edit = hook.Uninstall
		cmd.Use, cmd.Short = "uninstall --claude|--codex [--user] [--yes]", "Remove the Stop hook from the settings of Claude Code or Codex"
		cmd.Long = `Uninstall removes the Stop hook that install has added. It shows the change, and with
--yes it writes the file, or removes a file that would be empty. Other settings keep
their order and values, but the whole file is indented.`
		cmd.Example = `  switchyard hook uninstall --claude --yes`
	}
	flags := cmd.Flags()
	flags.BoolVar(&claude, "claude", false, "change the settings of Claude Code")
	flags.BoolVar(&codex, "codex", false, "change the settings of Codex")
	flags.BoolVar(&inProject, "project", false, "change the settings of the project (the default)")
	flags.BoolVar(&user, "user", false, "change the settings of the user")
	flags.BoolVar(&yes, "yes", false, "write the file")
	cmd.RunE = a.runE(func(ctx context.Context, _ *host.Engine, _ []string) error {
		if !claude && !codex {
			return cli.Usagef("choose the settings to change: --claude, --codex or both")
		}
		if err := cli.CheckExclusive(flags, "project", "user"); err != nil {
			return err
		}
		var files []settingsFile
		if claude {
			files = append(files, settingsFile{"CLAUDE_CONFIG_DIR", ".claude", "settings.json"})
		}
		if codex {
			files = append(files, settingsFile{"CODEX_HOME", ".codex", "hooks.json"})
		}
		// A file that cannot be changed must leave the others as they are.
		result, err := changeFiles(ctx, a.project, files, user, edit, false)
		if err == nil && yes {
			result, err = changeFiles(ctx, a.project, files, user, edit, true)
		}
		return cli.Show(&a.Program, result, err, (*render.Printer).HookSettings)
	})
	return cmd
}

// changeFiles edits settings files, and writes them if write is set.
func changeFiles(ctx context.Context, p project.Project, files []settingsFile, user bool, edit func([]byte) ([]byte, error), write bool) (render.HookSettings, error) {
	result := render.HookSettings{Written: write}
	for _, file := range files {
		path, err := file.path(p, user)
		if err != nil {
			return result, err
		}
		change, err := changeSettings(ctx, p, path, user, edit, write)
		if err != nil {
			return result, err
		}
		result.Files = append(result.Files, change)
	}
	return result, nil
}

// settingsFile is a program's settings file, in a directory of the project or of the user's
// home. The environment variable names another directory for the user.
type settingsFile struct{ variable, dir, name string }

func (f settingsFile) path(p project.Project, user bool) (string, error) {
	if !user {
		return filepath.Join(p.Root, f.dir, f.name), nil
	}
	if dir := os.Getenv(f.variable); dir != "" {
		return filepath.Abs(filepath.Join(dir, f.name))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", cli.Usagef("--user: %w", err)
	}
	return filepath.Join(home, f.dir, f.name), nil
}

// maxSettings is the maximum size of a program's settings, in bytes.
const maxSettings = 1 << 20

// changeSettings edits a settings file. If write is set, it writes the result, or removes the
// file if the result is empty. In a home it follows a symbolic link, since managers of dotfiles
// create them, and does not remove the link's target.
func changeSettings(ctx context.Context, p project.Project, path string, user bool, edit func([]byte) ([]byte, error), write bool) (render.SettingsFile, error) {
	info, err := os.Lstat(path)
	linked := err == nil && info.Mode()&os.ModeSymlink != 0
	if real, err := filepath.EvalSymlinks(path); err == nil && user {
		path = real
	}
	before, err := p.Read(ctx, path, maxSettings)
	isNew := errs.CodeOf(err) == errs.FileNotFound
	if err != nil && !isNew {
		return render.SettingsFile{}, err
	}
	after, err := edit(before)
	if err != nil {
		return render.SettingsFile{}, errs.New(errs.CodeOf(err), "%s: %w", path, err).With("path", path)
	}
	file := render.SettingsFile{Path: path}
	if string(before) == string(after) {
		return file, nil
	}
	if len(after) == 0 && linked {
		after = []byte("{}\n")
	}
	file.Removed = len(after) == 0
	from, to := path, path
	if isNew {
		from = os.DevNull
	}
	if file.Removed {
		to = os.DevNull
	}
	file.Diff = string(diff.Diff(from, before, to, after))
	switch {
	case !write:
		return file, nil
	case file.Removed:
		return file, removeFile(p, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return file, errs.New(errs.FileUnwritable, "%w", err).With("path", path)
	}
	return file, writeFile(p, path, after)
}
