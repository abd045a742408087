package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// runStatus is the end of the help of run.
const runStatus = `
Exit status:
  0   the task is committed; with --tasks, all are. With --detach, all are started
  1   a fault; the error on standard error says which. With --tasks, a task failed
  2   the command line is wrong
  14  the task is stuck
  15  an agent must be run by hand, or the task is blocked; with --tasks, tasks
      ended in different ways
`

func newRunCmd(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run TASK | --tasks FILE",
		Short: "Drive tasks from their text to a commit",
		Long: `Run starts tasks in the fleet and shows what happens to them, until all have ended.
The home of the project and its workers do the work; a task waits for them.

A task that runs already is only followed, and one that was stopped, is stuck or
failed continues where its home recorded it. --prompt-file or --prompt says what a
new task is.

--tasks runs the tasks of a file, which is that of switchyard run --tasks; its keys
override the flags. A task starts once those that it depends on are committed.

Questions stay open until switchyard-fleet answer TASK answers them; run goes on
with the task then. An interrupt ends run alone: the tasks go on. Switchyard-fleet
stop TASK ends a task.`,
		Example: `  switchyard-fleet run SHOP-1 --prompt-file task.md --store /srv/switchyard
  switchyard-fleet run --tasks tasks.yaml --store s3://evidence/switchyard --detach`,
		Args: f.args,
	}
	f.register(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		p, name, err := a.project()
		if err != nil {
			return err
		}
		tasks, err := f.read(ctx, a, p, args)
		if err != nil {
			return err
		}
		blobs, err := store.Open(ctx, f.store)
		if err != nil {
			return err
		}
		return a.with(ctx, func(c client.Client, _ string) error {
			several := len(args) == 0
			if err := a.start(ctx, c, blobs, name, tasks, several || f.detach); err != nil || f.detach {
				return err
			}
			return a.follow(ctx, c, name, tasks, several)
		})
	}
	return cmd
}

// runFlags are the flags of run.
type runFlags struct {
	req          api.RunRequest
	prompt, file string
	tasks, store string
	detach       bool
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	storeVar(flags, &f.store)
	cli.TextVar(flags, &f.file, "prompt-file", "describe the task by the content of `FILE`; - is standard input")
	cli.TextVar(flags, &f.prompt, "prompt", "describe the task: `TEXT`")
	cli.TextVar(flags, &f.req.Base, "base", "begin a new task at `REV`, a commit, a branch or a tag of the home's checkout (default HEAD)")
	cli.AdapterVar(flags, &f.req.Adapter)
	cli.MaxRoundsVar(flags, &f.req.MaxRounds)
	cli.PolicyVar(flags, &f.req.Policy)
	cli.TextVar(flags, &f.req.Verify, "verify-cmd", "verify by running `COMMAND` in a shell (default verify of switchyard.yaml)")
	cli.TextVar(flags, &f.tasks, "tasks", "run the tasks of `FILE`")
	flags.BoolVar(&f.detach, "detach", false, "return once the tasks are started")
}

// storeVar adds --store.
func storeVar(flags *pflag.FlagSet, location *string) {
	cli.TextVar(flags, location, "store", "keep orders and evidence in `STORE`, a directory that all machines share, or s3://BUCKET/PREFIX")
}

// args accepts one task, or --tasks without a task.
func (f *runFlags) args(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	if f.req.Verify != "" && strings.TrimSpace(f.req.Verify) == "" {
		return cli.Usagef("--verify-cmd is empty")
	}
	if err := cli.CheckRequired(flags, "store"); err != nil {
		return err
	}
	return cli.TaskOrFile(cmd, args, f.tasks)
}

// read returns the tasks to run.
func (f *runFlags) read(ctx context.Context, a *app, p project.Project, args []string) ([]api.RunTask, error) {
	if f.tasks == "" {
		one := api.RunTask{ID: args[0], RunRequest: f.req}
		err := task.CheckID(one.ID)
		if err == nil && (f.prompt != "" || f.file != "") {
			one.Prompt, err = cli.TaskText(ctx, f.prompt, f.file, func(ctx context.Context, file string, limit int64) ([]byte, error) {
				return a.ReadInput(ctx, p, file, limit)
			})
		}
		return []api.RunTask{one}, err
	}
	listed, err := p.Tasks(ctx, f.tasks, false)
	tasks := make([]api.RunTask, len(listed))
	for i, t := range listed {
		tasks[i] = cli.RunTask(t, f.req)
	}
	return tasks, err
}

// start starts the workflows of tasks that do not run yet, and prints them, with their ids if
// named is true. A task starts before its dependencies, so that it can be told when they end.
func (a *app) start(ctx context.Context, c client.Client, blobs store.Store, project string, tasks []api.RunTask, named bool) error {
	at := make(map[string]int)
	dependents := make(map[string][]string)
	for i, t := range tasks {
		at[t.ID] = i
		for _, id := range t.DependsOn {
			dependents[id] = append(dependents[id], t.ID)
		}
	}
	started := make([]bool, len(tasks))
	var visit func(i int) error
	visit = func(i int) error {
		if started[i] {
			return nil
		}
		started[i] = true
		for _, id := range dependents[tasks[i].ID] {
			if err := visit(at[id]); err != nil {
				return err
			}
		}
		e, err := startTask(ctx, c, blobs, project, tasks[i], dependents[tasks[i].ID])
		if err != nil {
			return err
		}
		return a.printEvents([]api.RunEvent{e}, named)
	}
	for i := range tasks {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

// startTask starts the workflow of a task unless it runs, sends it its dependents, and returns
// the event.
func startTask(ctx context.Context, c client.Client, blobs store.Store, project string, t api.RunTask, dependents []string) (api.RunEvent, error) {
	e := api.RunEvent{TaskID: t.ID, Event: api.RunStarted}
	before, err := describe(ctx, c, project, t.ID)
	switch {
	case err == nil && !before.ended():
		e.Event, e.Message = api.RunNotice, "runs already"
	case err != nil && errs.CodeOf(err) != errs.FleetTaskUnknown:
		return e, err
	}
	request, err := orderstore.Put(ctx, blobs, t.RunRequest)
	if err != nil {
		return e, err
	}
	o := client.StartWorkflowOptions{
		ID: flow.WorkflowID(project, t.ID), TaskQueue: flow.TaskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		TypedSearchAttributes:    temporal.NewSearchAttributes(flow.ProjectAttribute().ValueSet(project), flow.StatusAttribute().ValueSet(flow.StatusPending)),
	}
	in := flow.Input{Project: project, Task: t.ID, Request: request, DependsOn: t.DependsOn}
	if len(dependents) > 0 {
		_, err = c.SignalWithStartWorkflow(ctx, o.ID, flow.SignalDependents, dependents, o, flow.Workflow, in)
	} else {
		_, err = c.ExecuteWorkflow(ctx, o, flow.Workflow, in)
	}
	e.At = timestamp()
	return e, serverError(ctx, err)
}
