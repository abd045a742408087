package plugintest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

func hostile(t *testing.T, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "testdata", "hostile", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// corpus creates a directory with one case.
func corpus(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "case.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func run(t *testing.T, wasm []byte, o plugintest.Options) plugintest.Report {
	t.Helper()
	report, err := plugintest.Run(t.Context(), wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// failed returns the failed checks, as group: name: detail.
func failed(report plugintest.Report) []string {
	var all []string
	for _, c := range report.Checks {
		if c.Status == plugintest.Fail {
			all = append(all, string(c.Group)+": "+c.Name+": "+c.Detail)
		}
	}
	return all
}

func TestConformingPluginPasses(t *testing.T) {
	guest, ok := builtin.Find("np-critic")
	if !ok {
		t.Fatal("it is not built")
	}
	report := run(t, guest.Wasm, plugintest.Options{Corpus: filepath.Join("..", "..", "testdata", "normalizers", "np-critic")})
	if !report.OK() {
		t.Errorf("failed: %q", failed(report))
	}
	passed := make(map[plugintest.Group]int)
	for _, c := range report.Checks {
		if c.Status == plugintest.Pass {
			passed[c.Group]++
		}
	}
	for _, group := range plugintest.Groups() {
		if passed[group] == 0 {
			t.Errorf("nothing was checked in %q", group)
		}
	}
}

// TestNonconformingPluginsFail has the puppet break one rule per case: the check for that
// rule must fail, and the other checks of answers must not.
func TestNonconformingPluginsFail(t *testing.T) {
	const (
		item   = `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"@","ref":"/findings/0"}`
		note   = `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/puppet"}`
		absent = `{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/findings/9"}`
	)
	for _, c := range []struct {
		name, do, findings, want string
		fails                    string // a group and a name, "" if no check of answers may fail
	}{
		{"it answers well", "answer", item, `1`, ""},
		{"it drops an item", "answer", "", `0`, "corpus: case: plugin-conservation-violated"},
		{"it invents a ref", "answer", item + "," + absent, `2`, "corpus: case: plugin-conservation-violated"},
		{"it counts otherwise", "answer", item, `2`, "corpus: case: 1 findings"},
		{"it answers nonsense", "answer", "null", `1`, "corpus: case: plugin-invalid-output"},
		{"it reports what is no item", "answer", item + "," + note, `2`, `limits: items: case.json: the answer is about "/puppet"`},
		{"it answers for an earlier finding by what is no item", "answer", item + `],"previous":[{"id":"0123456789abcdef","status":"open","ref":"/puppet"}`, `1`,
			`limits: items: case.json: the answer is about "/puppet"`},
		{"its answer depends on an address", "echoes", item, `1`, "determinism: memory littered with 0xA5: case.json: other bytes"},
		{"its answer depends on what lay in memory", "before", item, `1`, "determinism: memory littered with 0xA5: case.json: other bytes"},
		{"it hangs on a large report", "waited", item, `1`, "limits: 10000 items: plugin-timeout"},
		{"it hangs", "xxxxxx", item, `1`, "corpus: case: plugin-timeout"},
		{"it takes all memory", "memory", item, `1`, "corpus: case: plugin-memory"},
		{"it stops", "trap", item, `1`, "corpus: case: plugin-trap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := corpus(t, `{"name":"case","config":{"do":"`+c.do+`","answer":{"critic":"puppet","findings":[`+c.findings+`],"skipped":[]}},`+
				`"report":{"puppet":"@","findings":[{"n":"a long item, so that many of them are a large report"}]},`+
				`"want_counts":{"findings":`+c.want+`,"skipped":0}}`)
			report := run(t, hostile(t, "puppet"), plugintest.Options{Corpus: dir, Limits: abi.Limits{Time: 300 * time.Millisecond, Memory: 8 << 20}})
			if report.OK() {
				t.Fatal("it passes")
			}
			all := failed(report)
			found := c.fails == ""
			for _, f := range all {
				// The hostile checks fail for all of them, because the puppet needs its
				// configuration, and its answer is always about one item.
				expected := strings.HasPrefix(f, string(plugintest.GroupHostile)) || strings.HasPrefix(f, "limits: 10000 items: plugin-conservation")
				found = found || strings.HasPrefix(f, c.fails)
				if c.fails == "" && !expected {
					t.Errorf("unexpected: %s", f)
				}
			}
			if !found {
				t.Errorf("want %q to fail; what fails is %q", c.fails, all)
			}
		})
	}
}

// TestModulesThatDoNotLoadFail tests invalid modules.
func TestModulesThatDoNotLoadFail(t *testing.T) {
	for name, code := range map[string]string{
		"abi-v2": "plugin-abi", "no-normalize": "plugin-abi", "import-socket": "plugin-abi", "impostor": "plugin-invalid-output",
		"describe-garbage": "plugin-invalid-output", "trap-at-start": "plugin-trap", "endless-start": "plugin-timeout",
		"endless-describe": "plugin-timeout", "big-memory": "plugin-memory",
	} {
		report := run(t, hostile(t, name), plugintest.Options{Limits: abi.Limits{Time: 100 * time.Millisecond}})
		all := failed(report)
		if report.OK() || len(all) != 1 || !strings.HasPrefix(all[0], "module: loads and describes itself: "+code) {
			t.Errorf("%s: %q, want %s", name, all, code)
		}
	}
}

// TestDetailsOfTheHostAreComparedByTheirValue expects details of an error of the host, in which
// numbers have the type int.
func TestDetailsOfTheHostAreComparedByTheirValue(t *testing.T) {
	for want, fails := range map[string]bool{`{"offset":1}`: false, `{"offset":2}`: true, `{"line":1}`: true} {
		dir := corpus(t, `{"name":"case","report_text":"[","want_error":{"code":"report-invalid-json","details":`+want+`}}`)
		guest, _ := builtin.Find("np-critic")
		for _, c := range run(t, guest.Wasm, plugintest.Options{Corpus: dir}).Checks {
			if c.Group == plugintest.GroupCorpus && (c.Status == plugintest.Fail) != fails {
				t.Errorf("%s: %s %s", want, c.Status, c.Detail)
			}
		}
	}
}
