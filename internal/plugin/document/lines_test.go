package document_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one", `{"a":1}`, `[{"a":1}]`},
		{"two", "{\"a\":1}\n{\"b\":2}\n", `[{"a":1},{"b":2}]`},
		{"no feed at the end", "1\n2", `[1,2]`},
		{"every kind", "null\ntrue\n\"x\"\n-1.5e3\n[]\n{}", `[null,true,"x",-1.5e3,[],{}]`},
		{"CR LF", "1\r\n2\r\n", "[1\r,2]"},
		{"blank lines", "\n \n1\n\n\t\r\n2\n \n", "[\n \n1,\n\t\r\n2]"},
		{"white space around and inside", " 1 \n\t[ 2 , 3 ] ", "[ 1 ,\t[ 2 , 3 ]]"},
		{"line feeds that are escaped", `"a\nb"` + "\n" + `"\\"`, `["a\nb","\\"]`},
		{"separators that JSON does not know", "\"\u2028\u0085\"\n1", "[\"\u2028\u0085\",1]"},
		{"equal keys in different lines", "{\"a\":1}\n{\"a\":1}", `[{"a":1},{"a":1}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Whether the text has been read as JSON before makes no difference.
			for _, before := range [][]document.Format{nil, {document.JSON}, {document.XML}} {
				s := source(t, c.text)
				for _, f := range before {
					_, _ = s.As(f)
				}
				doc, err := s.As(document.Lines)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(doc.Bytes()); got != c.want {
					t.Errorf("after %v: got %q, want %q", before, got, c.want)
				}
			}
		})
	}
}

func TestLinesRefuses(t *testing.T) {
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	at := func(line, offset int) map[string]any { return map[string]any{"line": line, "offset": offset} }
	tooDeep := func(line, offset int) map[string]any {
		return map[string]any{"line": line, "offset": offset, "limit": document.DefaultDepth}
	}
	for _, c := range []struct {
		name, text string
		code       errs.Code
		details    map[string]any
	}{
		{"text", "ok\n", errs.ReportInvalidJSON, at(1, 0)},
		{"text behind a byte order mark", "\ufeffok\n", errs.ReportInvalidJSON, at(1, 3)},
		{"a second line behind a byte order mark", "\ufeff1\n2 3", errs.ReportInvalidJSON, at(2, 7)},
		{"text behind values", "1\n2\n\nok\n", errs.ReportInvalidJSON, at(4, 5)},
		{"two values on a line", "1\n2 3\n", errs.ReportInvalidJSON, at(2, 4)},
		{"two values on the first line", "{}{}", errs.ReportInvalidJSON, at(1, 2)},
		{"a comma behind a value", "1,\n2", errs.ReportInvalidJSON, at(1, 1)},
		{"a comma before a value", "1\n,2", errs.ReportInvalidJSON, at(2, 2)},
		{"CR alone ends no line", "1\r2", errs.ReportInvalidJSON, at(1, 2)},
		{"a value over two lines", "1\n[\n]", errs.ReportInvalidJSON, at(2, 3)},
		{"the first value over two lines", " [1,\n2]\n3", errs.ReportInvalidJSON, at(1, 4)},
		{"lines that would join into one object", "{\"a\":1\n\"b\":2}", errs.ReportInvalidJSON, at(1, 6)},
		{"a broken line before a good one", "0\n{\"a\":1\n{}", errs.ReportInvalidJSON, at(2, 8)},
		{"a line that is cut short in a string", "0\n{\"a\":\"x\n{}", errs.ReportInvalidJSON, at(2, 9)},
		{"the last line is cut short", "{}\n{\"a\":", errs.ReportInvalidJSON, at(2, 8)},
		{"the only line is cut short", "{\"a\":\n", errs.ReportInvalidJSON, at(1, 5)},
		{"a lone surrogate", "1\n\"\\ud800\"", errs.ReportInvalidJSON, at(2, 3)},
		{"a duplicate key", "{}\n{\"a\":1,\"\\u0061\":2}", errs.ReportDuplicateKey, at(2, 10)},
		{"a duplicate key in the first line", "{\"a\":1,\"a\":2}\n", errs.ReportDuplicateKey, at(1, 7)},
		{"deep", deep(128), errs.ReportTooDeep, tooDeep(1, 127)},
		{"very deep", deep(129), errs.ReportTooDeep, tooDeep(1, 128)},
		{"deep in a later line", "0\n" + deep(128), errs.ReportTooDeep, tooDeep(2, 129)},
		{"many that are cut short are not deep", strings.Repeat("[\n", 500), errs.ReportInvalidJSON, at(1, 1)},
		{"many that are cut short are not deep, later", "0\n" + strings.Repeat("[\n", 20_000), errs.ReportInvalidJSON, at(2, 3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range [][]document.Format{nil, {document.JSON}} {
				s := source(t, c.text)
				for _, f := range before {
					_, _ = s.As(f)
				}
				_, err := s.As(document.Lines)
				wantFault(t, err, c.code, c.details)
			}
		})
	}
}

func TestLinesUpToTheLimits(t *testing.T) {
	if _, err := as(document.Lines, "[[1]]\n[[2]]", document.Limits{Depth: 3}); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"[[1]]", "0\n[[1]]"} {
		if _, err := as(document.Lines, text, document.Limits{Depth: 2}); errs.CodeOf(err) != errs.ReportTooDeep {
			t.Errorf("%q passes a limit of 2 levels: %v", text, err)
		}
	}
	// The array may not be larger than the limit either; white space around it is left out.
	if _, err := as(document.Lines, "1\n2\n\n", document.Limits{Bytes: 5}); err != nil {
		t.Error(err)
	}
	_, err := as(document.Lines, "1\n234", document.Limits{Bytes: 6})
	wantFault(t, err, errs.ReportTooLarge, map[string]any{"limit": int64(6)})
}

func TestLinesHaveItems(t *testing.T) {
	doc, err := source(t, "{\"a\":1}\r\n\r\n7\r\n\"x\"\r\n").As(document.Lines)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ref, raw := range doc.Items(context.Background(), []string{"/*"}) {
		got = append(got, ref+"="+string(raw))
	}
	if want := []string{`/0={"a":1}`, `/1=7`, `/2="x"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !doc.Detects(context.Background(), []string{"/a"}, nil) {
		t.Error("the first line detects nothing")
	}
}

// TestLinesAreTheirValues checks the array of random values, in all forms of lines, against
// encoding/json.
func TestLinesAreTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(jsonValue(3), 1, 8).Draw(t, "values")
		var text, want bytes.Buffer
		want.WriteByte('[')
		for i, v := range values {
			line, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				want.WriteByte(',')
				text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", " \n \t\n "}).Draw(t, "end"))
			}
			text.Write(line)
			want.Write(line)
		}
		want.WriteByte(']')
		if rapid.Bool().Draw(t, "last line ends") {
			text.WriteByte('\n')
		}
		doc, err := as(document.Lines, text.String(), document.Limits{})
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		got, err := decode(doc.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if array, _ := decode(want.Bytes()); !reflect.DeepEqual(got, array) {
			t.Fatalf("%q becomes %s", text.String(), doc.Bytes())
		}
	})
}

// jsonValue generates a value for encoding/json.
func jsonValue(depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "text") })
	kinds := []*rapid.Generator[any]{
		text,
		rapid.Custom(func(t *rapid.T) any { return rapid.Int().Draw(t, "number") }),
		rapid.SampledFrom([]any{nil, true, false}),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(jsonValue(depth-1), 0, 4).Draw(t, "array") }),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.String(), jsonValue(depth-1), 0, 4).Draw(t, "object")
			}))
	}
	return rapid.OneOf(kinds...)
}

// FuzzLines checks accepted lines against encoding/json, one by one. In refused text there must be
// a line that encoding/json also refuses, or that only we refuse.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"{\"a\":1}\n{\"a\":2}\n", "1\r\n\r\n[2]", "{\"a\":1\n\"b\":2}", "1 2", "[\n[\n", "\"\\ud800\"\n1", "\n\n \n0", "{\"a\":1,\"a\":2}",
		"1\n,2", "[1]\n[[[[[[[[]]]]]]]]", "tru\ne", "\"a\nb\"", "01\n1", "{}{}\n", "1\r2",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := document.Limits{Bytes: 1 << 16, Depth: 8}
		s, err := document.Read(bytes.Clone(data), limits)
		if err != nil {
			return
		}
		_, _ = s.As(document.JSON)
		doc, err := s.As(document.Lines)
		alone, err2 := as(document.Lines, string(data), limits)
		if !reflect.DeepEqual(err, err2) || err == nil && !bytes.Equal(doc.Bytes(), alone.Bytes()) {
			t.Fatalf("%v after JSON, %v without", err, err2)
		}
		// The same in small steps: each line is a report of its own.
		var want []any
		strict := true
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if len(bytes.Trim(line, " \t\r")) == 0 {
				continue
			}
			one, err := as(document.JSON, string(line), document.Limits{Depth: limits.Depth - 1})
			if err != nil {
				strict = false
				break
			}
			v, err := decode(one.Bytes())
			if err != nil {
				t.Fatalf("accepted what encoding/json refuses: %v", err)
			}
			want = append(want, v)
		}
		if strict != (err == nil) && errs.CodeOf(err) != errs.ReportTooLarge {
			t.Fatalf("each line by itself passes: %v; together: %v", strict, err)
		}
		if err != nil {
			f := err.(*errs.Error)
			if offset, ok := f.Details["offset"].(int); ok {
				if line := 1 + bytes.Count(data[:offset], []byte("\n")); f.Details["line"] != line {
					t.Fatalf("offset %d is in line %d, the error says %v", offset, line, f.Details["line"])
				}
			}
			return
		}
		got, err := decode(doc.Bytes())
		if err != nil || !reflect.DeepEqual(got, any(want)) {
			t.Fatalf("%q becomes %q (%v)", data, doc.Bytes(), err)
		}
		if _, err := as(document.JSON, string(doc.Bytes()), limits); err != nil {
			t.Fatalf("what comes out is refused as JSON: %v", err)
		}
	})
}
