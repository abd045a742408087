package diff_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

func load(t *testing.T, ref string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// build builds a policy of one module.
func build(t *testing.T, source string) *routing.Policy {
	t.Helper()
	p, err := routing.Loader{}.FromSources(t.Context(), "candidate", []routing.Source{{Name: "routing.rego", Text: source}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// source returns the text of a released version.
func source(t *testing.T, ref string) string {
	t.Helper()
	sources := load(t, ref).Sources()
	if len(sources) != 1 {
		t.Fatalf("%s has %d modules, want 1", ref, len(sources))
	}
	return sources[0].Text
}

// amend returns routing@1.2.0 with texts replaced, given as pairs. Each old text must
// occur exactly once.
func amend(t *testing.T, pairs ...string) *routing.Policy {
	t.Helper()
	return build(t, replaced(t, source(t, "routing@1.2.0"), pairs...))
}

func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if n := strings.Count(text, pairs[i]); n != 1 {
			t.Fatalf("%q is there %d times, want once", pairs[i], n)
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func compare(t *testing.T, from, to *routing.Policy) diff.Diff {
	t.Helper()
	d, err := diff.Compare(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantStep requires a step and a reason for it.
func wantStep(t *testing.T, d diff.Diff, want diff.Step, because string) {
	t.Helper()
	if step, why := d.Step(); step != want || strings.Join(why, "; ") != because {
		t.Errorf("step is %q because %q, want %q because %q", step, why, want, because)
	}
}
