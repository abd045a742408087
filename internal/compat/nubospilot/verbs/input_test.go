package verbs

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
)

// TestLastResult checks that the last line with a run's result is found, and not a line
// that only contains such a text.
func TestLastResult(t *testing.T) {
	const (
		limit  = 1 << 10
		event  = `{"type":"assistant","text":"\"type\":\"result\",\"is_error\":false"}` + "\n"
		early  = `{"type":"result","is_error":false,"result":"early"}` + "\n"
		last   = `{"is_error":true,"result":"last","type":"result"}`
		others = `{"type":"result","exitCode":0}` + "\n" // another CLI's
	)
	long := `{"type":"result","is_error":false,"result":"` + strings.Repeat("x", limit) + "\"}\n"
	for name, c := range map[string]struct{ output, want string }{
		"nothing":            {"", ""},
		"text":               {"I am done.\n", ""},
		"no result":          {event + others, ""},
		"one":                {event + last, last},
		"the last of two":    {early + event + last + "\n" + event, last + "\n"},
		"colour of a banner": {"\x1b[1mHello\x1b[0m\n" + last + "\r\n", last + "\r\n"},
		"cut short":          {early + last[:len(last)-1], early},
		"in several lines":   {"{\n  \"type\": \"result\",\n  \"is_error\": false\n}\n", ""},
		"no word":            {`{"type":"result","is_error":"no"}` + "\n", ""},
		"no UTF-8":           {"{\"type\":\"result\",\"is_error\":false,\"result\":\"\xff\"}", "{\"type\":\"result\",\"is_error\":false,\"result\":\"\xff\"}"},
		"too long":           {early + long + event, early},
		"behind a long one":  {long + early, early},
	} {
		at, size, err := LastResult(strings.NewReader(c.output), limit)
		if got := c.output[at : at+size]; err != nil || got != c.want {
			t.Errorf("%s: %.80q, %v", name, got, err)
		}
	}
	broken := errors.New("broken")
	if _, _, err := LastResult(iotest.ErrReader(broken), 16); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestByteOrderMark checks that a report may begin with a byte order mark, as the plugins read
// it, and that its bytes stay those of the file.
func TestByteOrderMark(t *testing.T) {
	const findings = "\ufeff[{}]"
	read := func(string) ([]byte, error) { return []byte(findings), nil }
	text, err := Input{Flags: map[string]string{"critic-outputs-path": "a.json"}}.CriticOutputs(read)
	if err != nil || string(text) != findings {
		t.Errorf("reports: %q, %v", text, err)
	}
	text, err = Input{Flags: map[string]string{"findings-path": "a.json"}}.Findings(read)
	if err != nil || string(text) != `{"critic":"critic","findings":[{}]}` {
		t.Errorf("findings: %q, %v", text, err)
	}
}

// FuzzParseReports checks that exactly JSON is accepted, and that findings that become a
// report stay JSON.
func FuzzParseReports(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `[]`, `{}`, `null`, `"x"`, `[1,]`, `[{}]x`, `[{"findings":[]}]`, `[{"findings":[],"findings":1}]`,
		`{"criteria":null}`, "\xef\xbb\xbf[]", "[\"\xff\"]", strings.Repeat("[", 20000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kind, items := parseReports(text)
		lax := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
		if valid := jsontext.Value(bytes.TrimPrefix(text, []byte("\ufeff"))).IsValid(lax...); valid != (kind != 0) {
			t.Fatalf("%q: kind %v, valid %v", text, kind, valid)
		}
		if kind == 0 {
			return
		}
		if kind != '[' && len(items) != 1 {
			t.Fatalf("%q: %d values", text, len(items))
		}
		hasReport(items)
	})
}
