// Package examples_test checks the three worked examples with one corpus, and compares their
// answers: the ABI does not favour a toolchain.
package examples_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// languages are the examples' directories.
var languages = []string{"assemblyscript", "c", "go"}

// module returns an example's module: the committed one, or that of Go, which is
// too large to be committed, freshly built.
func module(t testing.TB, language string) []byte {
	t.Helper()
	file := filepath.Join(language, "todo-scan.wasm")
	if language == "go" {
		file = goModule(t)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

var (
	buildGo sync.Once
	goDir   string
	goErr   error
)

func goModule(t testing.TB) string {
	t.Helper()
	file := func() string { return filepath.Join(goDir, "todo-scan.wasm") }
	buildGo.Do(func() {
		if goDir, goErr = os.MkdirTemp("", "switchyard-example-"); goErr != nil {
			return
		}
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", file(), "./go")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			goErr = errors.Join(err, errors.New(string(out)))
		}
	})
	if goErr != nil {
		t.Fatal(goErr)
	}
	return file()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if goDir != "" {
		_ = os.RemoveAll(goDir)
	}
	os.Exit(code)
}

func load(t testing.TB, language string, config plugins.Config) *plugins.Plugin {
	t.Helper()
	r := plugins.New(config)
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	p, err := r.Load(t.Context(), module(t, language))
	if err != nil {
		t.Fatalf("%s: %v", language, err)
	}
	return p
}

// ask has a plugin answer, and the host judge the answer.
func ask(t testing.TB, p *plugins.Plugin, text string, config jsontext.Value) (abi.Result, *errs.Error) {
	t.Helper()
	doc, err := document.Parse([]byte(text), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Normalize(t.Context(), doc, config)
	if err == nil {
		return result, nil
	}
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Fatal(err)
	}
	return result, f
}

// TestExamplesPassTheKit runs the kit as an author would, with one corpus for all.
func TestExamplesPassTheKit(t *testing.T) {
	for _, language := range languages {
		t.Run(language, func(t *testing.T) {
			if language == "go" {
				exhaustive.Require(t, "compiling a module of this size takes the kit half a minute; the other languages are always tried")
			}
			plugintest.Test(t, module(t, language), plugintest.Options{Corpus: "corpus", Limits: abi.Limits{Time: time.Hour}, Time: time.Hour})
		})
	}
}

// TestPreviousInC runs a plugin in C that makes statements about earlier findings. The other SDKs
// have their own tests.
func TestPreviousInC(t *testing.T) {
	wasm, err := os.ReadFile(filepath.Join("..", "c", "testdata", "previous.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	r := plugins.New(plugins.Config{})
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	p, err := r.Load(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	got, refused := ask(t, p, `{"findings": [{"undoes": "00000000000000ff"}], "previous": [{"id": "0123456789abcdef", "status": "fixed"}, {"id": "fedcba9876543210", "status": "induced"}]}`, nil)
	want := []abi.Statement{{ID: "0123456789abcdef", Status: "fixed", Ref: "/previous/0"}, {ID: "fedcba9876543210", Status: "induced", Ref: "/previous/1"}}
	if refused != nil || !reflect.DeepEqual(got.Previous, want) || got.Findings[0].Undoes != "00000000000000ff" {
		t.Errorf("%+v, %v", got, refused)
	}
	got, refused = ask(t, p, `{"findings": []}`, nil)
	if refused != nil || got.Previous != nil {
		t.Errorf("%+v, %v", got, refused)
	}
}

func same(t testing.TB, a, b any) bool {
	t.Helper()
	x, errX := jsonv2.Marshal(a)
	y, errY := jsonv2.Marshal(b)
	if err := errors.Join(errX, errY); err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(x, y)
}

// TestExamplesAgree changes one thing at a time in a report, and wants three equal
// answers, whatever they are; only the words of messages may differ.
func TestExamplesAgree(t *testing.T) {
	languages := languages[:exhaustive.Count(2, len(languages))] // The guest in Go is large.
	var all []*plugins.Plugin
	for i, language := range languages {
		// The initial content of memory must not matter either.
		all = append(all, load(t, language, plugins.Config{Scratch: []byte{0, '"', 0xff}[i]}))
	}
	rapid.Check(t, func(rt *rapid.T) {
		text, config := drawReport(rt), drawConfig(rt)
		first, firstErr := ask(t, all[0], text, config)
		for i, p := range all[1:] {
			result, err := ask(t, p, text, config)
			if !same(t, first, result) || !sameRefusal(firstErr, err) {
				rt.Fatalf("%s\n%s\n%s: %+v %v\n%s: %+v %v", text, config, languages[0], first, firstErr, languages[i+1], result, err)
			}
		}
	})
}

func sameRefusal(a, b *errs.Error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Code == b.Code && (a.Hint == "") == (b.Hint == "") && reflect.DeepEqual(a.Details, b.Details)
}

// words say something in some place of a report, and text is text that is hard to
// write or to compare.
var (
	words = []string{`"todo-scan"`, `"high"`, `"low"`, `"TODO"`, `"./a.go"`, `""`, "0", "1", "-1", "-0", "1.0", "2147483647", "2147483648",
		"99999999999", "true", "false", "null", "[]", "{}", `["x"]`, `["x",1]`, `{"a":{"b":[1,"]"]}}`, `"hi\u0067h"`, `"\""`}
	texts = []string{"TODO", "FIXME", "a/b~c", "\\", `"`, "\x00\x1f", "é\u2028", "\U0001d11e", "{[,]}", "", "toString", strings.Repeat("ü", 120)}
)

func drawText(t *rapid.T, name string) string {
	text := rapid.SampledFrom(texts).Draw(t, name)
	quoted, _ := json.Marshal(text)
	if !rapid.Bool().Draw(t, name+" escaped") {
		return string(quoted)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range utf16Units(text) {
		b.WriteString(`\u` + strings.ToUpper(hex4(unit)))
	}
	return b.String() + `"`
}

// drawReport draws a report that is right but for one member, at the most.
func drawReport(t *rapid.T) string {
	n := rapid.IntRange(0, 4).Draw(t, "items")
	members := [][2]string{{"tool", `"todo-scan"`}, {"complete", "true"}}
	var items []string
	at := rapid.IntRange(-1, n).Draw(t, "where it is wrong")
	for i := range n {
		item := [][2]string{
			{"path", drawText(t, "path")}, {"line", "7"}, {"tag", drawText(t, "tag")},
			{"priority", rapid.SampledFrom([]string{`"high"`, `"low"`}).Draw(t, "priority")},
			{"labels", "[" + drawText(t, "label") + `, "x"]`}, {"text", drawText(t, "text")},
			{"ignored", rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "ignored")},
		}
		for m := range item {
			if item[m][1] == `""` {
				item[m][1] = `"filled"`
			}
		}
		items = append(items, object(t, item, at == i))
	}
	members = append(members, [2]string{"items", "[" + strings.Join(items, " , ") + "]"})
	return object(t, members, at == n)
}

// object writes an object, in any order. If it is to be wrong, one member is left
// out, or says something else.
func object(t *rapid.T, members [][2]string, wrong bool) string {
	members = rapid.Permutation(members).Draw(t, "order")
	if wrong {
		i := rapid.IntRange(0, len(members)-1).Draw(t, "member")
		if rapid.Bool().Draw(t, "left out") {
			members = append(members[:i:i], members[i+1:]...)
		} else {
			members[i][1] = rapid.SampledFrom(words).Draw(t, "word")
		}
	}
	space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
	var b strings.Builder
	for i, m := range members {
		if i > 0 {
			b.WriteString("," + space)
		}
		b.WriteString(space + `"` + m[0] + `"` + space + ":" + m[1])
	}
	return "{" + b.String() + space + "}"
}

func drawConfig(t *rapid.T) jsontext.Value {
	tables := [][2]string{
		{"default", `"other"`},
		{"rules", `{"TODO": "a", "\\": "b", "a/b~c": "c"}`},
		{"tags", `{` + drawText(t, "configured tag") + `: "d"}`},
		{"severities", `{"high": "e"}`},
	}
	n := rapid.IntRange(0, len(tables)).Draw(t, "settings")
	inner := object(t, tables[:n], n > 0 && rapid.IntRange(0, 9).Draw(t, "wrong configuration") == 0)
	if rapid.IntRange(0, 19).Draw(t, "other setting") == 0 {
		return jsontext.Value(`{"` + strings.Trim(rapid.SampledFrom(words).Draw(t, "setting"), `"`) + `x": 1}`)
	}
	return jsontext.Value(`{"categories": ` + inner + `}`)
}

func utf16Units(text string) []uint16 { return utf16.Encode([]rune(text)) }

func hex4(unit uint16) string { return fmt.Sprintf("%04x", unit) }
