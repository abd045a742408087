package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// mcpServer is the program that serves MCP.
const mcpServer = "switchyard-mcp"

// mcpGrace is the time that the server has to end after a signal.
const mcpGrace = 10 * time.Second

func newMCPCmd(a *app) *cobra.Command {
	var allowMutations bool
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tasks to an MCP client",
		Long:  cli.MCPHelp,
		Example: `  claude mcp add switchyard -- switchyard mcp
  switchyard mcp --allow-mutations`,
		Args: cli.NoArgs,
	}
	cli.MutationsVar(cmd.Flags(), &allowMutations)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		args := []string{"-C", a.dir, "--output", string(a.Output)}
		if allowMutations {
			args = append(args, "--allow-mutations")
		}
		return a.runMCPServer(cmd.Context(), args)
	}
	return cmd
}

// runMCPServer runs the server with our standard streams, and takes over its exit status.
func (a *app) runMCPServer(ctx context.Context, args []string) error {
	path, err := findMCPServer()
	if err != nil {
		return errs.New(errs.MCPServerMissing, "there is no %s: %w", mcpServer, err)
	}
	server := exec.CommandContext(ctx, path, args...)
	server.Stdin, server.Stdout, server.Stderr = a.In, a.Out, a.Err
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = mcpGrace
	err = server.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		a.Exit = exit.ExitCode()
		return nil
	}
	return err
}

// findMCPServer finds the server next to this program, or else in PATH.
func findMCPServer() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), mcpServer)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(mcpServer)
}
