package compactjson_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/compactjson"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// everything has a field of every kind that is decoded here, and of some that are not.
type everything struct {
	Bool    bool           `json:"bool"`
	Int     int            `json:"int"`
	Long    int64          `json:"long,omitzero"`
	Small   int8           `json:"small"`
	Text    string         `json:"text"`
	Name    name           `json:"name"`
	Pointer *int           `json:"pointer"`
	Inner   *everything    `json:"inner"`
	Texts   []string       `json:"texts"`
	Inners  []everything   `json:"inners"`
	Counts  map[string]int `json:"counts"`
	Float   float64        `json:"float"`
	Bytes   []byte         `json:"bytes"`
	Any     any            `json:"any"`
	Raw     jsontext.Value `json:"raw"`
	embedded
	*Facts
}

type (
	name     string
	embedded struct {
		Deep int `json:"deep"`
	}
	Facts struct {
		Left  int  `json:"left"`
		Right *int `json:"right"`
	}
	// plain is everything without what makes a struct general.
	plain struct {
		Bool    bool           `json:"bool"`
		Int     int            `json:"int"`
		Long    int64          `json:"long,omitzero"`
		Small   int8           `json:"small"`
		Text    string         `json:"text"`
		Name    name           `json:"name"`
		Pointer *int           `json:"pointer"`
		Inner   *plain         `json:"inner"`
		Texts   []string       `json:"texts"`
		Inners  []plain        `json:"inners"`
		Counts  map[string]int `json:"counts"`
		Float   float64        `json:"float"`
		Raw     jsontext.Value `json:"raw"`
		Any     any            `json:"any"`
		*Facts
	}
)

// decode has both decoders decode a text. It reports whether ours did.
func decode[T any](t *testing.T, text []byte, begin func() T) bool {
	t.Helper()
	got, want := begin(), begin()
	if !compactjson.Decode(text, &got) {
		return false
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatalf("it decodes %q: %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q\n%+v\nwant\n%+v", text, got, want)
	}
	return true
}

func decodePlain(t *testing.T, text []byte) bool {
	return decode(t, text, func() plain { return plain{Any: new(plain)} })
}

var compact = []string{
	`{}`, `null`, `{"bool":true,"int":1,"long":-5,"small":127,"text":"a","name":"b","pointer":3,"inner":{"inner":{"text":"c"}}}`,
	`{"texts":[],"inners":[]}`, `{"texts":["a","b","c","d","e"],"inners":[{"int":1},{},{"texts":null}]}`, `{"counts":{"a":1,"b":-2}}`, `{"counts":{"a":null}}`, `{"counts":{}}`,
	`{"text":null,"int":null,"bool":null,"pointer":null,"inner":null,"inners":null,"counts":null,"left":null}`,
	`{"left":1}`, `{"right":2,"left":1}`, `{"right":null}`, `{"any":{"int":1,"any":[1,"a",null]}}`, `{"any":null}`,
	`{"float":1.5,"raw":{"a":[1,2.50,-0,0.1,"\u00e9\n\"",true,false,null,{}]}}`, `{"float":7}`, `{"unknown":[[[{"a":{"b":"c"}}]]],"int":4}`,
	`{"text":"\"\\\/\b\f\n\r\t\u0041\ue000"}`, `{"text":"ä€𐍈"}`, `{"raw":null}`, `{"raw":"a"}`, `{"raw":{}}`, `{"text":"` + strings.Repeat("long ", 100) + `"}`, `{"text":"` + strings.Repeat(`es\"caped `, 100) + `"}`,
	`{"int":999999999999999999}`, `{"inners":[{"text":"a","left":1},{"text":"a"}]}`,
}

func TestCompactTextsAreDecoded(t *testing.T) {
	for _, text := range compact {
		if !decodePlain(t, []byte(text)) {
			t.Errorf("%s is left to the general decoder", text)
		}
		decode(t, []byte(text), func() everything { return everything{} })
		decode(t, []byte(text), func() any { return nil })
	}
}

// All of these are invalid, or left to the general decoder.
func TestOtherTextsAreNotDecoded(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = `"` + strings.Repeat("x", i) + `":1`
	}
	for _, text := range []string{
		``, ` {}`, `{} `, `{}{}`, `{`, `}`, `[`, `{"int"}`, `{"int":}`, `{"int":1,}`, `{,}`, `{"int":1 }`, `{"int":01}`, `{"int":-}`, `{"int":-0}`, `{"int":1.0}`,
		`{"int":1e3}`, `{"int":1000000000000000000000}`, `{"int":"1"}`, `{"int":true}`, `{"small":128}`, `{"bool":1}`, `{"bool":tru}`, `{"bool":truer}`, `{"text":1}`,
		`{"texts":{}}`, `{"texts":["a",]}`, `{"texts":[1]}`, `{"counts":{"a":1.5}}`, `{"counts":[]}`, `{"counts":{"a":1,"a":1}}`, `{"inner":[]}`, `nul`, `{"raw":nul}`,
		`{"int":1,"int":1}`, `{"x":1,"x":1}`, `{"raw":{"a":1,"b":{"x":1,"y":2,"x":3}}}`, `{"in\u0074":1}`, `{"raw":"\ud800"}`, `{"raw":"\udc00"}`, `{"raw":"\x"}`, `{"raw":"\u12g4"}`, `{"raw":"\u12`,
		`{"raw":"\`, `{"raw":"`, `{"raw":01}`, `{"raw":1.}`, `{"raw":.5}`, `{"raw":+1}`, `{"raw":1e}`, "{\"raw\":\"\x1f\"}", "{\"raw\":\"longer than eight \n\"}", "{\"raw\":\"\xff\"}", "{\"\xff\":1}", "{\"raw\":\"\xc3\"}", "{\n}",
		`{` + strings.Join(many, ",") + `}`, `{"raw":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		if decodePlain(t, []byte(text)) {
			t.Errorf("%q is decoded", text)
		}
	}
}

// Every recorded event is decoded.
func TestRecords(t *testing.T) {
	for _, e := range records(t) {
		if !decodeRecord(t, e.Kind, e.Body) {
			t.Errorf("a record of %s is left to the general decoder: %s", e.Kind, e.Body)
		}
	}
}

func decodeRecord(t *testing.T, kind string, body []byte) bool {
	facts := decode(t, body, func() event.Facts { return event.Facts{Event: task.NewEvent(task.Kind(kind))} })
	full := decode(t, body, func() event.Full { return event.Full{Event: task.NewEvent(task.Kind(kind))} })
	return facts && full
}

func FuzzDecode(f *testing.F) {
	for _, text := range compact {
		f.Add([]byte(text))
	}
	for _, e := range records(f) {
		f.Add([]byte(e.Body))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		decodePlain(t, text)
		decode(t, text, func() everything { return everything{} })
		decodeRecord(t, string(task.KindDecided), text)
	})
}

// BenchmarkDecode decodes the record of a round with five findings.
func BenchmarkDecode(b *testing.B) {
	var body []byte
	for _, e := range records(b) {
		if e.Kind == string(task.KindDecided) && len(e.Body) > len(body) {
			body = e.Body
		}
	}
	for name, decode := range map[string]func(*event.Facts) bool{
		"by=us":      func(to *event.Facts) bool { return compactjson.Decode(body, to) },
		"by=general": func(to *event.Facts) bool { return json.Unmarshal(body, to) == nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if !decode(&event.Facts{Event: new(task.RoundDecided)}) {
					b.Fatal("it is not decoded")
				}
			}
		})
	}
}

// records are recorded events about tasks.
func records(t testing.TB) []ledger.Event {
	t.Helper()
	var all []ledger.Event
	for _, file := range []string{"../event/testdata/events.jsonl", "../../policies/testdata/recorded.jsonl"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var e ledger.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if task.NewEvent(task.Kind(e.Kind)) != nil {
				all = append(all, e)
			}
		}
	}
	return all
}
