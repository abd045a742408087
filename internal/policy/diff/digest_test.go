package diff_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// The digest covers everything that has a meaning, so no two of these are equal.
func TestDifferentDiffsHaveDifferentDigests(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	seen := make(map[string]string)
	for name, p := range map[string]*routing.Policy{
		"nothing":               small(t),
		"another version":       small(t, "version: 1.0.0", "version: 1.0.1"),
		"a new category":        small(t, `"typo": "fixer",`, `"typo": "fixer", "style": "fixer",`),
		"another category":      small(t, `"typo": "fixer",`, `"typo": "fixer", "dead-code": "fixer",`),
		"elsewhere":             small(t, `"typo": "fixer",`, `"typo": "fixer", "style": "user",`),
		"a category is gone":    small(t, "\t\"typo\": \"fixer\",\n", ""),
		"another kind":          small(t, `"fixer": {"kind": "agent"`, `"fixer": {"kind": "human"`),
		"another precedence":    small(t, `["stuck", "user", "fixer"]`, `["stuck", "fixer", "user"]`),
		"a decision":            small(t, `{"next_action": "fixer", "reason": "verify-red"}`, `{"next_action": "stuck", "reason": "verify-red"}`),
		"a reason":              small(t, `"reason": "verify-red"`, `"reason": "build-broken"`),
		"another reason":        small(t, `"reason": "verify-red"`, `"reason": "build-red"`),
		"a decision elsewhere":  small(t, `{"next_action": "fixer", "reason": "verify-red"}`, `{"next_action": "user", "reason": "verify-red"}`),
		"a decision more":       small(t, "input.routes.fixer > 0", "input.routes.fixer > 0\n\tinput.stalled_rounds < 2"),
		"a decision more later": small(t, "input.routes.fixer > 0", "input.routes.fixer > 0\n\tinput.stalled_rounds < 3"),
	} {
		digest := compare(t, small(t), p).Digest()
		if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(digest) {
			t.Errorf("%s: the digest is %q", name, digest)
		}
		if other, ok := seen[digest]; ok {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		seen[digest] = name
	}
}

// The digest covers neither the texts nor the decision records of the policies.
func TestDigestsDoNotCoverTexts(t *testing.T) {
	reason := []string{`"reason": "verify-red"`, `"reason": "build-broken"`}
	want := compare(t, small(t), small(t, reason...)).Digest()
	for name, d := range map[string]diff.Diff{
		"the record":           compare(t, small(t), small(t, append(reason, "adr: ADR-0001", "adr: ADR-0002")...)),
		"the title":            compare(t, small(t), small(t, append(reason, "title: Small", "title: Tiny")...)),
		"the text from before": compare(t, small(t, "_work if input.finding_count > 0", "_work if  input.finding_count > 0"), small(t, reason...)),
	} {
		if got := d.Digest(); got != want {
			t.Errorf("%s: the digest is %s, want %s", name, got, want)
		}
	}
}

// A difference printed as JSON can be checked against a record.
func TestDifferencesSurviveJSON(t *testing.T) {
	for name, from := range map[string]*routing.Policy{"a first version": nil, "a later one": small(t)} {
		d := compare(t, from, small(t, `"typo": "fixer"`, `"typo": "user"`, `"reason": "verify-red"`, `"reason": "build-broken"`))
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var back diff.Diff
		if err := json.Unmarshal(text, &back, json.RejectUnknownMembers(true)); err != nil {
			t.Fatal(err)
		}
		if back.Digest() != d.Digest() || back.Summary() != d.Summary() || back.Markdown() != d.Markdown() || back.Empty() != d.Empty() {
			t.Errorf("%s: it came back as %+v, was %+v", name, back, d)
		}
		want, because := d.Step()
		wantStep(t, back, want, strings.Join(because, "; "))
	}
}
