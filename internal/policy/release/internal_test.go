package release

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Secrets in code":                "secrets-in-code",
		"  What?! 3 rounds -- no more. ": "what-3-rounds-no-more",
		"../../etc/passwd":               "etc-passwd",
		"Ärger überall":                  "rger-berall",
		"秘密":                             "routing-1-3-0",
		"...":                            "routing-1-3-0",
		strings.Repeat("word ", 20):      "word-word-word-word-word-word-word-word-word-word-word-word",
		strings.Repeat("w", 61):          "routing-1-3-0",
	} {
		if got := slug(title, "1.3.0"); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	form := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	rapid.Check(t, func(t *rapid.T) {
		if got := slug(rapid.String().Draw(t, "title"), "1.3.0"); !form.MatchString(got) || len(got) > maxSlug {
			t.Errorf("%q", got)
		}
	})
}

func TestFill(t *testing.T) {
	for name, c := range map[string][2]string{
		"empty":               {"a\n<!-- switchyard:diff -->\n<!-- /switchyard:diff -->\nb", "a\n<!-- switchyard:diff -->\n\nnew\n\n<!-- /switchyard:diff -->\nb"},
		"filled before":       {"<!-- switchyard:diff -->\nold\nold\n  <!-- /switchyard:diff --> ", "<!-- switchyard:diff -->\n\nnew\n\n  <!-- /switchyard:diff --> "},
		"carriage returns":    {"<!-- switchyard:diff -->\r\n<!-- /switchyard:diff -->\r\n", "<!-- switchyard:diff -->\r\n\r\nnew\r\n\r\n<!-- /switchyard:diff -->\r\n"},
		"the first of two":    {"<!-- switchyard:diff -->\n<!-- /switchyard:diff -->\n<!-- switchyard:diff -->\nx\n<!-- /switchyard:diff -->\n", "<!-- switchyard:diff -->\n\nnew\n\n<!-- /switchyard:diff -->\n<!-- switchyard:diff -->\nx\n<!-- /switchyard:diff -->\n"},
		"no markers":          {"a\nb", "a\nb"},
		"no end":              {"<!-- switchyard:diff -->\nb", "<!-- switchyard:diff -->\nb"},
		"the other order":     {"<!-- /switchyard:diff -->\n<!-- switchyard:diff -->\n", "<!-- /switchyard:diff -->\n<!-- switchyard:diff -->\n"},
		"spoken of in a line": {"see <!-- switchyard:diff -->\n<!-- /switchyard:diff -->\n", "see <!-- switchyard:diff -->\n<!-- /switchyard:diff -->\n"},
	} {
		got := string(fill([]byte(c[0]), "new\n"))
		if got != c[1] {
			t.Errorf("%s: %q, want %q", name, got, c[1])
		}
		if again := string(fill([]byte(got), "new\n")); again != got {
			t.Errorf("%s: a second time it becomes %q", name, again)
		}
	}
}

// TestLockStaysSorted checks that the lock stays sorted, in whatever order versions are
// added and with comments anywhere.
func TestLockStaysSorted(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	rapid.Check(t, func(t *rapid.T) {
		refs := rapid.SliceOfNDistinct(rapid.StringMatching(`routing@(0|[1-9][0-9]?)\.(0|[1-9][0-9]?)\.[0-9](-rc\.[1-9])?`), 1, 8, rapid.ID).Draw(t, "refs")
		text := rapid.SampledFrom([]string{"", "# first\n", "# first\n\n# second", "\n"}).Draw(t, "text")
		comments := strings.Count(text, "#")
		for _, ref := range refs {
			text = addToLock(text, ref, digest)
			if rapid.Bool().Draw(t, "comment") {
				text += "# said routing@0.0.0 of it\n"
				comments++
			}
		}
		locked, err := routing.ParseLock(text)
		if err != nil || len(locked) != len(refs) || strings.Count(text, "#") != comments {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, ref := range refs {
			if locked[ref] != digest {
				t.Fatalf("%s is not in\n%s", ref, text)
			}
		}
	})
}

// A lock with carriage returns, as git writes it on Windows, keeps them.
func TestLockKeepsItsLineEnds(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	text := "# first\n" + lockLine("routing@1.0.0", digest)
	for _, ref := range []string{"routing@0.9.0", "routing@1.1.0"} {
		want := strings.ReplaceAll(addToLock(text, ref, digest), "\n", "\r\n")
		if got := addToLock(strings.ReplaceAll(text, "\n", "\r\n"), ref, digest); got != want {
			t.Errorf("%s: %q, want %q", ref, got, want)
		}
	}
}

// TestReferencesHaveOneOrder checks the order for arbitrary directory names.
func TestReferencesHaveOneOrder(t *testing.T) {
	refs := rapid.OneOf(rapid.StringMatching(`routing@[0-9]{1,2}(\.[0-9]{1,2}){1,2}(-rc)?`), rapid.SampledFrom([]string{"", "routing@old", "routing@"}))
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := refs.Draw(t, "a"), refs.Draw(t, "b"), refs.Draw(t, "c")
		if compareReferences(a, b) != -compareReferences(b, a) || (compareReferences(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q", a, b)
		}
		if compareReferences(a, b) < 0 && compareReferences(b, c) < 0 && compareReferences(a, c) >= 0 {
			t.Errorf("%q before %q before %q", a, b, c)
		}
	})
	sorted := []string{"", "routing@0.9.0", "routing@0.10.0", "routing@1.0.0", "routing@1.0.0-rc.1", "routing@old"}
	if !slices.IsSortedFunc(sorted, compareReferences) {
		t.Errorf("%v are not sorted", sorted)
	}
}

// TestRulesAreNamedOnce checks that no two rules share a name, which would hide one of
// them.
func TestRulesAreNamedOnce(t *testing.T) {
	all := []Rule{
		FolderName, Loads, Formatted, Metadata, Tested, Covered, InvariantsHold, RecordValid, RecordNamed, RecordAccepted, RecordSupersedes, RecordDiff, RecordReplay,
		RecordText, RecordWaives, Step, LockValid, Locked, Unchanged, Stored,
	}
	slices.Sort(all)
	if n := len(all); len(slices.Compact(all)) != n {
		t.Errorf("%v", all)
	}
}
