package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyVerifyCmd(a *app) *cobra.Command {
	var req api.CheckRequest
	var file string
	cmd := &cobra.Command{
		Use:   "verify [POLICY ...]",
		Short: "Check a policy exhaustively over all input classes",
		Long: `Verify has a policy decide every input class: each combination of destinations
with findings, of verification, of the round against the cap and of progress, and
every number next to the ones that the rules compare with. It checks each decision,
each branch and each row of the tables against the invariants, such as: a clean
round commits, and nothing else does. docs/proof.md lists them, and which a policy's
decision record may waive.

A violation is shown with the smallest input that causes it. --counterexample
writes this input to a file, for switchyard route --input; if there is no
violation, no file is written. --all takes every version that is built in or in
policies/routing.`,
		Example: `  switchyard policy verify
  switchyard policy verify --all
  switchyard policy verify policies/routing/1.4.0 --counterexample smallest.json
  switchyard route --input smallest.json --policy policies/routing/1.4.0 --explain`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&req.All, "all", false, "verify every version that is built in or in the project")
	cli.TextVar(flags, &file, "counterexample", "write the smallest counterexample to `FILE`, as JSON")
	allowUnsignedVar(flags, &req.AllowUnsigned)
	a.engineVar(flags)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		switch {
		case slices.Contains(args, ""):
			return cli.Usagef("the POLICY is empty")
		case req.All && len(args) > 0:
			return cli.Usagef("--all takes no policy: leave %s out", args[0])
		case file == api.Stdin:
			return cli.Usagef("--counterexample needs the name of a file")
		}
		req.Policies = args
		req.Observe = func(id policies.Identity) (func(done, total int), func()) {
			update, end := a.showCount("checking " + render.PolicyRef(id))
			return func(done, total int) { update(int64(done), int64(total)) }, end
		}
		checks, err := e.Policies().Workspace().Check(ctx, req)
		if err != nil {
			return err
		}
		if c := checks.Counterexample; c != nil && file != "" {
			if err := writeCounterexample(a.project, file, c); err != nil {
				return err
			}
		}
		return showCheck(a, checks, policyFailure(checks), (*render.Printer).PolicyCheck)
	})
	return cmd
}

// policyFailure returns an error that names the policies and the invariants that they
// violate, or nil.
func policyFailure(all api.PolicyChecks) error {
	if all.Proven {
		return nil
	}
	var broken []string
	for _, r := range all.Reports {
		if names := r.Broken(); len(names) > 0 {
			broken = append(broken, fmt.Sprintf("%s breaks %s", render.PolicyRef(r.Policy), textutil.List(names, render.MaxNamed)))
		}
	}
	f := errs.New(errs.PolicyNotProven, "policy %s", textutil.List(broken, render.MaxNamed)).With("reports", all.Reports)
	if all.Counterexample != nil {
		f = f.With("counterexample", *all.Counterexample)
	}
	return f
}

// writeCounterexample writes a counterexample to a file, and records the path in it.
func writeCounterexample(p project.Project, file string, c *api.Counterexample) error {
	var text bytes.Buffer
	if err := render.JSON(&text, c.Input); err != nil {
		return err
	}
	c.File = file
	return writeFile(p, file, text.Bytes())
}

func newPolicyDiffCmd(a *app) *cobra.Command {
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show what changes in meaning from one policy to another",
		Long: `Diff compares the behaviour of two policies, not their text: categories,
destinations, the precedence, and every input class that they decide differently,
with the smallest input of each group. It also says which step in the version the
change needs: none, minor or major.

--output markdown prints tables to paste into a decision record.`,
		Example: `  switchyard policy diff routing@1.1.0 routing@1.2.0
  switchyard policy diff routing@1.3.0 policies/routing/1.4.0 --output markdown
  switchyard policy diff before.tar.gz after.tar.gz --output json | jq .empty`,
		Args: cli.Exactly("the first POLICY", "the second POLICY"),
	}
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cli.ChoiceVar(cmd.Flags(), &a.Output, "output", "print `FORMAT`: text, json or markdown", cli.OutputText, cli.OutputJSON, cli.OutputMarkdown)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		var compared [2]*policies.Policy
		for i, ref := range args {
			var err error
			if compared[i], err = e.Policies().Load(ctx, ref, allowUnsigned); err != nil {
				return err
			}
		}
		done := a.showWork("comparing all decisions")
		d, err := diff.Compare(ctx, compared[0], compared[1])
		done()
		if err != nil {
			return err
		}
		if a.Output == cli.OutputMarkdown {
			return a.PrintText(textutil.Lines(d.Markdown()))
		}
		return cli.Show(&a.Program, render.NewDiffView(d), nil, (*render.Printer).PolicyDiff)
	})
	return cmd
}

func newPolicyReplayCmd(a *app) *cobra.Command {
	var req api.ReplayRequest
	var policy, since string
	var flips []string
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "replay [--policy CANDIDATE]",
		Short: "Decide every recorded round again, with another policy",
		Long: `Replay has CANDIDATE decide every round in the ledger, as it was recorded. It prints
a matrix of where rounds went and where they would go, and lists the changed
decisions with their causes.

With --play-on it also follows each task by CANDIDATE's decisions, as far as the
record shows what came next: which tasks would have ended earlier, with how many
findings deferred, and which would have gone on.

--fail-on-flip makes the command fail if a round would go from FROM to TO; either
may be *. --ledger reads another ledger, or the lines of an export.`,
		Example: `  switchyard policy replay --policy policies/routing/1.4.0
  switchyard policy replay --policy routing@1.1.0 --since 2026-11-01
  switchyard policy replay --policy candidate/ --fail-on-flip '*:commit' --output json`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &policy, "policy", "decide by `CANDIDATE`: "+policies.Default+", a directory or an OPA bundle (default the project's)")
	cli.TextVar(flags, &since, "since", "only what was decided since `WHEN`: a date in UTC, a time of RFC 3339, or how long ago, such as 72h")
	cli.NumberVar(flags, &req.Through, "through", 1, 0, "only the ledger's first `N` events")
	cli.TextVar(flags, &req.Ledger, "ledger", "read the ledger or the export in `FILE` (default the project's ledger)")
	flags.BoolVar(&req.PlayOn, "play-on", false, "also show how each task would have ended")
	flags.StringArrayVar(&flips, "fail-on-flip", nil, "fail if a round goes from one action to another: `FROM:TO`; may be repeated")
	allowUnsignedVar(flags, &allowUnsigned)
	a.engineVar(flags)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) (err error) {
		for _, flip := range flips {
			from, to, ok := strings.Cut(flip, ":")
			if !ok || from == "" || to == "" {
				return cli.Usagef("--fail-on-flip %q: want FROM:TO, such as *:commit", flip)
			}
			req.FailOn = append(req.FailOn, [2]string{from, to})
		}
		if req.Since, err = parseSince(since, time.Now()); err != nil {
			return err
		}
		if req.Policy, err = e.Policies().Load(ctx, policy, allowUnsigned); err != nil {
			return err
		}
		var done func()
		req.Progress, done = a.showCount("replaying decisions")
		report, err := e.Policies().Replay(ctx, req)
		done()
		if err != nil && errs.CodeOf(err) != errs.PolicyFlips {
			return err
		}
		return showCheck(a, report, err, (*render.Printer).Replay)
	})
	return cmd
}

// parseSince returns the zero time for "".
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
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
	return time.Time{}, cli.Usagef("--since %q: want a date in UTC such as 2026-11-21, a time of RFC 3339, or how long ago, such as 72h", text)
}

func newPolicyTestCmd(a *app) *cobra.Command {
	var minimum int
	var allowUnsigned bool
	cmd := &cobra.Command{
		Use:   "test [POLICY]",
		Short: "Run a policy's Rego tests, and measure their coverage",
		Long: `Test runs the rules whose names begin with test_ in the files *_test.rego of a
policy, as opa test does, and measures which lines of the policy they reach.

The policy is a built-in one or a directory; a bundle has no tests. The command
fails if a test fails, if there are no tests, and with --coverage-min if fewer of
the lines are reached. policy lint requires 100 per cent.`,
		Example: `  switchyard policy test policies/routing/1.4.0
  switchyard policy test policies/routing/1.4.0 --coverage-min 100
  switchyard policy test --output json | jq .coverage.missing`,
		Args: onePolicy(),
	}
	cli.NumberVar(cmd.Flags(), &minimum, "coverage-min", 0, 100, "fail if less than `PERCENT` of the lines are reached")
	allowUnsignedVar(cmd.Flags(), &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		tested, err := e.Policies().LoadTests(ctx, cli.FirstArg(args), allowUnsigned)
		if err != nil {
			return err
		}
		done := a.showWork("testing " + render.PolicyRef(tested.Identity()))
		report, err := regotest.Run(ctx, tested.Files)
		done()
		if err != nil {
			return err
		}
		shown := render.TestedPolicy{Policy: tested.Identity(), Report: report}
		var failure error
		if problem := shown.Problem(minimum); problem != "" {
			failure = errs.New(errs.PolicyTestsFailed, "policy %s: %s", render.PolicyRef(shown.Policy), problem).With("report", shown)
		}
		return showCheck(a, shown, failure, (*render.Printer).RegoTests)
	})
	return cmd
}
