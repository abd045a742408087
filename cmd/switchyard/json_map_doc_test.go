package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestJSONMapPageReadsItsTools takes the settings of each tool from the page and reads
// that tool's reports with them.
func TestJSONMapPageReadsItsTools(t *testing.T) {
	type report struct {
		file string
		want []string // "SEVERITY WHERE REMEDIATION", or an error code
	}
	reports := map[string][]report{
		"ruff": {{"ruff.json", []string{
			"fail /src/till/till.py:1 F401: `os` imported but unused",
			"fail /src/till/broken.py:4 SyntaxError: Expected an expression",
		}}, {"ruff-clean.json", nil}},
		"mypy": {{"mypy.jsonl", []string{
			`fail till.py:7 return-value: Incompatible return value type (got "str", expected "int")`,
			`fail till.py:12 call-overload: No overload variant of "price" matches argument type "str"`,
			"nit till.py:14 annotation-unchecked: By default the bodies of untyped functions are not checked, consider using --check-untyped-defs",
		}}, {"mypy-clean.jsonl", nil}},
		"biome": {{"biome.json", []string{
			"fail a.ts:2 lint/suspicious/noDoubleEquals: Using == may be unsafe if you are relying on type coercion.",
			"fail a.ts:2 lint/suspicious/noDebugger: This is an unexpected use of the debugger statement.",
			"risk a.ts:3 lint/suspicious/noExplicitAny: Unexpected any. Specify a different type.",
		}}, {"biome-clean.json", nil}},
		"clippy": {{"clippy.jsonl", []string{
			"risk src/lib.rs:5 unused_variables: unused variable: `unused`",
			"risk src/lib.rs:10 clippy::needless_return: unneeded `return` statement",
			"risk src/lib.rs:4 clippy::ptr_arg: writing `&Vec` instead of `&[_]` involves a new object where a slice will do",
			"risk src/lib.rs:7 clippy::needless_range_loop: the loop variable `i` is only used to index `prices`",
			"risk src/lib.rs:8 clippy::assign_op_pattern: manual implementation of an assign operation",
		}}, {"clippy-clean.jsonl", nil}, {"clippy-broken.jsonl", []string{
			"fail src/lib.rs:1 E0308: mismatched types",
			"fail -:0 build-finished",
		}}},
		"tsc": {{"tsc.txt", []string{
			"fail a.ts:2 TS2322: Type 'number' is not assignable to type 'string'.",
			"fail a.ts:3 TS2322: Type 'string' is not assignable to type 'number'.",
			"fail a.ts:5 TS2322: Type 'string' is not assignable to type 'number'.",
			"fail -:0 TS6053: File 'nope.ts' not found.",
		}}, {"tsc-clean.txt", nil}},
		"shellcheck": {{"shellcheck.json", []string{
			"fail a.sh:2 2045: Iterating over ls output is fragile. Use globs.",
			"risk a.sh:5 3014: In POSIX sh, == in place of = is undefined.",
			"nit a.sh:2 2035: Use ./*glob* or -- *glob* so names with dashes won't become options.",
			"nit a.sh:3 2086: Double quote to prevent globbing and word splitting.",
			"nit a.sh:5 2086: Double quote to prevent globbing and word splitting.",
		}}, {"shellcheck-clean.json", nil}},
		"staticcheck": {{"staticcheck.jsonl", []string{
			"fail /src/till/a/a.go:10 SA5009: Printf format %s has arg #1 of wrong type int",
			"fail /src/till/a/a.go:11 SA4000: identical expressions on the left and right side of the '==' operator",
			"fail /src/till/a/a.go:17 U1000: func unused is unused",
		}}, {"staticcheck-clean.jsonl", nil}},
		"go-vet": {{"go-vet.json", []string{
			"fail /src/till/a/a.go:10 printf: fmt.Printf format %s has arg sum of wrong type int",
		}}, {"go-vet-clean.json", nil}},
		"semgrep": {{"semgrep.json", []string{
			"risk till/price.py:3 python.lang.security.audit.eval-detected.eval-detected: Detected the use of eval().",
		}}, {"semgrep-clean.json", nil}, {"semgrep-broken.json", []string{"json-map-tool-failed"}}},
		"trivy": {{"trivy.json", []string{
			"fail package-lock.json:0 CVE-2019-10744: nodejs-lodash: prototype pollution in defaultsDeep function leading to modifying properties",
			"fail deploy.sh:3 aws-access-key-id: AWS Access Key ID",
			"nit Dockerfile:0 DS026: Add HEALTHCHECK instruction in your Dockerfile",
		}}, {"trivy-clean.json", nil}},
		"codex-review": {{"codex-review.json", []string{
			"fail src/upload.py:42 A failed upload is counted as done: upload() returns before it looks at the status, so a 500 is recorded as a success. Check the status before the record is written.",
			"risk src/retry.py:8 Retries never stop: The loop has no limit.",
		}}, {"codex-review-clean.json", nil}, {"codex-review-contradiction.json", []string{"json-map-verdict-contradiction"}}, {"codex-review-silent.json", []string{"json-map-verdict-contradiction"}}},
		"roborev": {{"roborev.json", []string{
			"fail src/upload.py:42 A failed upload is counted as done. Check the status before the record is written.",
			"nit -:0 The change has no test. Test a server that answers 500.",
		}}, {"roborev-clean.json", nil}, {"roborev-low.json", []string{
			"nit src/retry.py:0 A name is unclear. Rename it.",
		}}, {"roborev-unable.json", []string{"json-map-unknown-verdict"}}, {"roborev-silent.json", []string{"json-map-verdict-contradiction"}}},
		"no-mistakes": {{"no-mistakes.json", []string{
			"fail src/upload.py:42 A failed upload is counted as done",
			"risk -:0 Should an upload be tried for ever? The task does not say",
		}}, {"no-mistakes-clean.json", nil}},
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs", "json-map.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tools, ok := strings.Cut(string(page), "\n## Tools\n")
	if !ok {
		t.Fatal("the page has no tools")
	}
	settings := regexp.MustCompile("(?ms)^```yaml\n(plugins:\n  ([a-z-]+):\n.*?)^```$")
	convert := regexp.MustCompile("(?ms)^```sh\n(sed .*?)^```$").FindStringSubmatch(tools)
	for _, m := range settings.FindAllStringSubmatch(tools, -1) {
		name := m[2]
		if len(reports[name]) == 0 {
			t.Errorf("%s has no reports", name)
		}
		for _, r := range reports[name] {
			t.Run(r.file, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				text, err := os.ReadFile(filepath.Join(repository, "testdata", "reports", "json-map", r.file))
				if err != nil {
					t.Fatal(err)
				}
				file, script := r.file, ""
				if name == "tsc" {
					file, script = "tsc.jsonl", convert[1]
				}
				for name, text := range map[string][]byte{"switchyard.yaml": []byte(m[1]), name + filepath.Ext(r.file): text, r.file: text} {
					if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				out, _ := inShell(t, dir)(script + "switchyard route --output json --report " + name + "=" + file)
				if got := findings(t, out); !slices.Equal(got, r.want) {
					t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(r.want, "\n"))
				}
			})
		}
		delete(reports, name)
	}
	for name := range reports {
		t.Errorf("the page has no settings for %s", name)
	}
}

// findings lists the findings of a decision, or the code of an error.
func findings(t *testing.T, out string) []string {
	t.Helper()
	var d struct {
		NextAction string `json:"next_action"`
		Findings   []struct {
			Severity, File, Remediation string
			Line                        int
		}
		Error struct{ Code string }
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if d.Error.Code != "" {
		return []string{d.Error.Code}
	}
	if len(d.Findings) == 0 && d.NextAction != "commit" {
		t.Errorf("a clean report does not commit: %s", out)
	}
	var all []string
	for _, f := range d.Findings {
		all = append(all, fmt.Sprintf("%s %s:%d %s", f.Severity, cmp.Or(f.File, "-"), f.Line, f.Remediation))
	}
	return all
}
