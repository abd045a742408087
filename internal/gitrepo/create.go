package gitrepo

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Create makes a repository of an existing directory, with one commit of its files.
//
// # Errors
//
// git-missing, git-failed and those of the supervisor.
func Create(ctx context.Context, dir string, o Options) error {
	r := &Repo{supervisor: o.Supervisor, environ: environment(o.Environ), bin: childenv.LookPath(o.Environ, "git")}
	if r.bin == "" {
		return errs.New(errs.GitMissing, "git is not installed")
	}
	for _, args := range [][]string{
		{"-c", "init.defaultBranch=main", "init", "--quiet", "--template="},
		{"add", "--all"},
		{"-c", "user.name=switchyard", "-c", "user.email=switchyard@localhost", "-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty", "--message=Begin"},
	} {
		if _, err := r.output(ctx, place{top: dir}, args...); err != nil {
			return err
		}
	}
	return nil
}
