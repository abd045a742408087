package adapter_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// with returns a small valid adapter with one field set, or left out where it is
// nil. The field may be another than those that it has.
func with(t testing.TB, name string, field any) []byte {
	t.Helper()
	fields := map[string]any{
		"name": "mine", "bin": "mine", "prompt": "stdin", "argv": []any{"run"}, "output": "json",
		"result": []any{map[string]any{"path": "text"}},
	}
	fields[name] = field
	if field == nil {
		delete(fields, name)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// rule is a list of one rule.
func rule(fields ...any) []any {
	r := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		r[fields[i].(string)] = fields[i+1]
	}
	return []any{r}
}

func TestParseNamesThePlaceOfEachProblem(t *testing.T) {
	object := func(fields ...any) any { return rule(fields...)[0] }
	for _, c := range []struct {
		field string
		value any
		path  string
		says  string
	}{
		{"name", nil, "/name", "missing"},
		{"name", "No", "/name", "lower-case"},
		{"name", 3, "/name", "lower-case"},
		{"bin", nil, "/bin", "missing"},
		{"bin", "../evil", "/bin", "not a path"},
		{"bin", "..", "/bin", "not a path"},
		{"prompt", "argv", "/prompt", "stdin, file"},
		{"prompt", nil, "/prompt", "missing"},
		{"prompt", "file", "/argv", "{prompt_file}"},
		{"output", "xml", "/output", "json, text"},
		{"output", "text", "/result", "the output is a text"},
		{"result", nil, "/result", "missing"},
		{"surprise", 1, "/surprise", "unknown"},
		{"argv", "run", "/argv", "a list"},
		{"argv", []any{"run", 1}, "/argv/1", "a text"},
		{"argv", []any{"{modell}"}, "/argv/0", "{modell}"},
		{"argv", []any{[]any{"-m", "{modell}"}}, "/argv/0/1", "{modell}"},
		{"argv", []any{[]any{}}, "/argv/0", "empty"},
		{"argv", []any{"{command}"}, "/bin", "{command}"},
		{"tested", "1", "/tested", "a list"},
		{"flags", []any{"model"}, "/flags/0", "a flag"},
		{"help", []any{"--help"}, "/help/0", "a list"},
		{"profiles", object("readonly", object()), "/profiles/report", "missing"},
		{"profiles", object("readonly", object(), "report", object(), "other", object()), "/profiles/other", "unknown"},
		{"profiles", object("readonly", object("a", ""), "report", object()), "/profiles/report/a", "other case"},
		{"profiles", object("readonly", object("a", ""), "report", object("a", ""), "edit", object()), "/profiles/edit/a", "other case"},
		{"profiles", object("readonly", object("model", ""), "report", object("model", "")), "/profiles/readonly/model", "taken"},
		{"profiles", object("readonly", object("a/b", ""), "report", object("a/b", "")), "/profiles/readonly/a~1b", "letters"},
		{"profiles", object("readonly", object("a", "{b}"), "report", object("a", "")), "/profiles/readonly/a", "{b}"},
		{"web", []any{}, "/web", "an object"},
		{"refuse", object("colour", "x"), "/refuse/colour", "one of"},
		{"refuse", object("model", "("), "/refuse/model", "regular expression"},
		{"env_set", object("A B", "x"), "/env_set/A B", "variable"},
		{"env_set", object("A", "{x}"), "/env_set/A", "{x}"},
		{"env_pass", []any{"A=1"}, "/env_pass/0", "variable"},
		{"state_dir_env", "HOME", "/state_dir_env", "a list"},
		{"files", object("../x", object()), "/files/..~1x", "inside"},
		{"files", object("x", object("a", []any{"{b}"})), "/files/x/a/0", "{b}"},
		{"forbidden", []any{"a", "../b"}, "/forbidden/1", "inside"},
		{"done", []any{"a==b,", "a"}, "/done/0", "not a path"},
		{"done", []any{"a!b"}, "/done/0", "not a condition"},
		{"done", []any{"a~("}, "/done/0", "missing closing"},
		{"result", rule("where", "a=b"), "/result/0/path", "missing"},
		{"result", rule("path", "a..b"), "/result/0/path", "not a path"},
		{"result", rule("path", "a[0]"), "/result/0/path", "not a path"},
		{"result", rule("path", []any{}), "/result/0/path", "list of paths"},
		{"result", rule("path", "a", "pick", "sum"), "/result/0/pick", "one of"},
		{"cost", rule("path", "a", "pick", "concat"), "/cost/0/pick", "one of"},
		{"tools", rule("path", "a", "pick", "last"), "/tools/0/pick", "unknown"},
		{"usage", object("total", rule("path", "a")), "/usage/total", "unknown"},
		{"error", rule("message", "a"), "/error/0/where", "missing"},
		{"error", rule("where", "a", "class", "bad luck"), "/error/0/class", "one of"},
		{"error", rule("where", "a", "class", "lost"), "/error/0/class", "one of"},
		{"error", rule("where", "a", "stream", "stdin"), "/error/0/stream", "one of"},
		{"error", rule("where", "a", "status_match", "\\d+"), "/error/0/status_match", "group"},
		{"classes", rule("class", "auth"), "/classes/0", "kind or match"},
		{"classes", rule("class", "auth", "kind", "a", "match", "b"), "/classes/0", "kind or match"},
		{"classes", rule("class", "auth", "kind", "("), "/classes/0/kind", "regular expression"},
		{"silent", rule("match", "a"), "/silent/0/class", "missing"},
		{"resets", rule("path", "a"), "/resets/0/forms", "missing"},
		{"resets", rule("forms", []any{"unix"}), "/resets/0", "path or match"},
		{"resets", rule("path", "a", "match", "(b)", "forms", []any{"unix"}), "/resets/0", "path or match"},
		{"resets", rule("match", "b", "forms", []any{"unix"}), "/resets/0/match", "group"},
		{"resets", rule("path", "a", "forms", []any{"soon"}), "/resets/0/forms/0", "an hour"},
		{"resets", rule("path", "a", "forms", []any{"3:04"}), "/resets/0/forms/0", "an hour"},
		{"resets", rule("path", "a", "forms", []any{"Mon 15:04"}), "/resets/0/forms/0", "no part of a date"},
		{"resets", rule("path", "a", "forms", []any{"Jan 15:04"}), "/resets/0/forms/0", "no part of a date"},
		{"resets", rule("path", "a", "forms", []any{"2006 15:04"}), "/resets/0/forms/0", "no part of a date"},
		{"resets", rule("path", "a", "forms", []any{"Jan 2 15:04 MST"}), "/resets/0/forms/0", "a zone"},
		{"resets", rule("path", "a", "forms", []any{"15:04Z07:00"}), "/resets/0/forms/0", "a zone"},
		{"resets", rule("path", "a", "forms", []any{"15:04"}, "zone", "Local"), "/resets/0/zone", "time zone"},
		{"resets", rule("path", "a", "forms", []any{"15:04"}, "zone", "../etc/passwd"), "/resets/0/zone", "time zone"},
		{"exits", object("0", "auth"), "/exits/0", "exit code"},
		{"exits", object("01", "auth"), "/exits/01", "exit code"},
		{"exits", object("1", 200), "/exits/1", "HTTP status"},
		{"exits", object("1", "bad"), "/exits/1", "one of"},
		{"exits", object("1", true), "/exits/1", "one of"},
	} {
		_, err := adapter.Parse(with(t, c.field, c.value))
		problems := problemsOf(t, err)
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, c.path+" ") && strings.Contains(p, c.says) }) {
			t.Errorf("%s = %v: problems %v, want %s … %s", c.field, c.value, problems, c.path, c.says)
		}
	}
}

func problemsOf(t testing.TB, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.AdapterInvalid {
		t.Errorf("error %v, want %s", err, errs.AdapterInvalid)
		return nil
	}
	problems, _ := f.Details["problems"].([]string)
	return problems
}

func TestParseFindsAllProblemsAtOnce(t *testing.T) {
	_, err := adapter.Parse([]byte(`{"name": "", "argv": [1, "{x}"], "prompt": "stdin"}`))
	var paths []string
	for _, p := range problemsOf(t, err) {
		path, _, _ := strings.Cut(p, " ")
		paths = append(paths, path)
	}
	if want := []string{"/argv/0", "/argv/1", "/bin", "/name", "/output"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}

func TestParseRefusesOtherThanOneObject(t *testing.T) {
	for _, data := range []string{"", "{", "null", "[]", "3", `{"name":"a","name":"b"}`, "{} {}", "\xff", strings.Repeat(" ", 2<<20)} {
		if _, err := adapter.Parse([]byte(data)); errs.CodeOf(err) != errs.AdapterInvalid {
			t.Errorf("%.20q: error %v", data, err)
		}
	}
}

func TestNameAndVersions(t *testing.T) {
	data := with(t, "tested", []any{"1.0"})
	a, err := adapter.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() != "mine" || !slices.Equal(a.Tested(), []string{"1.0"}) {
		t.Errorf("name %q, tested %q", a.Name(), a.Tested())
	}
}

// Whatever a field of a real adapter is replaced by, the answer is an adapter or
// one kind of error.
func TestParseSurvivesAnyField(t *testing.T) {
	values := []any{nil, true, -1.5, "", "x", "{", "[*]", []any{}, []any{nil}, []any{[]any{}}, map[string]any{}, map[string]any{"": 1}, []any{map[string]any{"path": []any{1}}}}
	rapid.Check(t, func(rt *rapid.T) {
		data, err := os.ReadFile(filepath.Join("adapters", rapid.SampledFrom(adapter.Names()).Draw(rt, "adapter")+".json"))
		if err != nil {
			rt.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			rt.Fatal(err)
		}
		names := make([]string, 0, len(fields))
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names)
		fields[rapid.SampledFrom(names).Draw(rt, "field")] = rapid.SampledFrom(values).Draw(rt, "value")
		changed, err := json.Marshal(fields)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := adapter.Parse(changed); err != nil && errs.CodeOf(err) != errs.AdapterInvalid {
			rt.Fatalf("error %v", err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, name := range adapter.Names() {
		data, err := os.ReadFile(filepath.Join("adapters", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := adapter.Parse(data)
		if err != nil {
			if errs.CodeOf(err) != errs.AdapterInvalid {
				t.Errorf("error %v", err)
			}
			return
		}
		// What is accepted can be used.
		_, err = a.Invocation(adapter.Values{WorkDir: "/w", StateDir: "/s", ReportPath: "/w/r", PromptFile: "/s/p", OutFile: "/s/o", Profile: profile.Report})
		if err != nil && errs.CodeOf(err) != errs.AdapterInvalid {
			t.Errorf("error %v", err)
		}
		read(a, []byte("{\"a\":1}\n"), adapter.Ended{ExitCode: 1, Errors: []byte("no")})
	})
}
