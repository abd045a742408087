package fakeagent_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
)

// read calls the agent and reads its output with an adapter.
func (s runner) read(t *testing.T, a *adapter.Adapter) adapter.Output {
	t.Helper()
	out := s.path("out")
	call, err := a.Invocation(adapter.Values{Model: "fake-model", WorkDir: s.dir, StateDir: s.path("state"), TempDir: s.path("tmp"), OutFile: out,
		ReportPath: s.path("report.json"), PromptFile: s.path("prompt"), Profile: profile.Report, Command: []string{"agent", "--careful"}})
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := s.call(t, call.Argv...)
	r := a.NewReader()
	if _, err := r.Write([]byte(stdout)); err != nil {
		t.Fatal(err)
	}
	ended := adapter.Ended{At: time.Now(), ExitCode: code, Errors: []byte(stderr)}
	if file, err := os.ReadFile(out); err == nil {
		ended.File = file
	}
	return r.Finish(ended)
}

// TestAdaptersReadTheFake checks that the adapters, which are tested with output of the
// real CLIs, read the fake's output in the same way.
func TestAdaptersReadTheFake(t *testing.T) {
	scenario := fakeagent.Plays(
		fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Say: "I begin."}, fakeagent.Step{Tick: &fakeagent.Keepalive{Every: 1, Times: 2}},
		fakeagent.Step{Tool: &fakeagent.Tool{Search: true}}, fakeagent.Step{Tool: &fakeagent.Tool{Name: "Write", Denied: true}},
		fakeagent.Step{Final: &fakeagent.Final{Text: new("It is done.")}})
	scenario.Usage = &fakeagent.Usage{In: 200, Out: 40, Cached: 50}
	// What each CLI reports besides its final message.
	for name, tells := range map[string]struct{ model, tokens, cost, tools, denials, session bool }{
		"claude":   {model: true, tokens: true, cost: true, tools: true, denials: true, session: true},
		"codex":    {tokens: true, tools: true, session: true},
		"gemini":   {model: true, tokens: true, tools: true, denials: true, session: true},
		"opencode": {tokens: true, cost: true, tools: true, denials: true, session: true},
		"copilot":  {model: true, tools: true, denials: true, session: true},
		"exec":     {},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := adapter.NewCatalog().Get(name)
			if err != nil {
				t.Fatal(err)
			}
			o := newStage(t, scenario).read(t, a)
			if !o.Valid || !o.HasText || o.Text != "It is done." || o.Failure != nil {
				t.Errorf("valid %v, text %q, failure %+v, notes %q", o.Valid, o.Text, o.Failure, o.Notes)
			}
			if (o.Model == "fake-model") != tells.model || (o.Session == "fake-session-1") != tells.session {
				t.Errorf("model %q, session %q", o.Model, o.Session)
			}
			if got := count(o.Tokens.In) == 200 && count(o.Tokens.Out) == 40 && count(o.Tokens.Cached) == 50; got != tells.tokens {
				t.Errorf("tokens %d, %d, %d", count(o.Tokens.In), count(o.Tokens.Out), count(o.Tokens.Cached))
			}
			if (count(o.Dollars) == 1600) != tells.cost {
				t.Errorf("cost %d", count(o.Dollars))
			}
			searched := slices.ContainsFunc(o.Tools, func(u adapter.ToolUse) bool { return u.Search })
			if (o.ToolCount == 2) != tells.tools || searched != tells.tools || (len(o.Denials) == 1) != tells.denials {
				t.Errorf("tools %+v, denials %q", o.Tools, o.Denials)
			}
		})
	}
}

// count returns a number, or -1 if it is unknown.
func count(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func TestAdaptersReadTheFakesFailures(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "copilot"} {
		a, err := adapter.NewCatalog().Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for f, want := range map[fakeagent.Failure]outcome.Class{
			{Status: 401}: outcome.Auth, {Status: 404}: outcome.NotFound, {Status: 413}: outcome.Input,
			{Status: 429}: outcome.RateLimit, {Status: 429, Kind: "limit", RetryAfter: 7200}: outcome.Quota, {Status: 529}: outcome.Overloaded, {Kind: "usage"}: outcome.Config,
		} {
			if o := newStage(t, fakeagent.Fails(f)).read(t, a); o.Failure == nil || o.Failure.Class != want {
				t.Errorf("%s, %+v: %+v, not %s", name, f, o.Failure, want)
			} else if ends := !o.Failure.ResetsAt.IsZero(); ends != (want == outcome.Quota) {
				t.Errorf("%s, %+v: it ends at %v", name, f, o.Failure.ResetsAt)
			}
		}
	}
	a, err := adapter.NewCatalog().Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]outcome.Class{
		"max-turns": outcome.Limit, "budget": outcome.Limit, "refusal": outcome.Refused,
	} {
		if o := newStage(t, fakeagent.Fails(fakeagent.Failure{Kind: kind})).read(t, a); o.Failure == nil || o.Failure.Class != want {
			t.Errorf("%s: %+v, not %s", kind, o.Failure, want)
		}
	}
}

// TestReplaysRecordedOutput checks that recorded output of a real CLI is replayed byte
// for byte.
func TestReplaysRecordedOutput(t *testing.T) {
	want, err := os.ReadFile("../adapter/testdata/outputs/claude-2.1.329-stream-write.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, fakeagent.Scenario{Steps: []fakeagent.Step{{Print: &fakeagent.Print{Bytes: want}}, {Exit: new(3)}}})
	if stdout, _, code := s.call(t); stdout != string(want) || code != 3 {
		t.Errorf("%d bytes of %d, code %d", len(stdout), len(want), code)
	}
}
