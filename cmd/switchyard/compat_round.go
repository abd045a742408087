package main

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

// The reference's words for what comes next, where a decision has no word.
const (
	actionResearch = "spawn-researcher-swarm"
	actionDesign   = "spawn-architect"
	actionTests    = "spawn-test-writer"
	actionExecute  = "spawn-executor"
	actionFix      = "spawn-build-fixer"
	actionReview   = "spawn-critic-schwarm"
	actionCommit   = "commit-task"
	actionEscalate = "escalate-via-askuser"
)

// loopStep is what every phase prints.
type loopStep struct {
	TaskID string `json:"task_id"`
	Phase  string `json:"phase"`
	// Round is the round that the task is in now.
	Round      int    `json:"round"`
	NextAction string `json:"next_action"`
	// Forced says that the phase's gate was forced.
	Forced bool `json:"forced"`
}

// roundFlags are the flags of loop-run-round. Each phase reads its own.
type roundFlags struct {
	phase, query, exitCode, output, outputs, outputsPath textFlag
	tests, reason, findings, findingsPath                textFlag
	// force has the phases whose gates are to be forced.
	force map[string]*bool
}

func (f *roundFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(&f.phase, "phase", "the `PHASE`: "+strings.Join(loopPhases(), ", "))
	flags.Var(&f.query, "query", "preflight: what the work is about, `TEXT`")
	flags.Var(&f.exitCode, "verify-exit-code", "post-executor: how the draft's verification ended, `N`")
	flags.Var(&f.output, "verify-output-path", "post-executor: what it printed, `FILE`")
	flags.Var(&f.outputs, "critic-outputs", "post-critics: the critics' reports, a `JSON` list")
	flags.Var(&f.outputsPath, "critic-outputs-path", "post-critics: the `FILE` that holds one report, or a list of them")
	flags.Var(&f.tests, "tests", "post-test-writer: the test files that were written, `FILE,…`")
	flags.Var(&f.findings, "findings", "stuck: what is left to do, a `JSON` list of findings or of reports")
	flags.Var(&f.findingsPath, "findings-path", "stuck: the same in a `FILE`")
	flags.Var(&f.reason, "reason", "stuck, and every --force flag: why, `TEXT`")
	f.force = make(map[string]*bool)
	for _, phase := range loopPhases()[:7] {
		f.force[phase] = flags.Bool(forceFlag(phase), false, "pass the gate of "+phase+"; needs --reason, and is recorded for ever")
	}
}

// loopPhases are the phases in their order. All but the last have a gate.
func loopPhases() []string {
	return []string{"preflight", "post-researcher", "post-architect", "post-test-writer", "post-executor", "post-critics", "commit", "stuck"}
}

func forceFlag(phase string) string {
	if phase == "commit" {
		phase = "commit-phase"
	}
	return "force-" + phase
}

func newLoopRunRoundCmd(a *app) *cobra.Command {
	var f roundFlags
	cmd := &cobra.Command{
		Use:   "loop-run-round TASK --phase PHASE",
		Short: "Run one phase of a task's round",
		Long: `Loop-run-round runs one phase of a task's round, as switchyard phase does, and
prints where the task stands and what comes next.`,
		Example: `  switchyard loop-run-round M001-S001-T0001 --phase preflight --query 'retry failed uploads'
  switchyard loop-run-round M001-S001-T0001 --phase post-executor --verify-exit-code 0
  switchyard loop-run-round M001-S001-T0001 --phase post-critics --critic-outputs-path report.json`,
		Args: atMostOneTask,
	}
	f.register(cmd)
	cmd.RunE = a.compatE(func(ctx context.Context, args []string) (any, error) {
		id, err := loopTask(args, errs.LoopRunRoundInvalidTaskID)
		if err != nil {
			return nil, err
		}
		r := loopRound{app: a, flags: &f, id: id, phase: f.phase.text}
		value, err := r.run(ctx)
		return value, r.inLoopWords(err)
	})
	return cmd
}

// loopRound is one call of loop-run-round.
type loopRound struct {
	*app
	flags *roundFlags
	id    string
	phase string
	// force is set where the phase's gate is to be forced.
	force *task.Force
}

func (r *loopRound) run(ctx context.Context) (any, error) {
	if force := r.flags.force[r.phase]; force != nil && *force {
		var err error
		if r.force, err = newForce(r.app, r.flags.reason.text); err != nil {
			return nil, err
		}
	}
	switch r.phase {
	case "":
		return nil, errs.New(errs.LoopRunRoundMissingPhase, "there is no phase").With("phases", loopPhases())
	case "preflight":
		return r.preflight(ctx)
	case "post-researcher":
		return r.prepared(ctx, task.Research)
	case "post-architect":
		return r.prepared(ctx, task.Design)
	case "post-test-writer":
		return r.prepared(ctx, task.Tests)
	case "post-executor":
		return r.drafted(ctx)
	case "post-critics":
		return r.reviewed(ctx)
	case "commit":
		return r.committed(ctx)
	case "stuck":
		reports, err := r.findings(ctx)
		if err != nil {
			return nil, err
		}
		return r.stop(ctx, r.id, r.flags.reason.text, reports)
	default:
		return nil, errs.New(errs.LoopRunRoundInvalidPhase, "there is no phase %q", r.phase).With("phase", r.phase).With("phases", loopPhases())
	}
}

// TaskResult is what every phase prints. round is the one whose gate was passed.
func (r *loopRound) step(s host.TaskStatus, round int, phase task.Phase, next string) loopStep {
	forced := r.force != nil && s.Forced != nil && *s.Forced == task.Override{Round: round, Phase: phase, Force: *r.force}
	return loopStep{TaskID: r.id, Phase: r.phase, Round: s.Round, NextAction: next, Forced: forced}
}

// loopPreflight is what the phase preflight prints. There is no knowledge store,
// so that there is never a hit.
type loopPreflight struct {
	loopStep
	loopMiss
	Swarm loopSwarm `json:"swarm"`
}

// loopMiss is a look-up that found nothing.
type loopMiss struct {
	Hit    *struct{} `json:"cache_hit"`
	Reason string    `json:"cache_miss_reason"`
	Bypass bool      `json:"bypass_swarm"`
}

func (r *loopRound) preflight(ctx context.Context) (any, error) {
	query := r.flags.query.text
	if strings.TrimSpace(query) == "" {
		return nil, errs.New(errs.LoopRunRoundPreflightMissingQuery, "nothing says what the work is about")
	}
	return ask(ctx, r.app, func(e *host.Engine) (any, error) {
		config, err := e.Config(ctx)
		if err != nil {
			return nil, err
		}
		s, err := e.Start(ctx, r.id, host.StartRequest{Query: query, Force: r.force})
		if err != nil {
			return nil, err
		}
		miss := loopMiss{Reason: "no-knowledge-store"}
		return loopPreflight{
			loopStep: r.step(s.TaskStatus, s.Round, task.Start, actionResearch),
			loopMiss: miss, Swarm: newLoopSwarm(config.Researchers, query, r.id, miss),
		}, nil
	})
}

// loopPrepared is what the phases before the draft print.
type loopPrepared struct {
	loopStep
	Researchers int      `json:"expected_researcher_count,omitzero"`
	Tests       []string `json:"tdd_tests"`
}

func (r *loopRound) prepared(ctx context.Context, phase task.Phase) (any, error) {
	req := host.PhaseRequest{Phase: phase, Force: r.force}
	if phase == task.Tests {
		req.Tests = splitList(r.flags.tests.text)
	}
	return ask(ctx, r.app, func(e *host.Engine) (any, error) {
		config, err := e.Config(ctx)
		if err != nil {
			return nil, err
		}
		s, err := e.Done(ctx, r.id, req)
		if err != nil {
			return nil, err
		}
		prepared := loopPrepared{loopStep: r.step(s.TaskStatus, s.Round, phase, afterPhase(phase, config.Phases, s.Drafter)), Tests: s.Tests}
		if phase == task.Research {
			prepared.Researchers = config.Researchers
		}
		return prepared, nil
	})
}

// afterPhase is what follows a phase before the draft: the optional phases that
// the project wants, and then the draft of whoever makes it in this round.
func afterPhase(phase task.Phase, wanted []string, drafter string) string {
	for _, p := range wanted {
		switch {
		case p == project.PhaseDesign && phase == task.Research:
			return actionDesign
		case p == project.PhaseTests && phase != task.Tests:
			return actionTests
		}
	}
	if drafter == task.AgentFixer {
		return actionFix
	}
	return actionExecute
}

// splitList reads a list whose items stand between commas.
func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// loopDrafted is what the phase post-executor prints.
type loopDrafted struct {
	loopStep
	LastAction string `json:"last_action"`
	ExitCode   int    `json:"verify_exit_code"`
	Excerpt    string `json:"verify_output_excerpt"`
	Stuck      bool   `json:"stuck"`
	MaxRounds  int    `json:"max_rounds"`
	// Reason is the decision's on a red draft.
	Reason string `json:"reason,omitzero"`
}

func (r *loopRound) drafted(ctx context.Context) (any, error) {
	req := host.DraftRequest{Force: r.force}
	code, err := r.exitCode()
	if err != nil {
		return nil, err
	}
	req.Verify.ExitCode = &code
	if path := r.flags.output; path.given {
		output, err := r.confined(ctx, path.text, maxVerifyOutput, errs.LoopRunRoundVerifyOutputTraversal, errs.LoopRunRoundVerifyOutputUnreadable)
		if err != nil {
			return nil, inLoopWords(err, errs.FileTooLarge, errs.LoopRunRoundVerifyOutputUnreadable)
		}
		req.Verify.OutputBytes = int64(len(output))
		if req.Verify.Excerpt, err = verifycmd.Excerpt(bytes.NewReader(output), req.Verify.OutputBytes); err != nil {
			return nil, err
		}
	}
	d, err := ask(ctx, r.app, func(e *host.Engine) (host.Drafted, error) { return e.Draft(ctx, r.id, req) })
	if err != nil {
		return nil, err
	}
	drafted := loopDrafted{
		loopStep:   r.step(d.TaskStatus, d.Round, task.Draft, actionReview),
		LastAction: "verify-green", ExitCode: code, Excerpt: d.Verification.Excerpt, MaxRounds: d.MaxRounds,
	}
	if red := d.Decision; red != nil {
		drafted.loopStep = r.step(d.TaskStatus, red.Round, task.Draft, afterRed(*red))
		drafted.LastAction, drafted.Stuck, drafted.Reason = "verify-red", red.Stuck, red.Reason
	}
	return drafted, nil
}

// exitCode reads how the draft's verification ended. Nothing but a number is one:
// an unset variable must not pass for success.
func (r *loopRound) exitCode() (int, error) {
	flag := r.flags.exitCode
	if !flag.given {
		return 0, errs.New(errs.LoopRunRoundPostExecutorMissingVerify, "nothing says how the draft's verification ended").With("got", nil)
	}
	code, err := verifycmd.ParseExitCode(flag.text)
	if err != nil {
		return 0, errs.New(errs.LoopRunRoundPostExecutorMissingVerify, "%w", err).With("got", flag.text)
	}
	return code, nil
}

// afterRed is what follows a red draft.
func afterRed(d host.Decision) string {
	switch {
	case d.Stuck:
		return actionEscalate
	case d.NextAction == "executor":
		return actionFix
	default:
		return d.NextAction
	}
}

// loopCommitted is what the phase commit prints.
type loopCommitted struct {
	loopStep
	Status string `json:"status"`
	At     string `json:"committed_at"`
}

func (r *loopRound) committed(ctx context.Context) (any, error) {
	req := host.CommitRequest{MustVerify: true, Force: r.force}
	s, err := ask(ctx, r.app, func(e *host.Engine) (host.Step, error) { return e.Commit(ctx, r.id, req) })
	if err != nil {
		return nil, err
	}
	return loopCommitted{
		loopStep: r.step(s.TaskStatus, s.Round, task.Commit, actionCommit),
		Status:   "pre-commit", At: s.UpdatedAt,
	}, nil
}
