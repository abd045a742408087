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
	gitTime   = time.Minute
	gitOutput = 512 << 20
	gitGrace  = time.Second
)

// git runs git, one command at a time. Everything that it reads or writes on our
// behalf lies in a private folder.
type git struct {
	supervisor *supervise.Supervisor
	environ    []string
	bin        string // "" where git is not installed
	temp       string // "" before the first command
	held       *os.File
	// output and errors take what all commands print, one behind the other.
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

// open makes the private folder for the first command.
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

// close removes the private folder, where there is one.
func (g *git) close() error {
	if g.temp == "" {
		return nil
	}
	for _, f := range []*os.File{g.output, g.errors} {
		if f != nil {
			_ = f.Close() // Nobody needs what is in it.
		}
	}
	return errors.Join(g.held.Close(), os.RemoveAll(g.temp)) // Some systems remove no open file.
}

// inherited are the variables that git gets from us: where it is, where the user's
// settings are, and what Windows needs to start anything. None of git's own is
// among them, since the caller may be a hook of another repository.
var inherited = []string{"PATH", "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "WINDIR"}

// environ is the environment of every run of git.
func (g *git) environment(more ...string) []string {
	env := []string{
		"LC_ALL=C",
		"TMPDIR=" + g.temp, "TMP=" + g.temp, "TEMP=" + g.temp,
		"GIT_OPTIONAL_LOCKS=0",     // no lock, and no fresh index
		"GIT_TERMINAL_PROMPT=0",    // nobody is there to ask
		"GIT_ALLOW_PROTOCOL=none",  // a partial clone fetches what it lacks
		"GIT_NO_LAZY_FETCH=1",      // the same, for those that know it
		"GIT_NO_REPLACE_OBJECTS=1", // an object is what its name says
		"GIT_LITERAL_PATHSPECS=1",  // a file may be called :(top)
		"GIT_PAGER=cat",
	}
	for _, name := range inherited {
		if value, ok := g.variable(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, more...)
}

// gitCommand is a command of git.
type gitCommand struct {
	dir   string
	env   []string
	args  []string
	input *os.File
	limit int64
}

// gitResult is how a command of git ended.
type gitResult struct {
	output    io.ReadSeeker
	truncated bool // it was ended because it printed more than it may
	code      int
	stderr    string // the beginning of what it said on standard error
}

// gitCommand runs git. A command that git itself ends with an error is none here.
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

// runOK is run for a command that has to succeed, whole. A folder that git cannot
// open is a warning to it, and would hide what is in there.
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

// verb is the command without what stands before it.
func (r gitCommand) verb() string {
	for i := 0; i < len(r.args); i++ {
		if r.args[i] != "-c" {
			return r.args[i]
		}
		i++
	}
	return ""
}

// create makes a file of our own.
func (g *git) create(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(g.temp, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unreadable(".", err)
	}
	return f, nil
}

// setting is one of git's settings.
type setting struct{ name, value string }

// settings asks for all settings that hold in a repository: its own, the user's and
// the system's, with the files that they include. Reading them runs nothing.
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
			value = "true" // A name alone says so.
		}
		found = append(found, setting{name, value})
		if name == "core.excludesfile" && regular(g.expand(value)) != nil {
			return unreadable(gitFolder, fmt.Errorf("core.excludesFile: %w", errWaits))
		}
		return nil
	})
	return found, err
}

// counts reports whether a setting can change what git does in a working tree whose
// HEAD leads through these refs. Settings that git does not know cannot, and neither
// can those of other branches: git writes them when a branch is made for another working tree.
func (s setting) counts(head []string) bool {
	section, rest, _ := strings.Cut(s.name, ".")
	if section != "branch" {
		return slices.Contains(sections, section)
	}
	i := strings.LastIndexByte(rest, '.')
	return i < 0 || slices.Contains(head, "refs/heads/"+rest[:i]) && slices.Contains(branchSettings, rest[i+1:])
}

// sections are the first words of the settings that git knows (git help --config), with
// those of its usual companions; branchSettings are the last words of a branch's.
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

// maxRecord is the largest record that git prints, in bytes; it may be a path.
const maxRecord = 1 << 20

// records calls each with every record of git's output. They end with NUL.
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
