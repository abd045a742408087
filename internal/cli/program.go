// Package cli has what the programs of Switchyard share: arguments and flags, help, the
// output of results and errors, and exit codes.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Program is one run of a program with commands. Flag parsing fills it in before a command
// runs.
type Program struct {
	Streams
	Output OutputFormat
	// Parsed is set once the command line is valid. An earlier error is a usage error.
	Parsed bool
	// BareErrors prints errors as bare JSON, without the object around them that
	// --output json adds.
	BareErrors bool
	// Exit is the exit code of a run that ends without an error.
	Exit int
	// name is the program's name. command is the command that failed, as the user types it,
	// and task is the task that it names, or "".
	name, command, task string
	// isSingle is set if the program has no commands, and so no help command.
	isSingle bool
}

// Streams are the standard streams of a run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// OutputFormat is the value of --output.
type OutputFormat string

// The values of --output.
const (
	OutputText     OutputFormat = "text"
	OutputJSON     OutputFormat = "json"
	OutputMarkdown OutputFormat = "markdown" // only for commands that offer it
)

// Run executes one command line and returns the exit code. The commands below root must
// set Parsed before they run.
func (p *Program) Run(ctx context.Context, root *cobra.Command, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	// A closing terminal may send SIGHUP more than once, and nohup ignores it.
	if !signal.Ignored(syscall.SIGHUP) {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	p.name, p.isSingle = root.Name(), !root.HasSubCommands()
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	// For the help of a command that does not exist, cobra shows the help of its group and succeeds,
	// as it does for one that exists but follows --help.
	var unknown error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if named, rest, _ := cmd.Find(cmd.Flags().Args()); named == cmd && cmd.HasSubCommands() {
			unknown = cmd.ValidateArgs(rest)
		}
		if unknown == nil {
			help(cmd, args)
		}
	})
	cmd, err := root.ExecuteContextC(ctx)
	if err = cmp.Or(err, unknown); err != nil {
		p.noteCommand(cmd)
		switch {
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			err = errs.New(errs.Interrupted, "interrupted")
		case !p.Parsed:
			err = Usage(err)
		case isWriteError(err):
			err = errs.New(errs.OutputFailed, "failed to write the result: %w", err)
		}
		p.PrintError(err, args)
		return faultExit(errs.CodeOf(err))
	}
	return p.Exit
}

// noteCommand records the command and its task for the hint of a later error.
func (p *Program) noteCommand(cmd *cobra.Command) {
	if _, p.command, _ = strings.Cut(cmd.CommandPath(), " "); p.command == "help" {
		p.command = ""
	}
	if id := cmd.Flags().Arg(0); strings.Contains(cmd.Use, "TASK") && task.CheckID(id) == nil {
		p.task = id
	}
}

// isWriteError reports whether cobra itself failed to print something.
func isWriteError(err error) bool {
	pathErr, ok := errors.AsType[*fs.PathError](err)
	return ok && pathErr.Op == "write" && errs.CodeOf(err) == ""
}

// Usage marks an error as an error of the command line.
func Usage(err error) error {
	if errs.CodeOf(err) == errs.Usage {
		return err
	}
	return errs.New(errs.Usage, "%w", err)
}

// Usagef returns an error of the command line that only the command can detect.
func Usagef(format string, args ...any) error {
	return errs.New(errs.Usage, format, args...)
}

// UserVariable is the environment variable with the name of the user who runs the commands.
const UserVariable = "SWITCHYARD_USER"

// maxUserName is the maximum length of a user's name, in code points.
const maxUserName = 128

// UserName returns the name of the user who runs the command. The name is not verified.
func UserName() string {
	name := os.Getenv(UserVariable)
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	if name = strings.TrimSpace(textutil.Line(name)); name == "" {
		return "unknown"
	}
	return textutil.Fit(name, maxUserName)
}
