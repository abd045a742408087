package adapter_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// recorded is the directory of what real CLIs printed.
const recorded = "testdata/outputs"

// envelope is the final message of the runs that wrote a report.
const envelope = `{"status":"ok","findings_path":"/project/report.md","count":2}`

// want is what a recorded output has to say. Nil numbers are unknown.
type want struct {
	exit           int
	text           string
	noText         bool
	model, session string
	in, out        *int64
	cached, micros *int64
	tools, denials []string
	class          outcome.Class
	status         int
	message        string
	retryAfter     time.Duration
	resetsAt       time.Time
	invalid        bool // the output is not what was promised
	notes          int
}

// recordings says it for each file. The start of a file's name is its adapter's.
func recordings() map[string]want {
	opus := "claude-opus-5-5"
	counted := func(w want, in, out, cached, micros int64) want {
		w.in, w.out, w.cached, w.micros = &in, &out, &cached, &micros
		return w
	}
	// Codex warns that it does not know the model, then notes each attempt to connect
	// again and the error itself, and says it once more as the run fails.
	codex := func(w want) want {
		w.exit, w.noText = 1, true
		return w
	}
	tokens := func(w want, in, out, cached int64) want {
		w.in, w.out, w.cached = &in, &out, &cached
		return w
	}
	return map[string]want{
		"claude-2.1.197-write-ok.json": counted(want{
			text: envelope, model: "claude-opus-4-8[1m]", session: "b129718b-60cd-4224-9b41-5349913d25dd",
		}, 200, 40, 0, 2000),
		"claude-2.1.197-limit-rc1.jsonl": counted(want{
			exit: 1, text: "You've hit your limit · resets 12:02am (UTC)", model: "claude-opus-4-8", session: "76475fdf-0115-4697-a604-12fcb6687121",
			class: outcome.Quota, status: 429, message: "You've hit your limit · resets 12:02am (UTC)",
			resetsAt: time.Date(2026, 11, 23, 0, 2, 24, 0, time.UTC),
		}, 0, 0, 0, 0),
		"claude-2.1.329-budget.json": counted(want{
			exit: 1, noText: true, model: opus, session: "435b2b4e-17f9-4c09-8878-57ab79c8e290",
			class: outcome.Limit, message: "Reached maximum budget ($5)",
		}, 900000, 90000, 0, 5400000),
		"claude-2.1.329-e429.json": counted(want{
			exit: 1, text: "API Error: Request rejected (429) · mock 429", session: "4414f44a-b56f-4f08-8427-481e74f0c59f",
			class: outcome.RateLimit, status: 429, message: "API Error: Request rejected (429) · mock 429",
		}, 0, 0, 0, 0),
		"claude-2.1.329-hangto.json": counted(want{
			exit: 1, session: "c66c7739-7262-4340-b077-f092377146e6", class: outcome.Timeout,
			text:    "Request timed out. If the API is slow to answer, or a proxy or gateway holds responses, set API_TIMEOUT_MS above 4000.",
			message: "Request timed out. If the API is slow to answer, or a proxy or gateway holds responses, set API_TIMEOUT_MS above 4000.",
		}, 0, 0, 0, 0),
		"claude-2.1.329-maxturns.json": counted(want{
			exit: 1, noText: true, model: opus, session: "62526e8b-e497-470c-bff1-5838de8c9dd7",
			class: outcome.Limit, message: "Reached maximum number of turns (3)",
		}, 300, 60, 0, 2400),
		"claude-2.1.329-r0.json": counted(want{
			exit: 1, session: "176df23c-f5ca-4cec-ac8f-56e7f3e7a4fc", class: outcome.Overloaded, status: 529,
			text:    "API Error: 529 mock 529. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8787).",
			message: "API Error: 529 mock 529. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:8787).",
		}, 0, 0, 0, 0),
		"claude-2.1.329-schema.json": counted(want{
			text: `{"verdict":"pass","count":2}`, model: opus, session: "81caafc3-3303-420c-aa13-5529989adc1c",
		}, 100, 20, 0, 800),
		"claude-2.1.329-schemabad.json": counted(want{
			exit: 1, noText: true, model: opus, session: "75749f47-56d7-4ff2-8ace-121000b6ee7f", class: outcome.Malformed,
			message: "Failed to provide valid structured output after 5 attempts — last StructuredOutput error: Output does not match required schema: " +
				"root: must have required property 'verdict', root: must have required property 'count'",
		}, 500, 100, 0, 4000),
		"claude-2.1.329-schemanever.json": counted(want{
			text: "no structure for you", model: opus, session: "f648290d-6a19-466c-aace-bcaa241c9d31",
		}, 200, 40, 0, 1600),
		"claude-2.1.329-stream-retry.jsonl": counted(want{
			text: "ok after 2 x 529", model: opus, session: "c3fef4ac-b802-4d24-a3f6-77d26754582b", notes: 2,
		}, 100, 20, 0, 800),
		"claude-2.1.329-stream-write.jsonl": counted(want{
			text: envelope, model: opus, session: "9ca409d4-12d1-44dd-8e9e-b40715cd9dbc", tools: []string{"Write"},
		}, 200, 40, 0, 1600),
		"claude-2.1.329-write-denied-rc0.json": counted(want{
			text: envelope, model: opus, session: "f05ef64f-63c4-4bea-8fbd-851a7a7d1c9c", denials: []string{"Write"},
		}, 200, 40, 0, 1600),
		"claude-2.1.329-write-ok.json": counted(want{
			text: envelope, model: opus, session: "111ac971-296d-4d3c-8266-f55788ead3eb",
		}, 200, 40, 0, 1600),

		"codex-0.169.0-e401-rc1.jsonl": codex(want{
			session: "01a1fc94-16bd-77c0-8cca-2130a911487d", class: outcome.Auth, status: 401, notes: 3,
			message: "unexpected status 401 Unauthorized: mock 401, url: http://127.0.0.1:8787/s/e401~2396919030/v1/responses",
		}),
		"codex-0.169.0-e402-rc1.jsonl": codex(want{
			session: "01a1fc94-1835-7a83-b327-b6e925c91299", class: outcome.Quota, status: 402, notes: 3,
			message: "unexpected status 402 Payment Required: mock 402, url: http://127.0.0.1:8787/s/e402~286406728/v1/responses",
		}),
		"codex-0.169.0-e403-rc1.jsonl": codex(want{
			session: "01a1fc94-199c-7111-99d4-89a56a72f2cf", class: outcome.Auth, status: 403, notes: 3,
			message: "unexpected status 403 Forbidden: mock 403, url: http://127.0.0.1:8787/s/e403~1766832250/v1/responses",
		}),
		"codex-0.169.0-e404-rc1.jsonl": codex(want{
			session: "01a1fc94-1b15-7e01-a4a6-f4df036e28bd", class: outcome.NotFound, status: 404, notes: 3,
			message: "unexpected status 404 Not Found: mock 404, url: http://127.0.0.1:8787/s/e404~632529590/v1/responses",
		}),
		"codex-0.169.0-e429-rc1.jsonl": codex(want{
			session: "01a1fc94-d53f-75a3-91ea-f497a7c2103e", class: outcome.RateLimit, status: 429, notes: 7,
			message: "exceeded retry limit, last status: 429 Too Many Requests",
		}),
		"codex-0.169.0-e529-rc1.jsonl": codex(want{
			session: "01a1fc94-2457-73f1-933d-51c430661f8d", class: outcome.Overloaded, status: 529, notes: 3,
			message: "unexpected status 529 <unknown status code>: mock 529, url: http://127.0.0.1:8787/s/e529~2455517817/v1/responses",
		}),
		"codex-0.169.0-limit-rc1.jsonl": codex(want{
			session: "01a20548-2b8d-73a2-80f4-b634acd0863b", class: outcome.Quota, notes: 2,
			message: "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage " +
				"to purchase more credits or try again at Nov 23rd, 2026 12:02 AM.",
			resetsAt: time.Date(2026, 11, 23, 0, 2, 0, 0, time.UTC),
		}),
		"codex-0.169.0-write-ok.jsonl": tokens(want{
			text: envelope, session: "01a1fc94-cafd-7100-bc31-215fdb596237", tools: []string{"command_execution"}, notes: 1,
		}, 200, 40, 20),
		"codex-0.169.0-write-readonly-rc0.jsonl": tokens(want{
			text: envelope, session: "01a1fc94-c9fe-7e61-beb0-6682c2284dc2", notes: 1,
		}, 200, 40, 20),

		"copilot-1.0.102-e401-rc1.jsonl": {
			exit: 1, noText: true, session: "f7eb3b1e-7296-496a-b2fa-4408c629679c", class: outcome.Auth, status: 401, notes: 2,
			message: "Authentication failed with provider at http://127.0.0.1:8787/s/e401/v1 (HTTP 401).\n" +
				"  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
		},
		"copilot-1.0.102-ok.jsonl": {
			text: envelope, model: "gpt-4.1", session: "7d4cd255-b9bd-4bde-b801-33baaea6b531", tools: []string{"write"},
		},

		// An error of gemini is an exit code and an object behind its log.
		"gemini-0.61.0-e429-rc173.stderr": {
			exit: 173, noText: true, invalid: true, class: outcome.RateLimit, status: 429, message: "mock 429",
		},
		"gemini-0.61.0-empty-rc0.json": tokens(want{
			model: "mock, gemini-2.5-flash", session: "c717c50d-df1c-4cf9-9f0b-2c5e1d70c45f", class: outcome.Malformed,
			message: "The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again.",
		}, 400, 80, 0),
		"gemini-0.61.0-stream-write.jsonl": tokens(want{
			text: envelope, model: "mock", session: "f704f240-b249-4092-a344-b1445b936c9b", tools: []string{"write_file"},
		}, 200, 40, 0),
		"gemini-0.61.0-write-ok.json": tokens(want{
			text: envelope, model: "mock", session: "6a4b532e-284d-4864-b8c5-2198e767a4b1",
		}, 200, 40, 0),

		"opencode-1.18.33-e401-rc1.jsonl": {
			exit: 1, noText: true, session: "ses_e03604f02ffe1ga01zzRhe1saT", class: outcome.Auth, status: 401, message: "mock 401",
		},
		"opencode-1.18.33-e429-rc1.jsonl": {
			exit: 1, noText: true, session: "ses_e035f6cc7ffePV3XkbbQnpkNAz", class: outcome.RateLimit, status: 429,
			message: "mock 429", retryAfter: time.Second,
		},
		// The run ends where somebody should have been asked, without a final message.
		"opencode-1.18.33-permission-ask-rc0.jsonl": counted(want{
			noText: true, session: "ses_e035f32f0ffeV0e6qZ52gNoJwC", tools: []string{"write"}, denials: []string{"write"}, invalid: true,
		}, 100, 20, 0, 140),
		"opencode-1.18.33-write-ok.jsonl": counted(want{
			text: envelope, session: "ses_e035f56bdffeMD8X9Of0X3ZIOP", tools: []string{"write"},
		}, 200, 40, 0, 280),
	}
}

// replay returns the adapter, the output and the standard error of a recording.
func replay(t testing.TB, name string) (a *adapter.Adapter, output, errors []byte) {
	t.Helper()
	cli, _, _ := strings.Cut(name, "-")
	a = embedded(t, cli)
	data, err := os.ReadFile(filepath.Join(recorded, name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".stderr") {
		return a, nil, data
	}
	return a, data, nil
}

func embedded(t testing.TB, name string) *adapter.Adapter {
	t.Helper()
	a, err := adapter.NewCatalog().Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRecordedOutputs(t *testing.T) {
	entries, err := os.ReadDir(recorded)
	if err != nil {
		t.Fatal(err)
	}
	wanted := recordings()
	limitedAt := time.Date(2026, 11, 22, 22, 2, 25, 0, time.UTC) // Those with a usage limit were recorded then.
	for _, entry := range entries {
		name := entry.Name()
		if name == "README.md" {
			continue
		}
		w, ok := wanted[name]
		if !ok {
			t.Errorf("%s: nobody says what is to be read there", name)
		}
		delete(wanted, name)
		t.Run(name, func(t *testing.T) {
			a, output, errors := replay(t, name)
			w.check(t, read(a, output, adapter.Ended{At: limitedAt, ExitCode: w.exit, Errors: errors}))
		})
	}
	for name := range wanted {
		t.Errorf("%s is missing", name)
	}
}

// read reads a whole output at once.
func read(a *adapter.Adapter, output []byte, end adapter.Ended) adapter.Output {
	r := a.NewReader()
	_, _ = r.Write(output) // it never fails
	return r.Finish(end)
}

func (w want) check(t *testing.T, o adapter.Output) {
	t.Helper()
	if o.Text != w.text || o.HasText == w.noText {
		t.Errorf("text %q (%t), want %q (%t)", o.Text, o.HasText, w.text, !w.noText)
	}
	if o.Model != w.model || o.Session != w.session {
		t.Errorf("model %q, session %q; want %q, %q", o.Model, o.Session, w.model, w.session)
	}
	checkNumber(t, "tokens in", o.Tokens.In, w.in)
	checkNumber(t, "tokens out", o.Tokens.Out, w.out)
	checkNumber(t, "cached tokens", o.Tokens.Cached, w.cached)
	checkNumber(t, "micro-dollars", o.Dollars, w.micros)
	var tools []string
	for _, use := range o.Tools {
		tools = append(tools, use.Name)
	}
	if !slices.Equal(tools, w.tools) || o.ToolCount != len(w.tools) || !slices.Equal(o.Denials, w.denials) {
		t.Errorf("tools %q (%d), denials %q; want %q, %q", tools, o.ToolCount, o.Denials, w.tools, w.denials)
	}
	if o.Valid == w.invalid || o.Done != o.Valid {
		t.Errorf("valid %t, done %t; want %t", o.Valid, o.Done, !w.invalid)
	}
	if len(o.Notes) != w.notes {
		t.Errorf("notes %q, want %d", o.Notes, w.notes)
	}
	switch {
	case w.class == "" && o.Failure != nil:
		t.Errorf("failure %+v, want none", *o.Failure)
	case w.class == "":
	case o.Failure == nil:
		t.Errorf("no failure, want %s", w.class)
	case utc(*o.Failure) != adapter.Failure{Class: w.class, Status: w.status, Message: w.message, RetryAfter: w.retryAfter, ResetsAt: w.resetsAt}:
		t.Errorf("failure %+v, want %s %d %q %s %s", *o.Failure, w.class, w.status, w.message, w.retryAfter, w.resetsAt)
	}
}

// utc returns a failure whose times can be compared.
func utc(f adapter.Failure) adapter.Failure {
	f.ResetsAt = f.ResetsAt.UTC()
	return f
}

func checkNumber(t *testing.T, what string, got, want *int64) {
	t.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil:
		t.Errorf("%s: known %t, want %t", what, got != nil, want != nil)
	case *got != *want:
		t.Errorf("%s: %d, want %d", what, *got, *want)
	}
}
