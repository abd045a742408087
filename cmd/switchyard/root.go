package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/project"
)

func newRootCmd(a *app) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "switchyard",
		Short: "Decide where a review loop goes next",
		Long: `Switchyard decides what follows a critic's run: commit, back to the executor,
ask a researcher, ask the user, ask the plan checker, or stop as stuck.

It normalises the critic's report in a sandboxed WebAssembly plugin, merges the
findings, routes them by a versioned policy, and records why in a ledger.`,
		Example: `  switchyard route --report report.json
  switchyard round TASK-1 --report report.json --report lint.sarif
  switchyard explain TASK-1`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if version {
				return a.printVersion()
			}
			return showHelp(cmd, args)
		},
		PersistentPreRun: func(*cobra.Command, []string) {
			a.running = true
		},
	}
	root.PersistentFlags().StringVarP(&a.dir, "directory", "C", ".", "work on the project of `DIR`")
	root.PersistentFlags().Var(&a.output, "output", "print `FORMAT`: text or json")
	root.Flags().BoolVar(&version, "version", false, "show the version")
	root.SetHelpCommand(newHelpCmd(a))
	root.AddCommand(
		newInitCmd(a),
		newRouteCmd(a),
		newRoundCmd(a),
		newPhaseCmd(a),
		newAuditCmd(a),
		newAnswerCmd(a),
		newResumeCmd(a),
		newSpawnCmd(a),
		newDoctorCmd(a),
		newStatusCmd(a),
		newExplainCmd(a),
		newPolicyCmd(a),
		newPluginCmd(a),
		newLedgerCmd(a),
		newMetricsCmd(a),
		newStatsCmd(a),
		newVersionCmd(a),
	)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = knownShell, showHelp
	}
	addCompatCmds(root, a)
	a.complete(root)
	layOutHelp(root)
	return root
}

// outputFormat is the flag --output. Its zero value is text.
type outputFormat string

// The formats beside text. Few commands have Markdown: see offersMarkdown.
const (
	outputJSON     outputFormat = "json"
	outputMarkdown outputFormat = "markdown"
)

func (f *outputFormat) String() string {
	if *f == "" {
		return "text"
	}
	return string(*f)
}

func (f *outputFormat) Type() string { return "format" }

func (f *outputFormat) Set(s string) error {
	if s != "text" && s != "json" {
		return fmt.Errorf("%q is neither text nor json", s)
	}
	*f = outputFormat(s)
	return nil
}

// cacheVariable overrides where compiled plugins are kept.
const cacheVariable = "SWITCHYARD_CACHE_DIR"

// project is the one that the flags name.
func (a *app) project() (project.Project, error) {
	p, err := project.Find(a.dir)
	if err != nil {
		return p, usagef("-C: %w", err)
	}
	return p, nil
}

// userVariable says who gives the commands, where the operating system's user
// does not.
const userVariable = "SWITCHYARD_USER"

// maxBy is how much of a name is recorded, in code points.
const maxBy = 128

// by is who gives the commands. It is a claim: nothing here proves it.
func (a *app) by() string {
	name := os.Getenv(userVariable)
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	if name = strings.TrimSpace(render.Clean(name)); name == "" {
		return "unknown"
	}
	return render.Clip(name, maxBy)
}

// warn tells of what went wrong beside the work.
func (a *app) warn(err error) {
	fmt.Fprintf(a.err, "switchyard: warning: %s\n", render.Clean(err.Error()))
}

// cacheDir is a folder of the user's own, never one of the project's: compiled
// plugins are machine code, and a repository must not bring any.
func cacheDir() string {
	if dir := os.Getenv(cacheVariable); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "switchyard", "plugins")
}
