package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// GitDir returns the git directory of the whole repository.
func (r *Repo) GitDir() string { return r.common }

// History lists at most limit commits, HEAD and its first parents, the latest first. With
// merges, it lists only commits with several parents.
func (r *Repo) History(ctx context.Context, merges bool, limit int) ([]string, error) {
	args := []string{"rev-list", "--first-parent", "--max-count=" + strconv.Itoa(limit)}
	if merges {
		args = append(args, "--merges")
	}
	out, err := r.output(ctx, r.checkout, append(args, "HEAD")...)
	return strings.Fields(out), err
}

// Copy makes the new directory dir a repository with the files of a commit as they were
// before it was committed: HEAD is its first parent, and the index has no changes. The copy
// uses the objects and the settings of r, and does not write to r. Copy returns the
// submodules, which are not checked out.
//
// # Errors
//
// commit-shallow if the repository does not have the parent.
func (r *Repo) Copy(ctx context.Context, dir string, c Commit) (submodules []string, err error) {
	if c.Shallow {
		return nil, errs.New(errs.CommitShallow, "the parent of commit %.12s is not in this clone, so what the commit changes is not known", c.Hash).With("commit", c.Hash)
	}
	format, err := r.output(ctx, r.checkout, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(err)
	}
	made := &Repo{supervisor: r.supervisor, environ: r.environ, bin: r.bin}
	if err := made.runAll(ctx, place{top: dir}, []string{"-c", "init.defaultBranch=main", "init", "--quiet", "--template=", "--object-format=" + format}); err != nil {
		return nil, err
	}
	shallow, err := os.ReadFile(filepath.Join(r.common, "shallow"))
	switch {
	case err == nil:
		err = os.WriteFile(filepath.Join(dir, ".git", "shallow"), shallow, 0o600)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	objects := filepath.ToSlash(filepath.Join(r.common, "objects")) + "\n"
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, ".git", "objects", "info", "alternates"), []byte(objects), 0o600)); err != nil {
		return nil, unwritable(err)
	}
	steps := [][]string{{"config", "include.path", filepath.ToSlash(filepath.Join(r.common, "config"))}, {"checkout", "--quiet", "--detach", c.Hash}}
	if len(c.Parents) > 0 {
		steps = append(steps, []string{"reset", "--quiet", "--mixed", c.Parents[0]})
	} else {
		steps = append(steps, []string{"symbolic-ref", "HEAD", "refs/heads/main"}, []string{"read-tree", "--empty"})
	}
	if err := made.runAll(ctx, place{top: dir}, steps...); err != nil {
		return nil, err
	}
	return made.missingSubmodules(ctx, place{top: dir, git: filepath.Join(dir, ".git")})
}
