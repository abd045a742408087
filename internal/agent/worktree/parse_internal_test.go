package worktree

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// A diff is cut at a line, and never longer than it may be.
func TestCut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var whole string
		for range rapid.IntRange(0, 20).Draw(r, "lines") {
			whole += strings.Repeat("x", rapid.IntRange(0, 300).Draw(r, "length")) + "\n"
		}
		whole += strings.Repeat("y", rapid.SampledFrom([]int{0, 1, 100, 70_000}).Draw(r, "rest"))
		limit := rapid.Int64Range(-1, int64(len(whole)+100)).Draw(r, "limit")
		text := cut(whole, limit)
		if int64(len(whole)) <= limit {
			if text != whole {
				r.Error("it was changed")
			}
			return
		}
		if int64(len(text)) > max(limit, 0) {
			r.Errorf("%d bytes are more than %d", len(text), limit)
		}
		if limit < int64(len(cutNotice)) {
			if !strings.HasPrefix(cutNotice, text) {
				r.Errorf("got %q", text)
			}
			return
		}
		stored, said := strings.CutSuffix(text, cutNotice)
		if !said || !strings.HasPrefix(whole, stored) || stored != "" && stored[len(stored)-1] != '\n' {
			r.Errorf("got %q of %q", text, whole)
		}
		// The next line would not have fitted.
		next := strings.IndexByte(whole[len(stored):], '\n') + 1
		if next > 0 && int64(len(stored)+next+len(cutNotice)) <= limit {
			r.Errorf("%d bytes were kept, and %d more would fit in %d", len(stored), next, limit)
		}
	})
}

func TestParseEntry(t *testing.T) {
	const oid = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	for text, want := range map[string]indexEntry{
		"? a b\tc":                     {path: "a b\tc", tag: '?'},
		"? dir/":                       {path: "dir/", tag: '?'},
		"H 100644 " + oid + " 0\ta\tb": {path: "a\tb", tag: 'H', mode: "100644", oid: oid, stage: "0"},
		"h 120000 " + oid + " 0\t\xff": {path: "\xff", tag: 'h', mode: "120000", oid: oid, stage: "0"},
		"M 100755 " + oid + " 2\ta\n":  {path: "a\n", tag: 'M', mode: "100755", oid: oid, stage: "2"},
		"S 160000 " + oid + " 0\tsub":  {path: "sub", tag: 'S', mode: "160000", oid: oid, stage: "0"},
	} {
		if got, err := parseEntry(text); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "?", "? ", "?x", "? /etc/passwd", "? ../x", "? a/../../x", "? .", "? a//b", "H a", "H 100644 " + oid + "\ta",
		"H 100644 " + oid + " 0 a", "H 100644 " + oid + " 0\t", "H 100644 " + oid + " 0\t../x",
	} {
		if got, err := parseEntry(text); err == nil {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// Whatever git prints, no path leads out of the directory.
func FuzzParseEntry(f *testing.F) {
	for _, text := range []string{"? a", "H 100644 e69de29b 0\ta", "? ../a", "? a/", "M 1 2 3\t\t"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(text)
		if err == nil && (!filepath.IsLocal(strings.TrimSuffix(e.path, "/")) || e.path == "") {
			t.Errorf("%q: got %+v", text, e)
		}
	})
}

func TestRecords(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a\x00": {"a"}, "a\n\x00\x00b\x00": {"a\n", "", "b"},
	} {
		var got []string
		err := records(text, func(r string) error { got = append(got, r); return nil })
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"a", "a\x00b"} {
		err := records(text, func(string) error { return nil })
		if errs.CodeOf(err) != errs.TreeUnreadable {
			t.Errorf("%.10q: got %v", text, err)
		}
	}
}
