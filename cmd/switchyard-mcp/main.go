// Command switchyard-mcp serves the tasks of a project over the Model Context Protocol.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/plugins"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, std cli.Streams) int {
	a := &app{Program: cli.Program{Streams: std}}
	return a.Run(ctx, newRootCmd(a), args)
}

// app is the state of one run.
type app struct {
	cli.Program
	dir            string
	allowMutations bool
}

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:              "switchyard-mcp",
		Short:            "Serve the tasks of a project over the Model Context Protocol",
		Long:             cli.MCPHelp,
		Example:          "  claude mcp add switchyard -- switchyard mcp",
		Version:          buildinfo.Read().Version,
		SilenceErrors:    true,
		SilenceUsage:     true,
		Args:             cli.NoArgs,
		PersistentPreRun: func(*cobra.Command, []string) { a.Parsed = true },
		RunE:             func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	flags := root.Flags()
	flags.StringVarP(&a.dir, "directory", "C", ".", "work on the project of `DIR`")
	a.Output = cli.OutputText
	cli.ChoiceVar(flags, &a.Output, "output", "print an error as `FORMAT`: text or json", cli.OutputText, cli.OutputJSON)
	cli.MutationsVar(flags, &a.allowMutations)
	cli.LayOutHelp(root, nil, func(*cobra.Command) string { return cli.ExitStatus })
	return root
}

// serve serves the selected project until the client closes standard input or a signal
// ends the process.
func (a *app) serve(ctx context.Context) error {
	p, err := host.FindProject(a.dir)
	if err != nil {
		return cli.Usagef("-C: %w", err)
	}
	e := host.New(host.Options{
		Project: p, Plugins: plugins.Config{CacheDir: cli.CacheDir()}, Now: time.Now, By: cli.UserName(), Environ: os.Environ(), Warn: a.warn,
	})
	defer func() { _ = e.Close(context.WithoutCancel(ctx)) }()
	s := &server{
		engine: e, policies: e.Policies(), handoff: p.AtRoot(), slots: make(chan struct{}, maxRunning),
		publish: func(ctx context.Context) { cli.Publish(ctx, e, p, a.warn) },
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // A write returns an error then.
	return s.serve(ctx, a.allowMutations, &mcp.IOTransport{
		Reader: io.NopCloser(a.In), Writer: nopCloser{a.Out}, MaxLineLength: maxMessage,
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// warn reports a problem that does not fail a call.
func (a *app) warn(err error) {
	_, _ = io.WriteString(a.Err, "switchyard-mcp: warning: "+textutil.Line(err.Error())+"\n")
}
