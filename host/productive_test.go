package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestProductiveReviews checks which second reviews let a task go past its cap, and how
// many of their findings the task never had. A finding that is stated to be open, in other
// words, is neither settled nor new.
func TestProductiveReviews(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	e := newEngine(t, root, noon)
	rules := filepath.Join(root, "rules")
	if err := os.Mkdir(rules, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rules, "routing.rego"), []byte(barPolicy("", barAll)), 0o600); err != nil {
		t.Fatal(err)
	}
	item := func(file, words string) string {
		return fmt.Sprintf(`{"category":"style","file":%q,"remediation":%q}`, file, words)
	}
	file := "a.go"
	id := func(words string) string { return finding.Fingerprint("style", &file, nil, words) }
	a, b, c := item(file, "a"), item(file, "b"), item("c.go", "c")
	more, other := item(file, "more words"), item(file, "other words")
	for name, then := range map[string]struct {
		findings []string
		a, b     finding.PreviousStatus
		verify   policies.Verify
		extends  bool
		first    int
	}{
		"both fixed":                {[]string{c}, finding.Fixed, finding.Fixed, "", true, 1},
		"withdrawn":                 {[]string{c}, finding.Withdrawn, finding.Fixed, "", true, 1},
		"fixed, with a new finding": {[]string{c}, finding.Fixed, finding.Induced, "", true, 1},
		"one left out":              {[]string{c}, finding.Fixed, "", "", false, 1},
		"both left out":             {[]string{c}, "", "", "", false, 1},
		"one again":                 {[]string{b, c}, finding.Fixed, finding.Open, "", false, 1},
		"one in other words":        {[]string{other, c}, finding.Fixed, finding.Open, "", false, 1},
		"both in other words":       {[]string{other, more}, finding.Open, finding.Open, "", false, 0},
		"one for two":               {[]string{other, more}, finding.Fixed, finding.Open, "", false, 1},
		"verification fails":        {[]string{c}, finding.Fixed, finding.Fixed, policies.Red, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			task := strings.NewReplacer(" ", "-", ",", "").Replace(name)
			var previous []string
			for words, status := range map[string]finding.PreviousStatus{"a": then.a, "b": then.b} {
				if status != "" {
					previous = append(previous, fmt.Sprintf(`{"id":%q,"status":%q}`, id(words), status))
				}
			}
			for i, report := range []string{
				fmt.Sprintf(`{"critic":"critic","findings":[%s,%s]}`, a, b),
				fmt.Sprintf(`{"critic":"critic","previous":[%s],"findings":[%s]}`, strings.Join(previous, ","), strings.Join(then.findings, ",")),
			} {
				r := request(report)
				r.Policy = rules
				if i == 1 && then.verify != "" {
					r.Verify.Claim = then.verify
				}
				d, err := e.Round(t.Context(), task, r)
				if err != nil {
					t.Fatal(err)
				}
				if i == 1 && (d.Input.MayExtend != then.extends || d.Input.FirstTimeCount != then.first) {
					t.Errorf("may extend: %t with %d first-time findings, want %t with %d", d.Input.MayExtend, d.Input.FirstTimeCount, then.extends, then.first)
				}
			}
		})
	}
}
