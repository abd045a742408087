package finding_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/finding"
)

func one(critic, category string, severity finding.Severity, file, remediation, ref string) finding.Finding {
	return finding.Finding{
		Critic: critic, Category: category, Severity: severity, File: &file, Remediation: remediation,
		ConfirmedBy: []string{critic},
		Sources:     []finding.Source{{Critic: critic, Plugin: "np-critic", Report: "sha256:" + critic, Ref: ref}},
	}
}

func TestMergeCollapsesDuplicatesAcrossCritics(t *testing.T) {
	got := finding.Merge([]finding.Finding{
		one("style", "dead-code", finding.Nit, "a.go", "remove f", "/findings/0"),
		one("tests", "dead-code", finding.Risk, "A.go", "Remove  f", "/findings/3"),
	})
	if len(got) != 1 {
		t.Fatalf("got %d findings, want 1", len(got))
	}
	f := got[0]
	if !slices.Equal(f.ConfirmedBy, []string{"style", "tests"}) {
		t.Errorf("confirmed_by = %v", f.ConfirmedBy)
	}
	if f.Severity != finding.Risk {
		t.Errorf("severity = %s, want the graver one", f.Severity)
	}
	if f.Critic != "style" || *f.File != "a.go" || f.Remediation != "remove f" {
		t.Errorf("the first occurrence does not keep its fields: %+v", f)
	}
	if len(f.Sources) != 2 || f.Sources[1].Ref != "/findings/3" {
		t.Errorf("sources = %+v", f.Sources)
	}
}

func TestMergeCountsACriticOnce(t *testing.T) {
	got := finding.Merge([]finding.Finding{
		one("critic", "style", finding.Fail, "a.go", "same", "/findings/0"),
		one("critic", "style", finding.Fail, "a.go", "same", "/findings/1"),
	})
	if len(got) != 1 || len(got[0].ConfirmedBy) != 1 || len(got[0].Sources) != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestMergeKeepsWhatAContradictionUndoes(t *testing.T) {
	plain := one("linter", "contradiction", finding.Fail, "a.go", "x", "/0")
	undoing := one("critic", "contradiction", finding.Fail, "a.go", "x", "/1")
	undoing.Undoes = "0123456789abcdef"
	for _, in := range [][]finding.Finding{{plain, undoing}, {undoing, plain}} {
		if out := finding.Merge(in); len(out) != 1 || out[0].Undoes != undoing.Undoes {
			t.Errorf("%+v", out)
		}
	}
}

// An unknown severity is never deferred, so no duplicate may hide it.
func TestAnUnknownSeverityIsNotHidden(t *testing.T) {
	for _, c := range []struct{ a, b, want finding.Severity }{
		{"critical", finding.Nit, "critical"},
		{"critical", finding.Risk, "critical"},
		{"critical", finding.Fail, finding.Fail},
		{"critical", "blocker", "blocker"},
	} {
		for _, in := range [][2]finding.Severity{{c.a, c.b}, {c.b, c.a}} {
			out := finding.Merge([]finding.Finding{one("style", "style", in[0], "a.go", "x", "/0"), one("tests", "style", in[1], "a.go", "x", "/0")})
			if len(out) != 1 || out[0].Severity != c.want {
				t.Errorf("%q: %+v, want %q", in, out, c.want)
			}
		}
	}
}

func TestMergeOrder(t *testing.T) {
	in := []finding.Finding{
		one("style", "style", "whatever", "other.go", "other severity", "/0"),
		one("style", "style", finding.Nit, "n.go", "nit", "/1"),
		one("style", "style", finding.Risk, "r.go", "risk", "/2"),
		one("style", "todo-marker", finding.Fail, "z.go", "fail, later category", "/3"),
		one("style", "missing-test", finding.Fail, "y.go", "fail, second", "/4"),
		one("style", "missing-test", finding.Fail, "x.go", "fail, third", "/5"),
		one("style", "Zebra", finding.Fail, "b.go", "upper case sorts before lower case", "/6"),
		one("style", "style", finding.Nit, "twice.go", "confirmed", "/7"),
		one("tests", "style", finding.Nit, "twice.go", "confirmed", "/0"),
	}
	var got []string
	for _, f := range finding.Merge(in) {
		got = append(got, *f.File)
	}
	want := []string{"twice.go", "b.go", "y.go", "x.go", "z.go", "r.go", "n.go", "other.go"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestAuditFindingCollapsesWithoutConfirming(t *testing.T) {
	audit := one(finding.AuditCritic, "rule-9-violation", finding.Fail, "-", "search first", "")
	critic := one("critic", "rule-9-violation", finding.Nit, "-", "search first", "/findings/0")

	// The audit comes first in the list and must still not take the finding over.
	got := finding.Merge([]finding.Finding{audit, critic})
	if len(got) != 1 {
		t.Fatalf("got %d findings, want 1", len(got))
	}
	if !slices.Equal(got[0].ConfirmedBy, []string{"critic"}) || got[0].Critic != "critic" {
		t.Errorf("the audit confirmed or replaced the critic: %+v", got[0])
	}
	if got[0].Severity != finding.Fail || len(got[0].Sources) != 2 {
		t.Errorf("the audit's severity or source is lost: %+v", got[0])
	}

	alone := finding.Merge([]finding.Finding{audit, audit})
	if len(alone) != 1 || !slices.Equal(alone[0].ConfirmedBy, []string{"audit"}) {
		t.Errorf("an audit finding alone: %+v", alone)
	}
}

func TestIdentityIsTheTupleNotItsJoinedText(t *testing.T) {
	a := one("critic", "style", finding.Fail, "a|1", "", "/0")
	b := one("critic", "style|a", finding.Fail, "1", "", "/1")
	got := finding.Merge([]finding.Finding{a, b})
	if len(got) != 2 {
		t.Fatalf("two findings that only look alike when joined were merged: %+v", got)
	}
}

func TestMergeDoesNotTouchItsArgument(t *testing.T) {
	in := []finding.Finding{
		one("style", "style", finding.Nit, "a.go", "x", "/0"),
		one("tests", "style", finding.Fail, "a.go", "x", "/0"),
	}
	before := fmt.Sprintf("%+v", in)
	finding.Merge(in)
	if after := fmt.Sprintf("%+v", in); after != before {
		t.Errorf("the argument changed:\n%s\n%s", before, after)
	}
}

// small draws findings from a domain so small that most of them collide.
func small() *rapid.Generator[[]finding.Finding] {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) finding.Finding {
		critic := rapid.SampledFrom([]string{"critic", "style", "tests", finding.AuditCritic}).Draw(t, "critic")
		f := one(critic,
			rapid.SampledFrom([]string{"style", "dead-code", "nobody-knows"}).Draw(t, "category"),
			rapid.SampledFrom([]finding.Severity{finding.Fail, finding.Risk, finding.Nit, "odd", "other"}).Draw(t, "severity"),
			rapid.SampledFrom([]string{"a.go", "A.go", "b.go"}).Draw(t, "file"),
			rapid.SampledFrom([]string{"fix it", " Fix  it", "other"}).Draw(t, "remediation"),
			fmt.Sprintf("/findings/%d", rapid.IntRange(0, 50).Draw(t, "ref")))
		f.Line = rapid.Ptr(rapid.IntRange(1, 2), true).Draw(t, "line")
		return f
	}))
}

func TestMergeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := small().Draw(t, "findings")
		out := finding.Merge(in)

		if again := finding.Merge(in); !reflect.DeepEqual(out, again) {
			t.Fatal("merging is not deterministic")
		}
		if twice := finding.Merge(out); !reflect.DeepEqual(out, twice) {
			t.Fatalf("merging is not idempotent:\n%+v\n%+v", out, twice)
		}

		byPrint := map[string]finding.Finding{}
		for _, f := range out {
			if _, dup := byPrint[f.Fingerprint]; dup {
				t.Fatalf("fingerprint %s appears twice", f.Fingerprint)
			}
			byPrint[f.Fingerprint] = f
		}
		for _, f := range in {
			got, ok := byPrint[finding.Fingerprint(f.Category, f.File, f.Line, f.Remediation)]
			if !ok {
				t.Fatalf("lost a finding: %+v", f)
			}
			if grave := []finding.Severity{finding.Nit, finding.Risk, "other", "odd", finding.Fail}; slices.Index(grave, got.Severity) < slices.Index(grave, f.Severity) {
				t.Fatalf("severity fell from %s to %s", f.Severity, got.Severity)
			}
			if !slices.ContainsFunc(got.Sources, func(s finding.Source) bool {
				return s.Critic == f.Critic && s.Ref == f.Sources[0].Ref
			}) {
				t.Fatalf("lost source %+v", f.Sources[0])
			}
			if f.Critic != finding.AuditCritic && !slices.Contains(got.ConfirmedBy, f.Critic) {
				t.Fatalf("lost the confirmation by %s", f.Critic)
			}
		}
		first := appearances(in)
		for i := 1; i < len(out); i++ {
			a, b := out[i-1], out[i]
			if before(b, a) || !before(a, b) && first[a.Fingerprint] > first[b.Fingerprint] {
				t.Fatalf("out of order at %d: %+v, %+v", i, a, b)
			}
		}
	})
}

// appearances says where each finding is first seen, critics before the audit.
func appearances(in []finding.Finding) map[string]int {
	first := map[string]int{}
	for _, audit := range []bool{false, true} {
		for _, f := range in {
			id := finding.Fingerprint(f.Category, f.File, f.Line, f.Remediation)
			if _, seen := first[id]; !seen && (f.Critic == finding.AuditCritic) == audit {
				first[id] = len(first)
			}
		}
	}
	return first
}

// before says, in words of its own, that a must stand before b.
func before(a, b finding.Finding) bool {
	if len(a.ConfirmedBy) != len(b.ConfirmedBy) {
		return len(a.ConfirmedBy) > len(b.ConfirmedBy)
	}
	rank := map[finding.Severity]int{finding.Fail: 1, finding.Risk: 2, finding.Nit: 3, "odd": 4, "other": 4}
	if rank[a.Severity] != rank[b.Severity] {
		return rank[a.Severity] < rank[b.Severity]
	}
	return a.Category < b.Category
}

func FuzzMerge(f *testing.F) {
	f.Add("style", "a.go", "fix", "style", "A.go", " fix", 1, 0)
	f.Add("x|y", "", "", "x", "y|", "", 0, 0)
	f.Fuzz(func(t *testing.T, c1, f1, r1, c2, f2, r2 string, l1, l2 int) {
		a := one("critic", c1, finding.Nit, f1, r1, "/0")
		b := one("tests", c2, finding.Fail, f2, r2, "/1")
		if l1 > 0 {
			a.Line = &l1
		}
		if l2 > 0 {
			b.Line = &l2
		}
		out := finding.Merge([]finding.Finding{a, b})
		sources := 0
		for _, m := range out {
			sources += len(m.Sources)
		}
		if len(out) == 0 || len(out) > 2 || sources != 2 {
			t.Fatalf("2 findings became %d with %d sources", len(out), sources)
		}
		if !reflect.DeepEqual(out, finding.Merge(out)) {
			t.Fatal("merging is not idempotent")
		}
	})
}

// BenchmarkMerge grows the input tenfold each step; the time per finding shows
// the growth. Half of the findings have a duplicate.
func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		in := make([]finding.Finding, n)
		for i := range in {
			in[i] = one([]string{"style", "tests"}[i%2], "dead-code", finding.Risk,
				fmt.Sprintf("pkg/file%d.go", i/2%(n/2)), fmt.Sprintf("remove the unused function number %d", i/2), fmt.Sprintf("/findings/%d", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				finding.Merge(in)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/finding")
		})
	}
}
