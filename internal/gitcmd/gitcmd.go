// Package gitcmd runs one git command under a supervisor, with limits, and with files for
// its streams. It also has the details of git's formats that several packages need.
package gitcmd

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// Command is a git command. All fields except Input and Record are required.
type Command struct {
	Bin string
	// Args are git's own options, the name of the command, and its arguments.
	Args []string
	Dir  string
	// Env is the whole environment.
	Env            []string
	Input          string
	OutputLimit    int64
	Timeout, Grace time.Duration
	// Record stores the identity of the process, before and after its start, so that it is
	// found after this process was killed.
	Record func(supervise.Identity) error
}

// Result is the result of a command.
type Result struct {
	supervise.Result
	// Output is its standard output, up to the limit. Stderr is the end of its standard
	// error.
	Output, Stderr string
}

// maxStderr is the maximum size of Result.Stderr, in bytes.
const maxStderr = 1 << 20

// Run runs a command. The command's failure is a Result, not an error.
//
// # Errors
//
// Errors of the supervisor and of the files.
func Run(ctx context.Context, s *supervise.Supervisor, c Command) (r Result, err error) {
	var files [3]*os.File
	for i := range files {
		f, err := create()
		if err != nil {
			return r, err
		}
		defer discard(f)
		files[i] = f
	}
	if _, err := io.Copy(files[0], strings.NewReader(c.Input)); err != nil {
		return r, err
	}
	if _, err := files[0].Seek(0, io.SeekStart); err != nil {
		return r, err
	}
	spec := supervise.Spec{
		Argv: append([]string{c.Bin, "--no-pager", "--no-optional-locks"}, c.Args...), Dir: c.Dir, Env: c.Env,
		Input: files[0], Output: files[1], Errors: files[2], OutputLimit: c.OutputLimit, Timeout: c.Timeout, Grace: c.Grace,
	}
	if c.Record != nil {
		spec.Reserved, spec.Started = s.Reserve(""), c.Record
		if err := c.Record(spec.Reserved); err != nil {
			return r, err
		}
	}
	if r.Result, err = s.Run(ctx, spec); err != nil {
		return r, err
	}
	if r.Output, err = read(files[1], 0, min(r.OutputBytes, c.OutputLimit)); err != nil {
		return r, err
	}
	r.Stderr, err = read(files[2], max(0, r.ErrorBytes-maxStderr), r.ErrorBytes)
	return r, err
}

func read(f *os.File, from, to int64) (string, error) {
	var text strings.Builder
	text.Grow(int(to - from))
	_, err := io.Copy(&text, io.NewSectionReader(f, from, to-from))
	return text.String(), err
}
