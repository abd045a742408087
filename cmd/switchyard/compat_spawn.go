package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/spawner"
)

// headlessTimeout is the time limit of a spawn that is given none, in milliseconds.
const headlessTimeout = "600000"

// exitAgent is the exit status of spawn-headless where the agent failed and its
// output is handed on all the same.
const exitAgent = 2

// headlessSpawn is what spawn-headless prints: the reference's fields, and what
// else is known of a spawn.
type headlessSpawn struct {
	host.Spawned
	// ExitCode is 1 where a signal ended the agent.
	ExitCode int `json:"exit_code"`
	// Compression is null: prompts are not compressed.
	Compression any `json:"compression"`
}

// headlessFlags are the flags of spawn-headless. The time limit is a text, so that
// whatever is no number has the reference's code too.
type headlessFlags struct {
	agent, prompt, output, timeout textFlag
}

func newSpawnHeadlessCmd(a *app) *cobra.Command {
	f := headlessFlags{timeout: textFlag{text: headlessTimeout}}
	cmd := &cobra.Command{
		Use:   "spawn-headless --agent NAME --prompt-path FILE --output-path FILE",
		Short: "Run an agent once and keep what its program prints",
		Long: `Spawn-headless runs an agent as switchyard spawn does, once and with a single
adapter. What the program prints goes to the output file as it is; of a stream of
events that is the one that says how it ended. The exit status is 2 where the agent
failed.`,
		Args: noArgs,
	}
	cmd.Flags().Var(&f.agent, "agent", "the agent's `NAME`")
	cmd.Flags().Var(&f.prompt, "prompt-path", "read the prompt from `FILE`")
	cmd.Flags().Var(&f.output, "output-path", "write what the agent's program prints to `FILE`")
	cmd.Flags().Var(&f.timeout, "timeout-ms", "end it after `N` milliseconds, from 1000")
	cmd.RunE = a.compatE(func(ctx context.Context, _ []string) (any, error) {
		req, err := f.request()
		if err != nil {
			return nil, err
		}
		done := a.waiting("running " + req.Agent)
		spawned, err := ask(ctx, a, func(e *host.Engine) (host.Spawned, error) { return e.Spawn(ctx, req) })
		done()
		return a.headless(spawned, err)
	})
	return cmd
}

// request checks the flags, in the reference's order.
func (f *headlessFlags) request() (host.SpawnRequest, error) {
	for _, needed := range []struct {
		flag textFlag
		code errs.Code
		lack string
	}{
		{f.agent, errs.SpawnHeadlessMissingAgent, "nobody says which agent is to run"},
		{f.prompt, errs.SpawnHeadlessMissingPromptPath, "nobody says where the agent's prompt is"},
		{f.output, errs.SpawnHeadlessMissingOutputPath, "nobody says where the agent's output is to go"},
	} {
		if needed.flag.text == "" {
			return host.SpawnRequest{}, errs.New(needed.code, "%s", needed.lack)
		}
	}
	ms, err := strconv.ParseInt(f.timeout.text, 10, 64)
	if err != nil || ms < minTimeout.Milliseconds() || ms > maxTimeout.Milliseconds() {
		return host.SpawnRequest{}, errs.New(errs.SpawnHeadlessInvalidTimeout, "%q is no limit from %d to %d milliseconds",
			render.Clip(f.timeout.text, maxShownTimeout), minTimeout.Milliseconds(), maxTimeout.Milliseconds())
	}
	return host.SpawnRequest{
		Agent: f.agent.text, PromptPath: f.prompt.text, OutputPath: f.output.text,
		Timeout: time.Duration(ms) * time.Millisecond, Once: true, Content: printed,
	}, nil
}

// maxShownTimeout is how much of what is no time limit a message shows, in code
// points.
const maxShownTimeout = 40

// headless is what spawn-headless makes of a spawn. An agent that failed is a
// result; one that was ended for its time is an error.
func (a *app) headless(spawned host.Spawned, err error) (any, error) {
	f, failed := errors.AsType[*errs.Error](err)
	ran := []errs.Code{errs.SpawnFailed, errs.SpawnAuth, errs.SpawnQuota}
	switch {
	case err != nil && !slices.Contains(ran, errs.CodeOf(err)):
		return nil, inHeadlessWords(err)
	case failed && spawned.TimedOut:
		return nil, recoded(f, errs.SpawnHeadlessTimedOut).With("spawn_trail_path", spawned.TrailPath)
	case failed && !onlyUnreadable(spawned):
		a.exit = exitAgent
		for line := range strings.Lines(spawned.StderrExcerpt) {
			fmt.Fprintln(a.err, render.Clean(strings.TrimRight(line, "\r\n")))
		}
		a.warn(err)
	}
	payload := headlessSpawn{Spawned: spawned, ExitCode: spawned.ExitCode}
	if spawned.Signal != "" {
		payload.ExitCode = 1
	}
	return payload, nil
}

// onlyUnreadable reports whether all that is wrong with a spawn is the form of its
// output. The reference says that in payload_parse_ok, and not in the exit status.
func onlyUnreadable(s host.Spawned) bool {
	return s.Reason == outcome.ReasonUnreadableOutput && len(s.Changed) == 0
}

// printed is what an agent's program printed. Scripts know the claude CLI's answer
// as one object, so that of its stream of events they get the last such object.
func printed(res spawner.Result) (io.Reader, error) {
	if res.Record.TimedOut {
		return nil, nil
	}
	info, err := res.Stdout.Stat()
	if err != nil {
		return nil, err
	}
	at, size, err := lastResult(io.NewSectionReader(res.Stdout, 0, info.Size()))
	if err != nil {
		return nil, err
	}
	if size == 0 {
		size = info.Size()
	}
	return io.NewSectionReader(res.Stdout, at, size), nil
}

// lastResult finds the last line of an output that says how a run of the claude CLI
// ended. Without one its size is 0. A line that is longer than what an adapter reads
// is none.
func lastResult(output io.Reader) (at, size int64, err error) {
	lines := bufio.NewReaderSize(output, adapter.MaxDocument)
	cut := false // the line at hand began before what was read of it
	for read := int64(0); ; {
		line, err := lines.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if !cut && !more && isResult(line) {
			at, size = read, int64(len(line))
		}
		read += int64(len(line))
		switch cut = more; {
		case errors.Is(err, io.EOF):
			return at, size, nil
		case err != nil && !more:
			return 0, 0, err
		}
	}
}

// isResult tells the claude CLI's last event from those of others, which may have
// the same type.
func isResult(line []byte) bool {
	if !bytes.Contains(line, []byte(`"is_error"`)) {
		return false // It need not be parsed.
	}
	var event struct {
		Type    string `json:"type"`
		IsError *bool  `json:"is_error"`
	}
	err := json.Unmarshal(line, &event, jsontext.AllowInvalidUTF8(true))
	return err == nil && event.Type == "result" && event.IsError != nil
}

// inHeadlessWords gives an error of a spawn the reference's code, where it has one.
func inHeadlessWords(err error) error {
	words := map[errs.Code]errs.Code{
		errs.SpawnReentrant:        errs.SpawnHeadlessReentrant,
		errs.SpawnDepthExceeded:    errs.SpawnHeadlessDepthExceeded,
		errs.AgentNameInvalid:      errs.SpawnHeadlessInvalidAgentName,
		errs.AgentNotFound:         errs.SpawnHeadlessAgentNotFound,
		errs.SpawnPathOutside:      errs.SpawnHeadlessPathTraversal,
		errs.SpawnPromptUnreadable: errs.SpawnHeadlessPromptUnreadable,
		errs.SpawnLocked:           errs.SpawnHeadlessLocked,
		errs.ProcessStart:          errs.SpawnHeadlessSpawnFailed,
		errs.SpawnBinaryUnusable:   errs.SpawnHeadlessSpawnFailed,
		errs.SpawnBinaryMissing:    errs.SpawnHeadlessClaudeNotFound,
		errs.SpawnCommandMissing:   errs.SpawnHeadlessClaudeNotFound,
		errs.SpawnTrailFailed:      errs.SpawnHeadlessAuditPersistFailed,
	}
	if f, ok := errors.AsType[*errs.Error](err); ok && words[f.Code] != "" {
		return recoded(f, words[f.Code])
	}
	return err
}
