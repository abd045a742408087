package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	carrier "github.com/switchyard-dev/switchyard/fleet/internal/worker"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
)

func newWorkerCmd(a *app) *cobra.Command {
	var f workerFlags
	var deployment, build string
	cmd := &cobra.Command{
		Use:   "worker --store STORE",
		Short: "Run agents for the fleet",
		Long: `Worker runs agents and verifications for the tasks of all projects, until it is
stopped. It has no state that matters: what it works on is repeated by another
worker if it dies.

With --deployment and --build-id, the workflow of a task stays with the workers of
the build that it began with, and new tasks go to the build that was made current:
temporal worker deployment set-current-version. Every worker takes orders of all
tasks. docs/fleet.md shows an upgrade.

An interrupt ends its agents in order; other workers repeat their steps.`,
		Example: `  switchyard-fleet worker --store /srv/switchyard
  switchyard-fleet worker --store s3://evidence/switchyard --listen :9466 --deployment switchyard --build-id 2026-11-23`,
		Args: f.args,
	}
	flags := cmd.Flags()
	f.register(flags)
	cli.TextVar(flags, &f.dir, "dir", "keep copies of repositories and worktrees in `DIR`, which no other worker uses (default switchyard/fleet in the user's cache)")
	flags.StringSliceVar(&f.adapters, "adapters", nil, "run agents with these `ADAPTERS` (default those whose programs are installed, and exec)")
	flags.IntVar(&f.slots, "slots", 4, "carry out up to `N` orders at a time for each adapter and confinement level")
	cli.TextVar(flags, &deployment, "deployment", "the `NAME` of the worker deployment")
	cli.TextVar(flags, &build, "build-id", "the `ID` of this build in the deployment")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if (deployment == "") != (build == "") {
			return cli.Usagef("--deployment and --build-id belong together")
		}
		if f.slots < 1 {
			return cli.Usagef("--slots is a number from 1")
		}
		release, err := f.hold()
		if err != nil {
			return err
		}
		defer release()
		return a.serve(cmd.Context(), f.serviceFlags, func(s service) ([]queue, error) {
			return a.workerQueues(cmd.Context(), s, f, workerOptions(deployment, build))
		})
	}
	return cmd
}

// workerOptions returns the options of a worker's queues, with Worker Versioning if it
// has a build.
func workerOptions(deployment, build string) worker.Options {
	if build == "" {
		return worker.Options{}
	}
	return worker.Options{DeploymentOptions: worker.DeploymentOptions{
		UseVersioning: true,
		Version:       worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: build},
		// A task must end with the workflow that it began with (docs/fleet.md).
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}}
}

// workerFlags are the flags of worker.
type workerFlags struct {
	serviceFlags
	dir      string
	adapters []string
	slots    int
}

// hold creates the worker's directory and locks it until release is called: two workers would
// change each other's worktrees.
func (f *workerFlags) hold() (release func(), err error) {
	if f.dir == "" {
		if f.dir, err = os.UserCacheDir(); err != nil {
			return nil, cli.Usagef("--dir is needed: %w", err)
		}
		f.dir = filepath.Join(f.dir, "switchyard", "fleet")
	}
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, errs.New(errs.FileUnwritable, "--dir: %w", err)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, errs.New(errs.FileUnwritable, "--dir: %w", err)
	}
	lock, err := safefile.TryLock(root, "lock")
	if err != nil || lock == nil {
		root.Close()
		if err != nil {
			return nil, errs.New(errs.FileUnwritable, "--dir: %w", err)
		}
		return nil, errs.New(errs.FleetDirectoryTaken, "another worker uses %s", f.dir)
	}
	return func() {
		_ = lock.Release() // The end of the process also releases it.
		root.Close()
	}, nil
}

// workerQueues returns the queues of a worker: the queue of workflows, and the queues of the
// orders that it can carry out.
func (a *app) workerQueues(ctx context.Context, s service, f workerFlags, o worker.Options) ([]queue, error) {
	keeper, err := supervise.New()
	if err != nil {
		return nil, err
	}
	w := &carrier.Worker{
		Store: s.store, Dir: f.dir, Environ: os.Environ(), Supervisor: keeper, Plugins: plugins.Config{CacheDir: cli.CacheDir()}, Warn: a.warn,
	}
	if err := w.Check(ctx); err != nil {
		return nil, err
	}
	adapters := f.adapters
	if len(adapters) == 0 {
		e := host.New(host.Options{Project: host.Project{Root: f.dir, Dir: f.dir}, Environ: os.Environ()})
		adapters = append(e.Installed(), project.AdapterExec)
		if err := e.Close(ctx); err != nil {
			return nil, err
		}
	}
	orders := worker.Options{MaxConcurrentActivityExecutionSize: f.slots, DisableWorkflowWorker: true}
	queues := []queue{{name: flow.TaskQueue, options: o, register: func(w worker.Worker) {
		w.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.Workflow})
	}}}
	levels := reachedLevels()
	for _, name := range append(adapters, flow.AnyAdapter) {
		for _, level := range levels {
			queues = append(queues, queue{name: flow.WorkQueue(name, level), options: orders, register: func(r worker.Worker) { carrier.Register(r, w) }})
		}
	}
	a.say("orders for %s, confined up to %s", strings.Join(adapters, ", "), levels[len(levels)-1])
	return queues, nil
}

// reachedLevels returns the levels at which a process starts on this machine.
func reachedLevels() []confinement.Level {
	return slices.DeleteFunc(confinement.Levels(), func(l confinement.Level) bool { return l != confinement.None && sandbox.Probe(l) != nil })
}
