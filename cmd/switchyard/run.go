package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func newRunCmd(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run TASK | --tasks FILE",
		Short: "Drive a task from its text to a commit",
		Long: `Run drives a task until it is committed. An executor edits the files, then they
are verified and a critic reviews them, and the policy decides what comes next:
a commit, another draft, a researcher, a plan-checker, a question to you, or the
agent of a destination of your own. docs/run.md has the details.

All work happens on the branch switchyard/TASK, in a git worktree outside of your
checkout. Your files, index, stash and branches are not touched. Switchyard makes
the commit; agents only edit files.

--prompt-file or --prompt describes a new task. The text is recorded, and need not
be given again. If a task was stopped or killed, waits, or is parked, run continues
where it was, without repeating recorded steps.

Run asks the questions of agents in the terminal. Without one they stay open:
switchyard answer TASK answers them, and run continues.

--merge merges the committed task into the branch that it started from, if the
merged files pass the verification. --push pushes the task's branch. Neither uses
force.

--tasks runs the tasks of a file, --jobs at a time. A task starts once the tasks that
it depends on are committed, and with --merge merged.

With --output json every event is an object on a separate line, and the last one
of a task has its result.`,
		Example: `  switchyard run TASK-1 --prompt-file task.md
  switchyard run TASK-1 --prompt 'Retry failed uploads three times.' --base main
  switchyard run TASK-1 --wait=6h --merge
  gh issue view 12 --json body --jq .body | switchyard run ISSUE-12 --prompt-file -
  switchyard run --tasks tasks.yaml --jobs 4 --merge`,
		Args: f.args,
	}
	f.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		if len(args) == 0 {
			return a.runTasks(ctx, e, &f)
		}
		req := f.req
		var err error
		if f.prompt != "" || f.file != "" {
			if req.Prompt, err = cli.TaskText(ctx, f.prompt, f.file, a.readInput); err != nil {
				return err
			}
		}
		return a.runTask(ctx, e, args[0], req)
	})
	return cmd
}

// maxJobs is the maximum of --jobs.
const maxJobs = 64

// defaultWait is the value of a bare --wait.
const defaultWait = "24h"

// runFlags are the flags of run.
type runFlags struct {
	req          api.RunRequest
	prompt, file string
	tasks        string
	jobs         int
}

func (f *runFlags) register(flags *pflag.FlagSet) {
	cli.TextVar(flags, &f.file, "prompt-file", "describe the task by the content of `FILE`; - is standard input")
	cli.TextVar(flags, &f.prompt, "prompt", "describe the task: `TEXT`")
	cli.TextVar(flags, &f.req.Base, "base", "begin a new task at `REV`, a commit, a branch or a tag (default HEAD)")
	cli.AdapterVar(flags, &f.req.Adapter)
	cli.MaxRoundsVar(flags, &f.req.MaxRounds)
	cli.PolicyVar(flags, &f.req.Policy)
	cli.TextVar(flags, &f.req.Verify, "verify-cmd", "verify by running `COMMAND` in a shell (default verify of switchyard.yaml)")
	flags.BoolVar(&f.req.Merge, "merge", false, "merge the committed task into the branch that it started from")
	cli.TextVar(flags, &f.req.Push, "push", "push the task's branch to `REMOTE`, never with force")
	cli.DurationVar(flags, &f.req.Wait, "wait", "wait for usage limits to end, no longer than `MAX` in all")
	flags.Lookup("wait").NoOptDefVal = defaultWait
	cli.TextVar(flags, &f.tasks, "tasks", "run the tasks of `FILE`")
	f.jobs = 1
	cli.NumberVar(flags, &f.jobs, "jobs", 1, maxJobs, "with --tasks: run `N` tasks at a time")
}

// args requires one task, or --tasks.
func (f *runFlags) args(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	if f.req.Verify != "" && strings.TrimSpace(f.req.Verify) == "" {
		return cli.Usagef("--verify-cmd is empty")
	}
	if f.tasks == "" {
		if flags.Changed("jobs") {
			return cli.Usagef("--jobs needs --tasks")
		}
		if n := len(args); n > 1 && flags.Changed("wait") {
			if _, err := time.ParseDuration(args[n-1]); err == nil {
				return cli.Usagef("give the time to wait as --wait=%s", args[n-1])
			}
		}
	}
	return cli.TaskOrFile(cmd, args, f.tasks)
}

// runStatus is the end of the help of run.
const runStatus = `
Exit status:
  0   the task is committed; with --tasks, all are
  1   a fault; the error on standard error says which; with --tasks, a task failed
  2   the command line is wrong
  12  a question waits for an answer
  14  the task is stuck
  15  no agent could be run here; with --tasks, tasks ended in different ways
  16  the task is parked until a usage limit ends
`

func (a *app) runTask(ctx context.Context, e *host.Engine, id string, req api.RunRequest) error {
	ctx, out, cancel := a.newRunOutput(ctx)
	defer cancel()
	req.Observe = out.writeEvent
	if a.Output != cli.OutputJSON && isTerminal(a.In) && isTerminal(a.Err) {
		lines := newLineReader(a.In)
		req.Ask = func(ctx context.Context, q task.Question) (answer *api.AnswerRequest) {
			a.live.above(func() { answer = ask(ctx, lines, a.Err, q) })
			return answer
		}
	}
	done := a.showRuns("running " + id)
	r, err := e.Run(ctx, id, req)
	done()
	if err := cmp.Or(out.err, err); err != nil { // A lost output cancels the run.
		return err
	}
	a.Exit = cli.ExitOf(r.NextAction)
	return out.writeResult(r)
}

func (a *app) runTasks(ctx context.Context, e *host.Engine, f *runFlags) error {
	listed, err := a.project.Tasks(ctx, f.tasks, f.req.Merge)
	if err != nil {
		return err
	}
	outer := ctx
	a.progress.tasks = true
	ctx, out, cancel := a.newRunOutput(ctx)
	defer cancel()
	tasks := make([]api.RunTask, len(listed))
	at := make(map[string]int)
	for i, t := range listed {
		tasks[i] = cli.RunTask(t, f.req)
		tasks[i].Observe = out.writeEvent
		at[t.ID] = i
	}
	results := make([]api.RunResult, len(tasks))
	done := a.showRuns("running " + f.tasks)
	host.RunTasks(ctx, e, tasks, f.jobs, func(r api.RunResult) {
		results[at[r.TaskID]] = r
		out.writeEnded(r)
	})
	done()
	if err := out.writeTable(results); err != nil {
		return err
	}
	a.Exit = cli.TasksExit(results)
	return outer.Err()
}
