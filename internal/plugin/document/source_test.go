package document_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

func source(t testing.TB, text string) *document.Source {
	t.Helper()
	s, err := document.Read([]byte(text), document.Limits{})
	if err != nil {
		t.Fatalf("read %.80q: %v", text, err)
	}
	return s
}

func TestFormatOf(t *testing.T) {
	for mediaType, want := range map[string]document.Format{
		"application/json":                  document.JSON,
		"Application/JSON; charset=utf-8":   document.JSON,
		" application/json ":                document.JSON,
		"application/sarif+json":            document.JSON,
		"application/vnd.acme.report+json":  document.JSON,
		"application/x-ndjson":              document.Lines,
		"application/jsonl":                 document.Lines,
		"application/xml":                   document.XML,
		"text/xml; charset=UTF-8":           document.XML,
		"application/vnd.junit+xml":         document.XML,
		"application/a+b+xml;v=1;charset=x": document.XML,
		"image/svg+xml":                     document.XML,
		"":                                  "",
		"json":                              "",
		"+json":                             "",
		"/+json":                            "",
		"application/+json":                 "",
		"application/jsonx":                 "",
		"application/json-seq":              "",
		"application/geo+json-seq":          "",
		"application/x+ndjson":              "",
		"text/html":                         "",
		"application/xhtml+xmlish":          "",
		";application/json":                 "",
	} {
		if got, ok := document.FormatOf(mediaType); got != want || ok != (want != "") {
			t.Errorf("FormatOf(%q) = %q, %v; want %q", mediaType, got, ok, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limits     document.Limits
		code       errs.Code
		details    map[string]any
	}{
		{"too large", "[1,2]", document.Limits{Bytes: 4}, errs.ReportTooLarge, map[string]any{"limit": int64(4)}},
		{"UTF-16", "\xff\xfe<\x00a\x00/\x00>\x00", document.Limits{}, errs.ReportInvalidUTF8, map[string]any{"offset": 0}},
		{"Latin-1", "<a>\xe9</a>", document.Limits{}, errs.ReportInvalidUTF8, map[string]any{"offset": 3}},
		{"a surrogate as bytes", "<a>\xed\xa0\x80</a>", document.Limits{}, errs.ReportInvalidUTF8, map[string]any{"offset": 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := document.Read([]byte(c.text), c.limits)
			wantFault(t, err, c.code, c.details)
		})
	}
}

func TestNothingIsNoReport(t *testing.T) {
	for _, text := range []string{"", " \r\n\t"} {
		s, err := document.Read([]byte(text), document.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		wantFault(t, s.Err(), errs.ReportEmpty, nil)
		for _, f := range []document.Format{document.JSON, document.Lines, document.XML} {
			_, err := s.As(f)
			wantFault(t, err, errs.ReportEmpty, nil)
			_, err = s.For([]document.Format{f})
			wantFault(t, err, errs.ReportEmpty, nil)
		}
		if doc, err := s.AsValues(); err != nil || string(doc.Bytes()) != "[]" {
			t.Errorf("%q as lines that need not be there: %v", text, err)
		}
	}
}

// wantFault checks the code and all details of an error.
func wantFault(t *testing.T, err error, code errs.Code, details map[string]any) {
	t.Helper()
	f, ok := err.(*errs.Error)
	if !ok || f.Code != code || len(f.Details)+len(details) > 0 && !reflect.DeepEqual(f.Details, details) {
		t.Errorf("got %v", err)
		if ok {
			t.Errorf("code %s, details %v; want %s, %v", f.Code, f.Details, code, details)
		}
	}
}

func TestFor(t *testing.T) {
	const j, l, x = document.JSON, document.Lines, document.XML
	type formats = []document.Format
	const wrong = "!" + string(errs.ReportWrongFormat)
	const invalid = "!" + string(errs.ReportInvalidJSON)
	for _, c := range []struct {
		name, text string
		formats    formats
		want       string // The document, or ! and a code.
	}{
		{"XML", " \n<a/>", formats{x}, `{"a":{}}`},
		{"XML for one that reads all", "<a/>", formats{j, l, x}, `{"a":{}}`},
		{"XML behind a byte order mark", "\ufeff<a/>", formats{j, x}, `{"a":{}}`},
		{"XML for JSON", "<a/>", formats{j}, wrong},
		{"XML for lines", "<a/>", formats{l, j}, wrong},
		{"broken XML", "<a>", formats{j, x}, "!" + string(errs.ReportInvalidXML)},
		{"JSON for XML", "{}", formats{x}, wrong},
		{"text for XML", "all good", formats{x}, wrong},
		{"nothing is read", "{}", nil, wrong},
		{"JSON", ` {"a": 1} `, formats{j}, ` {"a": 1} `},
		{"JSON of two values", "1\n2", formats{j}, invalid},
		{"JSON behind a byte order mark", "\ufeff {}", formats{j}, " {}"},
		{"lines behind a byte order mark", "\ufeff1\n2\n", formats{l}, "[   1,2]"},
		{"lines or JSON behind a byte order mark", "\ufeff{}\n[]", formats{j, l}, "[   {},[]]"},
		{"lines", "1\n2\n", formats{l}, "[1,2]"},
		{"one line", "{}\n", formats{l}, "[{}]"},
		{"an array on one line", "[1]", formats{l}, "[[1]]"},
		{"JSON in several lines for lines", "{\n}", formats{l}, invalid},
		{"both, one value", "{}\n", formats{j, l}, "{}\n"},
		{"both, several lines", "{\n}", formats{l, j}, "{\n}"},
		{"both, several values", "{}\n[]\n", formats{j, l}, "[{},[]]"},
		{"both, neither", "{", formats{j, l}, invalid},
		{"both, the second line is cut short", "{}\n[", formats{j, l}, invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := source(t, c.text).For(c.formats)
			got := "!" + string(errs.CodeOf(err))
			if err == nil {
				got = string(doc.Bytes())
			}
			if got != c.want {
				t.Errorf("got %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestForSaysWhatIsWrong(t *testing.T) {
	both := []document.Format{document.JSON, document.Lines}
	for _, c := range []struct {
		name, text string
		formats    []document.Format
		code       errs.Code
		details    map[string]any
	}{
		{"XML, not JSON", "<a/>", both, errs.ReportWrongFormat, map[string]any{"got": "XML", "want": "JSON or JSON lines"}},
		{"not XML", "{}", []document.Format{document.XML}, errs.ReportWrongFormat, map[string]any{"got": "not XML", "want": "XML"}},
		// Of the two reasons the one that helps: JSON that something follows, or a bad line.
		{"a value in several lines, and more", "{\n} {}", both, errs.ReportInvalidJSON, map[string]any{"offset": 4}},
		{"the first value is broken", "{]", both, errs.ReportInvalidJSON, map[string]any{"offset": 1}},
		{"a bad line", "{}\n{]", both, errs.ReportInvalidJSON, map[string]any{"offset": 4, "line": 2}},
		{"two values on a line", "{} {}", both, errs.ReportInvalidJSON, map[string]any{"offset": 3, "line": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := source(t, c.text).For(c.formats)
			wantFault(t, err, c.code, c.details)
		})
	}
	_, err := source(t, "{}").As("YAML")
	wantFault(t, err, errs.ReportWrongFormat, map[string]any{"got": "not XML", "want": "YAML"})
}

func TestErr(t *testing.T) {
	for text, want := range map[string]errs.Code{
		`{"a":1}`:            "",
		"{}\n{}":             "",
		"{\n}":               "",
		"<a/>":               "",
		`{"a":`:              errs.ReportInvalidJSON,
		"{}\n{":              errs.ReportInvalidJSON,
		"no findings":        errs.ReportInvalidJSON,
		`{"a":1,"a":2}`:      errs.ReportDuplicateKey,
		"<a><b></b>":         errs.ReportInvalidXML,
		"<!DOCTYPE html><p>": errs.ReportInvalidXML,
		"\ufeff{":            errs.ReportInvalidJSON,
	} {
		if got := errs.CodeOf(source(t, text).Err()); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestDigestIsThatOfTheBytesReadInEveryFormat(t *testing.T) {
	for text, format := range map[string]document.Format{" {} ": document.JSON, "\ufeff{}": document.JSON, "1\n2\n": document.Lines, "<a/>": document.XML} {
		s := source(t, text)
		doc, err := s.As(format)
		if err != nil {
			t.Fatal(err)
		}
		if doc.Digest() != s.Digest() || len(s.Digest()) != len("sha256:")+64 {
			t.Errorf("%s: the source has %s, the document %s", format, s.Digest(), doc.Digest())
		}
	}
}

// TestAsIsConcurrent asks for everything at once; the race detector listens.
func TestAsIsConcurrent(t *testing.T) {
	for _, text := range []string{"{}\n[1]\n", `{"a":[1,2]}`, "<a><b/></a>", "{"} {
		s := source(t, text)
		docs := make([][3]*document.Document, 8)
		var all sync.WaitGroup
		for i := range docs {
			all.Go(func() {
				for n, f := range []document.Format{document.Lines, document.JSON, document.XML} {
					docs[i][n], _ = s.As(f)
					if _, err := s.For([]document.Format{f}); err == nil && docs[i][n] == nil {
						t.Errorf("For reads %q as %s, and As does not", text, f)
					}
				}
				_ = s.Err()
			})
		}
		all.Wait()
		for _, d := range docs {
			if d != docs[0] {
				t.Errorf("%q: callers get different documents", text)
			}
		}
	}
}

// TestErrorsDoNotQuote gives every refused report of these tests a secret.
func TestErrorsDoNotQuote(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{
		`{"` + secret + `":1,"` + secret + `":2}`, `{"` + secret, secret, "{}\n" + secret, `"` + secret + `" x`,
		"<" + secret, "<" + secret + "></b>", "<a>&" + secret + ";</a>", "<a " + secret + "=1/>", "<a " + secret + "='1' " + secret + "='2'/>",
		"<a " + secret + "/>", "<?xml version='1.0' encoding='" + secret + "'?><a/>", "<?xml version='" + secret + "'?><a/>",
		"<!DOCTYPE " + secret + "><a/>", "<a/>" + secret, "<a/><" + secret + "/>", "<?" + secret + "/?><a/>", "<a></" + secret + ">",
		"<x:" + secret + ":z/>", "<a><!" + secret + "></a>", "<1" + secret + "/>", "<a>]]>" + secret + "</a>",
	} {
		s := source(t, text)
		for _, f := range []document.Format{document.JSON, document.Lines, document.XML} {
			_, err := s.As(f)
			if err == nil {
				t.Errorf("%q passes as %s", text, f)
				continue
			}
			fe := err.(*errs.Error)
			if strings.Contains(fe.Error(), secret) || strings.Contains(fe.Hint, secret) || fe.Unwrap() != nil {
				t.Errorf("%s: the error quotes the report: %v", f, fe)
			}
			for name, detail := range fe.Details {
				if word, ok := detail.(string); ok && strings.Contains(word, secret) {
					t.Errorf("%s: detail %s quotes the report", f, name)
				}
			}
		}
	}
}
