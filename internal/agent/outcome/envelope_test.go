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
	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

// began is when the agents of these tests were started.
var began = time.Date(2026, 11, 21, 14, 0, 0, 123_456_789, time.UTC)

// reportPath is where their reports belong, in the spelling of the system.
var reportPath = filepath.Join(os.TempDir(), "run", "critic.json")

func expect() outcome.Expect {
	return outcome.Expect{Task: "T1", Round: 2, RunID: "run-a", ReportPath: reportPath, Began: began}
}

// fields are the members of an envelope, in order.
type fields []struct{ key, value string }

func goodEnvelope() fields {
	return fields{
		{"critic", `"critic"`}, {"task_id", `"T1"`}, {"round", "2"}, {"verdict", `"issues_found"`},
		{"blockers_count", "1"}, {"report_path", fmt.Sprintf("%q", reportPath)}, {"run_id", `"run-a"`},
	}
}

// with replaces a member, or adds it; an empty value removes it.
func (f fields) with(key, value string) fields {
	var all fields
	found := false
	for _, m := range f {
		if m.key == key {
			found = true
			m.value = value
		}
		if m.value != "" {
			all = append(all, m)
		}
	}
	if !found {
		all = append(all, struct{ key, value string }{key, value})
	}
	return all
}

func (f fields) String() string {
	var members []string
	for _, m := range f {
		members = append(members, fmt.Sprintf("%q: %s", m.key, m.value))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func TestReadEnvelope(t *testing.T) {
	e := goodEnvelope()
	ok := e.String()
	passed := e.with("verdict", `"passed"`).with("blockers_count", "0").String()
	other := fmt.Sprintf("%q", filepath.Join(filepath.Dir(reportPath), "other.json"))
	detour := fmt.Sprintf("%q", filepath.Dir(reportPath)+"/./x/../critic.json")
	for _, c := range []struct {
		name, text string
		want       outcome.Envelope
	}{
		{"bare", ok, "ok"},
		{"passed", passed, "ok"},
		{"issues without a blocker", e.with("blockers_count", "0").String(), "ok"},
		{"in a fence", "```json\n" + ok + "\n```", "ok"},
		{"amid prose", "The review is done. " + ok + " That is all.", "ok"},
		{"twice the same", ok + "\n" + ok, "ok"},
		{"twice in another order", ok + "\n" + e.with("critic", "").with("critic", `"critic"`).String(), "ok"},
		{"beside other objects", `{"note": 1} ` + ok + ` {"verdict": "passed"}`, "ok"},
		{"with members of its own", e.with("model", `{"name": "m"}`).String(), "ok"},
		{"without a run", e.with("run_id", "").String(), "ok"},
		{"with a run of null", e.with("run_id", "null").String(), "ok"},
		{"with an error of null", e.with("error", "null").String(), "ok"},
		{"by another spelling", e.with("report_path", detour).String(), "ok"},

		{"nothing", "", "absent"},
		{"prose", "All good, nothing to report: passed.", "absent"},
		{"another object", `{"verdict": "passed"}`, "absent"},
		{"inside another object", `{"result": ` + ok + `}`, "absent"},
		{"as a string", fmt.Sprintf(`{"result": %q}`, ok), "absent"},

		{"cut short", ok[:len(ok)-1], "invalid"},
		{"cut in the middle", ok[:strings.Index(ok, "run_id")], "invalid"},
		{"in a list", "[" + ok + "]", "invalid"},
		{"a brace too many", ok + "}", "invalid"},
		{"running on", ok + "x", "invalid"},
		{"a valid one and a cut one", ok + "\n" + ok[:len(ok)-2], "invalid"},
		{"a key twice", strings.Replace(ok, "{", `{"verdict": "passed", `, 1), "invalid"},
		{"an unknown key twice", strings.Replace(ok, "{", `{"x": 1, "x": 1, `, 1), "invalid"},
		{"a key in other letters", strings.Replace(ok, "task_id", "Task_ID", 1), "invalid"},
		{"no UTF-8", e.with("critic", "\"\xff\"").String(), "invalid"},
		{"no critic", e.with("critic", "").String(), "invalid"},
		{"a critic of null", e.with("critic", "null").String(), "invalid"},
		{"no task", e.with("task_id", "").String(), "invalid"},
		{"a task that is a number", e.with("task_id", "1").String(), "invalid"},
		{"no round", e.with("round", "").String(), "invalid"},
		{"a round that is text", e.with("round", `"2"`).String(), "invalid"},
		{"a round with a fraction", e.with("round", "2.0").String(), "invalid"},
		{"a round with an exponent", e.with("round", "2e0").String(), "invalid"},
		{"no verdict", e.with("verdict", "").String(), "invalid"},
		{"a verdict in other letters", e.with("verdict", `"Passed"`).String(), "invalid"},
		{"no count", e.with("blockers_count", "").String(), "invalid"},
		{"a negative count", e.with("blockers_count", "-1").String(), "invalid"},
		{"a negative zero", e.with("blockers_count", "-0").String(), "invalid"},
		{"a huge count", e.with("blockers_count", "99999999999999999999").String(), "invalid"},
		{"a count beyond numbers", e.with("blockers_count", "1e999").String(), "invalid"},
		{"a count of null", e.with("blockers_count", "null").String(), "invalid"},
		{"no path", e.with("report_path", "").String(), "invalid"},
		{"a path that is a list", e.with("report_path", "["+other+"]").String(), "invalid"},
		{"too long", ok + strings.Repeat(" ", jsonscan.MaxBytes), "invalid"},

		{"two that differ", ok + "\n" + passed, "ambiguous"},
		{"two that differ in the path", ok + e.with("report_path", other).String(), "ambiguous"},

		{"a path of null", e.with("report_path", "null").String(), "error"},
		{"an empty path", e.with("report_path", `""`).String(), "error"},
		{"an error", e.with("error", `"disk full"`).String(), "error"},
		{"an error that is no text", e.with("error", `{"code": 1}`).String(), "error"},
		{"passed with an error", strings.Replace(passed, "{", `{"error": "disk full", `, 1), "error"},
		{"an error about another task", e.with("report_path", "null").with("task_id", `"T2"`).String(), "error"},

		{"another task", e.with("task_id", `"T2"`).String(), "wrong-task"},
		{"a task in other letters", e.with("task_id", `"t1"`).String(), "wrong-task"},
		{"an older round", e.with("round", "1").String(), "wrong-round"},
		{"another run", e.with("run_id", `"run-b"`).String(), "wrong-run"},
		{"passed with blockers", e.with("verdict", `"passed"`).String(), "inconsistent"},
		{"another path", e.with("report_path", other).String(), "elsewhere"},
		{"a relative path", e.with("report_path", `"critic.json"`).String(), "elsewhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, body := outcome.ReadEnvelope(c.text, expect())
			if got != c.want {
				t.Fatalf("%s, want %s", got, c.want)
			}
			nothing := got == outcome.EnvelopeAbsent || got == outcome.EnvelopeInvalid || got == outcome.EnvelopeAmbiguous
			if (body == nil) != nothing {
				t.Errorf("%s with the body %+v", got, body)
			}
		})
	}
}

func TestReadEnvelopeBody(t *testing.T) {
	_, body := outcome.ReadEnvelope(goodEnvelope().String(), expect())
	want := outcome.EnvelopeBody{Critic: "critic", Task: "T1", Round: 2, Blockers: 1, ReportPath: reportPath, RunID: "run-a"}
	if body == nil || *body != want {
		t.Errorf("%+v, want %+v", body, want)
	}
}

// TestReadEnvelopeThroughALink: a temporary directory has two names on some systems,
// and an agent may write either.
func TestReadEnvelopeThroughALink(t *testing.T) {
	e := expect()
	linked := filepath.Join(os.TempDir(), "link", "critic.json")
	var asked []string
	e.SameFile = func(a, b string) bool {
		asked = append(asked, a+" "+b)
		return a == linked && b == reportPath
	}
	text := goodEnvelope().with("report_path", fmt.Sprintf("%q", linked)).String()
	if got, _ := outcome.ReadEnvelope(text, e); got != outcome.EnvelopeOK {
		t.Errorf("by its other name: %s", got)
	}
	if got, _ := outcome.ReadEnvelope(goodEnvelope().with("report_path", `"x/critic.json"`).String(), e); got != outcome.EnvelopeOutside {
		t.Errorf("by a relative name: %s", got)
	}
	if len(asked) != 1 {
		t.Errorf("the file system was asked for %q", asked)
	}
}

// TestEnvelopesNeverImprove: whatever is put beside an envelope, in any order, it
// stays the envelope it was, or becomes none.
func TestEnvelopesNeverImprove(t *testing.T) {
	e := goodEnvelope()
	pieces := []string{
		e.String(), e.with("verdict", `"passed"`).with("blockers_count", "0").String(), e.with("round", "1").String(),
		e.with("report_path", "null").String(), `{"report_path": `, `{"a": 1}`, "{", "}", "```", "prose", "\n", `"`, "[", "]",
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, "parts")
		text := strings.Join(parts, " ")
		got, body := outcome.ReadEnvelope(text, expect())
		if got != outcome.EnvelopeOK {
			return
		}
		for _, p := range parts {
			if state, other := outcome.ReadEnvelope(p, expect()); strings.Contains(p, "blockers_count") && (state != outcome.EnvelopeOK || *other != *body) {
				t.Fatalf("%q is ok although it holds the envelope %q, which is %s", text, p, state)
			}
		}
	})
}

// FuzzReadEnvelope: no message panics, and one that is ok says what was asked for.
func FuzzReadEnvelope(f *testing.F) {
	f.Add(goodEnvelope().String())
	f.Add("```json\n" + goodEnvelope().with("report_path", "null").String() + "\n```")
	f.Add(goodEnvelope().String() + goodEnvelope().with("round", "3").String())
	f.Add(`{"report_path": {"blockers_count": [`)
	f.Fuzz(func(t *testing.T, text string) {
		state, body := outcome.ReadEnvelope(text, expect())
		if state != outcome.EnvelopeOK {
			return
		}
		if body.Task != "T1" || body.Round != 2 || body.Error != "" || body.Passed && body.Blockers > 0 {
			t.Errorf("%q is ok as %+v", text, body)
		}
	})
}
