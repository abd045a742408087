package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
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
	dir, err := r.run(ctx, command{place: p, args: []string{"rev-parse", "--git-path", "hooks"}, hooks: true})
	if err != nil {
		return nil, err
	}
	dir = filepath.FromSlash(strings.TrimSuffix(dir, "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.top, dir)
	}
	var hooks []string
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			hooks = append(hooks, name)
		}
	}
	return hooks, nil
}

// RunHooks runs the hooks that git commit would run in the worktree, before the tree is
// committed with the message. It returns the message, which a hook may have changed. The
// hooks see a temporary index with the tree.
//
// # Errors
//
// hook-refused; hook-changed if a hook changed the files or the index, so that the tree is
// no longer the reviewed one; and the errors of WriteTree and Hooks.
func (r *Repo) RunHooks(ctx context.Context, path, tree, message string) (string, error) {
	hooks, err := r.Hooks(ctx, path)
	if err != nil || len(hooks) == 0 {
		return message, err
	}
	p, err := r.place(path)
	if err != nil {
		return "", err
	}
	err = inTemp(func(dir string) error {
		index, file := filepath.Join(dir, "index"), filepath.Join(dir, "message")
		if saved := r.savedIndex(p); saved != nil {
			if err := saved.write(index); err != nil {
				return unwritable(err)
			}
		}
		if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
			return unwritable(err)
		}
		env := []string{"GIT_INDEX_FILE=" + index}
		if _, err := r.run(ctx, command{place: p, args: []string{"read-tree", "--reset", tree}, env: env}); err != nil {
			return err
		}
		// Refresh the index like git commit, so that hooks need not.
		if _, err := r.run(ctx, command{place: p, args: []string{"update-index", "-q", "--refresh"}, env: env}); err != nil && !isNegative(err) {
			return err
		}
		for _, name := range hooks {
			if err := r.runHook(ctx, p, env, name, file); err != nil {
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
			return errs.New(errs.HookChanged, "a hook of the repository changed what is to be committed: one of %s", strings.Join(hooks, ", ")).With("hooks", hooks)
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
		message = string(text)
		return nil
	})
	return message, err
}

func (r *Repo) runHook(ctx context.Context, p place, env []string, name, message string) error {
	args := []string{"hook", "run", "--ignore-missing", name}
	switch name {
	case "prepare-commit-msg":
		args = append(args, "--", message, "message")
	case "commit-msg":
		args = append(args, "--", message)
	}
	_, err := r.run(ctx, command{place: p, args: args, env: env, limit: slow, hooks: true})
	if f := failureOf(err); f != nil {
		return errs.New(errs.HookRefused, "the hook %s of the repository refuses the commit: %s", name, f.excerpt()).
			With("hook", name).With("output", f.stderr).Because(f)
	}
	return err
}
