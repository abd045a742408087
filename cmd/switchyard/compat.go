package main

import (
	"bufio"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// addCompatCmds adds the verbs of nubos-pilot, behind all other commands. They
// take its flags and print its JSON fields and error codes, over the same engine
// as everything else (docs/compat.md).
func addCompatCmds(root *cobra.Command, a *app) {
	root.AddCommand(newLoopRunRoundCmd(a), newLoopAuditCmd(a), newLoopMetricsCmd(a), newLoopStuckCmd(a), newSpawnHeadlessCmd(a))
}

// compatE adapts the body of a compatible verb: what it returns is printed as
// JSON, and so is its error, whatever --output says.
func (a *app) compatE(body func(ctx context.Context, args []string) (any, error)) func(*cobra.Command, []string) error {
	return a.runE(func(ctx context.Context, args []string) error {
		a.bareErrors = true
		value, err := body(ctx, args)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(a.out)
		if err := errors.Join(render.JSON(w, value), w.Flush()); err != nil {
			return errs.New(errs.OutputFailed, "write the result: %w", err)
		}
		return nil
	})
}

// ask runs a compatible verb's work on an engine.
func ask[T any](ctx context.Context, a *app, work func(*host.Engine) (T, error)) (T, error) {
	var answer T
	err := a.with(ctx, func(e *host.Engine) (err error) {
		answer, err = work(e)
		return err
	})
	return answer, err
}

// loopTask returns the id of the task that a compatible verb is about. It is
// stricter than the rest of Switchyard: scripts rely on the form.
func loopTask(args []string, invalid errs.Code) (string, error) {
	id := strings.Join(args, "")
	if !regexp.MustCompile(`^M\d{3,}-S\d{3,}-T\d{4,}$`).MatchString(id) || task.CheckID(id) != nil {
		return "", errs.New(invalid, "%q is no task id", id).With("task_id", id)
	}
	return id, nil
}

// textFlag is the value of a flag of a compatible verb. One that begins with two
// dashes counts as absent: it is the next flag, and the value was forgotten.
type textFlag struct {
	text  string
	given bool
}

func (f *textFlag) String() string { return f.text }

func (f *textFlag) Type() string { return "string" }

func (f *textFlag) Set(s string) error {
	*f = textFlag{}
	if !strings.HasPrefix(s, "--") {
		*f = textFlag{text: s, given: true}
	}
	return nil
}

// loopStopped is what putting a task aside prints.
type loopStopped struct {
	loopStep
	Status string `json:"status"`
	Stuck  bool   `json:"stuck"`
	Reason string `json:"stuck_reason"`
	At     string `json:"stuck_at"`
}

func newLoopStuckCmd(a *app) *cobra.Command {
	var reason textFlag
	cmd := &cobra.Command{
		Use:   "loop-stuck TASK --reason TEXT",
		Short: "Put a task aside as stuck",
		Long: `Loop-stuck puts a task aside with the findings that it has, as switchyard phase
stuck does. Of the reason 300 characters are kept.`,
		Args: atMostOneTask,
	}
	cmd.Flags().Var(&reason, "reason", "why: `TEXT`")
	cmd.RunE = a.compatE(func(ctx context.Context, args []string) (any, error) {
		id, err := loopTask(args, errs.LoopStuckInvalidTaskID)
		if err != nil {
			return nil, err
		}
		return a.stop(ctx, id, reason.text, host.Request{})
	})
	return cmd
}

// stop puts a task aside with the findings of a request, or those that it has.
func (a *app) stop(ctx context.Context, id, reason string, with host.Request) (any, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, errs.New(errs.LoopStuckMissingReason, "the task is to be put aside without a reason")
	}
	req := host.StopRequest{
		Reason: render.Clip(reason, maxReason), Request: with,
		// The incident that the cap was raised for ends with these two.
		ForgetCap: slices.Contains([]string{"user-requested-replan", "manual-fix-pending"}, reason),
	}
	s, err := ask(ctx, a, func(e *host.Engine) (host.Step, error) { return e.Stop(ctx, id, req) })
	if err != nil {
		return nil, err
	}
	return loopStopped{
		loopStep: loopStep{TaskID: id, Phase: "stuck", Round: s.Round, NextAction: actionEscalate},
		Status:   string(s.Status), Stuck: true, Reason: s.Stop.Reason, At: s.UpdatedAt,
	}, nil
}
