package worktree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of one run of git: its time, what it may print, and how long it has
// to end when it is asked to.
const (
	// The limits of one git command: time, output, and grace.
	gitTime   = time.Minute
	gitOutput = 512 << 20
	gitGrace  = time.Second
)

// git runs git, one command at a time. All files that it writes for us are in a private
// directory.
type git struct {
	supervisor *supervise.Supervisor
	environ    []string
	bin        string // "" if git is not installed
	temp       string // "" before the first command
	held       *os.File
	// output and errors receive what all commands print, appended.
	output, errors *os.File
}

func newGit(s *supervise.Supervisor, environ []string) *git {
	g := &git{supervisor: s, environ: environ}
	path, _ := g.variable("PATH")
	for _, dir := range filepath.SplitList(path) {
		if bin, err := exec.LookPath(filepath.Join(dir, "git")); err == nil && filepath.IsAbs(dir) {
			g.bin = bin
			break
		}
	}
	return g
}

// variable returns the value of a variable of the caller's environment.
func (g *git) variable(name string) (value string, ok bool) {
	for _, entry := range slices.Backward(g.environ) {
		if n, v, found := strings.Cut(entry, "="); found && (n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)) {
			return v, true
		}
	}
	return "", false
}

// userFile is the default path of a file of the user's settings.
func (g *git) userFile(name string) string {
	if dir, _ := g.variable("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	return g.expand("~/.config/git/" + name)
}

// expand replaces a leading ~ by the user's home, as git does.
func (g *git) expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, _ := g.variable("HOME")
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	return filepath.FromSlash(name)
}

// open creates the private directory.
func (g *git) open() (err error) {
	if g.temp != "" {
		return nil
	}
	if g.temp, g.held, err = newTemp(os.TempDir()); err != nil {
		return unreadable(".", err)
	}
	if g.output, err = g.create("output"); err != nil {
		return err
	}
	g.errors, err = g.create("errors")
	return err
}

// close removes the private directory.
func (g *git) close() error {
	if g.temp == "" {
		return nil
	}
	for _, f := range []*os.File{g.output, g.errors} {
		if f != nil {
			_ = f.Close()
		}
	}
	return errors.Join(g.held.Close(), os.RemoveAll(g.temp)) // Some systems cannot remove open files.
}

// inherited are the variables that git gets: its path, the user's settings, and what
// Windows needs. Git's own variables are not passed, since the caller may be a hook of
// another repository.
var inherited = []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "WINDIR"}

// environment is the environment of every git command.
func (g *git) environment(more ...string) []string {
	env := []string{
		"LC_ALL=C",
		"TMPDIR=" + g.temp, "TMP=" + g.temp, "TEMP=" + g.temp,
		"GIT_OPTIONAL_LOCKS=0", // do not lock or refresh the index
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=none", // a partial clone would fetch missing objects
		"GIT_NO_LAZY_FETCH=1",     // the same, for newer versions
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", // a file may be called :(top)
		"GIT_PAGER=cat",
	}
	for _, name := range inherited {
		if value, ok := g.variable(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

type gitCommand struct {
	dir   string
	env   []string
	args  []string
	input *os.File
	limit int64
}

// gitResult is the result of a git command.
type gitResult struct {
	output    io.ReadSeeker
	truncated bool // it exceeded the output limit
	code      int
	stderr    string // the beginning of standard error
}

// run runs git. A nonzero exit code is not an error.
func (g *git) run(ctx context.Context, r gitCommand) (gitResult, error) {
	if err := g.open(); err != nil {
		return gitResult{}, err
	}
	printed, err := g.output.Seek(0, io.SeekEnd)
	if err != nil {
		return gitResult{}, unreadable(".", err)
	}
	complained, err := g.errors.Seek(0, io.SeekEnd)
	if err != nil {
		return gitResult{}, unreadable(".", err)
	}
	result, err := g.supervisor.Run(ctx, supervise.Spec{
		Argv: append([]string{g.bin, "--no-pager", "--no-optional-locks"}, r.args...), Dir: r.dir, Env: g.environment(r.env...),
		Input: r.input, Output: g.output, Errors: g.errors, OutputLimit: r.limit, Timeout: gitTime, Grace: gitGrace,
	})
	if err != nil {
		return gitResult{}, err
	}
	if result.End != supervise.Exited && result.End != supervise.OutputLimit {
		return gitResult{}, unreadable(".", fmt.Errorf("git %s was ended: %s", r.verb(), result.End))
	}
	said := make([]byte, 2<<10)
	n, err := g.errors.ReadAt(said, complained)
	if err != nil && !errors.Is(err, io.EOF) {
		return gitResult{}, unreadable(".", err)
	}
	output := io.NewSectionReader(g.output, printed, result.OutputBytes)
	return gitResult{output: output, truncated: result.End == supervise.OutputLimit, code: result.ExitCode, stderr: string(said[:n])}, nil
}

// runOK runs a command that must succeed completely. Git only warns about a directory
// that it cannot open, whose files would be missing.
func (g *git) runOK(ctx context.Context, r gitCommand) (io.ReadSeeker, error) {
	out, err := g.run(ctx, r)
	if err != nil {
		return nil, err
	}
	switch {
	case out.truncated:
		return nil, unreadable(".", fmt.Errorf("git %s prints more than %d MiB", r.verb(), r.limit>>20))
	case out.code != 0 || strings.Contains(out.stderr, "could not open directory"):
		return nil, unreadable(".", fmt.Errorf("git %s: %q (exit code %d)", r.verb(), strings.TrimSpace(out.stderr), out.code))
	}
	return out.output, nil
}

// verb is the name of the command.
func (r gitCommand) verb() string {
	for i := 0; i < len(r.args); i++ {
		if r.args[i] != "-c" {
			return r.args[i]
		}
		i++
	}
	return ""
}

// create creates a file in the private directory.
func (g *git) create(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(g.temp, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unreadable(".", err)
	}
	return f, nil
}

type setting struct{ name, value string }

// settings returns all settings that apply to a repository: its own, the user's and the
// system's, with included files. Reading them runs nothing.
func (g *git) settings(ctx context.Context, r repo) ([]setting, error) {
	if err := g.ready(r); err != nil {
		return nil, err
	}
	out, err := g.run(ctx, gitCommand{
		dir: r.top, env: []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}, limit: 4 << 20, args: []string{"config", "-z", "--list"},
	})
	if err != nil {
		return nil, err
	}
	if out.code != 0 || out.truncated {
		return nil, unreadable(gitFolder, fmt.Errorf("git config: %q", strings.TrimSpace(out.stderr)))
	}
	var found []setting
	err = records(out.output, func(text string) error {
		name, value, ok := strings.Cut(text, "\n")
		if !ok {
			value = "true" // A name without a value means true.
		}
		found = append(found, setting{name, value})
		if name == "core.excludesfile" && regular(g.expand(value)) != nil {
			return unreadable(gitFolder, fmt.Errorf("core.excludesFile: %w", errWaits))
		}
		return nil
	})
	return found, err
}

// counts reports whether a setting can change what git does in a working tree whose HEAD
// leads through these refs. Settings unknown to git cannot, and neither can those of
// other branches, which git writes when a branch is created for another working tree.
func (s setting) counts(head []string) bool {
	section, rest, _ := strings.Cut(s.name, ".")
	if section != "branch" {
		return slices.Contains(sections, section)
	}
	i := strings.LastIndexByte(rest, '.')
	return i < 0 || slices.Contains(head, "refs/heads/"+rest[:i]) && slices.Contains(branchSettings, rest[i+1:])
}

// sections are the first parts of git's settings (git help --config) and those of common
// companions; branchSettings are the last parts of a branch's.
var (
	sections = strings.Fields(`add advice alias am annex apply attr author blame browser bundle checkout clean clone color column commit
		commitgraph committer completion core credential credentialcache credentialstore diff difftool extensions fastimport feature fetch
		filter format fsck fsmonitor gc gitcvs gitweb gpg grep gui guitool hasconfig help hook http i18n imap include includeif index init
		instaweb interactive lfs log lsrefs mailinfo mailmap maintenance man merge mergetool notes pack pager pretty promisor protocol pull
		push rebase receive reftable remote remotes repack replay rerere revert safe sendemail sequence showbranch sparse splitindex
		ssh stash status submodule svn tag tar trace2 trailer transfer uploadarchive uploadpack uploadpackfilter url user versionsort
		volume web worktree`)
	branchSettings = strings.Fields("autosetupmerge autosetuprebase description merge mergeoptions pushremote rebase remote sort")
)

// maxRecord bounds a record in git's output, in bytes.
const maxRecord = 1 << 20

// records calls each with every NUL-terminated record of git's output.
func records(output io.Reader, each func(string) error) error {
	scanner := bufio.NewScanner(output)
	scanner.Buffer(nil, maxRecord)
	scanner.Split(func(data []byte, last bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		if last && len(data) > 0 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		return 0, nil, nil
	})
	for scanner.Scan() {
		if err := each(scanner.Text()); err != nil {
			return err
		}
	}
	if err := scanner.Err(); err != nil {
		return unreadable(".", fmt.Errorf("git's answer: %w", err))
	}
	return nil
}
