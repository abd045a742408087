package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/metrics/pushgateway"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func newMetricsPushCmd(a *app) *cobra.Command {
	var (
		job      string
		grouping []string
		labels   labelFlags
		remove   bool
		timeout  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "push [URL]",
		Short: "Push the metrics to a Pushgateway",
		Long: `Push replaces a group of metrics at the Pushgateway of URL, without
/metrics/job/…; without URL at that of metrics.push in switchyard.yaml. A user
and a password may be part of it, and are shown nowhere.

The group is the job and the --grouping, or what switchyard.yaml says, with a
label project that tells this project and machine from others. Where machines
come and go, as in CI, give the project a name instead, as in --grouping
project=shop, or each machine leaves a group behind. Two projects must not share
a group: they would overwrite each other. --delete removes the group.

What may pass, as a gateway that is being restarted, is tried again within
--timeout. With metrics.push in switchyard.yaml metrics are pushed whenever
something was recorded.`,
		Example: `  switchyard metrics push http://localhost:9091
  switchyard metrics push https://push.example --grouping project=shop --label team=search
  switchyard metrics push http://localhost:9091 --grouping project=shop --delete`,
		Args: atMostOneURL,
	}
	flags := cmd.Flags()
	flags.StringVar(&job, "job", "", "the `JOB` of the group (default switchyard)")
	flags.StringArrayVar(&grouping, "grouping", nil, "group by the label `NAME=VALUE` too (repeatable)")
	flags.BoolVar(&remove, "delete", false, "remove the group instead of replacing it")
	flags.DurationVar(&timeout, "timeout", pushgateway.DefaultTimeout, "give up after `DURATION`")
	labels.register(flags)
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		constant, err := labels.parsed()
		if err != nil {
			return err
		}
		by, err := pairs("--grouping", grouping)
		if err != nil {
			return err
		}
		switch {
		case timeout <= 0 || timeout > time.Hour:
			return usagef("--timeout %s is not more than 0 and at most 1h", timeout)
		case flags.Changed("job") && job == "":
			return usagef("--job is empty")
		case remove && len(constant) > 0:
			return usagef("--label is no use with --delete: a group is found by its --job and --grouping")
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			config, err := e.UncheckedConfig(ctx)
			if err != nil {
				return err
			}
			way := config.Metrics
			if len(args) > 0 {
				way.Push, way.Foreign = args[0], false
			}
			if job != "" {
				way.Job = job
			}
			if len(by) > 0 {
				way.Grouping = by
			}
			switch {
			case way.Push == "":
				return usagef("URL is missing, and switchyard.yaml has no metrics.push")
			case way.Foreign:
				return usagef("switchyard.yaml belongs to another user, so that where it pushes to is not your word: give the URL")
			}
			way.Labels = joined(way.Labels, constant)
			to, err := pushTarget(p, way)
			if err != nil {
				if len(args)+len(by) > 0 || job != "" {
					return usage(err)
				}
				return err
			}
			var got pushgateway.Receipt
			if remove {
				got, err = pushgateway.Delete(ctx, to, pushgateway.Options{Timeout: timeout, UserAgent: userAgent()})
			} else {
				got, err = a.push(ctx, e, p, to, constant, timeout)
			}
			if err != nil {
				return err
			}
			return a.print(got, func(p *render.Printer) { p.Push(got) })
		})
	})
	return cmd
}

// atMostOneURL wants a URL or nothing. What is too much is not shown: it may be
// another URL, with a password.
func atMostOneURL(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return errors.New("there is more than one URL")
	case len(args) == 0:
		return nil
	}
	return exactly("URL")(cmd, args)
}

// defaultJob is the job of metrics that are pushed, where nobody says another.
const defaultJob = "switchyard"

// pushTarget is where a project's metrics are pushed to. Its label project is there
// even among others, unless it is given: without it the group would be shared. Where
// all metrics have one, it is that.
func pushTarget(p project.Project, way project.Metrics) (pushgateway.Target, error) {
	if way.Job == "" {
		way.Job = defaultJob
	}
	grouping := maps.Clone(way.Grouping)
	if grouping == nil {
		grouping = make(map[string]string)
	}
	if _, given := grouping[pushgateway.ProjectLabel]; !given {
		grouping[pushgateway.ProjectLabel] = projectLabel(p, way)
	}
	return pushgateway.Parse(way.Push, way.Job, grouping)
}

// projectLabel is the label project of a group where nobody gives it one.
func projectLabel(p project.Project, way project.Metrics) string {
	if name, ok := way.Labels[pushgateway.ProjectLabel]; ok {
		return name
	}
	machine, _ := os.Hostname() // Where it has no name, the path has to do.
	return pushgateway.ProjectKey(machine, p.Root)
}

// push replaces a project's group by its metrics as they are now, with the labels
// of the configuration and these, within the time.
func (a *app) push(ctx context.Context, e *host.Engine, p project.Project, to pushgateway.Target, labels map[string]string, timeout time.Duration) (pushgateway.Receipt, error) {
	c, err := a.collector(ctx, e, labels, to.Grouping())
	if err != nil {
		return pushgateway.Receipt{}, err
	}
	return pushgateway.Push(ctx, to, c.Gather, pushgateway.Options{Timeout: timeout, Turn: pushTurn(p), UserAgent: userAgent()})
}

// userAgent is what servers see of us.
func userAgent() string { return "switchyard/" + strings.Trim(readBuildInfo().Version, "()") }
