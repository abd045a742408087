package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// The limits of one git command: time, output, and grace.
const (
	gitTime   = time.Minute
	gitOutput = 512 << 20
	gitGrace  = time.Second
)

// git runs git. Its temporary files are in a private directory.
type git struct {
	supervisor *supervise.Supervisor
	environ    []string
	bin        string // "" if git is not installed
	temp       string // the private directory, "" before it is needed
}

const (
	// tempPrefix begins the names of the private directories.
	tempPrefix = "switchyard-tree-"
	// maxTempAge is the age above which a private directory belongs to a killed process, since
	// a scan never takes as long.
	maxTempAge = time.Hour
)

// private creates the private directory unless it exists, and removes directories of killed
// processes.
func (g *git) private() error {
	if g.temp != "" {
		return nil
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > maxTempAge {
			_ = os.RemoveAll(dir) // It may belong to another user.
		}
	}
	var err error
	if g.temp, err = os.MkdirTemp("", tempPrefix); err != nil {
		return unreadable(".", err)
	}
	return nil
}

func (g *git) close() error {
	if g.temp == "" {
		return nil
	}
	return os.RemoveAll(g.temp)
}

// userFiles are the files of rules that settings name, by the setting: the name of the file
// without the setting, and what the items call the contents.
var userFiles = map[string]struct{ standard, item string }{
	"core.excludesfile":   {"ignore", "what core.excludesfile ignores"},
	"core.attributesfile": {"attributes", "what core.attributesfile says"},
}

// userFile returns the default path of a file of the user's settings.
func (g *git) userFile(name string) string {
	if dir := childenv.Value(g.environ, "XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	return g.expand("~/.config/git/" + name)
}

// expand replaces a leading ~ by the user's home, as git does.
func (g *git) expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(childenv.Value(g.environ, "HOME"), filepath.FromSlash(rest))
	}
	return filepath.FromSlash(name)
}

// inherited are the variables that git gets: the path, the user's settings, and the variables
// that Windows needs. Git's other variables are not passed, since the caller may be a hook of
// another repository.
var inherited = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", configGlobal, configSystem, "GIT_CONFIG_NOSYSTEM", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "WINDIR",
}

// configGlobal and configSystem name files of settings that replace the user's and the
// system's.
const configGlobal, configSystem = "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"

func (g *git) environment(more []string) []string {
	env := []string{
		"LC_ALL=C",
		"GIT_OPTIONAL_LOCKS=0", // do not lock or refresh the index
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ALLOW_PROTOCOL=none", // in a partial clone git would fetch missing objects
		"GIT_NO_LAZY_FETCH=1",     // the same, for newer versions
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", // a file may be called :(top)
		"GIT_PAGER=cat",
	}
	if g.temp != "" {
		env = append(env, "TMPDIR="+g.temp, "TMP="+g.temp, "TEMP="+g.temp)
	}
	for _, entry := range g.environ {
		name, _, _ := strings.Cut(entry, "=")
		// To git an empty variable is not the same as none. Names have no case on Windows.
		if slices.ContainsFunc(inherited, func(n string) bool { return strings.EqualFold(n, name) }) {
			env = append(env, entry)
		}
	}
	return append(env, more...)
}

// gitCommand is a git command. verb is the one of args that names it.
type gitCommand struct {
	verb  string
	dir   string
	env   []string
	args  []string
	input string
	limit int64
}

func (c gitCommand) failure(r gitcmd.Result) error {
	return unreadable(".", fmt.Errorf("git %s: %q (exit code %d)", c.verb, textutil.ClipBytes(strings.TrimSpace(r.Stderr), 2<<10), r.ExitCode))
}

// run runs git. A nonzero exit code is not an error, and neither is output beyond the limit.
func (g *git) run(ctx context.Context, c gitCommand) (gitcmd.Result, error) {
	result, err := gitcmd.Run(ctx, g.supervisor, gitcmd.Command{
		Bin: g.bin, Args: c.args, Dir: c.dir, Env: g.environment(c.env), Input: c.input, OutputLimit: c.limit, Timeout: gitTime, Grace: gitGrace,
	})
	switch {
	case err != nil && errs.CodeOf(err) == "" && ctx.Err() == nil:
		return gitcmd.Result{}, unreadable(".", err)
	case err != nil:
		return gitcmd.Result{}, err
	case result.End != supervise.Exited && result.End != supervise.OutputLimit:
		return gitcmd.Result{}, unreadable(".", fmt.Errorf("git %s was ended: %s", c.verb, result.End))
	}
	return result, nil
}

// runOK runs a command that must succeed completely, and returns its output. A warning about a
// directory that git cannot open is an error, since the files of that would be missing.
func (g *git) runOK(ctx context.Context, c gitCommand) (string, error) {
	out, err := g.run(ctx, c)
	switch {
	case err != nil:
		return "", err
	case out.End == supervise.OutputLimit:
		return "", unreadable(".", fmt.Errorf("git %s prints more than %d MiB", c.verb, c.limit>>20))
	case out.ExitCode != 0 || strings.Contains(out.Stderr, "could not open directory"):
		return "", c.failure(out)
	}
	return out.Output, nil
}

// checkFiles refuses a repository if one of its files, or a file of settings, would block git.
func (g *git) checkFiles(r repo) error {
	var files []string
	for _, f := range userFiles {
		files = append(files, g.userFile(f.standard))
	}
	for _, dir := range []string{r.dir, r.common} {
		for _, name := range []string{"HEAD", "index", packedRefs, "shallow", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout", "objects/info/alternates"} {
			files = append(files, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range files {
		if err := checkNotSpecial(name); err != nil {
			return err
		}
	}
	checked := make(map[string]bool)
	for _, name := range []string{
		filepath.Join(r.common, "config"), filepath.Join(r.dir, "config.worktree"), g.expand("~/.gitconfig"), g.userFile("config"),
		resolve(r.top, childenv.Value(g.environ, configGlobal)), resolve(r.top, childenv.Value(g.environ, configSystem)),
	} {
		if err := g.checkConfig(name, checked); err != nil {
			return err
		}
	}
	return nil
}

// checkNotSpecial refuses an existing special file, except for the null device, which is empty.
func checkNotSpecial(name string) error {
	if name != os.DevNull && isSpecial(name) {
		return unreadable(gitFolder, fmt.Errorf("%s: %w", filepath.Base(name), errWaits))
	}
	return nil
}

// isSpecial reports whether a file exists that is neither a regular file nor a directory.
func isSpecial(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// maxIncluded bounds how many files of settings are read, and maxSettings the size of
// each, in bytes.
const maxIncluded, maxSettings = 100, 1 << 20

// checkConfig refuses a file of settings that would block git, or that includes such a file.
func (g *git) checkConfig(name string, checked map[string]bool) error {
	if checked[name] || len(checked) > maxIncluded {
		return nil
	}
	checked[name] = true
	if err := checkNotSpecial(name); err != nil {
		return err
	}
	f, err := safefile.OpenPath(name)
	if err != nil {
		return nil // Git cannot read it either.
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings))
	// The expression finds the files that settings may include. It need not be exact.
	included := regexp.MustCompile(`(?im)^[^#;\n]*\bpath\s*=\s*"?([^"#;\r\n]+)`)
	for _, found := range included.FindAllSubmatch(text, -1) {
		err = errors.Join(err, g.checkConfig(resolve(filepath.Dir(name), g.expand(strings.TrimSpace(string(found[1])))), checked))
	}
	return err
}

type setting struct{ name, value string }

// settings returns all settings that apply to a repository: its own, the user's and the
// system's, with included files. Git does not run other programs to read them.
func (g *git) settings(ctx context.Context, r repo) ([]setting, error) {
	if err := g.checkFiles(r); err != nil {
		return nil, err
	}
	out, err := g.runOK(ctx, r.command("config", "-z", "--list"))
	if err != nil {
		return nil, err
	}
	var found []setting
	err = records(out, func(text string) error {
		name, value, ok := strings.Cut(text, "\n")
		if !ok {
			value = "true" // A name without a value means true.
		}
		found = append(found, setting{name, value})
		if userFiles[name].standard != "" {
			return checkNotSpecial(resolve(r.top, g.expand(value)))
		}
		return nil
	})
	return found, err
}

// counts reports whether a setting can affect git in a working tree with a HEAD that leads
// through these refs. Settings that git does not know cannot, and neither can settings of
// other branches, which git writes when it creates a branch for another working tree, unless
// the branch is not known.
func (s setting) counts(head []string) bool {
	section, rest, _ := strings.Cut(s.name, ".")
	if section != "branch" {
		return slices.Contains(sections, section)
	}
	i := strings.LastIndexByte(rest, '.')
	of := func(ref string) bool { return ref == noBranch || ref == "refs/heads/"+rest[:i] }
	return i < 0 || slices.ContainsFunc(head, of) && slices.Contains(branchSettings, rest[i+1:])
}

// sections are the first parts of the settings of git (git help --config) and of common
// extensions. branchSettings are the last parts of the settings of a branch.
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

// records calls each with every NUL-terminated record of git's output.
func records(output string, each func(string) error) error {
	for output != "" {
		record, rest, ended := strings.Cut(output, "\x00")
		if !ended {
			return unreadable(".", fmt.Errorf("git's answer: %w", io.ErrUnexpectedEOF))
		}
		if err := each(record); err != nil {
			return err
		}
		output = rest
	}
	return nil
}
