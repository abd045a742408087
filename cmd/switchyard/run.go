package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// streams are the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the whole program: it executes one command line and returns the exit
// code.
func run(ctx context.Context, args []string, std streams) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	// A terminal that closes may hang up more than once. A process that was started with
	// nohup ignores it.
	if !signal.Ignored(syscall.SIGHUP) {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}

	a := &app{streams: std, exit: exitDone}
	root := newRootCmd(a)
	root.SetArgs(args)
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		a.understood(cmd)
		switch {
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			err = errs.New(errs.Interrupted, "interrupted")
		case !a.running:
			err = usage(err)
		case isWriteError(err):
			err = errs.New(errs.OutputFailed, "write the result: %w", err)
		}
		a.printError(err, args)
		if errs.CodeOf(err) == errs.Usage {
			return exitUsage
		}
		return exitFault
	}
	return a.exit
}

// app is what the commands of one run share. The flags fill it in before a
// command runs.
type app struct {
	streams
	dir    string
	output outputFormat
	// policyEngine evaluates policies, "" for the usual one.
	policyEngine policies.Engine
	// running says that the command line was understood: an error from here on
	// is the work's and not the user's spelling.
	running bool
	// bareErrors says that an error is shown as JSON, without the object around it
	// that --output json puts there.
	bareErrors bool
	// progress is how spawned agents go.
	progress progress
	// exit is the exit code of a run without an error.
	exit int
	// command is the command of a run that failed, as one types it, "" for none; task
	// is the task that it names, "" for none.
	command, task string
}

// understood notes what is known of the command line, for the hints of an error.
func (a *app) understood(cmd *cobra.Command) {
	if _, a.command, _ = strings.Cut(cmd.CommandPath(), " "); a.command == "help" {
		a.command = ""
	}
	if id := cmd.Flags().Arg(0); strings.Contains(cmd.Use, " TASK") && task.CheckID(id) == nil {
		a.task = id
	}
}

// runE adapts a command's body to cobra.
func (a *app) runE(body func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return body(cmd.Context(), args)
	}
}

// isWriteError reports whether cobra itself failed to print something.
func isWriteError(err error) bool {
	pathErr, ok := errors.AsType[*fs.PathError](err)
	return ok && pathErr.Op == "write" && errs.CodeOf(err) == ""
}

// usage marks an error as one of the command line itself.
func usage(err error) error {
	if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.Usage {
		return err
	}
	return errs.New(errs.Usage, "%w", err)
}

// usagef is an error of the command line that only the command itself can see.
func usagef(format string, args ...any) error {
	return errs.New(errs.Usage, format, args...)
}
