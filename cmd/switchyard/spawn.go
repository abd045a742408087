package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/render"
)

// Bounds of a spawn's time limit.
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
file. Its input is the agent's definition, a divider and the prompt. switchyard round
runs its agents in the same way.

Agents that edit the working tree are refused. The prompt and the output must be in
the project or in the directory for temporary files. The result of every attempt is
recorded before the output is written. If the result of an attempt cannot be
trusted, the attempt fails and writes no output. docs/spawns.md has the details.`,
		Example: `  switchyard spawn --agent researcher --prompt-path question.md --output-path answer.json
  switchyard spawn --agent researcher --prompt-path q.md --output-path a.json --adapter codex --timeout-ms 120000`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &req.Agent, "agent", "the agent's `NAME`")
	cli.TextVar(flags, &req.PromptPath, "prompt-path", "read the prompt from `FILE`")
	cli.TextVar(flags, &req.OutputPath, "output-path", "write the agent's final message to `FILE`")
	cli.NumberVar(flags, &timeout, "timeout-ms", minTimeout.Milliseconds(), maxTimeout.Milliseconds(),
		"end it after `N` milliseconds, from 1000 (default spawn.timeout of switchyard.yaml)")
	cli.AdapterVar(flags, &req.Adapter)
	cli.TextVar(flags, &req.Model, "model", "ask for the model `NAME`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if err := cli.CheckRequired(flags, "agent", "prompt-path", "output-path"); err != nil {
			return err
		}
		req.Timeout = time.Duration(timeout) * time.Millisecond
		done := a.showWork("preparing " + req.Agent)
		result, err := e.Spawn(ctx, req)
		done()
		return cli.Show(&a.Program, result, err, (*render.Printer).SpawnResult)
	})
	return cmd
}
