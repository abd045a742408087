package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(coldStart); dir != "" {
		os.Exit(beColdStart(dir))
	}
	goleak.VerifyTestMain(m)
}

func newRuntime(t testing.TB, config plugins.Config) *plugins.Runtime {
	t.Helper()
	r := plugins.New(config)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Errorf("close runtime: %v", err)
		}
	})
	return r
}

func hostile(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata", "hostile", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func load(t testing.TB, r *plugins.Runtime, name string) *plugins.Plugin {
	t.Helper()
	p, err := r.Load(t.Context(), hostile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func jsonDocument(t testing.TB, text string) *document.Document {
	t.Helper()
	doc, err := source(t, text).As(document.JSON)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestLoadRefuses(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	for _, c := range []struct {
		name string
		wasm []byte
		code errs.Code
		says string
	}{
		{"text", []byte("#!/bin/sh\necho hello\n"), errs.PluginABI, "not a WebAssembly module"},
		{"nothing", nil, errs.PluginABI, "an empty file"},
		{"native library", []byte("\x7fELF\x02\x01\x01"), errs.PluginABI, "not a WebAssembly module"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), errs.PluginABI, "a WebAssembly component"},
		{"header alone", []byte("\x00asm"), errs.PluginABI, "not a WebAssembly module"},
		{"empty module", []byte("\x00asm\x01\x00\x00\x00"), errs.PluginABI, "does not export"},
		{"truncated module", hostile(t, "puppet")[:200], errs.PluginABI, "malformed"},
		{"later ABI", hostile(t, "abi-v2"), errs.PluginABI, "speaks ABI v2"},
		{"no marker", hostile(t, "no-marker"), errs.PluginABI, "switchyard_abi_v1"},
		{"missing export", hostile(t, "no-normalize"), errs.PluginABI, "sy_normalize"},
		{"wrong type", hostile(t, "wrong-type"), errs.PluginABI, "wrong type"},
		{"hidden memory", hostile(t, "hidden-memory"), errs.PluginABI, "memory"},
		{"import of the environment", hostile(t, "import-env"), errs.PluginABI, "env.system"},
		{"import of a socket", hostile(t, "import-socket"), errs.PluginABI, "sock_connect"},
		{"import of a global", hostile(t, "import-global"), errs.PluginABI, "imports env.base"},
		{"import of a table", hostile(t, "import-table"), errs.PluginABI, "imports env.table"},
		{"import of memory", hostile(t, "import-memory"), errs.PluginABI, "env.memory"},
		{"too much memory", hostile(t, "big-memory"), errs.PluginMemory, "134217728"},
		{"huge table", hostile(t, "big-table"), errs.PluginABI, "60000000 table elements"},
		{"growing table", hostile(t, "grow-table"), errs.PluginABI, "does not compile"},
		{"a built-in plugin's name", hostile(t, "impostor"), errs.PluginInvalidOutput, "calls itself np-critic"},
		{"trap at start", hostile(t, "trap-at-start"), errs.PluginTrap, "unreachable"},
		{"description in prose", hostile(t, "describe-garbage"), errs.PluginInvalidOutput, "not one JSON value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := r.Load(t.Context(), c.wasm)
			if got := errs.CodeOf(err); got != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q: %v; want %q saying %q", got, err, c.code, c.says)
			}
		})
	}
}

// TestLookUpsEndWithTheDeadline has the guest name thousands of places that the
// host must walk through a large report to find.
func TestLookUpsEndWithTheDeadline(t *testing.T) {
	r := newRuntime(t, plugins.Config{Limits: abi.Limits{Time: time.Second}})
	puppet := load(t, r, "puppet")
	doc := jsonDocument(t, `{"findings":[],"filler":[`+strings.Repeat("0,", 2<<20)+`0],"z":0}`)
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/filler/%d"},`, 2_000_000+i)
	}
	many.WriteString(`{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/z"}`)
	start := time.Now()
	_, err := puppet.Normalize(t.Context(), doc, answer(`{"critic":"puppet","findings":[`+many.String()+`],"skipped":[]}`))
	if errs.CodeOf(err) != errs.PluginTimeout {
		t.Errorf("got %v after %s, want %s", err, time.Since(start), errs.PluginTimeout)
	}
}

// TestQuotesAreBounded has thousands of findings refer to the whole report.
func TestQuotesAreBounded(t *testing.T) {
	r := newRuntime(t, plugins.Config{Limits: abi.Limits{Time: time.Minute, Output: 8 << 20}})
	puppet := load(t, r, "puppet")
	doc := jsonDocument(t, `{"findings":[],"filler":"`+strings.Repeat("x", 1<<20)+`"}`)
	whole := `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":""}`
	_, err := puppet.Normalize(t.Context(), doc, answer(`{"critic":"puppet","findings":[`+strings.Repeat(whole+",", 10)+whole+`],"skipped":[]}`))
	if errs.CodeOf(err) != errs.PluginOutputTooLarge {
		t.Errorf("got %v, want %s", err, errs.PluginOutputTooLarge)
	}
}

func TestReportLargerThanTheGuestsMemory(t *testing.T) {
	r := newRuntime(t, plugins.Config{Limits: abi.Limits{Memory: 1 << 20, Time: time.Minute}})
	puppet := load(t, r, "puppet")
	doc := jsonDocument(t, `{"puppet":"`+strings.Repeat("x", 2<<20)+`"}`)
	if _, err := puppet.Normalize(t.Context(), doc, nil); errs.CodeOf(err) != errs.PluginMemory {
		t.Errorf("got %v, want %s", err, errs.PluginMemory)
	}
}

func TestCancelledCallIsNoTimeout(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := puppet.Normalize(ctx, jsonDocument(t, `{"findings":[]}`), jsontext.Value(`{"do":"loop"}`))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// answer is a configuration that makes the puppet answer with text.
func answer(text string) jsontext.Value {
	return jsontext.Value(`{"do":"answer","answer":` + text + `}`)
}

func TestNormalizeChecksTheAnswer(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	doc := jsonDocument(t, `{"puppet":1,"findings":[{"a":1},{"a":2}],"note":"x"}`)
	const (
		f0    = `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/findings/0"}`
		f1    = `{"category":"style","severity":"nit","file":"a.go","line":7,"remediation":"r","ref":"/findings/1"}`
		skip1 = `{"ref":"/findings/1","reason":"suppressed"}`
	)
	good := func(findings, skipped string) string {
		return `{"critic":"puppet","findings":[` + findings + `],"skipped":[` + skipped + `]}`
	}
	with := func(old, new string) string { return good(strings.Replace(f0, old, new, 1), skip1) }
	for _, c := range []struct {
		name, answer string
		code         errs.Code
	}{
		{"all findings", good(f0+","+f1, ""), ""},
		{"one skipped", good(f0, skip1), ""},
		{"two findings from one item", good(f0+","+f0, skip1), ""},
		{"a finding about something else in the report", good(f0+","+f1+","+strings.Replace(f0, "/findings/0", "/note", 1), ""), ""},
		{"severity left out", with(`"severity":"nit",`, ""), ""},

		{"drops an item", good(f0, ""), errs.PluginConservationViolated},
		{"drops all", good("", ""), errs.PluginConservationViolated},
		{"invents a ref", with("/findings/0", "/findings/2"), errs.PluginConservationViolated},
		{"ref is no pointer", with("/findings/0", "findings"), errs.PluginConservationViolated},
		{"skips what is not there", good(f0+","+f1, `{"ref":"/findings/9","reason":"x"}`), errs.PluginConservationViolated},
		{"skips twice", good(f0, skip1+","+skip1), errs.PluginConservationViolated},
		{"skips and reports", good(f0+","+f1, skip1), errs.PluginConservationViolated},

		{"prose", `"no findings"`, errs.PluginInvalidOutput},
		{"null", `null`, errs.PluginInvalidOutput},
		{"list", `[]`, errs.PluginInvalidOutput},
		{"empty object", `{}`, errs.PluginInvalidOutput},
		{"no skipped", `{"critic":"puppet","findings":[]}`, errs.PluginInvalidOutput},
		{"no critic", `{"findings":[],"skipped":[]}`, errs.PluginInvalidOutput},
		{"unknown field", `{"critic":"puppet","findings":[],"skipped":[],"verdict":"passed"}`, errs.PluginInvalidOutput},
		{"duplicate field", `{"critic":"puppet","findings":[` + f0 + `],"findings":[],"skipped":[]}`, errs.PluginInvalidOutput},
		{"field in the wrong case", `{"critic":"puppet","Findings":[],"skipped":[]}`, errs.PluginInvalidOutput},
		{"two values", `{"critic":"puppet","findings":[],"skipped":[]} {}`, errs.PluginInvalidOutput},
		{"invalid UTF-8", "{\"critic\":\"\xff\",\"findings\":[],\"skipped\":[]}", errs.PluginInvalidOutput},
		{"round 0", `{"critic":"puppet","round":0,"findings":[],"skipped":[]}`, errs.PluginInvalidOutput},
		{"speaks for the audit", with(`{"category"`, `{"critic":"audit","category"`), errs.PluginInvalidOutput},
		{"speaks for the audit as a whole", strings.Replace(good(f0, skip1), `"critic":"puppet"`, `"critic":"audit"`, 1), errs.PluginInvalidOutput},
		{"speaks for the audit without a finding", `{"critic":"audit","findings":[],"skipped":[{"ref":"/findings/0","reason":"x"},` + skip1 + `]}`, errs.PluginInvalidOutput},
		{"no category", with(`"category":"style",`, ""), errs.PluginInvalidOutput},
		{"line 0", with(`"line":null`, `"line":0`), errs.PluginInvalidOutput},
		{"line -1", with(`"line":null`, `"line":-1`), errs.PluginInvalidOutput},
		{"line 1.5", with(`"line":null`, `"line":1.5`), errs.PluginInvalidOutput},
		{"line 1e0", with(`"line":null`, `"line":1e0`), errs.PluginInvalidOutput},
		{"line as text", with(`"line":null`, `"line":"1"`), errs.PluginInvalidOutput},
		{"no remediation", with(`"remediation":"r",`, ""), errs.PluginInvalidOutput},
		{"no ref", with(`,"ref":"/findings/0"`, ""), errs.PluginInvalidOutput},
		{"finding is null", good("null", skip1), errs.PluginInvalidOutput},
		{"no reason", good(f0, `{"ref":"/findings/1","reason":""}`), errs.PluginInvalidOutput},
		{"findings beside an error", `{"critic":"puppet","findings":[],"skipped":[],"error":{"code":"x","message":"y"}}`, errs.PluginInvalidOutput},
		{"error without a code", `{"error":{"code":"","message":"y"}}`, errs.PluginInvalidOutput},
		{"error with a sentence for a code", `{"error":{"code":"It failed","message":"y"}}`, errs.PluginInvalidOutput},
		{"error without a message", `{"error":{"code":"x","message":""}}`, errs.PluginInvalidOutput},
		{"the host's own code", `{"error":{"code":"ledger-corrupt","message":"y"}}`, errs.PluginInvalidOutput},
		{"the code with which a round asks for more budget", `{"error":{"code":"budget-exhausted","message":"y"}}`, errs.PluginInvalidOutput},
		{"a usage error", `{"error":{"code":"usage","message":"y"}}`, errs.PluginInvalidOutput},
		{"an endless error", `{"error":{"code":"x","message":"` + strings.Repeat("y", 70_000) + `"}}`, errs.PluginInvalidOutput},
		{"an error with a ref that is no pointer", `{"error":{"code":"x","message":"y","ref":"findings"}}`, errs.PluginInvalidOutput},
		{"an error with a ref of a wrong escape", `{"error":{"code":"x","message":"y","ref":"/a~c"}}`, errs.PluginInvalidOutput},
		{"an error about a place that the report lacks", `{"error":{"code":"puppet-says-no","message":"no","ref":"/findings/2/line"}}`, "puppet-says-no"},
		{"its own error", `{"error":{"code":"puppet-says-no","message":"no"}}`, "puppet-says-no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := puppet.Normalize(t.Context(), doc, answer(c.answer))
			if errs.CodeOf(err) != c.code || (c.code == "") != (err == nil) {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			if err == nil && string(got.Findings[0].Sources[0].Raw) != `{"a":1}` {
				t.Errorf("raw is %s, not what the report says", got.Findings[0].Sources[0].Raw)
			}
		})
	}
}

// TestAnswersAreExplainedWithoutGoTypes has a guest give values of wrong types.
func TestAnswersAreExplainedWithoutGoTypes(t *testing.T) {
	puppet := load(t, newRuntime(t, plugins.Config{}), "puppet")
	for text, says := range map[string]string{
		`{"critic":"puppet","findings":[],"skipped":{}}`:            `the value at "/skipped" is not of the right type`,
		`{"critic":"puppet","findings":[],"skipped":[],"more":1}`:   `unknown member "more" in "/"`,
		`{"critic":"puppet","findings":[{"line":1.5}],"skipped":1}`: `the value at "/findings/0/line" is not of the right type`,
		`[]`: "it is not of the right type",
	} {
		_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{"findings":[]}`), answer(text))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: got %v, want %s", text, err, says)
		}
	}
}

func TestRefusalKeepsHintRefAndDetails(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{"findings":[]}`),
		answer(`{"error":{"code":"puppet-says-no","message":"no","hint":"ask nicely","ref":"/findings","details":{"index":3}}}`))
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Hint != "ask nicely" || f.Details["ref"] != "/findings" || f.Details["index"] != 3.0 {
		t.Errorf("got %+v", f)
	}
}
