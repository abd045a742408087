package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyReplayCmd(a *app) *cobra.Command {
	var (
		policy, since, file string
		failOn              []string
		through             int64
		allowUnsigned       bool
	)
	cmd := &cobra.Command{
		Use:   "replay --policy CANDIDATE",
		Short: "Decide every recorded round again, by another policy",
		Long: `Replay takes every decision that the ledger has, routes its findings by the
table of CANDIDATE, and lets CANDIDATE decide on what the policy saw then. It
prints a matrix of where rounds went and where they would go, and lists those
that differ with their cause.

Each round is decided as it was recorded: what would have followed a different
decision is not played on. Where CANDIDATE comes to no decision, the round counts
as undecided.

--fail-on-flip makes the command fail where a round would go from FROM to TO;
either may be *. --ledger reads another ledger, or the lines of an export.`,
		Example: `  switchyard policy replay --policy policies/routing/1.3.0
  switchyard policy replay --policy routing@1.1.0 --since 2026-11-01
  switchyard policy replay --policy candidate/ --fail-on-flip '*:commit' --output json`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&policy, "policy", "", "decide by `CANDIDATE`: "+policies.Default+", a directory or an OPA bundle (default the project's)")
	flags.StringVar(&since, "since", "", "only what was decided since `WHEN`: a date, a time of RFC 3339, or how long ago, as 72h")
	flags.Int64Var(&through, "through", 0, "only the ledger's first `N` events")
	flags.StringVar(&file, "ledger", "", "read the ledger or the export in `FILE` (default the project's ledger)")
	flags.StringArrayVar(&failOn, "fail-on-flip", nil, "fail where a round goes from one action to another: `FROM:TO`; may be repeated")
	flags.BoolVar(&allowUnsigned, "allow-unsigned", false, "replay a policy without a signature, although the project has keys")
	a.registerEngine(flags)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if err := checkPolicy(flags, policy); err != nil {
			return err
		}
		req := api.ReplayRequest{Ledger: file, Through: through}
		var err error
		if req.Since, err = sinceWhen(flags.Changed("since"), since, time.Now()); err != nil {
			return err
		}
		if flags.Changed("through") && through < 1 {
			return usagef("--through %d: events count from 1", through)
		}
		if flags.Changed("ledger") && file == "" {
			return usagef("--ledger is empty")
		}
		for _, flip := range failOn {
			from, to, ok := strings.Cut(flip, ":")
			if !ok || from == "" || to == "" {
				return usagef("--fail-on-flip %q: want FROM:TO, as *:commit", flip)
			}
			req.FailOn = append(req.FailOn, [2]string{from, to})
		}
		return a.with(ctx, func(e *host.Engine) error {
			if req.Policy, err = e.Policies().Load(ctx, policy, allowUnsigned); err != nil {
				return err
			}
			see, done := a.counting("replaying decisions")
			req.Progress = see
			report, err := e.Policies().Replay(ctx, req)
			done()
			if err != nil && errs.CodeOf(err) != errs.PolicyFlips {
				return err
			}
			show := func() error { return a.print(report, func(p *render.Printer) { p.Replay(report) }) }
			if a.output == outputMarkdown {
				show = func() error { return a.printText(textutil.Lines(report.Markdown())) }
			}
			return errors.Join(show(), err) // What flips is what is asked for.
		})
	})
	a.offersMarkdown(cmd)
	return cmd
}

// sinceWhen reads the moment that --since means.
func sinceWhen(given bool, text string, now time.Time) (time.Time, error) {
	if !given {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, usagef("--since %q: want a date as 2026-11-21, a time of RFC 3339, or how long ago, as 72h", text)
}
