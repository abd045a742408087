package main

import (
	"context"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
)

func newRouteCmd(a *app) *cobra.Command {
	var f requestFlags
	var input string
	var explain bool
	cmd := &cobra.Command{
		Use:   "route --report [PLUGIN=]FILE",
		Short: "Decide on reports alone, keeping nothing",
		Long: `Route reads critics' reports, merges their findings and decides where they go.
It keeps nothing and knows no task: the same input gives the same decision.

Without --round the round is the one that the reports name, else 1.

--explain adds which rule of the policy decided, what it outranked, and the
smallest change that would have led elsewhere. --input asks the policy about a
bare input, as a decision's "input" has it or policy verify writes it, without
any reports.`,
		Example: `  switchyard route --report report.json
  golangci-lint run --output.sarif.path=stdout --show-stats=false | switchyard route --report sarif=-
  switchyard route --report critic.json --report lint.sarif --verify green --output json
  switchyard route --report critic.json --explain
  switchyard route --input counterexample.json --policy candidate/`,
		Args: reportsAsFlags,
	}
	f.register(cmd.Flags())
	a.registerEngine(cmd.Flags())
	cmd.Flags().StringVar(&input, "input", "", "ask the policy about the input in `FILE`, - for standard input, and read no reports")
	cmd.Flags().BoolVar(&explain, "explain", false, "say why, and what would have led elsewhere")
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("input") {
			if input == "" {
				return usagef("--input is empty")
			}
			for _, flag := range []string{"report", "plugin", "round", "max-rounds", "verify"} {
				if cmd.Flags().Changed(flag) {
					return usagef("--input is all that the policy sees: leave --%s out", flag)
				}
			}
			return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (host.Decision, error) {
				return e.Ask(ctx, host.AskRequest{Path: input, Stdin: req.Stdin, Policy: req.Policy, Explain: explain})
			})
		}
		return a.decide(ctx, &f, cmd.Flags(), func(e *host.Engine, req host.Request) (host.Decision, error) {
			req.Explain = explain
			return e.Route(ctx, req)
		})
	})
	return cmd
}

// decide runs a command that ends in a decision, and prints it.
func (a *app) decide(ctx context.Context, f *requestFlags, flags *pflag.FlagSet, do func(*host.Engine, host.Request) (host.Decision, error)) error {
	p, err := a.project()
	if err != nil {
		return err
	}
	req, err := f.request(flags, p, a.in)
	if err != nil {
		return err
	}
	if req.Force, err = f.force.request(a); err != nil {
		return err
	}
	if len(req.Reports) > 0 && !req.Spawn {
		collectLate() // What agents print can be more than memory is there for.
	}
	return a.with(ctx, func(e *host.Engine) error {
		d, err := do(e, req)
		if err != nil {
			return err
		}
		if f.exitCode {
			a.exit = decisionExit(d.NextAction)
			if len(d.Missing) > 0 {
				a.exit = exitOther // A commit that has to wait is none.
			}
		}
		return a.print(d, func(p *render.Printer) { p.Decision(d) })
	})
}
