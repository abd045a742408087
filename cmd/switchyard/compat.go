package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot/verbs"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
	"github.com/switchyard-dev/switchyard/spawner"
)

// maxVerifyOutput is the maximum size of a verification's output that is read, in
// bytes.
const maxVerifyOutput = 64 << 20

// exitAgent is the exit status of spawn-headless if the agent failed and its output is
// still passed on.
const exitAgent = 2

const spawnHeadlessStatus = `
Exit status:
  0  done
  1  a fault; the error on standard error says which
  2  the agent failed, or the command line is wrong
`

// compatVerb is one call of a verb of nubos-pilot. Package verbs has the flags, checks, codes
// and results.
type compatVerb struct {
	*app
	engine *host.Engine
	verbs.Input
}

func (c *compatVerb) runVerb(ctx context.Context, name string) (any, error) {
	switch name {
	case verbs.RunRound:
		return c.runRound(ctx)
	case verbs.AuditToolUse:
		return c.auditToolUse(ctx)
	case verbs.Metrics:
		return c.engine.Summary(ctx)
	case verbs.Stuck:
		return c.stop(ctx, nil)
	default:
		return c.spawnHeadless(ctx)
	}
}

// newCompatCmd returns the command of a verb of nubos-pilot (docs/compat.md). It prints
// its result and its errors as JSON, whatever --output says.
func newCompatCmd(a *app, v verbs.Verb) *cobra.Command {
	cmd := &cobra.Command{
		Use: strings.TrimSpace(v.Name + " " + v.Args), Short: v.Short, Long: v.Long, Example: v.Example, Args: cli.NoArgs,
	}
	if v.InvalidTask != "" {
		cmd.Args = cli.OrNothing(cli.OneTask)
	}
	for _, f := range v.Flags {
		if f.Switch {
			cmd.Flags().Bool(f.Name, false, f.Usage)
		} else {
			cmd.Flags().String(f.Name, "", f.Usage)
		}
	}
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		in := verbs.Input{TaskID: strings.Join(args, ""), Flags: map[string]string{}}
		cmd.Flags().Visit(func(f *pflag.Flag) { in.Flags[f.Name] = f.Value.String() })
		if err := v.Check(in); err != nil {
			return err
		}
		result, err := (&compatVerb{a, e, in}).runVerb(ctx, v.Name)
		if err != nil {
			return verbs.Recode(err, v.Codes)
		}
		return a.Write(func(w io.Writer) error { return render.JSON(w, result) })
	})
	return cmd
}

func (c *compatVerb) runRound(ctx context.Context) (any, error) {
	phase, err := c.Phase()
	if err != nil {
		return nil, err
	}
	step := verbs.Step{TaskID: c.TaskID, Phase: phase}
	if phase.Force != "" && c.On(phase.Force) {
		if step.Force, err = newForce(c.Text("reason")); err != nil {
			return nil, err
		}
	}
	run := map[task.Phase]func(context.Context, verbs.Step) (any, error){
		task.Start: c.prepare, task.Research: c.prepare, task.Design: c.prepare, task.Tests: c.prepare,
		task.Draft: c.draft, task.Review: c.review, task.Commit: c.commit, "": c.stopWithFindings,
	}
	result, err := run[phase.Gate](ctx, step)
	return result, verbs.Recode(err, phase.Codes)
}

// prepare runs preflight and the other phases before the draft.
func (c *compatVerb) prepare(ctx context.Context, step verbs.Step) (any, error) {
	config, err := c.engine.Config(ctx)
	if err != nil {
		return nil, err
	}
	if step.Phase.Gate == task.Start {
		query, err := c.Query()
		if err != nil {
			return nil, err
		}
		s, err := c.engine.Start(ctx, step.TaskID, api.StartRequest{Query: query, Force: step.Force})
		return step.Preflight(s.TaskStatus, query, config.Researchers), err
	}
	req := api.PhaseRequest{Phase: step.Phase.Gate, Force: step.Force}
	if req.Phase == task.Tests {
		req.Tests = splitList(c.Text("tests"))
	}
	s, err := c.engine.Done(ctx, step.TaskID, req)
	return step.Prepare(s.TaskStatus, config.Phases, config.Researchers), err
}

func (c *compatVerb) draft(ctx context.Context, step verbs.Step) (any, error) {
	req := api.DraftRequest{Force: step.Force}
	code, err := c.ExitCode()
	if err != nil {
		return nil, err
	}
	req.Verify.ExitCode = &code
	if c.Given("verify-output-path") {
		output, err := c.readConfined(ctx, c.Text("verify-output-path"), maxVerifyOutput)
		if err != nil {
			return nil, verbs.Recode(err, verbs.FileCodes(errs.LoopRunRoundVerifyOutputTraversal, errs.LoopRunRoundVerifyOutputUnreadable))
		}
		req.Verify.OutputBytes = int64(len(output))
		if req.Verify.Excerpt, err = verifycmd.Excerpt(bytes.NewReader(output), req.Verify.OutputBytes); err != nil {
			return nil, err
		}
	}
	d, err := c.engine.Draft(ctx, step.TaskID, req)
	return step.Draft(d, code), err
}

func (c *compatVerb) review(ctx context.Context, step verbs.Step) (any, error) {
	report, err := c.CriticOutputs(c.reportReader(ctx))
	if err != nil {
		return nil, err
	}
	req := compatRequest(report, c.Text("critic-outputs-path"))
	req.Force = step.Force
	d, err := c.engine.Review(ctx, step.TaskID, req)
	return step.Review(d), err
}

// compatRequest returns a request with the bytes of a report that was already read, so that
// the round is decided on the report that was checked. path is its file, or "".
func compatRequest(report []byte, path string) host.Request {
	return host.Request{Reports: []api.ReportRef{{Plugin: "np-critic", Path: api.Stdin, Name: path}}, Stdin: bytes.NewReader(report)}
}

func (c *compatVerb) commit(ctx context.Context, step verbs.Step) (any, error) {
	s, err := c.engine.Commit(ctx, step.TaskID, api.CommitRequest{MustVerify: true, Force: step.Force})
	return step.Commit(s.TaskStatus), err
}

func (c *compatVerb) stopWithFindings(ctx context.Context, _ verbs.Step) (any, error) {
	report, err := c.Input.Findings(c.reportReader(ctx))
	if err != nil {
		return nil, err
	}
	return c.stop(ctx, report)
}

// stop stops a task with the findings of a report, or with the task's own findings if
// report is nil.
func (c *compatVerb) stop(ctx context.Context, report []byte) (any, error) {
	reason, forgetCap, err := c.Reason()
	if err != nil {
		return nil, err
	}
	req := api.StopRequest{Reason: textutil.Fit(reason, maxReason), ForgetCap: forgetCap}
	if report != nil {
		req.Request = compatRequest(report, c.Text("findings-path"))
	}
	s, err := c.engine.Stop(ctx, c.TaskID, req)
	return verbs.Step{TaskID: c.TaskID}.Stop(s.TaskStatus), err
}

func (c *compatVerb) auditToolUse(ctx context.Context) (any, error) {
	agent, query := definition.FullName(c.Text("agent")), c.Text("search")
	request, err := c.AuditRequest()
	if err != nil {
		return nil, err
	}
	switch request {
	case "read":
		attestations, err := c.engine.Attestations(ctx, c.TaskID)
		list := verbs.AuditList{TaskID: c.TaskID}
		for _, s := range attestations {
			if agent != "" && s.Agent != agent {
				continue
			}
			list.Attestations = append(list.Attestations, verbs.NewAttestation(s.Attestation, s.At))
		}
		return list, err
	case "search":
		s, err := c.engine.Search(ctx, c.TaskID, api.SearchRequest{Agent: agent, Query: query})
		return verbs.SearchResult{TaskID: c.TaskID, Round: s.Round, Agent: agent, Query: query, At: s.UpdatedAt}, err
	}
	config, err := c.engine.Config(ctx)
	if err != nil {
		return nil, err
	}
	log, err := c.ToolLog(slices.Contains(config.Audit.Agents, agent))
	if err != nil {
		return nil, err
	}
	req := api.AuditRequest{Agent: agent}
	if log != nil {
		if req.Tools, err = api.ParseToolLog(log); err != nil {
			return nil, err
		}
	}
	audited, err := c.engine.Audit(ctx, c.TaskID, req)
	return verbs.AuditResult{TaskID: c.TaskID, Attestation: verbs.NewAttestation(audited.Attestation, audited.UpdatedAt)}, err
}

// readConfined reads a file in the project or in the directory for temporary files. It
// opens the file through the root of that directory, so that no symbolic link leads out
// of it, not even one that is created meanwhile.
func (c *compatVerb) readConfined(ctx context.Context, path string, limit int64) ([]byte, error) {
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	for _, root := range []string{c.project.Root, temp} {
		in := project.Project{Root: root, Dir: c.project.Dir}
		if rel, inside := in.Rel(path); inside {
			return in.Read(ctx, filepath.Join(root, filepath.FromSlash(rel)), limit)
		}
	}
	return nil, errs.New(errs.PathEscapesProject, "%s is neither in the project nor in the directory for temporary files", path).With("path", path)
}

// reportReader returns a function that reads a critic's report, up to the maximum size
// of a report.
func (c *compatVerb) reportReader(ctx context.Context) verbs.ReadFile {
	return func(path string) ([]byte, error) {
		config, err := c.engine.Config(ctx)
		if err != nil {
			return nil, err
		}
		limit := document.Limits{Bytes: config.Limits.Report}.WithDefaults().Bytes
		text, err := c.readConfined(ctx, path, limit)
		if errs.CodeOf(err) == errs.FileTooLarge {
			return nil, document.TooLarge(limit)
		}
		return text, verbs.Recode(err, verbs.FileCodes(errs.LoopRunRoundCriticOutputsPathTraversal, errs.LoopRunRoundCriticOutputsPathUnreadable))
	}
}

// compatSpawn is the output of spawn-headless: a spawn in nubos-pilot's format.
type compatSpawn struct {
	host.SpawnResult
	// ExitCode is 1 if a signal ended the agent.
	ExitCode int `json:"exit_code"`
	// Compression is null: prompts are not compressed.
	Compression any `json:"compression"`
}

// spawnHeadless runs an agent. If the agent fails, the failure is a result; if it
// reaches its time limit, it is an error.
func (c *compatVerb) spawnHeadless(ctx context.Context) (any, error) {
	timeout, err := c.Timeout(minTimeout, maxTimeout)
	if err != nil {
		return nil, err
	}
	done := c.showWork("running " + c.Text("agent"))
	spawned, err := c.engine.Spawn(ctx, host.SpawnRequest{
		Agent: c.Text("agent"), PromptPath: c.Text("prompt-path"), OutputPath: c.Text("output-path"),
		Timeout: timeout, Compatible: true, Content: compatOutput,
	})
	done()
	// payload_parse_ok reports unreadable output, not the exit status.
	unreadable := spawned.Reason == outcome.ReasonUnreadableOutput && len(spawned.Changed) == 0
	switch failed := slices.Contains([]errs.Code{errs.SpawnFailed, errs.SpawnAuth, errs.SpawnQuota}, errs.CodeOf(err)); {
	case err != nil && !failed:
		return nil, err
	case failed && spawned.TimedOut:
		err = errs.With(err, "spawn_trail_path", spawned.TrailPath)
		return nil, verbs.Recode(err, map[errs.Code]errs.Code{errs.CodeOf(err): errs.SpawnHeadlessTimedOut})
	case failed && !unreadable:
		c.Exit = exitAgent
		for line := range strings.Lines(spawned.StderrExcerpt) {
			fmt.Fprintln(c.Err, textutil.Line(strings.TrimRight(line, "\r\n")))
		}
		c.warn(err)
	}
	result := compatSpawn{SpawnResult: spawned, ExitCode: spawned.ExitCode}
	if spawned.Signal != "" {
		result.ExitCode = 1
	}
	return result, nil
}

// compatOutput returns the content of the output file: the standard output of the
// agent's program. Scripts expect the claude CLI's answer as one object, so from a
// stream of events it returns the last such object.
func compatOutput(res spawner.Result) (io.Reader, error) {
	if res.Record.TimedOut {
		return nil, nil
	}
	info, err := res.Stdout.Stat()
	if err != nil {
		return nil, err
	}
	at, size, err := verbs.LastResult(io.NewSectionReader(res.Stdout, 0, info.Size()), adapter.MaxDocument)
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(res.Stdout, at, cmp.Or(size, info.Size())), nil
}
