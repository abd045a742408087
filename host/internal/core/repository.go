package core

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Repository opens the repository of the project, once for all requests.
func (p *Project) Repository(ctx context.Context) (*gitrepo.Repo, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.repo != nil {
		return p.repo, nil
	}
	keeper, err := p.Supervisor()
	if err != nil {
		return nil, err
	}
	p.repo, err = gitrepo.Open(ctx, p.Root, gitrepo.Options{Supervisor: keeper, Environ: p.Environ})
	return p.repo, err
}

// CheckTop fails with repository-nested if the project is only a part of the repository.
func (p *Project) CheckTop(repo *gitrepo.Repo) error {
	if top := repo.Top(); !IsSame(top, p.Root) {
		return errs.New(errs.RepositoryNested, "the project in %s is a part of the repository in %s", p.Root, top).
			WithHint("move " + project.ConfigFile + " and " + project.StateDir + " to the top of the repository, and work from there")
	}
	return nil
}

// IsSame reports whether two paths lead to the same file or directory, possibly through links.
func IsSame(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// WorktreesFolder returns the directory of the project's worktrees. It is outside of the
// checkout, where tools would find their files twice, and outside of directories that the
// system cleans up.
func (p *Project) WorktreesFolder() (string, error) {
	state := childenv.Value(p.Environ, "XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := cmp.Or(childenv.Value(p.Environ, "HOME"), childenv.Value(p.Environ, "USERPROFILE"))
		if !filepath.IsAbs(home) {
			return "", errs.New(errs.WorktreesNoHome, "neither HOME nor XDG_STATE_HOME says where worktrees belong")
		}
		state = filepath.Join(home, ".local", "state")
	}
	root, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		return "", err
	}
	// The digest makes the name unique. With it, the name must not be longer than a file system permits.
	name := textutil.ClipBytes(filepath.Base(root), 100)
	return filepath.Join(state, "switchyard", "worktrees", name+"-"+digest.Hex(root)[:12]), nil
}

// NewBase resolves the base of a draft: rev, or the configured one if rev is "". Without
// git it is "", unless rev is set.
func (p *Project) NewBase(ctx context.Context, rev string, config project.Config) (string, error) {
	keeper, err := p.Supervisor()
	if err != nil {
		return "", err
	}
	commit, err := worktree.Tree{Root: p.Root, Supervisor: keeper, Environ: p.Environ}.Base(ctx, rev, config.Base)
	switch code := errs.CodeOf(err); {
	case code == errs.TreeNoGit && rev == "":
		return "", nil
	case code == errs.TreeBaseUnknown && rev == "" && config.Base != "":
		return "", errs.New(code, "base in %s: %w", project.ConfigFile, err).With("base", config.Base).
			WithHint("name a branch of this repository there, or a commit with --base")
	}
	return commit, err
}
