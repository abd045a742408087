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
)

// streams are the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, std streams) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	// A closing terminal may send SIGHUP more than once. A process started with nohup
	// ignores it.
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
		a.noteCommand(cmd)
		switch {
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			err = errs.New(errs.Interrupted, "interrupted")
		case !a.parsed:
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

// isWriteError reports whether cobra itself failed to print something.
func isWriteError(err error) bool {
	pathErr, ok := errors.AsType[*fs.PathError](err)
	return ok && pathErr.Op == "write" && errs.CodeOf(err) == ""
}

// usage marks an error as an error of the command line.
func usage(err error) error {
	if errs.CodeOf(err) == errs.Usage {
		return err
	}
	return errs.New(errs.Usage, "%w", err)
}

// usagef returns an error of the command line that only the command can detect.
func usagef(format string, args ...any) error {
	return errs.New(errs.Usage, format, args...)
}
