// Switchyard decides where a review loop goes after each critic run.
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

func main() {
	os.Exit(run(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

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

// The exit codes of every command.
const (
	exitDone  = 0
	exitFault = 1
	exitUsage = 2
	exitOther = 15 // with --exit-code: any other destination
	// exitParked is a run's that waits for the end of a usage limit.
	exitParked = 16
)

// exitStatus is the end of a command's help.
const exitStatus = `
Exit status:
  0  done
  1  a fault; the error on standard error says which
  2  the command line is wrong
`

// decisionStatus is the end of the help of a command that decides.
const decisionStatus = `
Exit status:
  0   done, or with --exit-code: commit
  1   a fault; the error on standard error says which
  2   the command line is wrong
With --exit-code also:
  10  executor      12  askuser         14  stuck
  11  researcher    13  plan-checker    15  any other destination, or run the critic yourself
`

// decisionExits are the exit codes of --exit-code by next action.
var decisionExits = map[string]int{"commit": 0, "executor": 10, "researcher": 11, "askuser": 12, "plan-checker": 13, "stuck": 14}

// decisionExit returns the exit code of --exit-code for a decision's next action.
func decisionExit(nextAction string) int {
	if code, ok := decisionExits[nextAction]; ok {
		return code
	}
	return exitOther
}
