package gitrepo

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of one git command.
const (
	// quick limits a command on git's own files, and slow a command that checks out files,
	// runs programs of the user, or uses the network.
	quick, slow = 2 * time.Minute, 10 * time.Minute
	grace       = 2 * time.Second
	maxOutput   = 256 << 20 // bytes
	maxStderr   = 4 << 10   // bytes, at the end
)

// place is a working tree and its git directory. Naming both keeps git from following a
// .git file that an agent has written.
type place struct{ top, git string }

type command struct {
	place
	args  []string
	env   []string
	input string
	limit time.Duration // quick if it is 0
	// hooks lets the repository's hooks run, and record records the process that runs them; it
	// may be nil.
	hooks  bool
	record func(supervise.Identity) error
}

// failure is the error of a git command that failed. It does not have an error code.
type failure struct {
	verb, stderr string
	code         int
}

func (f *failure) Error() string { return "git " + f.verb + ": " + f.excerpt() }

// excerpt returns the end of the standard error in one line.
func (f *failure) excerpt() string {
	return textutil.Clip(textutil.Line(strings.TrimSpace(f.stderr)), 500)
}

// failureOf returns the failure that err wraps, or nil.
func failureOf(err error) *failure {
	var f *failure
	errors.As(err, &f)
	return f
}

// isNegative reports whether err is the exit code 1, by which some commands answer no.
func isNegative(err error) bool {
	f := failureOf(err)
	return f != nil && f.code == 1
}

// output runs a command and returns its output without the line end.
func (r *Repo) output(ctx context.Context, p place, args ...string) (string, error) {
	out, err := r.run(ctx, command{place: p, args: args})
	return strings.TrimSuffix(out, "\n"), err
}

// find is output for a command that answers no by the exit code 1: then it returns "".
func (r *Repo) find(ctx context.Context, p place, args ...string) (string, error) {
	out, err := r.output(ctx, p, args...)
	if isNegative(err) {
		return "", nil
	}
	return out, err
}

// runAll runs slow commands one after another, until one fails.
func (r *Repo) runAll(ctx context.Context, p place, commands ...[]string) error {
	for _, args := range commands {
		if _, err := r.run(ctx, command{place: p, limit: slow, args: args}); err != nil {
			return err
		}
	}
	return nil
}

// lockPattern and halfPattern match the messages about a lock, and about a worktree that
// another git process is creating. Both last for milliseconds.
var (
	lockPattern = lazy.Regexp(`(?s)(?:Unable to create '(.*?)\.lock'|could not lock config file (.*?)): File exists`)
	halfPattern = lazy.Regexp(`(?s)(failed to read|could not (open|read|create directory of)|Invalid path) .*worktrees`)
)

// run runs git and returns its output. It tries again while another git process has a
// lock, and removes a private lock that a killed git left. If the command fails, the error
// is a git-failed or git-locked that wraps a failure.
func (r *Repo) run(ctx context.Context, c command) (out string, err error) {
	var first lock
	for range (retry.Backoff{First: 10 * time.Millisecond, Max: 400 * time.Millisecond, Limit: 10}).Attempts(ctx) {
		out, err = r.once(ctx, c)
		f := failureOf(err)
		if f == nil || !lockPattern().MatchString(f.stderr) && !halfPattern().MatchString(f.stderr) {
			break
		}
		if first.path == "" {
			first = lockOf(f)
		}
	}
	f := failureOf(err)
	if f == nil {
		return out, err
	}
	last := lockOf(f)
	if last.path == "" {
		return out, errs.New(errs.GitFailed, "git %s failed: %s", f.verb, f.excerpt()).With("output", f.stderr).Because(f)
	}
	if last.isSame(first) && r.isPrivate(last.path) && os.Remove(last.path) == nil {
		return r.run(ctx, c)
	}
	return out, errs.New(errs.GitLocked, "another git process has the lock %s, or was killed and left it", textutil.Line(last.path)).
		With("lock", last.path).Because(f)
}

// lock is a lock file that stopped a command.
type lock struct {
	path string // "" if a lock was not the cause
	info fs.FileInfo
}

func lockOf(f *failure) lock {
	found := lockPattern().FindStringSubmatch(f.stderr)
	if found == nil {
		return lock{}
	}
	path := filepath.FromSlash(found[1]+found[2]) + ".lock" // One of the two is empty.
	info, _ := os.Lstat(path)                               // It may be gone again.
	return lock{path, info}
}

// isSame reports whether l is the same file as other, without a write in between.
func (l lock) isSame(other lock) bool {
	return l.info != nil && other.info != nil && os.SameFile(l.info, other.info) && l.info.ModTime().Equal(other.info.ModTime())
}

// isPrivate reports whether a lock is on a task's branch, or in the git directory of its
// worktree. Only one process drives a task, so a lock that stays for seconds was left by a
// git that was killed, perhaps one that an agent ran. Only the user may remove other locks.
func (r *Repo) isPrivate(path string) bool {
	if below, err := filepath.Rel(filepath.Join(r.common, "refs", "heads", BranchPrefix), path); err == nil && filepath.IsLocal(below) {
		return true
	}
	dir := filepath.Dir(path)
	reason, _ := gitcmd.ReadLine(filepath.Join(dir, "locked"))
	return filepath.Dir(dir) == filepath.Join(r.common, "worktrees") && reason == taskReason
}

func (r *Repo) once(ctx context.Context, c command) (string, error) {
	settings := []string{
		"core.commitGraph=false", "core.fsmonitor=false", "core.quotePath=false", "core.splitIndex=false", "core.trustctime=true", "core.checkStat=default",
		"gc.auto=0", "maintenance.auto=false", "submodule.recurse=false", "i18n.commitEncoding=UTF-8", "i18n.logOutputEncoding=UTF-8", "user.useConfigOnly=true", "advice.addEmbeddedRepo=false",
	}
	if !c.hooks {
		settings = append(settings, "core.hooksPath="+os.DevNull, "trailer.separators=:")
	}
	var args []string
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	env := slices.Concat(r.environ, c.env)
	if c.git != "" {
		env = append(env, "GIT_DIR="+c.git, "GIT_WORK_TREE="+c.top)
	}
	result, err := gitcmd.Run(ctx, r.supervisor, gitcmd.Command{
		Bin: r.bin, Args: append(args, c.args...), Dir: c.top, Env: env, Input: c.input,
		OutputLimit: maxOutput, Timeout: cmp.Or(c.limit, quick), Grace: grace, Record: c.record,
	})
	switch {
	case err != nil && errs.CodeOf(err) == "" && ctx.Err() == nil:
		return "", unwritable(err)
	case err != nil:
		return "", err
	case result.End != supervise.Exited:
		return "", &failure{verb: c.args[0], stderr: "it was ended: " + string(result.End), code: -1}
	case result.ExitCode == 0:
		return result.Output, nil
	}
	stderr, err := redact.Tail(strings.NewReader(result.Stderr), int64(len(result.Stderr)), maxStderr)
	if err != nil {
		return "", unwritable(err)
	}
	return result.Output, &failure{verb: c.args[0], stderr: stderr, code: result.ExitCode}
}

// userVariables matches git's variables that belong to the user, not to a repository.
var userVariables = lazy.Regexp(`^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL)|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|PROXY_.*)$`)

// WithoutRepository returns an environment without the variables that name a repository,
// which it has if it is the environment of a hook.
func WithoutRepository(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "GIT_") && !userVariables().MatchString(name)
	})
}

// noFile is no file. Git would advise against a file of grafts that it can open, also before it
// reads the setting that turns this off.
const noFile = os.DevNull + "/none"

func environment(caller []string) []string {
	env := slices.DeleteFunc(WithoutRepository(caller), func(entry string) bool {
		return strings.HasPrefix(entry, "LANGUAGE=") || strings.HasPrefix(entry, "LC_")
	})
	return append(env,
		"LC_ALL=C.UTF-8", // This package matches git's messages.
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE="+noFile, "GIT_MERGE_AUTOEDIT=no",
	)
}
