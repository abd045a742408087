package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

type repo struct {
	// top contains .git, dir is the git directory of this working tree, and common the git
	// directory of the whole repository. They are absolute; dir and common differ only in a
	// linked working tree.
	top, dir, common string
}

// command returns a git command that uses the repository's own configuration. It must be one
// that does not run programs from there.
func (r repo) command(args ...string) gitCommand {
	return gitCommand{verb: args[0], dir: r.top, env: []string{"GIT_DIR=" + r.dir, "GIT_WORK_TREE=" + r.top}, args: args, limit: 4 << 20}
}

// isLinked reports whether this is a linked working tree that the repository knows.
func (r repo) isLinked() bool {
	back, err := gitcmd.ReadLine(filepath.Join(r.dir, "gitdir"))
	return err == nil && r.dir != r.common && resolve(r.dir, back) == filepath.Join(r.top, gitFolder)
}

// head returns the refs that HEAD leads through. The last one has a commit or does not exist
// yet. There are no refs if HEAD is detached.
func (r repo) head() (names []string, err error) {
	text, err := gitcmd.ReadLine(filepath.Join(r.dir, "HEAD"))
	for err == nil {
		name, ok := strings.CutPrefix(text, "ref: ")
		if !ok {
			return names, nil
		}
		if names = append(names, name); !filepath.IsLocal(name) || len(names) > maxSymbolic {
			return nil, errBroken
		}
		text, err = gitcmd.ReadLine(filepath.Join(r.common, filepath.FromSlash(name)))
	}
	if isMissing(err) && len(names) > 0 {
		err = nil // The ref is packed, in a reftable, or does not exist yet.
	}
	return names, err
}

// noBranch is the ref that HEAD names if the refs are in a reftable, which knows the branch.
const noBranch = "refs/heads/.invalid"

// isMissing reports whether err says that a file does not exist. With a reftable, refs/heads
// is not a directory.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// maxSymbolic bounds a chain of symbolic refs, as git does.
const maxSymbolic = 5

// errBroken is the error for a repository that git would not accept.
var errBroken = errors.New("it is not a valid git repository")

// find returns the repository at a directory of the root, or nil.
func (s *scanner) find(dir string) (*repo, error) {
	repo, err := find(filepath.Join(s.real, filepath.FromSlash(dir)))
	if err != nil {
		return nil, unreadable(path.Join(dir, gitFolder), err)
	}
	return repo, nil
}

// find returns the repository at a directory, or nil. A .git directory without any part of a
// repository is ignored. An incomplete repository is an error, because git would search the
// parent directories.
func find(top string) (*repo, error) {
	link := filepath.Join(top, gitFolder)
	info, err := os.Stat(link) // Git follows a link here.
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(link); err == nil {
			return nil, errBroken // a dangling link
		}
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		text, err := gitcmd.ReadLine(link)
		if err != nil {
			return nil, err
		}
		target, ok := strings.CutPrefix(text, "gitdir: ")
		if !ok || target == "" {
			return nil, errBroken
		}
		link = resolve(top, target)
	}
	for _, name := range []string{"HEAD", "commondir"} {
		if isSpecial(filepath.Join(link, name)) {
			return nil, fmt.Errorf("%s: %w", name, errWaits)
		}
	}
	r := repo{top: top, dir: link, common: link}
	switch text, err := gitcmd.ReadLine(filepath.Join(link, "commondir")); {
	case err == nil && text != "":
		r.common = resolve(link, text)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, errors.Join(err, errBroken)
	}
	has := 0
	for _, part := range []string{filepath.Join(r.dir, "HEAD"), filepath.Join(r.common, "objects"), filepath.Join(r.common, "refs")} {
		if _, err := os.Lstat(part); err == nil {
			has++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	switch {
	case has == 3:
		return &r, nil
	case has == 0 && info.IsDir():
		return nil, nil
	default:
		return nil, errBroken
	}
}

// findAbove returns the repository at a directory or at its nearest parent, or nil.
func findAbove(dir string) (*repo, error) {
	for {
		r, err := find(dir)
		if err != nil || r != nil || dir == filepath.Dir(dir) {
			return r, err
		}
		dir = filepath.Dir(dir)
	}
}

// resolve returns the absolute path for a path in a file of a directory.
func resolve(dir, name string) string {
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// GitFolders returns the absolute paths of the git directories of a directory's repository:
// two in a linked working tree, and nil without a repository.
func GitFolders(folder string) []string {
	r, err := findAbove(folder)
	if err != nil || r == nil {
		return nil
	}
	return slices.Compact([]string{r.dir, r.common})
}
