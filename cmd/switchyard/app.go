package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// app is the state that the commands of one run share. Flag parsing fills it in before
// a command runs.
type app struct {
	streams
	dir    string
	output outputFormat
	// policyEngine evaluates policies; "" selects the default.
	policyEngine policies.Engine
	// parsed is set once the command line is valid. An earlier error is a usage error.
	parsed bool
	// compatErrors prints errors as bare JSON, without the object around them that
	// --output json adds.
	compatErrors bool
	// progress tracks the spawned agents.
	progress progress
	// live are the status lines on the terminal, nil if there are none.
	live *liveLines
	// exit is the exit code of a run that ends without an error.
	exit int
	// command is the command that failed, as the user types it, and task is the task
	// that it names; "" if there is none.
	command, task string
	// project is the selected project, once a command works on it.
	project project.Project
}

// outputFormat is the value of --output.
type outputFormat string

const (
	outputText     outputFormat = "text"
	outputJSON     outputFormat = "json"
	outputMarkdown outputFormat = "markdown" // only for commands that call offerMarkdown
)

// runE adapts a command's body to cobra, and gives it an engine for the selected
// project.
func (a *app) runE(do func(context.Context, *host.Engine, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.with(cmd.Context(), func(e *host.Engine) error { return do(cmd.Context(), e, args) })
	}
}

// noteCommand records the command and its task for the hint of a later error.
func (a *app) noteCommand(cmd *cobra.Command) {
	if _, a.command, _ = strings.Cut(cmd.CommandPath(), " "); a.command == "help" {
		a.command = ""
	}
	if id := cmd.Flags().Arg(0); strings.Contains(cmd.Use, " TASK") && task.CheckID(id) == nil {
		a.task = id
	}
}

// engine returns an engine for a project. The caller must close it.
func (a *app) engine(p project.Project) *host.Engine {
	return host.New(host.Options{
		Project: p,
		Plugins: plugins.Config{CacheDir: cacheDir()},
		Now:     time.Now,
		By:      userName(),
		Environ: os.Environ(),
		Engine:  a.policyEngine,
		Observe: a.progress.update,
		Warn:    a.warn,
	})
}

// with runs work on an engine for the selected project. It publishes the recorded
// metrics even if the work fails.
func (a *app) with(ctx context.Context, work func(*host.Engine) error) (err error) {
	if a.project, err = project.Find(a.dir); err != nil {
		return usagef("-C: %w", err)
	}
	e := a.engine(a.project)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	defer a.publish(ctx, e)
	return work(e)
}

// Environment variables that the command line reads.
const (
	cacheVariable = "SWITCHYARD_CACHE_DIR" // directory of the compiled plugins
	userVariable  = "SWITCHYARD_USER"      // name of the user who runs the commands
)

// maxUserName is the number of code points of a user's name that are recorded.
const maxUserName = 128

// userName returns the name of the user who runs the command. It is a claim: nothing
// verifies it.
func userName() string {
	name := os.Getenv(userVariable)
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	if name = strings.TrimSpace(textutil.Line(name)); name == "" {
		return "unknown"
	}
	return textutil.Fit(name, maxUserName)
}

// cacheDir returns a directory of the user, never one of the project: compiled plugins
// are machine code, and a repository must not supply any.
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

// warn reports a problem that does not fail the command.
func (a *app) warn(err error) {
	a.live.above(func() { fmt.Fprintf(a.err, "switchyard: warning: %s\n", textutil.Line(err.Error())) })
}
