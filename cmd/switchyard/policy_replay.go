package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyReplayCmd(a *app) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay --policy CANDIDATE",
		Short: "Decide every recorded round again, with another policy",
		Long: `Replay takes every decision in the ledger, routes its findings by the table of
CANDIDATE, and has CANDIDATE decide on the input of that time. It prints a matrix of
where rounds went and where they would go, and lists the changed decisions with
their causes.

Each round is decided as it was recorded; the consequences of a different decision
are not simulated. If CANDIDATE comes to no decision, the round counts as undecided.

--fail-on-flip makes the command fail if a round would go from FROM to TO; either
may be *. --ledger reads another ledger, or the lines of an export.`,
		Example: `  switchyard policy replay --policy policies/routing/1.3.0
  switchyard policy replay --policy routing@1.1.0 --since 2026-11-01
  switchyard policy replay --policy candidate/ --fail-on-flip '*:commit' --output json`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	f.register(flags)
	a.engineVar(flags)
	a.offerMarkdown(cmd)
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		req, err := f.request(flags, time.Now())
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			if req.Policy, err = e.Policies().Load(ctx, f.policy, f.allowUnsigned); err != nil {
				return err
			}
			see, done := a.counting("replaying decisions")
			req.Progress = see
			report, err := e.Policies().Replay(ctx, req)
			done()
			switch {
			case err != nil && errs.CodeOf(err) != errs.PolicyFlips:
				return err
			case a.output != outputMarkdown:
				return showCheck(a, report, (*render.Printer).Replay, err)
			}
			return cmp.Or(a.printText(textutil.Lines(report.Markdown())), err)
		})
	})
	return cmd
}

// replayFlags are the flags of policy replay.
type replayFlags struct {
	policy, since, ledger string
	failOn                []string
	through               int64
	allowUnsigned         bool
}

func (f *replayFlags) register(flags *pflag.FlagSet) {
	textVar(flags, &f.policy, "policy", "decide by `CANDIDATE`: "+policies.Default+", a directory or an OPA bundle (default the project's)")
	flags.StringVar(&f.since, "since", "", "only what was decided since `WHEN`: a date, a time of RFC 3339, or how long ago, such as 72h")
	numberVar(flags, &f.through, "through", 1, 0, "only the ledger's first `N` events", "events count from 1")
	textVar(flags, &f.ledger, "ledger", "read the ledger or the export in `FILE` (default the project's ledger)")
	flags.StringArrayVar(&f.failOn, "fail-on-flip", nil, "fail if a round goes from one action to another: `FROM:TO`; may be repeated")
	flags.BoolVar(&f.allowUnsigned, "allow-unsigned", false, "replay a policy without a signature, although the project has keys")
}

// request returns the replay request of the flags, without the policy.
func (f *replayFlags) request(flags *pflag.FlagSet, now time.Time) (api.ReplayRequest, error) {
	req := api.ReplayRequest{Ledger: f.ledger, Through: f.through}
	for _, change := range f.failOn {
		from, to, ok := strings.Cut(change, ":")
		if !ok || from == "" || to == "" {
			return req, usagef("--fail-on-flip %q: want FROM:TO, such as *:commit", change)
		}
		req.FailOn = append(req.FailOn, [2]string{from, to})
	}
	var err error
	req.Since, err = sinceWhen(flags.Changed("since"), f.since, now)
	return req, err
}

// sinceWhen returns the time that --since names.
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
	return time.Time{}, usagef("--since %q: want a date such as 2026-11-21, a time of RFC 3339, or how long ago, such as 72h", text)
}
