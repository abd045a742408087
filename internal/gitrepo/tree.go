package gitrepo

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// gitlink is the mode of a nested repository in an index.
const gitlink = "160000"

// WriteTree stores the tracked files of a worktree, and the untracked ones that are not
// ignored, and returns their tree. It only reads the worktree's index. Flags of the index
// that hide a change of a file have no effect.
//
// # Errors
//
// worktree-missing, and repository-nested if the worktree has a repository that its commit
// does not have, or a file in a submodule that is not checked out.
func (r *Repo) WriteTree(ctx context.Context, path string) (tree string, err error) {
	p, err := r.place(path)
	if err != nil {
		return "", err
	}
	for _, name := range []string{ownIndex, "index"} {
		if name == ownIndex && !exists(filepath.Join(p.git, name)) {
			continue
		}
		if tree, err = r.writeTree(ctx, p, name); failureOf(err) == nil {
			break
		}
	}
	return tree, err
}

// CheckoutTree is WriteTree for the checkout that the repository was opened for. It does not
// leave an index.
func (r *Repo) CheckoutTree(ctx context.Context) (tree string, err error) {
	err = inTemp(func(dir string) error {
		index := filepath.Join(dir, "index")
		if err := copyIndex(filepath.Join(r.checkout.git, "index"), index); err != nil {
			return unwritable(err)
		}
		tree, err = r.treeOf(ctx, r.checkout, []string{"GIT_INDEX_FILE=" + index})
		return err
	})
	return tree, err
}

// ownIndex is our index of a worktree, in its git directory. It has the times of files, so
// that the next WriteTree reads only changed files. After a checkout, the worktree's index
// is as old as its files, so that git would read all of them each time.
const ownIndex = "switchyard-index"

// writeTree is WriteTree with the times of the index with the name.
func (r *Repo) writeTree(ctx context.Context, p place, name string) (tree string, err error) {
	err = inTemp(func(dir string) error {
		index := filepath.Join(dir, "index")
		if err := copyIndex(filepath.Join(p.git, name), index); err != nil {
			return unwritable(err)
		}
		if tree, err = r.treeOf(ctx, p, []string{"GIT_INDEX_FILE=" + index}); err != nil {
			return err
		}
		own := filepath.Join(p.git, ownIndex)
		_ = os.Remove(own + ".new") // of a killed process
		if err = copyIndex(index, own+".new"); err == nil {
			err = os.Rename(own+".new", own)
		}
		if err != nil {
			return unwritable(err)
		}
		return nil
	})
	return tree, err
}

// treeOf is WriteTree with the index that the environment names.
func (r *Repo) treeOf(ctx context.Context, p place, env []string) (string, error) {
	run := func(input string, args ...string) (string, error) {
		return r.run(ctx, command{place: p, args: args, env: env, input: input, limit: slow})
	}
	if err := forgetTimes(p, run); err != nil {
		return "", err
	}
	if err := addAll(run); err != nil {
		return "", err
	}
	hidden, err := hiddenFiles(p, run)
	if err != nil {
		return "", err
	}
	if hidden != "" {
		// Each flag needs a command of its own.
		for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
			if _, err := run(hidden, "update-index", flag, "-z", "--stdin"); err != nil {
				return "", err
			}
		}
		if err := addAll(run); err != nil {
			return "", err
		}
	}
	tree, err := run("", "write-tree")
	return strings.TrimSpace(tree), err
}

// onIndex runs git with the index of treeOf.
type onIndex func(input string, args ...string) (string, error)

// forgetTimes makes git read the files that differ from the commit. Git trusts the times in
// the index, which the agent that wrote the draft could write too.
func forgetTimes(p place, run onIndex) error {
	staged, err := run("", "diff-index", "--cached", "-z", "--no-renames", "--ignore-submodules=none", "HEAD")
	if err != nil {
		return err
	}
	var unread strings.Builder
	for found := records(staged); len(found) > 1; found = found[2:] {
		entry, name := strings.Fields(found[0]), found[1] // :MODE MODE ID ID LETTER
		if len(entry) == 5 && strings.Contains("AMT", entry[4]) && exists(filepath.Join(p.top, filepath.FromSlash(name))) {
			unread.WriteString(entry[1] + " " + entry[3] + "\t" + name + "\x00")
		}
	}
	if unread.Len() > 0 {
		_, err = run(unread.String(), "update-index", "-z", "--index-info")
	}
	return err
}

func addAll(run onIndex) error {
	_, err := run("", "add", "--all", "--sparse")
	if err == nil {
		return nil
	}
	// Git cannot add a repository without a commit. It lists each with a slash.
	if out, listErr := run("", "ls-files", "-z", "--others", "--exclude-standard"); listErr == nil {
		for _, name := range records(out) {
			if strings.HasSuffix(name, "/") {
				return errNested(name)
			}
		}
	}
	return err
}

// hiddenFiles returns the names, in a form that git reads, of the files of the working tree
// that flags of the index hide from git. It fails at a nested repository.
func hiddenFiles(p place, run onIndex) (string, error) {
	entries, err := run("", "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return "", err
	}
	var hidden strings.Builder
	for _, entry := range records(entries) {
		attributes, name, _ := strings.Cut(entry, "\t")
		if len(attributes) < 2 {
			continue
		}
		tag := attributes[0]
		if tag == 'h' || tag == 's' || tag == 'S' && exists(filepath.Join(p.top, filepath.FromSlash(name))) {
			hidden.WriteString(name + "\x00")
		}
		if strings.HasPrefix(attributes[2:], gitlink) {
			was, err := run("", "ls-tree", "-z", "HEAD", "--", ":(top,literal)"+name)
			if err != nil {
				return "", err
			}
			// Git does not see files in the directory of a submodule that is not checked out.
			dir := filepath.Join(p.top, filepath.FromSlash(name))
			if !strings.HasPrefix(was, gitlink) || !isEmpty(dir) && !exists(filepath.Join(dir, ".git")) {
				return "", errNested(name)
			}
		}
	}
	return hidden.String(), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// isEmpty reports whether a directory is empty or missing.
func isEmpty(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return len(entries) == 0
}

func errNested(name string) error {
	return errs.New(errs.RepositoryNested, "%s in the worktree is a git repository or a submodule, whose files cannot be committed", textutil.Line(name)).
		With("path", name)
}

// copyIndex copies an index with its time, because git reads files that are as new as their
// index. It does not copy a missing index.
func copyIndex(from, to string) error {
	source, err := safefile.OpenPath(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
