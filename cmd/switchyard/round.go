package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
)

// adapterUsage explains the flag --adapter.
const adapterUsage = "run agents with `ADAPTER`: claude, codex, gemini, opencode, copilot, exec or one of the project's (default spawn.adapter of switchyard.yaml)"

func newRoundCmd(a *app) *cobra.Command {
	var f requestFlags
	cmd := &cobra.Command{
		Use:   "round TASK [--report [PLUGIN=]FILE]",
		Short: "Run a task's round and record the decision",
		Long: `Round verifies a task's draft, has a critic review it, decides where the task
goes, and records the decision in the project's ledger. When it succeeds, the
decision is durable; when it fails, nothing has changed but the record of what
ran.

Verification is the command that --verify-cmd gives, else the project's own from
switchyard.yaml; its output is in .switchyard/verify. Use --verify or
--verify-exit-code to pass the result of a verification that you ran yourself. A
red verification sends the task back without a review. Once a task was verified,
it is not committed without a green verification of its round.

Then the commands run that switchyard.yaml names under reports. What they print
counts beside the reports of --report.

Without --report the critic is spawned, unless switchyard.yaml has reports and
names no spawn.adapter: an agent CLI, claude by default, runs without a terminal
and may write nothing but its report. If the critic's result cannot be trusted,
the task becomes stuck; it is never committed. A decision for the executor comes
with a file of what to do. For the researcher, several agents look for what is
missing, if the project spawns agents. A round that was killed goes on where it
was when it is run again.

The critic reviews what differs from the task's base: commits, the index and the
working tree. The base is the commit at which the task began; or the one that
--base names, or the merge base with the branch that switchyard.yaml names. A
draft that differs in nothing is an error unless --allow-empty is given.

--prompt or --plan says what the task is. It is recorded, so that later rounds
know it, and handed to critic, researchers and executor.

A report that names another task or another round is refused. With --round the
command is refused too unless the task is in that round: use it with reports
that cannot say which round they are about.`,
		Example: `  switchyard round TASK-1
  switchyard round TASK-1 --adapter codex --verify-cmd 'make test'
  switchyard round TASK-1 --report critic.json --report lint.sarif --max-rounds 5
  switchyard round TASK-1 --report lint.sarif --spawn
  switchyard round TASK-1 --report - --exit-code < report.json`,
		Args: oneTask,
	}
	f.registerTask(cmd.Flags())
	a.registerEngine(cmd.Flags())
	f.verify.register(cmd.Flags())
	var spawn, allowEmpty bool
	var adapter, base, prompt, plan string
	cmd.Flags().StringVar(&prompt, "prompt", "", "say what the task is, from now on: `TEXT`")
	cmd.Flags().StringVar(&plan, "plan", "", "say what the task is, from now on, with the content of `FILE`")
	cmd.Flags().BoolVar(&spawn, "spawn", false, "spawn the critic beside the reports that are given")
	cmd.Flags().StringVar(&adapter, "adapter", "", adapterUsage)
	cmd.Flags().StringVar(&base, "base", "", baseUsage)
	cmd.Flags().BoolVar(&allowEmpty, "allow-empty", false, "spawn the critic although nothing differs from the base")
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (d host.Decision, err error) {
			if cmd.Flags().Changed("adapter") && adapter == "" {
				return host.Decision{}, usagef("--adapter is empty")
			}
			if cmd.Flags().Changed("adapter") && len(req.Reports) > 0 && !spawn {
				return host.Decision{}, usagef("--adapter is for an agent that is spawned: leave --report out, or add --spawn")
			}
			if allowEmpty && len(req.Reports) > 0 && !spawn {
				return host.Decision{}, usagef("--allow-empty is for a critic that is spawned: leave --report out, or add --spawn")
			}
			if err := checkBase(cmd.Flags(), base); err != nil {
				return host.Decision{}, err
			}
			if req.Prompt, err = a.taskText(ctx, cmd.Flags(), prompt, plan); err != nil {
				return host.Decision{}, err
			}
			req.Spawn, req.Adapter, req.Base, req.AllowEmpty = spawn, adapter, base, allowEmpty
			defer a.observed("verifying and deciding " + args[0])()
			return e.Round(ctx, args[0], req)
		})
	})
	return cmd
}

// maxTaskText is the longest text of a task, in bytes: it is part of its state.
const maxTaskText = 64 << 10

// taskText is what the flags say the task is, "" for nothing.
func (a *app) taskText(ctx context.Context, flags *pflag.FlagSet, prompt, plan string) (string, error) {
	switch {
	case flags.Changed("prompt") && flags.Changed("plan"):
		return "", usagef("--prompt and --plan say the same in two ways; give one")
	case flags.Changed("plan") && plan == "":
		return "", usagef("--plan is empty")
	case flags.Changed("plan"):
		p, err := a.project()
		if err != nil {
			return "", err
		}
		text, err := p.Read(ctx, plan, maxTaskText)
		if err != nil {
			return "", err
		}
		prompt = string(text)
	case len(prompt) > maxTaskText:
		return "", usagef("--prompt has more than %d bytes", maxTaskText)
	}
	prompt = strings.TrimSpace(strings.ToValidUTF8(prompt, "\ufffd"))
	if prompt == "" && (flags.Changed("prompt") || flags.Changed("plan")) {
		return "", usagef("--prompt, or the file of --plan, is empty")
	}
	return prompt, nil
}
