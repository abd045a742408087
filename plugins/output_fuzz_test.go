package plugins

import (
	"encoding/json"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// FuzzOutput gives the host arbitrary answers of a guest. An accepted answer is strict JSON, has
// complete findings, and accounts for every item. Others cause one of the typed errors.
func FuzzOutput(f *testing.F) {
	for _, seed := range []string{
		`{"critic":"c","findings":[{"category":"style","severity":"nit","file":null,"line":null,"remediation":"r","ref":"/findings/0"}],"skipped":[{"ref":"/findings/1","reason":"x"}]}`,
		`{"critic":"c","task_id":"T","round":2,"findings":[],"skipped":[]}`,
		`{"critic":"c","findings":[],"skipped":[],"previous":[{"id":"0123456789abcdef","status":"fixed","ref":"/findings/0"}]}`,
		`{"error":{"code":"a-b","message":"m","hint":"h","ref":"/x","details":{"a":[1]}}}`,
		`{"critic":"c","findings":null,"skipped":null}`, `null`, `[`, "\xff", `{"critic":"audit"}`,
	} {
		f.Add([]byte(seed))
	}
	doc, err := document.Parse([]byte(`{"findings":[{"a":1},{"b":2}]}`), document.Limits{})
	if err != nil {
		f.Fatal(err)
	}
	p := &Plugin{runtime: New(Config{}), description: abi.Description{Items: []string{"/findings/*"}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := decodeOutput(data)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.PluginInvalidOutput {
				t.Fatalf("code %q: %v", code, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what is not JSON: %q", data)
		}
		if out.Error != nil {
			if out.Error.fault().Code == "" {
				t.Fatal("an error without a code")
			}
			return
		}
		result, err := checkConservation(t.Context(), p, doc, p.description.Items, out)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.PluginConservationViolated {
				t.Fatalf("code %q: %v", code, err)
			}
			return
		}
		accounted := map[string]bool{}
		for _, s := range result.Skipped {
			accounted[s.Ref] = true
		}
		for _, s := range result.Previous {
			accounted[s.Ref] = true
			if !finding.IsFingerprint(s.ID) || !s.Status.IsStated() {
				t.Fatalf("accepted %+v", s)
			}
		}
		for _, x := range result.Findings {
			accounted[x.Sources[0].Ref] = true
			if x.Category == "" || x.Severity == "" || x.Critic == "" || x.Line != nil && *x.Line < 1 {
				t.Fatalf("accepted %+v", x)
			}
		}
		if !accounted["/findings/0"] || !accounted["/findings/1"] {
			t.Fatalf("an item got lost: %q", data)
		}
	})
}
