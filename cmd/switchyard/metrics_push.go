package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/metrics"
)

func newMetricsPushCmd(a *app) *cobra.Command {
	var (
		req      metrics.PushRequest
		grouping []string
		labels   labelFlags
	)
	cmd := &cobra.Command{
		Use:   "push [URL]",
		Short: "Push the metrics to a Pushgateway",
		Long: `Push replaces a group of metrics at the Pushgateway of URL, without
/metrics/job/…; without URL at that of metrics.push in switchyard.yaml. The URL
may contain a user and password; they are never printed.

The group is the job and the --grouping, or what switchyard.yaml says, with a
label project that distinguishes this project and machine from others. Where
machines come and go, as in CI, give the project a name instead, as in
--grouping project=shop, or each machine leaves a group behind. Two projects must
not share a group: they would overwrite each other. --delete removes the group.

Transient failures are retried until --timeout. With metrics.push in
switchyard.yaml metrics are pushed whenever something was recorded.`,
		Example: `  switchyard metrics push http://localhost:9091
  switchyard metrics push https://push.example --grouping project=shop --label team=search
  switchyard metrics push http://localhost:9091 --grouping project=shop --delete`,
		Args: atMostOneURL,
	}
	flags := cmd.Flags()
	flags.StringVar(&req.Job, "job", "", "the `JOB` of the group (default switchyard)")
	flags.StringArrayVar(&grouping, "grouping", nil, "group by the label `NAME=VALUE` too (repeatable)")
	flags.BoolVar(&req.Delete, "delete", false, "remove the group instead of replacing it")
	flags.DurationVar(&req.Timeout, "timeout", metrics.DefaultPushTimeout, "give up after `DURATION`")
	labels.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) (err error) {
		if req.Grouping, err = pairs("--grouping", grouping); err != nil {
			return err
		}
		switch {
		case req.Timeout <= 0 || req.Timeout > time.Hour:
			return usagef("--timeout %s is not more than 0 and at most 1h", req.Timeout)
		case flags.Changed("job") && req.Job == "":
			return usagef("--job is empty")
		case req.Delete && len(labels.labels) > 0:
			return usagef("--label has no effect with --delete: a group is found by its --job and --grouping")
		}
		if len(args) > 0 {
			req.URL = args[0]
		}
		return a.withMetrics(ctx, labels, func(p metrics.Project) error {
			result, err := p.Push(ctx, req)
			if err != nil {
				return err
			}
			return show(a, result, (*render.Printer).Push)
		})
	})
	return cmd
}

// atMostOneURL accepts at most one URL. The error does not show the second one, which
// may contain a password.
func atMostOneURL(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return errors.New("there is more than one URL")
	case len(args) == 0:
		return nil
	}
	return exactly("URL")(cmd, args)
}
