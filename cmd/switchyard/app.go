package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// app is the state that the commands of one run share. Flag parsing fills it in before
// a command runs.
type app struct {
	cli.Program
	dir string
	// policyEngine evaluates policies; "" selects the default.
	policyEngine policies.Engine
	// progress tracks the spawned agents.
	progress progress
	// live are the status lines on the terminal, or nil.
	live *liveLines
	// project is the selected project, once a command works on it.
	project project.Project
}

// runE adapts a command's body to cobra. The body gets an engine for the selected project.
func (a *app) runE(do func(context.Context, *host.Engine, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.with(cmd.Context(), func(e *host.Engine) error { return do(cmd.Context(), e, args) })
	}
}

// engine returns an engine for a project. The caller must close it.
func (a *app) engine(p project.Project) *host.Engine {
	return host.New(host.Options{
		Project: p,
		Plugins: plugins.Config{CacheDir: cli.CacheDir()},
		Now:     time.Now,
		By:      cli.UserName(),
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
		return cli.Usagef("-C: %w", err)
	}
	e := a.engine(a.project)
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	defer cli.Publish(ctx, e, a.project, a.warn)
	return work(e)
}

// warn reports a problem that does not fail the command.
func (a *app) warn(err error) {
	a.live.above(func() { fmt.Fprintf(a.Err, "switchyard: warning: %s\n", textutil.Line(err.Error())) })
}
