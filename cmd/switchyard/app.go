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

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// app is what the commands of one run share. The flags fill it in before a
// command runs.
type app struct {
	streams
	dir    string
	output outputFormat
	// policyEngine evaluates policies, "" for the usual one.
	policyEngine policies.Engine
	// parsed is set once the command line is known to be valid. An error before that
	// is one of usage.
	parsed bool
	// compatErrors has errors printed as JSON, without the object around them that
	// --output json adds.
	compatErrors bool
	// progress is how spawned agents go.
	progress progress
	// exit is the exit code of a run without an error.
	exit int
	// command is the command that failed, as one types it, "" for none; task is the
	// task that it names, "" for none.
	command, task string
}

// outputFormat is the flag --output.
type outputFormat string

const (
	outputText     outputFormat = "text"
	outputJSON     outputFormat = "json"
	outputMarkdown outputFormat = "markdown" // of the commands that call offerMarkdown
)

// body is what a command does with its arguments.
type body func(ctx context.Context, args []string) error

// runE adapts a command's body to cobra.
func (a *app) runE(do body) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args) }
}

// noteCommand notes what is known of the command line, for the hint of an error.
func (a *app) noteCommand(cmd *cobra.Command) {
	if _, a.command, _ = strings.Cut(cmd.CommandPath(), " "); a.command == "help" {
		a.command = ""
	}
	if id := cmd.Flags().Arg(0); strings.Contains(cmd.Use, " TASK") && task.CheckID(id) == nil {
		a.task = id
	}
}

// project returns the one that the flags name.
func (a *app) project() (project.Project, error) {
	p, err := project.Find(a.dir)
	if err != nil {
		return p, usagef("-C: %w", err)
	}
	return p, nil
}

// engine returns one for a project. The caller must close it.
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

// with runs a command's work on an engine for the project that the flags name. It
// publishes what was recorded, even if the work failed in the end.
func (a *app) with(ctx context.Context, work func(*host.Engine) error) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	e := a.engine(p)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	defer a.publish(ctx, e)
	return work(e)
}

// ask runs work that has a result on an engine.
func ask[T any](ctx context.Context, a *app, work func(*host.Engine) (T, error)) (T, error) {
	var result T
	err := a.with(ctx, func(e *host.Engine) (err error) {
		result, err = work(e)
		return err
	})
	return result, err
}

// answer runs work on an engine and prints its result.
func answer[T any](ctx context.Context, a *app, work func(*host.Engine) (T, error), text func(*render.Printer, T)) error {
	return a.with(ctx, func(e *host.Engine) error {
		result, err := work(e)
		if err != nil {
			return err
		}
		return show(a, result, text)
	})
}

// The environment variables of the command line.
const (
	cacheVariable = "SWITCHYARD_CACHE_DIR" // where compiled plugins are kept
	userVariable  = "SWITCHYARD_USER"      // who gives the commands
)

// maxUserName is how much of a user's name is recorded, in code points.
const maxUserName = 128

// userName returns who gives the commands. It is a claim: nothing proves it.
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

// cacheDir returns a folder of the user, never one of the project: compiled plugins
// are machine code, and a repository must not bring any.
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

// warn reports what went wrong beside the work.
func (a *app) warn(err error) {
	fmt.Fprintf(a.err, "switchyard: warning: %s\n", textutil.Line(err.Error()))
}
