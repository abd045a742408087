package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// health is the part of doctor's output that the tests read.
type health struct {
	OK       bool            `json:"ok"`
	Adapters []adapterHealth `json:"adapters"`
	Probe    struct {
		Outcome string `json:"outcome"`
	} `json:"probe"`
}

type adapterHealth struct {
	Name         string   `json:"name"`
	Used         bool     `json:"used"`
	OK           bool     `json:"ok"`
	Binary       string   `json:"binary"`
	Version      string   `json:"version"`
	KnownVersion bool     `json:"known_version"`
	Missing      []string `json:"missing_flags"`
	Problem      string   `json:"problem"`
}

// TestDoctor tests that doctor finds the CLIs in PATH with their versions, and every
// flag that our adapters use, and that each of them can edit a file.
func TestDoctor(t *testing.T) {
	r := newRig(t)
	r.build(t)
	for name := range tools() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.needs(t, name)
			p := r.newProject(t, r.model.url("doctor-"+name, func(q request) reply {
				if aside(q) || len(q.Results) > 0 {
					return reply{text: "Write hello.txt"}
				}
				return commands(q, "echo hello > hello.txt")
			}), config(name))
			program := r.programs[name]
			p.env = slices.DeleteFunc(p.env, func(entry string) bool { return strings.Contains(entry, "_BIN=") })
			p.env = append(p.env, "PATH="+filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			out, err := p.command(t.Context(), "doctor", "--probe", "--output", "json").Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var h health
			if err := json.Unmarshal(out, &h); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			i := slices.IndexFunc(h.Adapters, func(a adapterHealth) bool { return a.Name == name })
			if i < 0 || !h.OK || h.Probe.Outcome != "edited" {
				t.Fatalf("it says %s", out)
			}
			a := h.Adapters[i]
			if !a.Used || !a.OK || !a.KnownVersion || a.Binary != program || a.Version != tools()[name].version || len(a.Missing) > 0 {
				t.Errorf("it finds %+v", a)
			}
		})
	}
}
