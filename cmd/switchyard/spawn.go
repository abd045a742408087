package main

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
)

// The bounds of a spawn's time limit, and what it is given in.
const (
	minTimeout = time.Second
	maxTimeout = 24 * time.Hour
)

func newSpawnCmd(a *app) *cobra.Command {
	var req host.SpawnRequest
	var timeout int64
	cmd := &cobra.Command{
		Use:   "spawn --agent NAME --prompt-path FILE --output-path FILE",
		Short: "Run an agent outside any task",
		Long: `Spawn runs an agent's CLI without a terminal, and writes its final message to a
file: the agent's definition, a line, and the prompt go in. It is the spawner of
switchyard round by itself.

Definitions are looked for in .switchyard/agents, .nubos-pilot/agents and
.claude/agents; critic and researcher are built in. Agents that edit the working
tree are refused. The prompt and the output lie in the project or in the folder
for temporary files. What becomes of every attempt is recorded before the output
is written; an attempt that cannot be relied on fails, writes nothing, and may be
tried again as the project's settings say.`,
		Example: `  switchyard spawn --agent researcher --prompt-path question.md --output-path answer.json
  switchyard spawn --agent researcher --prompt-path q.md --output-path a.json --adapter codex --timeout-ms 120000`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Agent, "agent", "", "the agent's `NAME`")
	flags.StringVar(&req.PromptPath, "prompt-path", "", "read the prompt from `FILE`")
	flags.StringVar(&req.OutputPath, "output-path", "", "write the agent's final message to `FILE`")
	flags.Int64Var(&timeout, "timeout-ms", 0, "end it after `N` milliseconds, from 1000 (default spawn.timeout of switchyard.yaml)")
	flags.StringVar(&req.Adapter, "adapter", "", adapterUsage)
	flags.StringVar(&req.Model, "model", "", "ask for the model `NAME`")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		for _, name := range []string{"agent", "prompt-path", "output-path", "adapter", "model"} {
			if flags.Changed(name) && flags.Lookup(name).Value.String() == "" {
				return usagef("--%s is empty", name)
			}
		}
		for _, name := range []string{"agent", "prompt-path", "output-path"} {
			if !flags.Changed(name) {
				return usagef("--%s is missing", name)
			}
		}
		req.Timeout = time.Duration(timeout) * time.Millisecond
		if flags.Changed("timeout-ms") && (timeout > maxTimeout.Milliseconds() || timeout < minTimeout.Milliseconds()) {
			return usagef("--timeout-ms %d: the limit is from %d to %d", timeout, minTimeout.Milliseconds(), maxTimeout.Milliseconds())
		}
		return a.with(ctx, func(e *host.Engine) error {
			done := a.observed("preparing " + req.Agent)
			spawned, err := e.Spawn(ctx, req)
			done()
			if err != nil {
				return err
			}
			return a.print(spawned, func(p *render.Printer) { p.SpawnResult(spawned) })
		})
	})
	return cmd
}
