package document_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// as reads text as a format.
func as(format document.Format, text string, limits document.Limits) (*document.Document, error) {
	s, err := document.Read([]byte(text), limits)
	if err != nil {
		return nil, err
	}
	return s.As(format)
}

func parse(t *testing.T, text string) *document.Document {
	t.Helper()
	d, err := as(document.JSON, text, document.Limits{})
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return d
}

func TestJSONRefuses(t *testing.T) {
	deep := strings.Repeat("[", 129) + strings.Repeat("]", 129)
	for _, c := range []struct {
		name, text string
		code       errs.Code
	}{
		{"nothing", "", errs.ReportEmpty},
		{"white space", " \n\t ", errs.ReportEmpty},
		{"text", "no findings, all good", errs.ReportInvalidJSON},
		{"truncated object", `{"critic":"style","findings":[`, errs.ReportInvalidJSON},
		{"truncated string", `{"critic":"sty`, errs.ReportInvalidJSON},
		{"two values", `{} {}`, errs.ReportInvalidJSON},
		{"trailing comma", `[1,]`, errs.ReportInvalidJSON},
		{"comment", `{} // done`, errs.ReportInvalidJSON},
		{"byte order mark alone", "\ufeff \n", errs.ReportEmpty},
		{"byte order mark twice", "\ufeff\ufeff{}", errs.ReportInvalidJSON},
		{"byte order mark behind a blank", " \ufeff{}", errs.ReportInvalidJSON},
		{"NaN", `{"line":NaN}`, errs.ReportInvalidJSON},
		{"lone surrogate", `"\ud800"`, errs.ReportInvalidJSON},
		{"latin-1", "{\"a\":\"\xe9\"}", errs.ReportInvalidUTF8},
		{"duplicate key", `{"findings":[1],"findings":[]}`, errs.ReportDuplicateKey},
		{"duplicate key in disguise", `{"findings":[1],"f\u0069ndings":[]}`, errs.ReportDuplicateKey},
		{"deep", deep, errs.ReportTooDeep},
		{"very deep and cut short", strings.Repeat(`{"a":`, 100_000), errs.ReportTooDeep},
		{"large", `"` + strings.Repeat("x", document.DefaultBytes) + `"`, errs.ReportTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := as(document.JSON, c.text, document.Limits{})
			if got := errs.CodeOf(err); got != c.code {
				t.Errorf("code %q (%v), want %q", got, err, c.code)
			}
		})
	}
}

func TestJSONUpToTheLimits(t *testing.T) {
	parse(t, strings.Repeat("[", 128)+strings.Repeat("]", 128))
	parse(t, `"[[[[ not depth ]]]] \" [["`)
	if _, err := as(document.JSON, `[[[]]]`, document.Limits{Depth: 2}); errs.CodeOf(err) != errs.ReportTooDeep {
		t.Errorf("depth 3 passes a limit of 2: %v", err)
	}
	if _, err := as(document.JSON, `[1,2]`, document.Limits{Bytes: 4}); errs.CodeOf(err) != errs.ReportTooLarge {
		t.Errorf("5 bytes pass a limit of 4: %v", err)
	}
}

func TestAtFollowsRFC6901(t *testing.T) {
	// The document and the expectations are section 5 of RFC 6901.
	d := parse(t, `{"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8}`)
	for pointer, want := range map[string]string{
		"/foo": `["bar", "baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3",
		"/g|h": "4", `/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8",
	} {
		if got, ok := d.At(pointer); !ok || string(got) != want {
			t.Errorf("At(%q) = %s, %v; want %s", pointer, got, ok, want)
		}
	}
	if got, ok := d.At(""); !ok || !strings.HasPrefix(string(got), `{"foo"`) {
		t.Errorf("the empty pointer gives %s", got)
	}
	for _, pointer := range []string{"foo", "/foo/2", "/foo/-", "/foo/00", "/foo/+1", "/foo/1e0", "/foo/", "/m~2n", "/m~", "/none", "/foo/0/0", "/i\\\\j"} {
		if got, ok := d.At(pointer); ok {
			t.Errorf("At(%q) = %s, want nothing", pointer, got)
		}
	}
}

func TestAtReadsEscapedKeys(t *testing.T) {
	d := parse(t, `{"\u0063ritic":"style","\ud83d\ude00":1,"tab\there":2}`)
	for pointer, want := range map[string]string{"/critic": `"style"`, "/😀": "1", "/tab\there": "2"} {
		if got, ok := d.At(pointer); !ok || string(got) != want {
			t.Errorf("At(%q) = %s, %v; want %s", pointer, got, ok, want)
		}
	}
}

func TestItems(t *testing.T) {
	d := parse(t, ` {"runs":[{"results":[{"a":1} , {"a":[2]}]},{"results":[]},{},{"results":{"0":"an object is no array"}},{"results":[3]}]} `)
	var got []string
	for ref, raw := range d.Items(context.Background(), []string{"/runs/*/results/*"}) {
		got = append(got, ref+"="+string(raw))
	}
	want := []string{`/runs/0/results/0={"a":1}`, `/runs/0/results/1={"a":[2]}`, `/runs/4/results/0=3`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var both []string
	for ref := range d.Items(context.Background(), []string{"/runs/*", "/runs/0/results/1/a", "/runs/*/results/0/a", "/none/*", "/runs/2/x/y"}) {
		both = append(both, ref)
	}
	if want := []string{"/runs/0/results/1/a", "/runs/0/results/0/a", "/runs/0", "/runs/1", "/runs/2", "/runs/3", "/runs/4"}; !slices.Equal(both, want) {
		t.Errorf("several patterns: got %q, want %q", both, want)
	}
	var members []string
	for ref := range d.Items(context.Background(), []string{"/runs/0/results/*/{*}", "/runs/3/{*}/0", "/runs/3/results/0", "/{*}/4", "/runs/{*}"}) {
		members = append(members, ref)
	}
	if want := []string{"/runs/0/results/0/a", "/runs/0/results/1/a", "/runs/3/results/0", "/runs/3/results/0", "/runs/4"}; !slices.Equal(members, want) {
		t.Errorf("members: got %q, want %q", members, want)
	}
	for ref := range d.Items(context.Background(), []string{"no slash"}) {
		t.Errorf("an ill-formed pattern matches %s", ref)
	}
	for range d.Items(context.Background(), []string{"/runs/*"}) {
		break // Stopping early must not panic.
	}
}

func TestDetects(t *testing.T) {
	object := parse(t, `{"critic":"style","findings":[]}`)
	list := parse(t, `[{"critic":"style"},{"critic":"tests"}]`)
	for _, c := range []struct {
		doc       *document.Document
		all, some []string
		want      bool
	}{
		{object, []string{"/critic"}, nil, true},
		{object, []string{"/critic", "/findings"}, nil, true},
		{object, []string{"/critic", "/runs"}, nil, false},
		{object, nil, nil, false},
		{list, []string{"/critic"}, nil, true},
		{list, []string{"/runs"}, nil, false},
		{object, nil, []string{"/runs", "/findings"}, true},
		{object, nil, []string{"/runs"}, false},
		{object, []string{"/critic"}, []string{"/runs", "/findings"}, true},
		{object, []string{"/critic"}, []string{"/runs"}, false},
		{object, []string{"/runs"}, []string{"/critic"}, false},
		{list, nil, []string{"/runs", "/critic"}, true},
		{object, []string{""}, nil, true},
		{list, []string{"/1/critic"}, nil, true},
		{list, []string{"/*/critic"}, nil, false},
		{parse(t, `{"*":{"a/b":0,"\u0061":{"~":[[7]]}}}`), []string{"/*/a~1b", "/*/a/~0/0/0", ""}, []string{"/x", "/*"}, true},
		{parse(t, `{"*":[0]}`), []string{"/*/00"}, nil, false},
		{parse(t, `[{"a":1}]`), []string{"/0/a", "/a", ""}, nil, true},
		{object, []string{"critic"}, nil, false},
		{parse(t, `[]`), []string{"/critic"}, nil, false},
		{parse(t, `{"0":{"critic":"x"}}`), []string{"/critic"}, nil, false},
		{parse(t, `{"0":{"critic":"x"}}`), nil, []string{"/critic"}, false},
		{parse(t, `"critic"`), []string{"/critic"}, nil, false},
	} {
		if got := c.doc.Detects(context.Background(), c.all, c.some); got != c.want {
			t.Errorf("%s detects %v and %v = %v, want %v", c.doc.Bytes(), c.all, c.some, got, c.want)
		}
	}
}

// TestWalksEnd begins long walks with a context that is done.
func TestWalksEnd(t *testing.T) {
	d := parse(t, "[["+strings.Repeat(`{"\\u0061":0},`, 1<<20)+"0]]")
	var items, detect []string
	for n := range 64 {
		step := "/" + strings.Repeat("0/", n%2) + strings.Repeat("*/", 1-n%2)
		items = append(items, step+"*/x"+strconv.Itoa(n))
		detect = append(detect, "/0/"+strconv.Itoa(n)+"/b")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for ref := range d.Items(ctx, items) {
		t.Errorf("found %s", ref)
	}
	if d.Detects(t.Context(), nil, detect) {
		t.Error("detected")
	}
}

func TestDigestIsOfTheBytes(t *testing.T) {
	const want = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" // sha256sum of "{}"
	if got := parse(t, `{}`).Digest(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzParse checks JSON against encoding/json, which must accept all that we accept. At every
// pointer there must be the value that it decodes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"critic":"style","findings":[{"line":1}]}`, `[{"a":"\u00e9\\\""},[],{}]`, `{"a":1,"a":2}`, `"x`, `[[`, "\xff", ` 1 `, `{"~/":[0]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := as(document.JSON, string(data), document.Limits{Bytes: 1 << 16, Depth: 32})
		if err != nil {
			if _, ok := errors.AsType[*errs.Error](err); !ok {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		decoded, err := decode(data)
		if err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		walk(t, d, "", decoded)
		for ref, raw := range d.Items(context.Background(), []string{"", "/*", "/a", "/*/*", "/a/*/0", "/critic", "/findings/*/line"}) {
			if at, ok := d.At(ref); !ok || !bytes.Equal(at, raw) {
				t.Fatalf("the item %q is %s, at it stands %s", ref, raw, at)
			}
		}
	})
}

// decode reads data with encoding/json, numbers as they stand.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func walk(t *testing.T, d *document.Document, pointer string, want any) {
	raw, ok := d.At(pointer)
	if !ok || !raw.IsValid() {
		t.Fatalf("At(%q) = %q, %v", pointer, raw, ok)
	}
	got, err := decode(raw)
	if err != nil {
		t.Fatalf("At(%q) is not JSON: %v", pointer, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("At(%q) = %v, want %v", pointer, got, want)
	}
	switch v := want.(type) {
	case map[string]any:
		for key, member := range v {
			walk(t, d, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), member)
		}
	case []any:
		for i, element := range v {
			walk(t, d, fmt.Sprintf("%s/%d", pointer, i), element)
		}
	}
}
