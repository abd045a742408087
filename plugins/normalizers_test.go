package plugins_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/report"
)

// vector is a conformance case of a built-in plugin: testdata/normalizers has a
// folder of them for each. Unknown keys fail.
type vector struct {
	Name       string         `json:"name"`
	Config     jsontext.Value `json:"config"`
	Report     jsontext.Value `json:"report"`
	ReportText string         `json:"report_text"`
	Want       *normalized    `json:"want"`
	WantError  *wantError     `json:"want_error"`
}

// wantError is the error that a vector expects; what it leaves out may be
// anything.
type wantError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"` // a part of it
	Ref     *string        `json:"ref"`
	Details map[string]any `json:"details"`
}

// normalized is the answer of a plugin, as the ABI writes it.
type normalized struct {
	Critic   string            `json:"critic"`
	TaskID   *string           `json:"task_id"`
	Round    *int              `json:"round"`
	Findings []normalizedItem  `json:"findings"`
	Skipped  []plugins.Skipped `json:"skipped"`
}

type normalizedItem struct {
	Critic      string  `json:"critic"`
	Category    string  `json:"category"`
	Severity    string  `json:"severity"`
	File        *string `json:"file"`
	Line        *int    `json:"line"`
	Remediation string  `json:"remediation"`
	Ref         string  `json:"ref"`
}

func TestNormalizersFollowTheirVectors(t *testing.T) {
	catalog := plugins.NewCatalog(newRuntime(t, plugins.Config{}))
	for _, name := range builtin.Names() {
		files, err := filepath.Glob(filepath.Join("..", "testdata", "normalizers", name, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no vectors for %s: %v", name, err)
		}
		plugin, err := catalog.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(name+"/"+filepath.Base(file), func(t *testing.T) { checkVector(t, plugin, file) })
		}
	}
}

func checkVector(t *testing.T, plugin *plugins.Plugin, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	if err := jsonv2.Unmarshal(data, &v, jsonv2.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if (v.Want == nil) == (v.WantError == nil) || (v.Report == nil) == (v.ReportText == "") {
		t.Fatal("a vector has one report and one expectation")
	}
	text := []byte(v.Report)
	if v.Report == nil {
		text = []byte(v.ReportText)
	}
	doc, err := report.Parse(text, report.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plugin.Normalize(t.Context(), doc, v.Config)
	if v.WantError != nil {
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || string(f.Code) != v.WantError.Code {
			t.Fatalf("got %v, want %s", err, v.WantError.Code)
		}
		if v.WantError.Ref != nil && f.Details["ref"] != *v.WantError.Ref {
			t.Errorf("the error points to %v, want %q", f.Details["ref"], *v.WantError.Ref)
		}
		if m := v.WantError.Message; !strings.Contains(f.Message, m) {
			t.Errorf("the error says %q, which lacks %q", f.Message, m)
		}
		for name, want := range v.WantError.Details {
			if got := f.Details[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("details.%s is %v, want %v", name, got, want)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := *v.Want
	for i := range want.Findings {
		if want.Findings[i].Critic == "" {
			want.Findings[i].Critic = want.Critic
		}
	}
	if got := shape(t, doc, result); !sameJSON(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got %s\nwant %s", g, w)
	}
}

// shape turns a result back into the ABI's form, and holds every raw text
// against the report.
func shape(t *testing.T, doc *report.Document, r plugins.Result) normalized {
	n := normalized{Critic: r.Critic, TaskID: r.TaskID, Round: r.Round, Skipped: r.Skipped}
	for _, f := range r.Findings {
		source := f.Sources[0]
		if raw, ok := doc.At(source.Ref); !ok || string(raw) != string(source.Raw) {
			t.Errorf("raw at %s is %s, the report says %s", source.Ref, source.Raw, raw)
		}
		n.Findings = append(n.Findings, normalizedItem{f.Critic, f.Category, string(f.Severity), f.File, f.Line, f.Remediation, source.Ref})
	}
	return n
}

func sameJSON(a, b any) bool {
	var x, y any
	ja, errA := jsonv2.Marshal(a)
	jb, errB := jsonv2.Marshal(b)
	return errors.Join(errA, errB, jsonv2.Unmarshal(ja, &x), jsonv2.Unmarshal(jb, &y)) == nil && reflect.DeepEqual(x, y)
}

// TestDescriptionsAreFresh holds the description that is embedded beside each
// guest against what the guest says.
func TestDescriptionsAreFresh(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	catalog := plugins.NewCatalog(r)
	for _, name := range builtin.Names() {
		guest, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("%s is not embedded", name)
		}
		if len(guest.Wasm) > 64<<10 {
			t.Errorf("%s has %d bytes; a guest has at most 64 KiB", name, len(guest.Wasm))
		}
		asked, err := r.Load(t.Context(), guest.Wasm)
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := catalog.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(asked.Description(), embedded.Description()) || asked.Identity() != embedded.Identity() {
			t.Errorf("%s says %+v, beside it stands %+v", name, asked.Description(), embedded.Description())
		}
	}
}

func TestDetect(t *testing.T) {
	catalog := plugins.NewCatalog(newRuntime(t, plugins.Config{}))
	for text, want := range map[string]string{
		`{"critic":"style","findings":[]}`:        "np-critic",
		`[{"critic":"style"},{"critic":"tests"}]`: "np-critic",
		`{"critic":"style","report_path":null}`:   "np-critic",
		`{"version":"2.1.0","runs":[]}`:           "sarif",
		`{"version":"2.1.0"}`:                     string(plugins.CodeUndetected),
		`{}`:                                      string(plugins.CodeUndetected),
		`[]`:                                      string(plugins.CodeUndetected),
		`"critic"`:                                string(plugins.CodeUndetected),
		`{"critic":"x","version":"2","runs":null}`: string(plugins.CodeAmbiguous),
	} {
		p, err := catalog.Detect(document(t, text))
		got := string(fault.CodeOf(err))
		if err == nil {
			got = p.Identity().Name
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if _, err := catalog.Named("../sarif"); fault.CodeOf(err) != plugins.CodeUnknown {
		t.Errorf("a path passes for a name: %v", err)
	}
}
