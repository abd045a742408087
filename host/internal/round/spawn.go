package round

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/spawns"
	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/confine"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

const maxPrompt = 4 << 20 // bytes

// SpawnRequest runs an agent outside any task.
type SpawnRequest struct {
	Agent string
	// PromptPath and OutputPath are files in the project or in the directory for temporary
	// files. OutputPath receives the agent's final message.
	PromptPath, OutputPath string
	// Adapter and Model override the project's configuration, unless they are "".
	Adapter, Model string
	// Timeout covers all attempts together; 0 means the project's timeout.
	Timeout time.Duration
	// Compatible makes a single attempt with a concurrency of one, fails instead of waiting
	// for a lease, and confines the agent only if switchyard.yaml says how (docs/compat.md).
	Compatible bool
	// Content returns the contents of the output file; the default is the final message of a
	// successful spawn. It is called for the last attempt only, and the reader is read
	// while that attempt's output is open. A nil reader leaves the file as it is.
	Content func(spawner.Result) (io.Reader, error)
}

// Spawn runs an agent. When it returns, the record is durable and the output is written.
//
// # Errors
//
// usage if the output would replace the prompt; spawn-failed, spawn-auth and spawn-quota, with the
// details of the spawn; errors of definition.Library.Find, of the package confine, and of
// spawner.Spawner.Run.
func (e *Engine) Spawn(ctx context.Context, req SpawnRequest) (api.SpawnResult, error) {
	// Checks that leave no trace come before the steps that create directories.
	definition, err := spawns.FindAgent(e.project, req.Agent)
	if err != nil {
		return api.SpawnResult{}, err
	}
	config, err := e.project.Config(ctx)
	if err != nil {
		return api.SpawnResult{}, err
	}
	places, err := confine.Open(e.project.Root, os.TempDir(), e.project.Dir)
	if err != nil {
		return api.SpawnResult{}, err
	}
	defer places.Close()
	text, err := places.Read(ctx, req.PromptPath, maxPrompt)
	if err != nil {
		return api.SpawnResult{}, err
	}
	output, err := places.Output(req.OutputPath)
	if err != nil {
		return api.SpawnResult{}, err
	}
	err = cmp.Or(
		checkOutput(e.project, config, req.PromptPath, req.OutputPath, output.Path()),
		agents.CheckAvailable(ctx, e.project, config, definition.Name, req.Adapter, profile.Readonly),
	)
	if err != nil {
		return api.SpawnResult{}, err
	}
	if req.Compatible && !config.Spawn.ConfineGiven {
		config.Spawn.Confine = access.Settings{Limits: config.Spawn.Confine.Limits}
	}
	runner, err := spawns.NewRunner(ctx, e.project, config, "", e.project.Root)
	if err != nil {
		return api.SpawnResult{}, err
	}
	if err := spawns.RecoverOrphans(ctx, e.project); err != nil {
		return api.SpawnResult{}, err
	}
	rec, err := spawns.Outside(ctx, e.project, config)
	if err != nil {
		return api.SpawnResult{}, err
	}
	defer rec.Tx.Close()
	set := agents.Settings(config, definition.Name, req.Adapter)
	result := api.SpawnResult{OutputPath: req.OutputPath, OutputResolved: output.Path(), TrailPath: filepath.Join(e.project.State(), spawner.RunLogFile)}
	job := req.job(rec.NewJob(definition, set, spawns.Target{Role: task.RoleOther}), string(text))
	job.Deliver = req.deliver(output, &result.OutputBytes)
	ran, err := runner.Spawner.Run(ctx, job)
	for _, res := range ran.Results {
		result.Attempts = append(result.Attempts, api.SummarizeSpawn(res.Record))
	}
	last := ran.Last()
	if last != nil {
		result.Record = last.Record
	}
	switch {
	case err != nil:
		return result, err
	case last == nil:
		return result, errors.Join(ran.Skipped...)
	case !last.Verdict.Good():
		return result, agents.ErrFailed(*last, set)
	}
	return result, nil
}

// job applies the caller's overrides to a job with the project's settings.
func (r SpawnRequest) job(j spawner.Job, text string) spawner.Job {
	j.Prompt = func(at spawner.Attempt) (string, error) {
		if at.Note != "" {
			return text + "\n\n" + at.Note + "\n", nil
		}
		return text, nil
	}
	j.Model, j.Timeout = cmp.Or(r.Model, j.Model), cmp.Or(r.Timeout, j.Timeout)
	if r.Compatible {
		j.Adapters, j.Retries, j.Repeats, j.Concurrency, j.QueueTimeout = j.Adapters[:1], 0, 0, 1, 0
	}
	return j
}

// deliver returns the hook that writes the last attempt's output and counts its bytes.
func (r SpawnRequest) deliver(output *confine.Output, written *int64) func(spawner.Result) error {
	content := r.Content
	if content == nil {
		content = finalMessage
	}
	return func(res spawner.Result) error {
		if res.Next.Continues() {
			return nil
		}
		data, err := content(res)
		if err != nil || data == nil {
			return err
		}
		var n byteCount
		if err := output.Write(io.TeeReader(data, &n)); err != nil {
			return err
		}
		*written = int64(n)
		return nil
	}
}

// checkOutput rejects an output in place of the prompt. It also rejects one in a git directory, in
// the project's state, and in place of a file that affects later rounds: an agent must not write
// there.
func checkOutput(p *core.Project, config project.Config, prompt, given, path string) error {
	if core.IsSame(p.Abs(prompt), path) {
		return errs.New(errs.Usage, "%s is the file of the prompt, which the output would replace", given).With("path", path)
	}
	inGit := func(name string) bool { return strings.EqualFold(name, ".git") }
	affects := func(name string) bool { return name != "." && isWithin(p.AtRoot().Abs(name), path) }
	rel, err := filepath.Rel(p.Root, path)
	if err == nil && slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), inGit) ||
		slices.ContainsFunc(append(agents.Site(p, config, "", p.Root).Deciding, project.StateDir), affects) {
		return errs.New(errs.SpawnOutputUnsafe, "%s belongs to git or to Switchyard", given).With("path", path).WithHint("name another file")
	}
	return nil
}

// isWithin reports whether a path is another one or below it, also through links. The other
// one need not exist.
func isWithin(outer, path string) bool {
	if filepath.Base(outer) == filepath.Base(path) && core.IsSame(filepath.Dir(outer), filepath.Dir(path)) {
		return true
	}
	for at := path; !core.IsSame(outer, at); at = filepath.Dir(at) {
		if at == filepath.Dir(at) {
			return false
		}
	}
	return true
}

type byteCount int64

func (t *byteCount) Write(p []byte) (int, error) {
	*t += byteCount(len(p))
	return len(p), nil
}

func finalMessage(res spawner.Result) (io.Reader, error) {
	if !res.Verdict.Good() {
		return nil, nil
	}
	return strings.NewReader(strings.TrimRight(res.Output.Text, "\n") + "\n"), nil
}
