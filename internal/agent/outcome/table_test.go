package outcome_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/doccheck"
)

// good are facts that nothing can be said against.
func good() outcome.Facts {
	return outcome.Facts{
		Started: true, Exit: outcome.ExitZero, Text: outcome.TextPresent,
		Report: true, Envelope: outcome.EnvelopeOK, File: outcome.FileOK, Passed: true,
	}
}

// row is one thing that can be wrong, and what is to come of it.
type row struct {
	fact, value string
	set         func(*outcome.Facts)
	reason      outcome.Reason
	class       outcome.Class
	then        string
}

// rows has everything that can be wrong, the most telling first.
func rows() []row {
	all := []row{{
		"started", "no", func(f *outcome.Facts) { f.Started = false },
		"start-failed", "config", "fallback",
	}}
	for _, r := range []struct{ value, class, then string }{
		{"timed-out", "timeout", "fallback"},
		{"idle", "timeout", "retry once, then fallback"},
		{"output-limit", "limit", "stop"},
		{"budget", "limit", "stop"},
		{"hung-after-result", "timeout", "retry once, then fallback"},
		{"cancelled", "", "stop"},
		{"lost", "lost", "stop"},
	} {
		all = append(all, row{
			"ended by us", r.value, func(f *outcome.Facts) { f.Killed = outcome.EndCause(r.value) },
			outcome.Reason(r.value), outcome.Class(r.class), r.then,
		})
	}
	for _, r := range []struct{ class, then string }{
		{"rate-limit", "retry, then fallback"},
		{"overloaded", "retry, then fallback"},
		{"quota", "fallback"},
		{"auth", "fallback"},
		{"not-found", "fallback"},
		{"config", "fallback"},
		{"input", "stop"},
		{"refused", "fallback"},
		{"limit", "stop"},
		{"timeout", "retry once, then fallback"},
		{"malformed", "retry once, then fallback"},
		{"crashed", "retry, then fallback"},
		{"lost", "stop"},
	} {
		all = append(all, row{
			"its own error", r.class, func(f *outcome.Facts) { f.Failure = outcome.Class(r.class) },
			outcome.Reason(r.class), outcome.Class(r.class), r.then,
		})
	}
	for _, value := range []string{"nonzero", "signal"} {
		all = append(all, row{
			"exit", value, func(f *outcome.Facts) { f.Exit = outcome.Exit(value) },
			outcome.Reason("exit-" + value), "crashed", "retry, then fallback",
		})
	}
	malformed := func(fact, value, reason string, set func(*outcome.Facts)) {
		all = append(all, row{fact, value, set, outcome.Reason(reason), "malformed", "retry once, then fallback"})
	}
	for _, r := range [][2]string{{"absent", "no-result"}, {"empty", "empty-result"}, {"unreadable", "unreadable-output"}} {
		malformed("final message", r[0], r[1], func(f *outcome.Facts) { f.Text = outcome.Text(r[0]) })
	}
	malformed("a tool", "refused", "denied", func(f *outcome.Facts) { f.Denials = true })
	for _, value := range []string{
		"absent", "invalid", "ambiguous", "error", "wrong-task", "wrong-round", "wrong-run", "inconsistent", "elsewhere",
	} {
		malformed("envelope", value, "envelope-"+value, func(f *outcome.Facts) { f.Envelope = outcome.Envelope(value) })
	}
	for _, value := range []string{
		"absent", "not-regular", "unreadable", "stale", "too-large", "empty", "invalid", "not-a-report",
		"wrong-critic", "wrong-task", "wrong-round", "contradicts",
	} {
		malformed("report", value, "report-"+value, func(f *outcome.Facts) { f.File = outcome.File(value) })
	}
	malformed("the host's check", "failed", "report-invalid", func(f *outcome.Facts) { f.Rejected = true })
	return append(all, row{
		"working tree", "changed", func(f *outcome.Facts) { f.Changed = true },
		"tree-changed", "", "retry once, then stop",
	})
}

// editor returns the facts of an agent that has edited its tree and did nothing wrong.
func editor() outcome.Facts {
	return outcome.Facts{Started: true, Exit: outcome.ExitZero, Text: outcome.TextPresent, Edits: true, Tree: outcome.TreeEdited}
}

// editorRows returns the rows that apply only to an agent that edits.
func editorRows() []row {
	var all []row
	for _, value := range []string{"gone", "unreadable", "git-changed", "protected-changed"} {
		reason := "tree-" + value
		if strings.HasSuffix(value, "-changed") {
			reason = value
		}
		all = append(all, row{
			"working tree", value, func(f *outcome.Facts) { f.Tree = outcome.Tree(value) }, outcome.Reason(reason), "", "stop",
		})
	}
	return append(all, row{
		"a tool", "refused, and no file edited", func(f *outcome.Facts) { f.Denials, f.Tree = true, outcome.TreeUnchanged },
		"denied", "malformed", "retry once, then fallback",
	}, row{
		"working tree", "unchanged", func(f *outcome.Facts) { f.Tree = outcome.TreeUnchanged },
		"no-change", "malformed", "retry once, then fallback",
	})
}

// next says what follows a verdict as long as a retry, a fallback and time are
// left, and when no retry is.
func next(t *testing.T, v outcome.Verdict) string {
	t.Helper()
	spent := outcome.Spent{MaxRetries: 9, Repeats: 1, Fallbacks: 1, Left: time.Hour}
	step := func() outcome.Action { return outcome.Next(v, spent, never).Action }
	first := step()
	if first != outcome.Retry {
		return string(first)
	}
	spent.Retries, spent.OfClass, spent.Repeats = 1, 1, 0
	words := "retry, then "
	if step() != outcome.Retry {
		words = "retry once, then "
	}
	spent.Retries = spent.MaxRetries
	return words + string(step())
}

// TestRows judges everything that can be wrong, alone.
func TestRows(t *testing.T) {
	for _, r := range rows() {
		f := good()
		r.set(&f)
		v := outcome.Judge(f)
		want := outcome.Verdict{Outcome: outcome.CriticError, Reason: r.reason, Class: r.class, Changed: r.reason == outcome.ReasonTreeChanged}
		if v != want {
			t.Errorf("%s %s: %+v, want %+v", r.fact, r.value, v, want)
		}
		if then := next(t, v); then != r.then {
			t.Errorf("%s %s: %s, want %s", r.fact, r.value, then, r.then)
		}
		if v.Reason.Message() == "" {
			t.Errorf("%s has no words", v.Reason)
		}
	}
}

// TestEditorRows judges the rows that apply only to an agent that edits.
func TestEditorRows(t *testing.T) {
	for _, r := range editorRows() {
		f := editor()
		r.set(&f)
		v := outcome.Judge(f)
		want := outcome.Verdict{Outcome: outcome.Failed, Reason: r.reason, Class: r.class}
		if r.reason == outcome.ReasonNoChange {
			want.Outcome = outcome.NoChange
		}
		if v != want || v.Good() || v.Reason.Message() == "" {
			t.Errorf("%s %s: %+v, want %+v", r.fact, r.value, v, want)
		}
		if then := next(t, v); then != r.then {
			t.Errorf("%s %s: %s, want %s", r.fact, r.value, then, r.then)
		}
	}
}

// TestPage compares the tables of docs/verdict.md with the program. UPDATE=1
// rewrites them.
func TestPage(t *testing.T) {
	doccheck.Table(t, "../../../docs", "verdict.md", "verdicts", table(t, rows(), good))
	doccheck.Table(t, "../../../docs", "verdict.md", "verdicts of editors", table(t, editorRows(), editor))
}

func table(t *testing.T, all []row, good func() outcome.Facts) string {
	var b strings.Builder
	b.WriteString("\n| what was seen | reason | in words | class | what is tried next |\n|---|---|---|---|---|\n")
	for _, r := range all {
		f := good()
		r.set(&f)
		v := outcome.Judge(f)
		class := "none"
		if v.Class != outcome.NoClass {
			class = "`" + string(v.Class) + "`"
		}
		fmt.Fprintf(&b, "| %s: %s | `%s` | %s | %s | %s |\n", r.fact, r.value, v.Reason, v.Reason.Message(), class, next(t, v))
	}
	return b.String() + "\n"
}

// TestEveryConstant compares the rows with the constants of the source: whatever
// is added there must be judged here.
func TestEveryConstant(t *testing.T) {
	types := map[string]string{ // to the fact of its rows
		"EndCause": "ended by us", "Class": "its own error", "Exit": "exit", "Text": "final message", "Envelope": "envelope", "File": "report",
		"Tree": "working tree",
	}
	fine := map[string]bool{"": true, "ok": true, "zero": true, "present": true, "edited": true}
	judged, reasons := make(map[string]bool), make(map[string]bool)
	for _, r := range slices.Concat(rows(), editorRows()) {
		judged[r.fact+": "+r.value] = true
		reasons[string(r.reason)] = true
	}
	found := 0
	for _, name := range []string{"facts.go", "verdict.go", "reason.go"} {
		for kind, value := range constants(t, name) {
			found++
			if fact, ok := types[kind[0]]; ok && !fine[value] && !judged[fact+": "+value] {
				t.Errorf("no row has the %s %q", kind[0], value)
			}
			if kind[0] == "Reason" && value != "" && !reasons[value] && !unknown(value) {
				t.Errorf("no row has the reason %q", value)
			}
		}
	}
	if found < len(rows()) {
		t.Errorf("the source has %d constants, fewer than there are rows", found)
	}
}

// unknown reports whether a reason is there for values of later versions alone.
func unknown(reason string) bool {
	return reason == "killed" || strings.HasSuffix(reason, "-unknown")
}

// constants yields type, name and value of the constants of a file.
func constants(t *testing.T, name string) map[[2]string]string {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[[2]string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		for i, value := range spec.Values {
			literal, ok := value.(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s: %s is no literal", name, spec.Names[i])
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all[[2]string{fmt.Sprint(spec.Type), spec.Names[i].Name}] = text
		}
		return true
	})
	return all
}
