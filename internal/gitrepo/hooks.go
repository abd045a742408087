package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxMessage is the maximum size of a commit message that a hook wrote, in bytes.
const maxMessage = 1 << 20

// Hooks lists the hooks of the repository that git commit would run in the worktree, in
// their order.
//
// # Errors
//
// worktree-missing.
func (r *Repo) Hooks(ctx context.Context, path string) ([]string, error) {
	p, err := r.place(path)
	if err != nil {
		return nil, err
	}
	_, hooks, err := r.hooks(ctx, p)
	return hooks, err
}

// hooks returns the directory of hooks too.
func (r *Repo) hooks(ctx context.Context, p place) (dir string, hooks []string, err error) {
	dir, err = r.run(ctx, command{place: p, args: []string{"rev-parse", "--git-path", "hooks"}, hooks: true})
	if err != nil {
		return "", nil, err
	}
	dir = filepath.FromSlash(strings.TrimSuffix(dir, "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.top, dir)
	}
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			hooks = append(hooks, name)
		}
	}
	return dir, hooks, nil
}

// RunHooks runs the hooks that git commit would run in the worktree, before the tree is
// committed with the message. It returns the message, which a hook may have changed. The
// hooks see a temporary index with the tree. A hook in the worktree runs only if the tree has
// it, because an agent could have written it. record is called with the process of each hook,
// before and after its start; it may be nil.
//
// # Errors
//
// hook-refused, also if the tree does not have a hook of the worktree, or a hook leaves no
// message; hook-changed if a hook changed the files or the index, so that the tree is no longer
// the reviewed one; worktree-dirty if the files differ from the tree before; and the errors of
// WriteTree and Hooks.
func (r *Repo) RunHooks(ctx context.Context, path, tree, message string, record func(supervise.Identity) error) (string, error) {
	p, err := r.place(path)
	if err != nil {
		return "", err
	}
	source, hooks, err := r.hooks(ctx, p)
	if err != nil || len(hooks) == 0 {
		return message, err
	}
	// After a hook changed files, they differ from the tree until a person takes that back.
	switch files, err := r.WriteTree(ctx, path); {
	case err != nil:
		return "", err
	case files != tree:
		return "", errDirty(path, " since they were reviewed").
			WithHint(fmt.Sprintf("take back what git diff %.12s in %s shows, then run the task again", tree, textutil.Line(path)))
	}
	err = inTemp(func(dir string) error {
		// Hooks get the index of the tree, with the times of the files, as from git commit.
		index, file := filepath.Join(dir, "index"), filepath.Join(dir, "message")
		if err := r.savedIndex(p).write(index); err != nil {
			return unwritable(err)
		}
		if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
			return unwritable(err)
		}
		env := []string{"GIT_INDEX_FILE=" + index}
		for _, name := range hooks {
			if err := r.checkHook(ctx, p, env, source, name); err != nil {
				return err
			}
			if err := r.runHook(ctx, command{place: p, env: env, limit: slow, hooks: true, record: record}, name, file); err != nil {
				return err
			}
		}
		staged, err := r.run(ctx, command{place: p, args: []string{"write-tree"}, env: env})
		if err != nil {
			return err
		}
		files, err := r.WriteTree(ctx, path)
		if err != nil {
			return err
		}
		if staged != tree+"\n" || files != tree {
			what := "the files in the worktree"
			if files == tree {
				what = "the index of the commit"
			}
			return errs.New(errs.HookChanged, "%s changed while the repository's hooks ran: %s", what, strings.Join(hooks, ", ")).With("hooks", hooks)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return unwritable(err)
		}
		defer root.Close()
		text, err := safefile.Read(root, "message", maxMessage)
		if err != nil {
			return errs.New(errs.HookChanged, "a hook of the repository left a message that cannot be read: %w", safefile.Reason(err)).With("hooks", hooks)
		}
		if message = string(text); strings.TrimSpace(message) == "" {
			return errs.New(errs.HookRefused, "a hook of the repository leaves no message for the commit").With("hooks", hooks)
		}
		return nil
	})
	return message, err
}

// checkHook refuses a hook in the worktree unless the index has exactly this file.
func (r *Repo) checkHook(ctx context.Context, p place, env []string, dir, name string) error {
	below, err := filepath.Rel(p.top, dir)
	if err != nil || !filepath.IsLocal(below) {
		resolved, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return unwritable(err)
		}
		if below, err = filepath.Rel(p.top, resolved); err != nil || !filepath.IsLocal(below) {
			return nil
		}
	}
	file := filepath.ToSlash(filepath.Join(below, name))
	entry, err := r.run(ctx, command{place: p, args: []string{"ls-files", "-z", "--stage", "--", ":(top,literal)" + file}, env: env})
	if err != nil {
		return err
	}
	id, err := r.output(ctx, p, "hash-object", "--no-filters", "--", filepath.Join(p.top, below, name))
	if err != nil {
		return err
	}
	if fields := strings.Fields(entry); len(fields) > 1 && strings.HasPrefix(fields[0], "100") && fields[1] == id {
		return nil
	}
	return errs.New(errs.HookRefused, "the hook %s in the worktree is not run, because it is not a file of the commit", textutil.Line(file)).With("hook", name)
}

func (r *Repo) runHook(ctx context.Context, c command, name, message string) error {
	c.args = []string{"hook", "run", "--ignore-missing", name}
	switch name {
	case "prepare-commit-msg":
		c.args = append(c.args, "--", message, "message")
	case "commit-msg":
		c.args = append(c.args, "--", message)
	}
	_, err := r.run(ctx, c)
	if f := failureOf(err); f != nil {
		return errs.New(errs.HookRefused, "the hook %s of the repository refuses the commit: %s", name, f.excerpt()).
			With("hook", name).With("output", f.stderr).Because(f)
	}
	return err
}
