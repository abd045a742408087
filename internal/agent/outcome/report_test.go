package outcome_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// report is one with these findings and criteria, each list as JSON.
func report(verdict, findings, criteria string) string {
	return fmt.Sprintf(`{"critic": "critic", "task_id": "T1", "round": 2, "criteria": %s, "findings": %s, "verdict": %q}`,
		criteria, findings, verdict)
}

const (
	failing   = `{"category": "style", "severity": "fail", "file": "a", "line": 1, "remediation": "r"}`
	nit       = `{"category": "style", "severity": "nit"}`
	bare      = `{"category": "style"}`
	satisfied = `{"id": "1", "verdict": "Satisfied"}`
	unmet     = `{"id": "2", "verdict": "Unsatisfied"}`
	missing   = `{"id": "3", "verdict": "Information-Missing"}`
	odd       = `{"id": "4", "verdict": "satisfied"}`
)

func TestCheckReport(t *testing.T) {
	clean := report("passed", "[]", "["+satisfied+"]")
	for _, c := range []struct {
		name, text string
		want       outcome.File
	}{
		{"clean", clean, "ok"},
		{"clean without criteria", report("passed", "[]", "[]"), "ok"},
		{"criteria alone", strings.Replace(clean, `"findings": [], `, "", 1), "ok"},
		{"findings", report("issues_found", "["+failing+"]", "[]"), "ok"},
		{"with space around", "\n" + clean + "\n", "ok"},
		{"with members of its own", strings.Replace(clean, "{", `{"notes": [1], `, 1), "ok"},

		{"nothing", "", "empty"},
		{"white space", " \n\t", "empty"},

		{"text", "passed", "invalid"},
		{"cut short", clean[:len(clean)-1], "invalid"},
		{"with text behind", clean + " done", "invalid"},
		{"two reports", clean + clean, "invalid"},
		{"in a fence", "```json\n" + clean + "\n```", "invalid"},
		{"with a byte order mark", "\ufeff" + clean, "ok"},
		{"no UTF-8", strings.Replace(clean, `"T1"`, "\"T1\xff\"", 1), "invalid"},
		{"a key twice", strings.Replace(clean, "{", `{"verdict": "issues_found", `, 1), "invalid"},
		{"a key twice deep inside", report("issues_found", `[{"line": 1, "line": 2}]`, "[]"), "invalid"},
		{"no critic", strings.Replace(clean, `"critic": "critic", `, "", 1), "invalid"},
		{"no task", strings.Replace(clean, `"task_id": "T1", `, "", 1), "invalid"},
		{"a task of null", strings.Replace(clean, `"T1"`, "null", 1), "invalid"},
		{"no round", strings.Replace(clean, `"round": 2, `, "", 1), "invalid"},
		{"a round as text", strings.Replace(clean, `"round": 2`, `"round": "2"`, 1), "invalid"},
		{"a round with an exponent", strings.Replace(clean, `"round": 2`, `"round": 2e0`, 1), "invalid"},
		{"no verdict", strings.Replace(clean, `, "verdict": "passed"`, "", 1), "invalid"},
		{"another verdict", report("ok", "[]", "[]"), "invalid"},
		{"findings of null", report("passed", "null", "["+satisfied+"]"), "invalid"},
		{"criteria of text", report("passed", "[]", `"all"`), "invalid"},
		{"a finding of null", report("issues_found", "[null]", "[]"), "invalid"},
		{"a finding of text", report("issues_found", `["broken"]`, "[]"), "invalid"},
		{"a severity of 1", report("issues_found", `[{"severity": 1}]`, "[]"), "invalid"},
		{"a criterion of null", report("passed", "[]", "[null]"), "invalid"},
		{"nothing judged", strings.Replace(report("passed", "[]", "[]"), `"findings": [], `, "", 1), "invalid"},

		{"a list", "[" + clean + "]", "not-a-report"},
		{"a string", `"passed"`, "not-a-report"},
		{"null", "null", "not-a-report"},
		{"an empty object", "{}", "not-a-report"},
		{"the envelope", goodEnvelope().String(), "not-a-report"},
		{"a report and envelope in one", strings.Replace(clean, "{", `{"blockers_count": 0, `, 1), "not-a-report"},
		{"neither list", report("passed", "{}", "{}"), "not-a-report"},

		{"another task", strings.Replace(clean, `"T1"`, `"T2"`, 1), "wrong-task"},
		{"an older round", strings.Replace(clean, `"round": 2`, `"round": 1`, 1), "wrong-round"},

		{"passed with a finding", report("passed", "["+nit+"]", "[]"), "contradicts"},
		{"passed with an unmet criterion", report("passed", "[]", "["+unmet+"]"), "contradicts"},
		{"passed without information", report("passed", "[]", "["+missing+"]"), "contradicts"},
		{"passed in other words", report("passed", "[]", "["+odd+"]"), "contradicts"},
		{"issues without any", report("issues_found", "[]", "["+satisfied+"]"), "contradicts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := outcome.CheckReport([]byte(c.text), began, expect(), nil); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestCheckReportCounts(t *testing.T) {
	for _, c := range []struct {
		name, verdict, findings, criteria string
		want                              outcome.Summary
	}{
		{"clean", "passed", "", satisfied, outcome.Summary{Passed: true}},
		{"a failure", "issues_found", failing, satisfied, outcome.Summary{Findings: 1, Blockers: 1}},
		{"no severity is a failure", "issues_found", bare, "", outcome.Summary{Findings: 1, Blockers: 1}},
		{"a nit blocks nothing", "issues_found", nit, "", outcome.Summary{Findings: 1}},
		{"an unmet criterion", "issues_found", "", unmet, outcome.Summary{Unsatisfied: 1, Blockers: 1}},
		{"a lack of information blocks nothing", "issues_found", "", missing, outcome.Summary{Unsatisfied: 1}},
		{"a verdict in other words", "issues_found", "", odd, outcome.Summary{Unsatisfied: 1, Blockers: 1}},
		{
			"all of them", "issues_found", failing + "," + nit + "," + bare, satisfied + "," + unmet + "," + missing + "," + odd,
			outcome.Summary{Findings: 3, Unsatisfied: 3, Blockers: 4},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := report(c.verdict, "["+c.findings+"]", "["+c.criteria+"]")
			state, got := outcome.CheckReport([]byte(text), began, expect(), nil)
			if state != outcome.FileOK || got != c.want {
				t.Errorf("%s, %+v, want %+v", state, got, c.want)
			}
		})
	}
}

// TestCheckReportAgainstItsEnvelope: what the two say about the same review must be
// the same.
func TestCheckReportAgainstItsEnvelope(t *testing.T) {
	text := []byte(report("issues_found", "["+failing+"]", "["+missing+"]"))
	for _, c := range []struct {
		name string
		env  outcome.EnvelopeBody
		want outcome.File
	}{
		{"agreeing", outcome.EnvelopeBody{Critic: "critic", Blockers: 1}, "ok"},
		{"one blocker less", outcome.EnvelopeBody{Critic: "critic", Blockers: 0}, "contradicts"},
		{"one blocker more", outcome.EnvelopeBody{Critic: "critic", Blockers: 2}, "contradicts"},
		{"passed", outcome.EnvelopeBody{Critic: "critic", Passed: true, Blockers: 1}, "contradicts"},
		{"of another critic", outcome.EnvelopeBody{Critic: "style", Blockers: 1}, "wrong-critic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := outcome.CheckReport(text, began, expect(), &c.env); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestCheckReportIsFresh(t *testing.T) {
	text := []byte(report("passed", "[]", "[]"))
	second := began.Truncate(time.Second)
	for _, c := range []struct {
		name     string
		modified time.Time
		want     outcome.File
	}{
		{"later", began.Add(time.Minute), "ok"},
		{"at once", began, "ok"},
		{"by a clock that lags a tick", began.Add(-9 * time.Millisecond), "ok"},
		{"before", began.Add(-11 * time.Millisecond), "stale"},
		{"on a file system of whole seconds", second, "ok"},
		{"on one of even seconds", second.Add(-time.Second), "ok"},
		{"long ago on one of whole seconds", second.Add(-2 * time.Second), "stale"},
		{"a round ago", began.Add(-time.Hour), "stale"},
		{"no time at all", time.Time{}, "stale"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := outcome.CheckReport(text, c.modified, expect(), nil); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestCheckReportOnARealFile checks that the tolerance is enough for the clock of this
// file system.
func TestCheckReportOnARealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "critic.json")
	for range 200 {
		e := expect()
		e.Began = time.Now()
		if err := os.WriteFile(path, []byte(report("passed", "[]", "[]")), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := outcome.CheckReport(data, info.ModTime(), e, nil); got != outcome.FileOK {
			t.Fatalf("%s: begun at %s, written at %s", got, e.Began, info.ModTime())
		}
	}
}

func TestCheckReportTooLarge(t *testing.T) {
	text := report("passed", "[]", "[]")
	full := text + strings.Repeat(" ", outcome.MaxReport-len(text))
	if got, _ := outcome.CheckReport([]byte(full), began, expect(), nil); got != outcome.FileOK {
		t.Errorf("at the limit: %s", got)
	}
	if got, _ := outcome.CheckReport([]byte(full+" "), began, expect(), nil); got != outcome.FileTooLarge {
		t.Errorf("beyond it: %s", got)
	}
}

// TestCheckReportAnyContents: whatever a report holds, it passes exactly if it holds
// nothing, and its blockers are those that were put in.
func TestCheckReportAnyContents(t *testing.T) {
	blocking := map[string]bool{failing: true, bare: true, unmet: true, odd: true}
	rapid.Check(t, func(t *rapid.T) {
		findings := rapid.SliceOf(rapid.SampledFrom([]string{failing, nit, bare})).Draw(t, "findings")
		criteria := rapid.SliceOf(rapid.SampledFrom([]string{satisfied, unmet, missing, odd})).Draw(t, "criteria")
		says := rapid.SampledFrom([]string{"passed", "issues_found"}).Draw(t, "verdict")
		issues, blockers := len(findings), 0
		for _, c := range criteria {
			if c != satisfied {
				issues++
			}
		}
		for _, i := range append(findings, criteria...) {
			if blocking[i] {
				blockers++
			}
		}
		text := report(says, "["+strings.Join(findings, ",")+"]", "["+strings.Join(criteria, ",")+"]")
		want := outcome.FileOK
		if (says == "passed") != (issues == 0) {
			want = outcome.FileContradicts
		}
		state, s := outcome.CheckReport([]byte(text), began, expect(), nil)
		if state != want || s.Passed != (issues == 0) || s.Blockers != blockers {
			t.Fatalf("%s, %+v of %s", state, s, text)
		}
	})
}

// FuzzCheckReport: no bytes panic, and a report that is ok and passes says so
// itself.
func FuzzCheckReport(f *testing.F) {
	f.Add([]byte(report("passed", "[]", "["+satisfied+"]")))
	f.Add([]byte(report("issues_found", "["+failing+"]", "["+odd+"]")))
	f.Add([]byte(goodEnvelope().String()))
	f.Add([]byte(`{"findings": [`))
	f.Fuzz(func(t *testing.T, data []byte) {
		state, s := outcome.CheckReport(data, began, expect(), nil)
		if state == outcome.FileOK && s.Passed && !strings.Contains(string(data), "pass") && !strings.Contains(string(data), `\u`) {
			t.Errorf("%q passes", data)
		}
	})
}
