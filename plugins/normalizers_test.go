package plugins_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// TestNormalizersConform runs the kit on every built-in plugin, with its golden cases.
func TestNormalizersConform(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	cache := t.TempDir()
	for _, name := range builtin.Names() {
		guest, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("%s is not embedded", name)
		}
		t.Run(name, func(t *testing.T) {
			plugintest.Test(t, guest.Wasm, plugintest.Options{Corpus: filepath.Join("..", "testdata", "normalizers", name), CacheDir: cache, Limits: abi.Limits{Time: time.Hour}, Time: time.Hour})
		})
	}
}

// TestNoLinesAreNoEvidence gives rdjsonl a report without a line, which the host would refuse.
func TestNoLinesAreNoEvidence(t *testing.T) {
	plugin, err := plugins.NewCatalog(newRuntime(t, plugins.Config{})).Named("rdjsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.Normalize(t.Context(), jsonDocument(t, "[]"), nil); errs.CodeOf(err) != "rdjsonl-empty" {
		t.Errorf("got %v", err)
	}
}

// TestDescriptionsAreFresh compares the embedded description of each guest with the guest's
// answer.
func TestDescriptionsAreFresh(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	catalog := plugins.NewCatalog(r)
	for _, name := range builtin.Names() {
		guest, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("%s is not embedded", name)
		}
		if len(guest.Wasm) > 32<<10 {
			t.Errorf("%s has %d bytes; a guest has at most 32 KiB", name, len(guest.Wasm))
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

func source(t testing.TB, text string) *document.Source {
	t.Helper()
	s, err := document.Read([]byte(text), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDetect(t *testing.T) {
	catalog := plugins.NewCatalog(newRuntime(t, plugins.Config{}))
	for text, want := range map[string]string{
		`{"critic":"style","findings":[]}`:        "np-critic",
		`[{"critic":"style"},{"critic":"tests"}]`: "np-critic",
		`{"critic":"style","report_path":null}`:   "np-critic",
		`{"version":"2.1.0","runs":[]}`:           "sarif",
		`{"version":"2.1.0"}`:                     string(errs.PluginUndetected),
		`{}`:                                      string(errs.PluginUndetected),
		`[]`:                                      string(errs.PluginUndetected),
		`"critic"`:                                string(errs.PluginUndetected),
		`{"critic":"x","version":"2","runs":null}`: string(errs.PluginAmbiguous),
	} {
		p, err := catalog.Detect(t.Context(), source(t, text))
		got := string(errs.CodeOf(err))
		if err == nil {
			got = p.Identity().Name
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if _, err := catalog.Named("../sarif"); errs.CodeOf(err) != errs.PluginUnknown {
		t.Errorf("a path passes for a name: %v", err)
	}
}

func TestSurvey(t *testing.T) {
	guest, _ := builtin.Find("np-critic")
	in := plugins.Survey(guest.Wasm)
	if in.ABI != "v1" || in.Size != len(guest.Wasm) || len(in.Exports) == 0 {
		t.Errorf("got %+v", in)
	}
	for _, i := range in.Imports {
		t.Errorf("it imports %s.%s, which only the meter adds", i.Module, i.Name)
	}
}
