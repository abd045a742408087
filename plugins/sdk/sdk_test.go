package sdk

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
)

type place struct {
	File string `json:"file"`
	Line *int   `json:"line"`
}

type everything struct {
	Text   string           `json:"text"`
	Count  int32            `json:"count"`
	Size   uint8            `json:"size"`
	Share  float64          `json:"share"`
	Sure   bool             `json:"sure"`
	Maybe  *string          `json:"maybe"`
	Tags   []string         `json:"tags,omitempty"`
	Places []place          `json:"places"`
	Named  map[string]place `json:"named"`
	Raw    Value            `json:"raw"`
	Plain  int
}

const whole = `{"text":"a","count":-3,"size":255,"share":1e2,"sure":true,"places":[{"file":"f","line":7},{"file":"g"}],` +
	`"named":{"x/y":{"file":"h","line":null}},"raw":{"a":[1, 2]},"Plain":5,"more":[{}]}`

func TestDecode(t *testing.T) {
	seven := 7
	want := everything{
		Text: "a", Count: -3, Size: 255, Share: 100, Sure: true,
		Places: []place{{"f", &seven}, {"g", nil}}, Named: map[string]place{"x/y": {"h", nil}},
		Raw: Value(`{"a":[1, 2]}`), Plain: 5,
	}
	var got everything
	if err := NewReport(" \n"+whole+" ", "{}").Decode(&got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// Tests of a normalizer may run in parallel, and decode new types at the same time.
func TestDecodeConcurrently(t *testing.T) {
	types := make([]reflect.Type, 10_000)
	for n := range types {
		length := reflect.ArrayOf(n, reflect.TypeFor[byte]()) // It makes the type a new one.
		types[n] = reflect.StructOf([]reflect.StructField{{Name: "Text", Type: reflect.TypeFor[string]()}, {Name: "Ignored", Type: length, Tag: `json:"-"`}})
	}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for _, typ := range types {
				if all := fieldsOf(typ); len(all) != 1 || all[0].name != "Text" {
					t.Errorf("got %v", all)
				}
			}
		})
	}
	done.Wait()
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ old, new, ref, kind string }{
		{`"text":"a"`, `"text":1`, "/text", "number"},
		{`"text":"a"`, `"text":null`, "/text", "null"},
		{`"text":"a"`, `"Text":"a"`, "", "missing"},
		{`"count":-3`, `"count":-3.0`, "/count", "number"},
		{`"count":-3`, `"count":-0`, "/count", "number"},
		{`"count":-3`, `"count":2147483648`, "/count", "number"},
		{`"count":-3`, `"count":"3"`, "/count", "string"},
		{`"size":255`, `"size":256`, "/size", "number"},
		{`"size":255`, `"size":-1`, "/size", "number"},
		{`"share":1e2`, `"share":1e999`, "/share", "number"},
		{`"share":1e2`, `"share":true`, "/share", "boolean"},
		{`"sure":true`, `"sure":"true"`, "/sure", "string"},
		{`"sure":true`, `"maybe":7,"sure":true`, "/maybe", "number"},
		{`"sure":true`, `"tags":"x","sure":true`, "/tags", "string"},
		{`"sure":true`, `"tags":["x",null],"sure":true`, "/tags/1", "null"},
		{`{"file":"g"}`, `{}`, "/places/1", "missing"},
		{`{"file":"g"}`, `[]`, "/places/1", "array"},
		{`"line":7`, `"line":7.5`, "/places/0/line", "number"},
		{`"file":"h"`, `"file":[]`, "/named/x~1y/file", "array"},
		{`"raw":{"a":[1, 2]},`, ``, "", "missing"},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if text == whole {
			t.Fatalf("%s is not there", c.old)
		}
		var into everything
		var e *Error
		if err := NewReport(text, "{}").Decode(&into); !errors.As(err, &e) {
			t.Errorf("%s: %v", c.new, err)
			continue
		}
		if *e.Ref != c.ref || e.Details["got"] != c.kind {
			t.Errorf("%s: %s at %q: %s", c.new, e.Details["got"], *e.Ref, e.Message)
		}
	}
	var e *Error
	if err := Value(`{"file":"x","line":[]}`).DecodeAt("/a/3", new(place)); !errors.As(err, &e) || *e.Ref != "/a/3/line" {
		t.Errorf("got %v", err)
	}
	if err := Value(nil).Decode(new(place)); err == nil {
		t.Error("what is missing decodes")
	}
}

// TestValuesAgreeWithTheStandardLibrary compares the values in awkward texts with those that
// encoding/json finds.
func TestValuesAgreeWithTheStandardLibrary(t *testing.T) {
	for _, text := range []string{
		"null", "true", "0", "-1.5e+3", `""`, "[]", "{}", " [ ] ", "\t{ }\n", whole,
		`"\"\\\/\b\f\n\r\t\u0041\u00e9\u2028\ud834\udd1e"`, `"é𝄞"`,
		`[1,"]",{"}":"{"},[[]],"\\",""]`, "{\"a\" :\r[ 1 , 2 ]\n,\"\\u0062\\\"\":{\"c\":null } }",
	} {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got := tree(NewReport(text, "{}").Value); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func tree(v Value) any {
	switch v.Kind() {
	case "object":
		m := map[string]any{}
		for name, value := range v.Members() {
			m[name] = tree(value)
		}
		return m
	case "array":
		a := []any{}
		for i, value := range v.Elements() {
			if i != len(a) {
				panic("elements are not counted")
			}
			a = append(a, tree(value))
		}
		return a
	case "string":
		text, _ := v.Text()
		return text
	}
	var scalar any
	_ = json.Unmarshal(v, &scalar)
	return scalar
}

func TestAt(t *testing.T) {
	v := Value(`{"a":[{"b/c":{"~1":"x","":[0]}}]}`)
	for pointer, want := range map[string]string{
		"": string(v), "/a/0/b~1c/~01": `"x"`, "/a/0/b~1c/": "[0]", "/a/0/b~1c//0": "0",
		"/a/1": "", "/a/00": "", "/a/-1": "", "/b": "", "/a/0/b~1c/~01/x": "",
	} {
		if got := v.At(pointer); string(got) != want {
			t.Errorf("%s: %s", pointer, got)
		}
	}
	if got := Pointer("a", 0, "b/c", "~1", ""); got != "/a/0/b~1c/~01/" {
		t.Error(got)
	}
}

func TestInt(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "-7": true, "1.0": false, "1e3": false, "-0": false, `"1"`: false, "99999999999999999999": false} {
		if n, ok := Value(text).Int(); ok != want {
			t.Errorf("%s: %d, %t", text, n, ok)
		}
	}
}

func TestExcerptsAreShortAndWhole(t *testing.T) {
	long := Value(`"` + strings.Repeat("ü", 150) + `"`)
	if got := long.Excerpt(); got != `"`+strings.Repeat("ü", 99)+"..." {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := Value(nil).Excerpt(); got != "missing" {
		t.Error(got)
	}
}

func TestAnswers(t *testing.T) {
	defer Register(Description{}, nil)
	file, line, task := "a\tb", 7, "T-1"
	var answer Answer
	var refusal error
	Register(Description{Name: "mine", Version: "1", Critic: "me", DetectAny: []string{"/a"}}, func(Report) (Answer, error) { return answer, refusal })
	for _, c := range []struct {
		answer Answer
		err    error
		want   string
	}{
		{Answer{}, nil, `{"critic":"me","findings":[],"skipped":[]}`},
		{
			Answer{Critic: "you", TaskID: &task, Round: &line, Findings: []Finding{
				{Category: "c", Severity: Risk, File: &file, Line: &line, Remediation: "\"\\\x00\x1f\xff\ufffdü", Ref: "/0"},
				{Critic: "x", Category: "d", Undoes: "0123456789abcdef"},
			}, Skipped: []Skipped{{"/1", "why"}}, Unmapped: []Unmapped{{"r", "c"}}, Previous: []Statement{{"fedcba9876543210", Fixed, "/2"}}},
			nil,
			`{"critic":"you","task_id":"T-1","round":7,"findings":[
				{"category":"c","severity":"risk","file":"a\tb","line":7,"remediation":"\"\\\u0000\u001f\ufffd\ufffdü","ref":"/0"},
				{"critic":"x","category":"d","file":null,"line":null,"remediation":"","undoes":"0123456789abcdef","ref":""}],
			  "skipped":[{"ref":"/1","reason":"why"}],"unmapped":[{"rule":"r","category":"c"}],
			  "previous":[{"id":"fedcba9876543210","status":"fixed","ref":"/2"}]}`,
		},
		{Answer{}, errors.New("no"), `{"error":{"code":"mine-invalid","message":"no"}}`},
		{
			Answer{}, &Error{Code: "mine-x", Message: "m", Hint: "h", Ref: &task, Details: map[string]any{
				"z": nil, "a": Value("[1]"), "b": []string{"x"}, "c": 1.5, "d": uint8(3), "e": map[string]int{"f": -1}, "g": true, "h": Value(nil), "i": &line,
			}},
			`{"error":{"code":"mine-x","message":"m","hint":"h","ref":"T-1",
			  "details":{"a":[1],"b":["x"],"c":1.5,"d":3,"e":{"f":-1},"g":true,"h":null,"i":7,"z":null}}}`,
		},
	} {
		answer, refusal = c.answer, c.err
		var got, want any
		if err := errors.Join(json.Unmarshal(respond([]byte("{}"), []byte("{}")), &got), json.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	}
	const described = `{"name":"mine","version":"1","critic":"me","formats":[],"detect":[],"detect_any":["/a"],"items":[]}`
	if got := string(describe()); got != described {
		t.Error(got)
	}
	Register(Description{Name: "mine", ItemsFrom: "/items", LinesIf: "/lines"}, nil)
	if got := string(describe()); !strings.HasSuffix(got, `"items":[],"items_from":"/items","lines_if":"/lines"}`) {
		t.Error(got)
	}
}

func TestCategories(t *testing.T) {
	r := NewReport("{}", `{"categories":{"default":"d","rules":{"r":"R"},"tags":{"t":"T","u":"U"},"severities":{"s":"S"}}}`)
	c, err := r.Categories("usual")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		rule     string
		tags     []string
		severity string
		want     string
	}{
		{"r", []string{"t"}, "s", "R"}, {"x", []string{"v", "u", "t"}, "s", "U"}, {"x", nil, "s", "S"},
		{"x", nil, "", "d"}, {"x", nil, "", "d"}, {"", nil, "", "d"}, {"y", nil, "z", "d"},
	} {
		if got := c.Of(x.rule, x.tags, x.severity); got != x.want {
			t.Errorf("%+v: %s", x, got)
		}
	}
	if got := c.Unmapped(); !reflect.DeepEqual(got, []Unmapped{{"x", "d"}, {"y", "d"}}) {
		t.Errorf("unmapped are %v", got)
	}
	if c, err := NewReport("{}", "{}").Categories("usual"); err != nil || c.Of("", nil, "") != "usual" {
		t.Error(err)
	}
	for config, pointer := range map[string]string{
		`{"x~":1}`: "/x~0", `{"categories":[]}`: "/categories", `{"categories":{"a/b":1}}`: "/categories/a~1b",
		`{"categories":{"default":null}}`: "/categories/default", `{"categories":{"tags":null}}`: "/categories/tags",
		`{"categories":{"rules":{"a/b":""}}}`: "/categories/rules/a~1b",
	} {
		var e *Error
		if _, err := NewReport("{}", config).Categories("usual"); !errors.As(err, &e) || e.Code != CodeConfigInvalid || e.Details["config"] != pointer {
			t.Errorf("%s: %v", config, err)
		}
	}
}
