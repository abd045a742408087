package e2e

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
)

// call runs an agent in v.WorkDir, by default the project, with its adapter's command
// line, but without our spawner, and returns the adapter's parsed output.
func (p *project) call(t *testing.T, name string, v adapter.Values) adapter.Output {
	t.Helper()
	a, err := adapter.NewCatalog().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	run := t.TempDir()
	v.WorkDir = cmp.Or(v.WorkDir, p.dir)
	v.StateDir, v.TempDir, v.OutFile, v.Environ = filepath.Join(run, "state"), t.TempDir(), filepath.Join(run, "last"), p.env
	invocation, err := a.Invocation(v)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range invocation.Files {
		p.put(t, filepath.Join(v.StateDir, name), content)
	}
	ctx, cancel := context.WithTimeout(t.Context(), roundTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.programs[name], invocation.Argv...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = v.WorkDir, append(slices.Clone(p.env), invocation.Env...), 5*time.Second
	cmd.Env = append(cmd.Env, "TMPDIR="+v.TempDir)
	cmd.Stdin = strings.NewReader("You review.\ntask_id: T-1\nround: 1\nreport_path: " + v.ReportPath + "\n")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); !exited(err) {
		t.Fatal(err)
	}
	reader := a.NewReader()
	if _, err := reader.Write(out.Bytes()); err != nil {
		t.Fatal(err)
	}
	ended := adapter.Ended{At: time.Now(), ExitCode: cmd.ProcessState.ExitCode(), Errors: errs.Bytes()}
	if last, err := os.ReadFile(v.OutFile); err == nil {
		ended.File = last
	}
	t.Logf("%s\n%s", errs.String(), out.String())
	return reader.Finish(ended)
}

// trespasser is a model that tries to write into the project before it writes its
// report.
func trespasser(r request) reply {
	b := fakeagent.ReadBrief(r.Text)
	report, message := fakeagent.Critique(b)
	switch {
	case aside(r):
		return reply{text: "Review"}
	case len(r.Results) == 0:
		return writes(r, "new.go", "package a\n")
	case len(r.Results) == 1:
		return writes(r, b.ReportPath, string(report))
	}
	return reply{text: message}
}

// laxity lists the actions of a CLI that cannot be prevented, and those it does not report.
type laxity struct {
	writesProject, obeysProject, readsAll, hidesTokens, hidesDenials, retries bool
	// commandsEscape says that commands of an agent that edits may write anywhere,
	// followsLinks that its tools may write outside through a symbolic link, and offline
	// that its commands have no network.
	commandsEscape, followsLinks, offline bool
}

// laxities returns the limitations of the CLIs in docs/adapters.md.
func laxities() map[string]laxity {
	return map[string]laxity{
		"claude":   {commandsEscape: true},
		"codex":    {readsAll: true, hidesDenials: true, offline: true},
		"copilot":  {hidesTokens: true, retries: true},
		"gemini":   {writesProject: true, obeysProject: true, hidesDenials: true, commandsEscape: true},
		"opencode": {retries: true, commandsEscape: true, followsLinks: true},
	}
}

// TestContracts tests that each adapter lets the real CLI read the files next to its
// report, and nothing else outside the project, and write its report, and nothing else;
// and that it parses the CLI's output. Nothing in the project that must not run is run
// (see project).
func TestContracts(t *testing.T) {
	r := newRig(t)
	for name, lax := range laxities() {
		t.Run(name, func(t *testing.T) {
			r.needs(t, name)
			given, foreign := t.TempDir(), t.TempDir()
			files := []string{filepath.Join(given, "draft.diff"), filepath.Join(given, "verification.log"), filepath.Join(foreign, "secret.txt")}
			var read []string
			reported := false
			p := r.newProject(t, r.model.url("contract-"+name, func(q request) reply {
				reported = reported || strings.Contains(q.Text, hostile)
				if strings.Contains(q.Text, usurped) {
					t.Error("the repository has replaced the system prompt")
				}
				if n := len(q.Results); n < len(files) && !aside(q) {
					return reads(q, files[n])
				}
				read = q.Results[:min(len(files), len(q.Results))]
				q.Results = q.Results[len(read):]
				return trespasser(q)
			}), config(name))
			for _, file := range files {
				p.put(t, file, "content of "+filepath.Base(file)+"\n")
			}
			v := adapter.Values{Model: models[name], ReportPath: filepath.Join(given, "report.json"), Profile: profile.Report}
			o := p.call(t, name, v)

			if len(read) != len(files) {
				t.Errorf("it has used %d tools, and not %d", len(read), len(files))
			}
			for i, text := range read {
				want := i < 2 || lax.readsAll
				if has := strings.Contains(text, "content of "+filepath.Base(files[i])); has != want {
					t.Errorf("it reads %s as %q", filepath.Base(files[i]), text)
				}
			}
			if reported != lax.obeysProject {
				t.Errorf("the instructions in the repository reached the model: %v, want %v", reported, lax.obeysProject)
			}
			if err := os.Remove(filepath.Join(p.dir, "new.go")); (err == nil) != lax.writesProject {
				t.Errorf("it may write in the project: %v", err == nil)
			}
			if report, err := os.ReadFile(v.ReportPath); err != nil || !strings.Contains(string(report), `"task_id": "T-1"`) {
				t.Errorf("report %q, %v", report, err)
			}
			lax.check(t, o)
		})
		t.Run(name+" that only reads", func(t *testing.T) {
			r.needs(t, name)
			p := r.newProject(t, r.model.url("readonly-"+name, trespasser), config(name))
			v := adapter.Values{Model: models[name], ReportPath: filepath.Join(t.TempDir(), "report.json")}
			p.call(t, name, v)
			if _, err := os.Stat(v.ReportPath); err == nil {
				t.Error("it has written its report")
			}
		})
	}
}

// check checks the adapter's output of a successful run with six requests.
func (lax laxity) check(t *testing.T, o adapter.Output) {
	t.Helper()
	if !o.Valid || !o.Done || o.Failure != nil || !strings.Contains(o.Text, `"verdict":"passed"`) {
		t.Errorf("valid %v, done %v, failure %+v, text %q", o.Valid, o.Done, o.Failure, o.Text)
	}
	// Codex does not report every command that its sandbox stopped.
	if o.ToolCount < 4 || o.Session == "" {
		t.Errorf("tools %v, session %q", o.Tools, o.Session)
	}
	counts := o.Tokens.In != nil && o.Tokens.Out != nil
	if counts == lax.hidesTokens || counts && (*o.Tokens.In != 600 || *o.Tokens.Out != 120) {
		t.Errorf("tokens %+v", o.Tokens)
	}
	if (len(o.Denials) > 0) == lax.hidesDenials {
		t.Errorf("denials %q", o.Denials)
	}
}

// TestContractErrors tests that the adapters distinguish errors; if a CLI's retries can
// be limited, by the second request.
func TestContractErrors(t *testing.T) {
	r := newRig(t)
	for name, lax := range laxities() {
		t.Run(name, func(t *testing.T) {
			r.needs(t, name)
			for status, want := range map[int]outcome.Class{
				401: outcome.Auth, 404: outcome.NotFound, 429: outcome.RateLimit, 529: outcome.Overloaded,
			} {
				scene := name + "-" + string(want)
				t.Run(string(want), func(t *testing.T) {
					t.Parallel() // Most of the time they wait for their next try.
					p := r.newProject(t, r.model.url(scene, always(reply{status: status})), config(name))
					o := p.call(t, name, adapter.Values{Model: models[name]})
					if o.Failure == nil || o.Failure.Class != want {
						t.Errorf("%+v, not %s", o.Failure, want)
					}
					if n := r.model.asked(scene); n > 2 && !lax.retries {
						t.Errorf("the model was asked %d times", n)
					}
				})
			}
		})
	}
}

// subscribe gives claude the token of a subscription, which alone has usage limits.
func (p *project) subscribe() {
	p.env = slices.DeleteFunc(p.env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	p.env = append(p.env, "CLAUDE_CODE_OAUTH_TOKEN=dummy")
}

// TestContractLimits tests that the adapters read when a usage limit ends. opencode is
// silent until then.
func TestContractLimits(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"claude", "codex", "gemini", "copilot"} {
		t.Run(name, func(t *testing.T) {
			r.needs(t, name)
			until := time.Now().Add(2 * time.Hour)
			p := r.newProject(t, r.model.url("limited-until-"+name, func(request) reply { return reply{until: until} }), config(name))
			p.subscribe()
			o := p.call(t, name, adapter.Values{Model: models[name]})
			if o.Failure == nil || o.Failure.Class != outcome.Quota || o.Failure.ResetsAt.Sub(until).Abs() > time.Minute {
				t.Errorf("%+v, not until %v", o.Failure, until)
			}
		})
	}
}
