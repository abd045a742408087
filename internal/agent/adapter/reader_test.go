package adapter_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// result is the last event of a claude run.
func result(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":%q,"session_id":"s1","total_cost_usd":0.5}`, text)
}

// Whatever stands around the events, they are found.
func TestReaderPassesOverNoise(t *testing.T) {
	event := result("hello")
	for name, output := range map[string]string{
		"byte order mark":     "\ufeff" + event,
		"CR LF":               "warming up\r\n" + event + "\r\n",
		"colours":             "\x1b[2m\x1b[0m" + event + "\x1b[0m\n",
		"coloured banner":     "\x1b[1;32mWelcome\x1b[0m\n\n" + event + "\n",
		"log lines":           "[debug] start\n" + event + "\n[debug] {\"type\":\"result\"}\n",
		"trailing line":       event + "\n{\"type\":\"later\",\"result\":\"no\"}\nbye\n",
		"no end of line":      event,
		"unknown events":      `{"type":"news","result":"no"}` + "\n" + event + "\n",
		"an array":            `[{"type":"result","result":"no"}]` + "\n" + event + "\n",
		"cut event before":    `{"type":"result","result":"no` + "\n" + event + "\n",
		"doubled name before": `{"type":"result","result":"no","result":"no"}` + "\n" + event + "\n",
		"indented":            "{\n  \"type\": \"result\",\n  \"is_error\": false,\n  \"result\": \"hello\"\n}\n",
		"indented, CR LF":     "{\r\n  \"type\": \"result\",\r\n  \"is_error\": false,\r\n  \"result\": \"hello\"\r\n}\r\n",
		"a lone brace before": "{\n" + event + "\n",
		"zero bytes":          "\x00\x00\n" + event + "\n",
		"other order":         `{"result":"hello","is_error":false,"type":"result"}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := read(embedded(t, "claude"), []byte(output), adapter.Ended{})
			if o.Text != "hello" || !o.Valid || !o.Done || o.Failure != nil {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestReaderKeepsInvalidUTF8AsReplacement(t *testing.T) {
	o := read(embedded(t, "claude"), []byte("{\"type\":\"result\",\"is_error\":false,\"result\":\"a\xffb\"}\n"), adapter.Ended{})
	if o.Text != "a\ufffdb" || !o.Valid {
		t.Errorf("got %+v", o)
	}
}

// A result that quotes an error is no error.
func TestReaderDoesNotTakeWordsForAnError(t *testing.T) {
	for _, text := range []string{"API Error: 429 rate limit", "usage limit reached", `{"error":{"code":401}}`} {
		o := read(embedded(t, "claude"), []byte(result(text)), adapter.Ended{Errors: []byte("429 Too Many Requests\n")})
		if o.Failure != nil || o.Text != text {
			t.Errorf("%s: got %+v", text, o)
		}
	}
}

// An output that ends too early, or is not the promised one, is not valid.
func TestReaderReportsInvalidOutput(t *testing.T) {
	whole := result(strings.Repeat("x", 70_000))
	for name, output := range map[string]string{
		"nothing":             "",
		"a blank line":        "\n",
		"a banner alone":      "Welcome\n",
		"cut at 65536 bytes":  whole[:65_536],
		"only a first event":  `{"type":"system","subtype":"init","session_id":"s1"}` + "\n",
		"a text":              "I have finished the review.\n",
		"an object unindexed": "{}\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := read(embedded(t, "claude"), []byte(output), adapter.Ended{})
			if o.Valid || o.Done || o.HasText || o.Dollars != nil || o.Tokens.In != nil {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestReaderTakesTheLastOfSeveralResults(t *testing.T) {
	bad := `{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"no","total_cost_usd":0.75}`
	o := read(embedded(t, "claude"), []byte(bad+"\n"+result("yes")+"\n"), adapter.Ended{})
	if o.Text != "yes" || o.Failure != nil || o.Dollars == nil || *o.Dollars != 500_000 {
		t.Errorf("the error came first: %+v", o)
	}
	o = read(embedded(t, "claude"), []byte(result("yes")+"\n"+bad+"\n"), adapter.Ended{})
	if o.Text != "no" || o.Failure == nil || o.Failure.Class != outcome.Auth || *o.Dollars != 750_000 {
		t.Errorf("the error came last: %+v", o)
	}
	if len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "2 events") {
		t.Errorf("notes %q", o.Notes)
	}
	// A secret that is cut would not be recognized any more.
	o = read(embedded(t, "claude"), []byte(strings.Repeat("x ", 68)+"https://me:a-long-password@example.org\n"+result("yes")+"\n"), adapter.Ended{})
	if len(o.Notes) != 1 || strings.Contains(o.Notes[0], "a-long") {
		t.Errorf("notes %q", o.Notes)
	}
	// A last result without a text does not bring back that of an earlier one.
	o = read(embedded(t, "claude"), []byte(result("old")+"\n"+`{"type":"result","is_error":false}`+"\n"), adapter.Ended{})
	if o.HasText || o.Dollars != nil {
		t.Errorf("got %+v", o)
	}
}

// A CLI that no longer says whether its result is an error has changed.
func TestReaderDoesNotGuessAtAResult(t *testing.T) {
	o := read(embedded(t, "claude"), []byte(`{"type":"result","result":"fine"}`), adapter.Ended{})
	if o.Failure == nil || o.Failure.Class != outcome.Malformed {
		t.Errorf("got %+v", o.Failure)
	}
}

func TestReaderClassifiesErrors(t *testing.T) {
	claude := func(status, message string) string {
		return fmt.Sprintf(`{"type":"result","is_error":true,"api_error_status":%s,"result":%q}`, status, message)
	}
	codex := func(message string) string {
		return fmt.Sprintf(`{"type":"turn.failed","error":{"message":%q}}`, message)
	}
	for _, c := range []struct {
		cli, output string
		class       outcome.Class
		status      int
		after       time.Duration
	}{
		{"claude", claude("400", "Your credit balance is too low"), outcome.Quota, 400, 0},
		{"claude", claude("400", "Prompt is too long"), outcome.Input, 400, 0},
		{"claude", claude("400", "something else"), outcome.Input, 400, 0},
		{"claude", claude("401", "no"), outcome.Auth, 401, 0},
		{"claude", claude("403", "no"), outcome.Auth, 403, 0},
		{"claude", claude("402", "no"), outcome.Quota, 402, 0},
		{"claude", claude("404", "no"), outcome.NotFound, 404, 0},
		{"claude", claude("408", "no"), outcome.Timeout, 408, 0},
		{"claude", claude("413", "no"), outcome.Input, 413, 0},
		{"claude", claude("429", "no"), outcome.RateLimit, 429, 0},
		{"claude", claude("429", "You've hit your weekly limit · resets 3pm"), outcome.Quota, 429, 0},
		{"claude", claude("429", "You've hit your org's monthly spend limit · run /usage-credits"), outcome.Quota, 429, 0},
		{"claude", claude("429", "You're out of usage credits · resets 3pm"), outcome.Quota, 429, 0},
		{"claude", claude("500", "no"), outcome.Overloaded, 500, 0},
		{"claude", claude("504", "no"), outcome.Timeout, 504, 0},
		{"claude", claude("null", "Repeated (529) errors"), outcome.Overloaded, 529, 0},
		{"claude", claude("null", "Not logged in · Please run /login"), outcome.Auth, 0, 0},
		{"claude", claude("null", "Unable to connect to API (ECONNREFUSED)"), outcome.Overloaded, 0, 0},
		{"claude", claude("null", "who knows"), outcome.Crashed, 0, 0},
		{"claude", claude("200", "who knows"), outcome.Crashed, 0, 0},
		{"claude", `{"type":"result","is_error":true,"stop_reason":"refusal","result":"no"}`, outcome.Refused, 0, 0},
		{"claude", `{"type":"result","is_error":true,"stop_reason":"max_tokens","result":"no"}`, outcome.Limit, 0, 0},
		{"codex", codex("Rate limit reached. Please try again in 1.5s."), outcome.RateLimit, 0, 1500 * time.Millisecond},
		{"codex", codex("Rate limit reached. Please try again in 20 seconds."), outcome.RateLimit, 0, 20 * time.Second},
		{"codex", codex("You've hit your usage limit. status: 429"), outcome.Quota, 429, 0},
		{"codex", codex(`unexpected status 400 Bad Request: {"detail":"The 'gpt-5.4' model is not supported when using Codex with a ChatGPT account."}`), outcome.NotFound, 400, 0},
		{"codex", codex(`{"type":"error","status":400,"error":{"type":"invalid_request_error","message":"no"}}`), outcome.Input, 400, 0},
		{"codex", codex("stream disconnected before completion"), outcome.Overloaded, 0, 0},
		{"gemini", `{"type":"result","status":"error","error":{"type":"Error","message":"mock"}}`, outcome.RateLimit, 429, 0},
		{"gemini", `{"type":"result","status":"error","error":{"message":"Try later, request a quota increase, or switch to another /auth method"}}`, outcome.RateLimit, 429, 0},
		{"gemini", `{"type":"error","severity":"error","message":"MAX_TOKENS reached"}` + "\n" + `{"type":"result","status":"error"}`, outcome.Limit, 429, 0},
		{"opencode", `{"type":"step_finish","part":{"reason":"length"}}`, outcome.Limit, 0, 0},
		{"opencode", `{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":503,"responseHeaders":{"retry-after":"30"}}}}`, outcome.Overloaded, 503, 30 * time.Second},
		{"opencode", `{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":429,"responseHeaders":{"retry-after":"99999999999"}}}}`, outcome.RateLimit, 429, 0},
		{"copilot", `{"type":"result","exitCode":1}`, outcome.Crashed, 0, 0},
	} {
		// 173 is gemini's code for 429, and no other CLI's.
		o := read(embedded(t, c.cli), []byte(c.output), adapter.Ended{ExitCode: 173})
		if f := o.Failure; f == nil || f.Class != c.class || f.Status != c.status || f.RetryAfter != c.after {
			t.Errorf("%s: %s\ngot %+v, want %s %d %s", c.cli, c.output, f, c.class, c.status, c.after)
		}
	}
}

// What stands in the standard error counts where the run failed without a word.
func TestReaderReadsTheStandardErrorOfASilentFailure(t *testing.T) {
	for _, c := range []struct {
		cli, output, errors, signal string
		exit                        int
		class                       outcome.Class
	}{
		{"claude", "", "error: unknown option '--bogus'\n", "", 1, outcome.Config},
		{"claude", "", "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n", "", 1, outcome.Config},
		{"claude", "", "Invalid session ID. Must be a valid UUID.\n", "", 1, outcome.Config},
		{"claude", "", "oops, the disk is full\n", "", 7, ""},
		{"claude", "", "Not logged in\n", "", 1, outcome.Auth},
		{"claude", "", "TypeError: x\n    at main.js:1\n    at main.js:2\n", "", 1, ""},
		{"claude", "", "error: unknown option '--bogus'\n", "", 0, ""},
		{"claude", "", "error: killed\n", "terminated", -1, ""},
		{"claude", `{"type":"system","subtype":"init"}`, "error: unknown option\n", "", 1, ""},
		{"codex", "", "error: unexpected argument '--bogus' found\n\nUsage: codex exec\n", "", 2, outcome.Config},
		{"gemini", "", "nobody knows\n", "", 41, outcome.Auth},
		{"gemini", "", "", "", 145, outcome.Auth},
		{"gemini", "", "log {\"error\":{\"code\":401}}\n{\n  \"error\": {\n    \"message\": \"quota\",\n    \"code\": 503\n  }\n}\n", "", 247, outcome.Overloaded},
		{"gemini", "", "{\"error\":{\"message\":\"x\",\"code\":503}}\n", "", 0, ""},
		{"gemini", "", "", "", 1, ""},
		{"exec", "", "usage: frobnicate\n", "", 1, ""},
	} {
		o := read(embedded(t, c.cli), []byte(c.output), adapter.Ended{ExitCode: c.exit, Signal: c.signal, Errors: []byte(c.errors)})
		got := outcome.Class("")
		if o.Failure != nil {
			got = o.Failure.Class
		}
		if got != c.class {
			t.Errorf("%s, exit code %d, %q: got %q, want %q", c.cli, c.exit, c.errors, got, c.class)
		}
	}
}

// Gemini prints the status of an error that its output calls into its log alone,
// behind those of the attempts before.
func TestReaderFindsTheStatusInTheLog(t *testing.T) {
	output := []byte(`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {}]"}}`)
	log := "Attempt 1 failed {\n  status: 429\n}\nError when talking {\n  code: 404\n}\n"
	o := read(embedded(t, "gemini"), output, adapter.Ended{ExitCode: 1, Errors: []byte(log)})
	if o.Failure == nil || o.Failure.Class != outcome.NotFound || o.Failure.Status != 404 {
		t.Errorf("got %+v", o.Failure)
	}
	o = read(embedded(t, "gemini"), output, adapter.Ended{ExitCode: 1, Errors: []byte("  code: 200\n")})
	if o.Failure == nil || o.Failure.Class != outcome.Crashed || o.Failure.Status != 0 {
		t.Errorf("got %+v", o.Failure)
	}
}

// The cut may be anywhere: in a line, in a character, in the byte order mark.
func TestReaderMindsNoPieces(t *testing.T) {
	names := []string{"claude-2.1.329-stream-write.jsonl", "codex-0.169.0-e429-rc1.jsonl", "gemini-0.61.0-write-ok.json", "copilot-1.0.102-ok.jsonl"}
	rapid.Check(t, func(rt *rapid.T) {
		a, output, _ := replay(t, rapid.SampledFrom(names).Draw(rt, "name"))
		output = append([]byte(rapid.SampledFrom([]string{"", "\ufeff", "höi\r\n", "{\n"}).Draw(rt, "before")), output...)
		whole := read(a, output, adapter.Ended{})
		r := a.NewReader()
		for rest := output; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			if got, err := r.Write(rest[:n]); got != n || err != nil {
				rt.Fatalf("Write = %d, %v", got, err)
			}
			rest = rest[n:]
		}
		if pieces := r.Finish(adapter.Ended{}); !reflect.DeepEqual(pieces, whole) {
			rt.Fatalf("in pieces %+v\nwhole %+v", pieces, whole)
		}
	})
}

func TestReaderReadsByteByByte(t *testing.T) {
	a, output, _ := replay(t, "opencode-1.18.33-write-ok.jsonl")
	r := a.NewReader()
	for i := range output {
		_, _ = r.Write(output[i : i+1])
	}
	if got, want := r.Finish(adapter.Ended{}), read(a, output, adapter.Ended{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A result that is held gives its text; one that is too long says so, and neither
// an earlier result nor nothing takes its place.
func TestReaderTakesLongLines(t *testing.T) {
	a := embedded(t, "claude")
	held := strings.Repeat("x", adapter.MaxDocument-1000)
	if o := read(a, []byte(result(held)+"\n"), adapter.Ended{}); o.Text != held || !o.Valid {
		t.Errorf("a line that is held: %d bytes, valid %t, %+v", len(o.Text), o.Valid, o.Failure)
	}
	long := result(strings.Repeat("x", 12<<20))
	for name, output := range map[string]string{"alone": long, "after another": result("early") + "\n" + long} {
		o := read(a, []byte(output+"\n"), adapter.Ended{})
		if o.Valid || o.Failure == nil || o.Failure.Class != outcome.Malformed || !strings.Contains(o.Failure.Message, "too long") {
			t.Errorf("%s: valid %t, failure %+v", name, o.Valid, o.Failure)
		}
	}
	// The result of other CLIs is not in the event that ends the run.
	said := func(text string) string {
		return `{"type":"item.completed","item":{"type":"agent_message","text":"` + text + `"}}` + "\n"
	}
	early, final, end := said("early"), said(strings.Repeat("x", 12<<20)), `{"type":"turn.completed"}`+"\n"
	for output, valid := range map[string]bool{early + final + end: false, final + early + end: true} {
		if o := read(embedded(t, "codex"), []byte(output), adapter.Ended{}); o.Valid != valid || valid == (o.Failure != nil) {
			t.Errorf("codex: %.20q, valid %t, failure %+v", o.Text, o.Valid, o.Failure)
		}
	}
	// A part of a result in several events.
	part := func(text string) string {
		return `{"type":"message","role":"assistant","content":"` + text + `"}` + "\n"
	}
	tool := `{"type":"tool_use"}` + "\n" + `{"type":"tool_result","output":"` + strings.Repeat("x", 12<<20) + `"}` + "\n"
	for output, valid := range map[string]bool{part("A") + part(strings.Repeat("x", 12<<20)) + part("C"): false, part("A") + tool + part("C"): true} {
		if o := read(embedded(t, "gemini"), []byte(output+`{"type":"result","status":"success"}`+"\n"), adapter.Ended{}); o.Valid != valid || valid != (o.Text == "C") {
			t.Errorf("gemini: %.20q, valid %t, failure %+v", o.Text, o.Valid, o.Failure)
		}
	}
	// A long event before the result, such as a file that a tool has read, is no harm.
	if o := read(a, []byte(long+"\n"+result("ok")+"\n"), adapter.Ended{}); o.Text != "ok" || !o.Valid || len(o.Notes) != 1 {
		t.Errorf("before the result: %q, valid %t, notes %d", o.Text, o.Valid, len(o.Notes))
	}
}

func TestNotesCountWhatIsPassedOver(t *testing.T) {
	const long = `passed over in the output: 1 of its lines or objects, which have more than 2 MiB`
	for output, want := range map[string]string{
		"a banner\n":         `passed over in the output, because it is not a JSON object: "a banner"`,
		"a banner\nof two\n": `passed over in the output, because it is not a JSON object: "a banner", and 1 more`,
		strings.Repeat("x", adapter.MaxDocument+1) + "\n": long,
	} {
		if o := read(embedded(t, "claude"), []byte(output), adapter.Ended{}); len(o.Notes) != 1 || o.Notes[0] != want {
			t.Errorf("%.20q: notes %q, want %q", output, o.Notes, want)
		}
	}
}

func TestReaderOfATextTakesAllOfIt(t *testing.T) {
	a := embedded(t, "exec")
	if o := read(a, []byte("\ufeff\n {\"usage\":{\"cost\":1}}\xff \r\n"), adapter.Ended{}); o.Text != "{\"usage\":{\"cost\":1}}\ufffd" || !o.Valid || o.Dollars != nil {
		t.Errorf("got %+v", o)
	}
	if o := read(a, []byte(" \n"), adapter.Ended{}); o.Valid || o.HasText || o.Failure != nil {
		t.Errorf("blank: %+v", o)
	}
	o := read(a, bytes.Repeat([]byte("x"), adapter.MaxText+1), adapter.Ended{})
	if o.Valid || o.HasText || o.Failure == nil || o.Failure.Class != outcome.Malformed {
		t.Errorf("too long: valid %t, failure %+v", o.Valid, o.Failure)
	}
}

// What a run prints does not add up in memory.
func TestReaderHoldsLittle(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	tool := []byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"` + strings.Repeat("n", 2000) + `"}]}}` + "\n")
	before := heap()
	a := embedded(t, "claude")
	r := a.NewReader()
	for range 10_000 {
		_, _ = r.Write(tool)
	}
	for range 40 { // 40 MiB without the end of a line
		_, _ = r.Write(bytes.Repeat([]byte("{"), 1<<20))
	}
	if grown := int64(heap()) - int64(before); grown > 16<<20 {
		t.Errorf("60 MB of output leave %d bytes", grown)
	}
	if p := r.Progress(); p.Tools != 10_000 || p.Done {
		t.Errorf("progress %+v", p)
	}
	o := r.Finish(adapter.Ended{})
	if len(o.Tools) != adapter.MaxTools || o.ToolCount != 10_000 {
		t.Errorf("%d tools kept of %d", len(o.Tools), o.ToolCount)
	}
}

func TestProgressCountsOnTheWay(t *testing.T) {
	a := embedded(t, "claude")
	r := a.NewReader()
	write := func(line string) { _, _ = r.Write([]byte(line + "\n")) }
	say := func(id, content string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[%s],"usage":{"input_tokens":100,"cache_read_input_tokens":10,"cache_creation_input_tokens":5,"output_tokens":1}}}`, id, content)
	}
	if p := r.Progress(); p != (adapter.Progress{}) {
		t.Errorf("at first %+v", p)
	}
	// One message comes in several events, and counts once.
	write(say("m1", `{"type":"text","text":"hi"}`))
	write(say("m1", `{"type":"tool_use","name":"WebSearch"},{"type":"tool_use","name":"Read"}`))
	write(say("m2", ""))
	if p := r.Progress(); p != (adapter.Progress{Tokens: 232, Tools: 2, Tool: "Read"}) {
		t.Errorf("on the way %+v", p)
	}
	// A warning is over once the agent works again.
	write(`{"type":"system","subtype":"api_retry","error":"overloaded"}`)
	if p := r.Progress(); p != (adapter.Progress{Tokens: 232, Tools: 2, Tool: "Read", Note: "overloaded"}) {
		t.Errorf("with a warning %+v", p)
	}
	write(say("m2", `{"type":"tool_use","name":"Read"}`))
	write(`{"type":"result","is_error":false,"result":"x","modelUsage":{"m":{"inputTokens":200,"cacheReadInputTokens":20,"cacheCreationInputTokens":10,"outputTokens":70}}}`)
	if p := r.Progress(); p != (adapter.Progress{Tokens: 300, Tools: 3, Tool: "Read", Done: true}) {
		t.Errorf("at the end %+v", p)
	}
	o := r.Finish(adapter.Ended{})
	if want := []adapter.ToolUse{{Name: "WebSearch", Search: true}, {Name: "Read"}, {Name: "Read"}}; !reflect.DeepEqual(o.Tools, want) {
		t.Errorf("tools %v", o.Tools)
	}
	if *o.Tokens.In != 230 || *o.Tokens.Cached != 20 {
		t.Errorf("tokens in %d, of them cached %d", *o.Tokens.In, *o.Tokens.Cached)
	}
}

// What is unknown stays unknown, and money is never rounded down.
func TestNumbersAreKnownOrUnknown(t *testing.T) {
	for number, want := range map[string]int64{
		"0": 0, "0.0000001": 1, "0.000001": 1, "0.0000011": 2, "1e-3": 1000, "0.0024000000000000002": 2400, "5.4": 5_400_000,
		"null": -1, "-1": -1, `"3"`: -1, "1e400": -1, "1e12": -1, "{}": -1,
	} {
		o := read(embedded(t, "claude"), []byte(`{"type":"result","is_error":false,"total_cost_usd":`+number+`}`), adapter.Ended{})
		switch {
		case want < 0 && o.Dollars != nil:
			t.Errorf("%s: %d, want unknown", number, *o.Dollars)
		case want >= 0 && (o.Dollars == nil || *o.Dollars != want):
			t.Errorf("%s: %v, want %d", number, o.Dollars, want)
		}
	}
	// A sum with a part that is missing is not known.
	o := read(embedded(t, "opencode"), []byte(`{"type":"step_finish","part":{"reason":"tool-calls","cost":1}}`+"\n"+`{"type":"step_finish","part":{"reason":"stop"}}`), adapter.Ended{})
	if o.Dollars != nil || o.Tokens.In != nil || !o.Done {
		t.Errorf("got %+v", o)
	}
}

func TestFinalMessageOfAFile(t *testing.T) {
	a := embedded(t, "codex")
	if o := read(a, []byte(`{"type":"turn.completed"}`), adapter.Ended{File: []byte("from the file\n")}); o.Text != "from the file" || !o.HasText {
		t.Errorf("got %+v", o)
	}
	both := `{"type":"item.completed","item":{"type":"agent_message","text":"said"}}` + "\n" + `{"type":"turn.completed"}`
	if o := read(a, []byte(both), adapter.Ended{File: []byte("from the file")}); o.Text != "said" {
		t.Errorf("got %+v", o)
	}
	if o := read(a, []byte(`{"type":"turn.completed"}`), adapter.Ended{}); o.HasText {
		t.Errorf("got %+v", o)
	}
	// Claude writes no file, so whatever is there is not its.
	if o := read(embedded(t, "claude"), nil, adapter.Ended{File: []byte("x")}); o.HasText {
		t.Errorf("got %+v", o)
	}
}

// FuzzReader reads anything in two pieces: it does not panic, and the place of the
// cut makes no difference.
func FuzzReader(f *testing.F) {
	entries, err := os.ReadDir(recorded)
	if err != nil {
		f.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(recorded, entry.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte("log\n{\"error\":{\"message\":\"x\"}}"), 100, 1)
	}
	f.Add([]byte("{\n  \"type\": \"result\"\n}\n"), []byte("{"), 3, 173)
	var all []*adapter.Adapter
	for _, name := range adapter.Names() {
		all = append(all, embedded(f, name))
	}
	f.Fuzz(func(t *testing.T, output, errors []byte, cut, exit int) {
		for _, a := range all {
			name := a.Name()
			end := adapter.Ended{ExitCode: exit, Errors: errors, File: errors}
			whole := read(a, output, end)
			r := a.NewReader()
			at := min(max(cut, 0), len(output))
			_, _ = r.Write(output[:at])
			_, _ = r.Write(output[at:])
			if pieces := r.Finish(end); !reflect.DeepEqual(pieces, whole) {
				t.Errorf("%s: in pieces %+v, whole %+v", name, pieces, whole)
			}
			for _, n := range []*int64{whole.Dollars, whole.Tokens.In, whole.Tokens.Out, whole.Tokens.Cached} {
				if n != nil && *n < 0 {
					t.Errorf("%s: a number below zero in %+v", name, whole)
				}
			}
			if whole.Failure != nil && whole.Failure.Class == "" {
				t.Errorf("%s: a failure without a class", name)
			}
		}
	})
}
