// Package gitrepo writes to git for the host: branches and worktrees of tasks, commits,
// merges and pushes.
//
// It does not write to the index, the stash, the files and the branches of the user's
// checkout, except for Advance, and never forces git. A branch moves only from the commit
// at which the caller expects it. Every operation may be repeated after its process was
// killed: it completes the results of the earlier call.
//
// Git runs without a terminal, an editor, a pager or a prompt, with a time limit, and
// without the hooks of the repository, except for RunHooks and Push. Filters, merge
// drivers and programs that sign run as the user's settings say.
//
// # Errors
//
// Every call that runs git may fail with git-failed, git-locked and the errors of the
// supervisor, and every call that writes files with file-unwritable. The comments name the
// others.
package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// minMajor and minMinor are the oldest version of git that works: the first one in which
// git merge-tree can merge.
const minMajor, minMinor = 2, 38

// Options say how a Repo runs git. Both fields are required.
type Options struct {
	Supervisor *supervise.Supervisor
	// Environ is the caller's environment, which git gets without the variables that name
	// another repository.
	Environ []string
}

// Repo is the repository of a checkout. It is safe for concurrent use, also by several
// processes, except for operations on the same branch.
type Repo struct {
	supervisor *supervise.Supervisor
	environ    []string
	bin        string
	checkout   place
	common     string // the git directory of the whole repository

	mu      sync.Mutex
	indexes map[string]*savedIndex // by the git directory of the worktree
}

// Open opens the repository of the checkout that contains dir.
//
// # Errors
//
// git-missing, git-too-old, repository-missing, repository-bare, repository-unsafe if it
// belongs to another user, repository-empty if HEAD has no commit.
func Open(ctx context.Context, dir string, o Options) (*Repo, error) {
	r, err := newRepo(o)
	if err != nil {
		return nil, err
	}
	here := place{top: dir}
	version, err := r.output(ctx, here, "version")
	if err != nil {
		return nil, err
	}
	if !isRecent(version) {
		return nil, errs.New(errs.GitTooOld, "%s is older than %d.%d", version, minMajor, minMinor)
	}
	// Git prints an unknown option unchanged, so it separates the paths, which may contain
	// line ends.
	const next = "--switchyard-next"
	out, err := r.output(ctx, here, "rev-parse", "--path-format=absolute", "--is-inside-work-tree",
		next, "--show-toplevel", next, "--absolute-git-dir", next, "--git-common-dir", next, "--verify", "--quiet", "HEAD^{commit}")
	found := strings.Split(out, "\n"+next+"\n")
	switch f := failureOf(err); {
	case f != nil && strings.Contains(f.stderr, "dubious ownership"):
		return nil, errs.New(errs.RepositoryUnsafe, "the repository of %s belongs to another user", dir)
	case f != nil && strings.Contains(f.stderr, "not a git repository"):
		return nil, errs.New(errs.RepositoryMissing, "%s is in no git repository", dir)
	case isNegative(err):
		return nil, errs.New(errs.RepositoryEmpty, "the repository of %s has no commit yet", dir)
	case err != nil && !strings.HasPrefix(out, "false\n"):
		return nil, err
	case len(found) != 5:
		return nil, errs.New(errs.RepositoryBare, "%s is in a bare repository, or in a directory of git's own", dir)
	}
	r.checkout.top, r.checkout.git, r.common = filepath.FromSlash(found[1]), filepath.FromSlash(found[2]), filepath.FromSlash(found[3])
	return r, nil
}

// newRepo returns a Repo that runs git, without a repository.
func newRepo(o Options) (*Repo, error) {
	r := &Repo{supervisor: o.Supervisor, environ: environment(o.Environ), bin: childenv.LookPath(o.Environ, "git")}
	if r.bin == "" {
		return nil, errs.New(errs.GitMissing, "git is not installed")
	}
	return r, nil
}

// Create makes an existing directory a repository, with one commit of its files.
//
// # Errors
//
// git-missing.
func Create(ctx context.Context, dir string, o Options) error {
	r, err := newRepo(o)
	if err != nil {
		return err
	}
	return r.runAll(ctx, place{top: dir},
		[]string{"-c", "init.defaultBranch=main", "init", "--quiet", "--template="},
		[]string{"add", "--all"},
		[]string{"-c", "user.name=switchyard", "-c", "user.email=switchyard@localhost", "-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--message=Begin"},
	)
}

// isRecent reports whether the output of git version names a version that works.
func isRecent(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor)
	return err == nil && (major > minMajor || major == minMajor && minor >= minMinor)
}

// Resolve finds the commit that a revision names, as in gitrevisions(7), and the short name
// of its branch, "" if the revision does not name a branch. It refuses the name of a branch, also
// of one that was fetched, that git takes for another ref, such as a tag, with another commit,
// and a short id that git takes for a ref.
//
// # Errors
//
// revision-unknown.
func (r *Repo) Resolve(ctx context.Context, rev string) (commit, branch string, err error) {
	unknown := errs.New(errs.RevisionUnknown, "git knows no commit of the name %.200q", rev).With("revision", rev)
	if strings.HasPrefix(rev, "-") || strings.HasPrefix(rev, "^") {
		return "", "", unknown // For git it is an option or an exclusion.
	}
	out, err := r.output(ctx, r.checkout, "rev-parse", rev+"^{commit}", "--symbolic-full-name", rev, "--")
	if f := failureOf(err); f != nil && f.code > 0 || strings.Contains(out, "\n^") { // It is a range.
		return "", "", unknown
	}
	commit, out, _ = strings.Cut(out, "\n")
	ref, _, _ := strings.Cut(out, "\n")
	if strings.HasPrefix(ref, headsPrefix) {
		branch = ref[len(headsPrefix):]
	}
	if err != nil || rev == "HEAD" || gitcmd.IsID(rev) || strings.HasPrefix(rev, "refs/") {
		return commit, branch, err
	}
	for _, prefix := range []string{headsPrefix, remotesPrefix} {
		if ref == prefix+rev {
			continue
		}
		ofBranch, err := r.find(ctx, r.checkout, "rev-parse", "--verify", "--quiet", prefix+rev+"^{commit}")
		if err != nil {
			return "", "", err
		}
		if ofBranch != "" && ofBranch != commit {
			return "", "", errs.New(errs.RevisionUnknown, "git takes the name %.200q for another ref, such as a tag, and not for %s", rev, prefix+textutil.Line(rev)).With("revision", rev).
				WithHint("delete the other ref, which git show-ref lists, or write " + prefix + textutil.Line(rev) + " for the branch")
		}
	}
	if shortPattern().MatchString(rev) && !strings.HasPrefix(commit, strings.ToLower(rev)) {
		objects, err := r.output(ctx, r.checkout, "rev-parse", "--disambiguate="+rev)
		if err != nil {
			return "", "", err
		}
		if objects != "" {
			return "", "", errs.New(errs.RevisionUnknown, "git takes the name %s for a branch, a tag or another ref, and not for the commit of that id", rev).With("revision", rev).
				WithHint("write the whole id of the commit, or the full name of the ref, such as refs/heads/" + rev)
		}
	}
	return commit, branch, nil
}

// shortPattern matches the beginning of an object's id, as git prints it.
var shortPattern = lazy.Regexp(`^[0-9a-fA-F]{7,}$`)

// Dirty lists the files of the user's checkout that differ from its HEAD, and the untracked
// files that are not ignored. A directory of untracked files is one entry that ends with a
// slash. Of a submodule only the commit counts: see addAll.
func (r *Repo) Dirty(ctx context.Context) ([]string, error) {
	out, err := r.output(ctx, r.checkout, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=dirty")
	var files []string
	for _, entry := range records(out) {
		if len(entry) > 3 { // Two letters and a space precede the name.
			files = append(files, entry[3:])
		}
	}
	return files, err
}

// Submodules lists the submodules of a worktree that are not checked out. It does not check
// them out, because that may need the network.
//
// # Errors
//
// worktree-missing.
func (r *Repo) Submodules(ctx context.Context, path string) ([]string, error) {
	p, err := r.place(path)
	if err != nil {
		return nil, err
	}
	return r.missingSubmodules(ctx, p)
}

func (r *Repo) missingSubmodules(ctx context.Context, p place) ([]string, error) {
	modules := filepath.Join(p.top, ".gitmodules")
	if _, err := os.Lstat(modules); err != nil {
		return nil, nil
	}
	out, err := r.find(ctx, p, "config", "-z", "--file", modules, "--get-regexp", `^submodule\..*\.path$`)
	var missing []string
	for _, entry := range records(out) {
		_, name, _ := strings.Cut(entry, "\n")
		if _, err := os.Lstat(filepath.Join(p.top, filepath.FromSlash(name), ".git")); err != nil {
			missing = append(missing, name)
		}
	}
	return missing, err
}

// records splits output into entries that end with NUL.
func records(out string) []string {
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// unwritable returns the error of a directory or file that Switchyard writes.
func unwritable(err error) error {
	return errs.New(errs.FileUnwritable, "git cannot be run: %w", err)
}

// tempPrefix begins the names of temporary directories. Package internal/agent/worktree,
// which has the same prefix, removes the directories of killed processes.
const tempPrefix = "switchyard-tree-"

// inTemp calls f with a temporary directory.
func inTemp(f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return unwritable(err)
	}
	defer func() {
		if removing := os.RemoveAll(dir); err == nil && removing != nil {
			err = fmt.Errorf("remove a temporary directory: %w", removing)
		}
	}()
	return f(dir)
}
