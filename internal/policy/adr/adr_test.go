package adr_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
)

const file = "docs/adr/0007-shorter-loops.md"

var hex = strings.Repeat("0123456789abcdef", 4)

// full returns a front matter with every key, in the order of Update.
func full() string {
	return strings.Join([]string{
		"status: accepted",
		"date: 2026-11-21",
		"policy: routing@1.2.0",
		"supersedes: routing@1.1.0",
		"diff:",
		"  summary: 2 decisions flip",
		"  digest: sha256:" + hex,
		"replay:",
		"  summary: 1 of 120 decisions flips",
		"  digest: sha256:" + hex,
		"  policy: sha256:" + hex,
		"  decisions: 120",
		"  through: 340",
		"waives:",
		"  - invariant: human-first",
		"    reason: nobody is asked here",
	}, "\n")
}

// record returns a file with that front matter.
func record(front string) string {
	return "---\n" + front + "\n---\n\n# ADR-0007: Shorter loops\n\n## Context\n\nText.\n"
}

func whole() adr.Record {
	proof := adr.Figures{Summary: "2 decisions flip", Digest: "sha256:" + hex}
	again := adr.Figures{Summary: "1 of 120 decisions flips", Digest: "sha256:" + hex}
	return adr.Record{
		Name: "ADR-0007", Number: 7, File: file, Title: "Shorter loops", Status: adr.Accepted, Date: "2026-11-21",
		Policy: "routing@1.2.0", Supersedes: "routing@1.1.0", Diff: &proof,
		Replay: &adr.ReplayFigures{Figures: again, Policy: "sha256:" + hex, Decisions: 120, Through: 340},
		Waives: []adr.Waive{{Invariant: "human-first", Reason: "nobody is asked here"}},
	}
}

func TestParse(t *testing.T) {
	plain := adr.Record{
		Name: "ADR-0007", Number: 7, File: file, Title: "Shorter loops", Status: adr.Proposed, Date: "2026-11-21", Waives: []adr.Waive{},
	}
	for name, c := range map[string]struct {
		text string
		want adr.Record
	}{
		"all":               {record(full()), whole()},
		"no policy":         {record("status: proposed\ndate: 2026-11-21"), plain},
		"another order":     {record("date: 2026-11-21\nstatus: proposed"), plain},
		"comments":          {record("# of mine\nstatus: proposed # still\ndate: 2026-11-21\n# the end"), plain},
		"quotes":            {record("status: \"proposed\"\ndate: '2026-11-21'"), plain},
		"in one line":       {record("{status: proposed, date: 2026-11-21}"), plain},
		"carriage returns":  {strings.ReplaceAll(record(full()), "\n", "\r\n"), whole()},
		"nothing is waived": {record("status: proposed\ndate: 2026-11-21\npolicy: routing@1.0.0\nwaives: []"), with(plain, func(r *adr.Record) { r.Policy = "routing@1.0.0" })},
		"a rule in the text": {
			record("status: proposed\ndate: 2026-11-21") + "\n---\n\nMore.\n", plain,
		},
	} {
		got, err := adr.Parse(file, []byte(c.text))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func with(r adr.Record, change func(*adr.Record)) adr.Record {
	change(&r)
	return r
}

// TestParseRefuses: each case is the full record with one mistake, and its line; 0 means
// unknown.
func TestParseRefuses(t *testing.T) {
	swap := func(old, new string) string {
		if !strings.Contains(record(full()), old) {
			t.Fatalf("no %q to replace", old)
		}
		return strings.Replace(record(full()), old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"empty":                  {"", 1, "no front matter"},
		"no front matter":        {"# ADR-0007: Shorter loops\n", 1, "no front matter"},
		"no end":                 {"---\nstatus: accepted\n", 1, "no end"},
		"an empty front matter":  {record(""), 2, "mapping"},
		"a list":                 {record("- status"), 2, "mapping"},
		"not YAML":               {record("status: [accepted"), 0, "not valid YAML"},
		"two documents":          {swap("policy: r", "...\npolicy: r"), 5, "not valid YAML"},
		"a second one":           {swap("policy: routing@1.2.0", "...\n--- {}\n..."), 5, "more than one document"},
		"not UTF-8":              {swap("Text.", "\xff"), 0, "UTF-8"},
		"an unknown key":         {swap("policy: r", "author: me\npolicy: r"), 4, `unknown key "author"`},
		"an unknown key within":  {swap("  digest", "  digset"), 8, `unknown key "digset"`},
		"a key twice":            {swap("policy: r", "date: 2026-11-22\npolicy: r"), 4, `key "date" is there twice`},
		"a key twice within":     {swap("  decisions", "  summary: x\n  decisions"), 13, `key "summary" is there twice`},
		"no status":              {swap("status: accepted\n", ""), 2, "no status"},
		"no date":                {swap("date: 2026-11-21\n", ""), 2, "no date"},
		"no digest of the diff":  {swap("  digest: sha256:"+hex+"\nreplay", "replay"), 7, "no digest"},
		"another status":         {swap("accepted", "Accepted"), 2, "status must be"},
		"status is a list":       {swap("status: accepted", "status: [accepted]"), 2, "must be text"},
		"status is null":         {swap("status: accepted", "status:"), 2, "must be text"},
		"no day":                 {swap("2026-11-21", "2026-11-31"), 3, "a day"},
		"a day and a time":       {swap("2026-11-21", "2026-11-21T00:00:00Z"), 3, "a day"},
		"no version":             {swap("routing@1.2.0", "routing"), 4, "a version"},
		"a version of two parts": {swap("routing@1.2.0", "routing@1.2"), 4, "a version"},
		"a path as a version":    {swap("routing@1.2.0", "../../../policies/routing@1.2.0"), 4, "a version"},
		"supersedes itself":      {swap("routing@1.1.0", "routing@1.2.0"), 2, "itself"},
		"a proof of no policy":   {swap("policy: routing@1.2.0\n", ""), 4, "needs the key policy"},
		"a digest of one digit":  {swap("sha256:"+hex, "sha256:0"), 8, "a digest"},
		"a digest in capitals":   {swap("sha256:"+hex, "sha256:"+strings.ToUpper(hex)), 8, "a digest"},
		"a summary of two lines": {swap("2 decisions flip", `"2 decisions\nflip"`), 7, "one line"},
		"a blank summary":        {swap("2 decisions flip", `" "`), 7, "one line"},
		"a number as a summary":  {swap("2 decisions flip", "2"), 7, "must be text"},
		"a hidden summary":       {swap("2 decisions flip", `"2 \u202e decisions"`), 7, "one line"},
		"fewer than none":        {swap("decisions: 120", "decisions: -1"), 13, "whole number"},
		"a half":                 {swap("decisions: 120", "decisions: 1.5"), 13, "whole number"},
		"a number as text":       {swap("through: 340", `through: "340"`), 14, "whole number"},
		"a number in hex":        {swap("through: 340", "through: 0x10"), 14, "whole number"},
		"a number in octal":      {swap("through: 340", "through: 0340"), 14, "whole number"},
		"a number with a sign":   {swap("through: 340", "through: +340"), 14, "whole number"},
		"a hidden line":          {swap("accepted", "accepted\u2028# one that most readers do not see"), 2, "for only some readers"},
		"too large a number":     {swap("through: 340", "through: 99999999999999999999"), 14, "whole number"},
		"waived, but not a list": {swap("  - invariant: human-first\n    reason: nobody is asked here", "  human-first: never"), 16, "a list"},
		"waived without reason":  {swap("    reason: nobody is asked here\n", ""), 16, "no reason"},
		"waived twice":           {swap("waives:", "waives:\n  - invariant: human-first\n    reason: so"), 18, "waived twice"},
		"an anchor":              {swap("status: accepted", "status: &a accepted"), 2, "must be text"},
		"an alias":               {swap("supersedes: routing@1.1.0", "supersedes: &a routing@1.1.0"), 5, "must be text"},
		"a merge key":            {swap("policy: r", "<<: {}\npolicy: r"), 4, "unknown key"},
		"no heading":             {swap("# ADR-0007: Shorter loops", "Shorter loops"), 20, "# ADR-0007: "},
		"another number":         {swap("# ADR-0007", "# ADR-0008"), 20, "# ADR-0007: "},
		"no title":               {swap("Shorter loops", ""), 20, "# ADR-0007: "},
		"a title that turns":     {swap("Shorter loops", "Shorter \u202e loops"), 20, "# ADR-0007: "},
		"no body":                {"---\n" + full() + "\n---\n\n", 19, "no text"},
	} {
		got, err := adr.Parse(file, []byte(c.text))
		f, ok := errors.AsType[*errs.Error](err)
		if !ok || f.Code != errs.ADRInvalid {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		line, _ := f.Details["line"].(int)
		if line != c.line && name != "not YAML" || !strings.Contains(f.Message, c.says) || strings.Contains(f.Message, "\n") || f.Details["file"] != file {
			t.Errorf("%s: line %d, want %d: %s", name, line, c.line, f.Message)
		}
		if !reflect.DeepEqual(got, adr.Record{}) {
			t.Errorf("%s: a record came with the error: %+v", name, got)
		}
	}
}

func TestNameOfAFile(t *testing.T) {
	for _, name := range []string{"7-a.md", "0000-a.md", "0007.md", "0007-.md", "0007-a.txt", "README.md", "00007-a.md", "０００７-a.md", ""} {
		if _, err := adr.Parse(name, []byte(record(full()))); errs.CodeOf(err) != errs.ADRInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestUpdateIsExact checks that Update changes nothing else in the text.
func TestUpdateIsExact(t *testing.T) {
	before := "---\n# mine\ndate: 2026-11-21 # a Saturday\nstatus: proposed\npolicy: routing@1.3.0\n---\n\n# ADR-0007: Shorter loops\n\nText  \r\nwith what it likes.\n---\nno: front matter\n---"
	after := "---\nstatus: accepted\n# mine\ndate: 2026-11-21 # a Saturday\npolicy: routing@1.3.0\nsupersedes: routing@1.2.0\n---\n\n# ADR-0007: Shorter loops\n\nText  \r\nwith what it likes.\n---\nno: front matter\n---"
	got, err := adr.Update(file, []byte(before), func(r *adr.Record) {
		r.Status, r.Supersedes = adr.Accepted, "routing@1.2.0"
		r.Name, r.Title, r.File, r.Number = "ADR-9999", "another", "x", 1
	})
	if err != nil || string(got) != after {
		t.Errorf("%v\n%s", err, got)
	}
	whole := record(full())
	if got, err := adr.Update(file, []byte(whole), func(*adr.Record) {}); err != nil || string(got) != whole {
		t.Errorf("what needs no change was changed: %v\n%s", err, got)
	}
	windows := strings.ReplaceAll(whole, "\n", "\r\n")
	if got, err := adr.Update(file, []byte(windows), func(*adr.Record) {}); err != nil || string(got) != windows {
		t.Errorf("lines end otherwise: %v\n%q", err, got)
	}
}

func TestUpdateRefusesWhatWouldBeNoRecord(t *testing.T) {
	for name, change := range map[string]func(*adr.Record){
		"no status":      func(r *adr.Record) { r.Status = "" },
		"no day":         func(r *adr.Record) { r.Date = "today" },
		"no policy":      func(r *adr.Record) { r.Policy = "" },
		"no summary":     func(r *adr.Record) { r.Diff = &adr.Figures{Digest: "sha256:" + hex} },
		"several lines":  func(r *adr.Record) { r.Diff.Summary = "a\n---\nb" },
		"no replay":      func(r *adr.Record) { r.Replay = &adr.ReplayFigures{} },
		"waives nothing": func(r *adr.Record) { r.Waives = []adr.Waive{{}} },
	} {
		got, err := adr.Update(file, []byte(record(full())), change)
		if errs.CodeOf(err) != errs.ADRInvalid {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := adr.Update(file, []byte("nothing"), func(*adr.Record) {}); errs.CodeOf(err) != errs.ADRInvalid {
		t.Errorf("no record: %v", err)
	}
}

func TestFormat(t *testing.T) {
	r := whole()
	got, err := adr.Format(r, "## Context\n\nText.\n")
	if err != nil || string(got) != record(full()) {
		t.Errorf("%v\n%s", err, got)
	}
	r.Title = "a\nb"
	if _, err := adr.Format(r, "Text.\n"); errs.CodeOf(err) != errs.ADRInvalid {
		t.Errorf("two lines of title: %v", err)
	}
}

// texts draws hostile sentences.
var texts = rapid.OneOf(
	rapid.StringMatching(`[!-~]([ -~]{0,30}[!-~])?`),
	rapid.SampledFrom([]string{"null", "true", "1", "0x1f", "2026-11-21", "- a", "a: b", "# c", "---", "...", "'", `"`, "&a", "*a", "!!int 1", "{}", "[", "é…", "a #b", "~", "=", "<<"}),
)

// TestUpdateKeepsEverything checks that filled in values are read back and the body is
// unchanged.
func TestUpdateKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := "\n# ADR-0007: " + "A title" + "\n" + rapid.String().Draw(t, "body")
		before := []byte("---\nstatus: proposed\ndate: 2026-01-02\npolicy: routing@1.3.0\n---\n" + body)
		digest := "sha256:" + rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "digest")
		want := adr.Record{
			Name: "ADR-0007", Number: 7, File: file, Title: "A title", Waives: []adr.Waive{}, Policy: "routing@1.3.0",
			Status: rapid.SampledFrom([]adr.Status{adr.Proposed, adr.Accepted, adr.Superseded, adr.Rejected}).Draw(t, "status"),
			Date:   rapid.SampledFrom([]string{"2026-01-02", "0001-01-01", "9999-12-31"}).Draw(t, "date"),
		}
		if rapid.Bool().Draw(t, "supersedes") {
			want.Supersedes = "routing@1.2.0-rc.1"
		}
		if rapid.Bool().Draw(t, "has a diff") {
			want.Diff = &adr.Figures{Summary: texts.Draw(t, "diff"), Digest: digest}
		}
		if rapid.Bool().Draw(t, "has a replay") {
			want.Replay = &adr.ReplayFigures{
				Figures: adr.Figures{Summary: texts.Draw(t, "replay"), Digest: digest}, Policy: digest,
				Decisions: rapid.Int64Min(0).Draw(t, "decisions"), Through: rapid.Int64Min(0).Draw(t, "through"),
			}
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 0, 3, rapid.ID).Draw(t, "waives") {
			want.Waives = append(want.Waives, adr.Waive{Invariant: name, Reason: texts.Draw(t, "reason")})
		}
		after, err := adr.Update(file, before, func(r *adr.Record) { *r = want })
		if err != nil {
			t.Fatal(err)
		}
		got, err := adr.Parse(file, after)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v: %v\n%s", got, want, err, after)
		}
		if !bytes.HasSuffix(after, []byte("\n---\n"+body)) {
			t.Fatalf("the body changed:\n%s", after)
		}
		if again, err := adr.Update(file, after, func(*adr.Record) {}); err != nil || !bytes.Equal(again, after) {
			t.Fatalf("a second update changed it: %v\n%s\n%s", err, after, again)
		}
	})
}

// FuzzParse: any file gives a record or a typed one-line error; updating a record changes
// neither its values nor its body.
func FuzzParse(f *testing.F) {
	f.Add([]byte(record(full())))
	f.Add([]byte(record("# a\nstatus: proposed # b\n# c\n\ndate: 2026-11-21 # d\n# e")))
	f.Add([]byte("---\r\n{status: proposed, date: 2026-11-21}\r\n---\r\n# ADR-0007: x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := adr.Parse(file, text)
		if err != nil {
			if errs.CodeOf(err) != errs.ADRInvalid || strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q", err)
			}
			return
		}
		updated, err := adr.Update(file, text, func(*adr.Record) {})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := adr.Parse(file, updated); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v, %v, want %+v", again, err, r)
		}
	})
}

// Each of these files is within the limit, but not their sum.
func TestListBoundsAllTogether(t *testing.T) {
	dir := t.TempDir()
	for i := range 18 {
		name := filepath.Join(dir, fmt.Sprintf("%04d-a.md", i+1))
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	all, err := adr.List(root, ".")
	if err != nil || len(all) != 18 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	for i, f := range all {
		if together := strings.Contains(f.Err.Error(), "together"); together != (i >= 16) || together == (f.Text != nil) || errs.CodeOf(f.Err) != errs.ADRInvalid {
			t.Errorf("%s: %d bytes, %v", f.File, len(f.Text), f.Err)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"0007-b.md":   record("status: proposed\ndate: 2026-11-21"),
		"0002-a.md":   "no record",
		"README.md":   "not meant to be one",
		"0003-a.txt":  "nor this",
		"template.md": "nor this",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "0009-folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	all, err := adr.List(root, ".")
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if f := all[0]; f.File != "0002-a.md" || errs.CodeOf(f.Err) != errs.ADRInvalid {
		t.Errorf("%+v", f)
	}
	if f := all[1]; f.File != "0007-b.md" || f.Err != nil || f.Record.Name != "ADR-0007" || string(f.Text) != files["0007-b.md"] {
		t.Errorf("%+v", f)
	}
	if f := all[2]; f.File != "0009-folder.md" || errs.CodeOf(f.Err) != errs.ADRInvalid {
		t.Errorf("%+v", f)
	}
	if all, err := adr.List(root, "missing"); err != nil || len(all) != 0 {
		t.Errorf("a directory that is not there: %+v, %v", all, err)
	}
}

// TestOurRecords checks that our records are valid.
func TestOurRecords(t *testing.T) {
	root, err := os.OpenRoot("../../../docs/adr")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	all, err := adr.List(root, ".")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	for i, f := range all {
		if f.Err != nil || f.Record.Number != i+1 {
			t.Errorf("%s: %s, %v", f.File, f.Record.Name, f.Err)
		}
	}
}
