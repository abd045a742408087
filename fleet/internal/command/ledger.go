package command

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/home"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
)

func newLedgerCmd(a *app) *cobra.Command {
	var f serviceFlags
	cmd := &cobra.Command{
		Use:   "ledger --store STORE",
		Short: "Be the home of a project",
		Long: `Ledger decides the tasks of the project and records them in its ledger, until it is
stopped. It runs in the project's checkout, once for each project. Tasks wait
while it does not run.`,
		Example: `  switchyard-fleet -C /srv/shop ledger --store /srv/switchyard`,
		Args:    f.args,
	}
	f.register(cmd.Flags())
	remote := "origin"
	cmd.Flags().StringVar(&remote, "remote", remote, "`NAME` or URL of the repository that the workers use, too")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, name, err := a.project()
		if err != nil {
			return err
		}
		e := host.New(host.Options{
			Project: p.AtRoot(), Plugins: plugins.Config{CacheDir: cli.CacheDir()}, Now: time.Now, By: cli.UserName(), Environ: os.Environ(), Warn: a.warn,
		})
		defer e.Close(context.WithoutCancel(cmd.Context()))
		release, err := e.HoldHome(cmd.Context())
		if err != nil {
			return err
		}
		defer release()
		return a.serve(cmd.Context(), f, func(s service) ([]queue, error) {
			return homeQueues(cmd.Context(), s, e, p, name, remote)
		})
	}
	return cmd
}

// homeQueues returns the queue of a project's home.
func homeQueues(ctx context.Context, s service, e *host.Engine, p project.Project, name, remote string) ([]queue, error) {
	keeper, err := supervise.New()
	if err != nil {
		return nil, err
	}
	repo, err := gitrepo.Open(ctx, p.Root, gitrepo.Options{Supervisor: keeper, Environ: os.Environ()})
	if err != nil {
		return nil, err
	}
	h := &home.Home{Engine: e, Store: s.store, Repo: repo, Decided: s.metrics.Decided}
	if h.Remote, err = repo.RemoteURL(ctx, remote); err != nil {
		return nil, err
	}
	if hasSecret(h.Remote) {
		return nil, errs.New(errs.FleetRemoteSecret, "the URL of the remote has a password or a token, which the store would show")
	}
	return []queue{{name: flow.HomeQueue(name), options: home.Options(), register: func(w worker.Worker) { home.Register(w, h) }}}, nil
}

// hasSecret reports whether a URL has a password, or a token in place of a user's name.
func hasSecret(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	host := rest[:strings.IndexAny(rest+"/", "/?#")]
	user := host[:max(strings.LastIndex(host, "@"), 0)]
	return strings.Contains(user, ":") || redact.Text(user) != user
}
