package findingformat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/findingformat"
)

// sarifSchema returns the official schema. Its draft-04 keywords mean the same in draft-07,
// which the library knows, but for the name of the id.
func sarifSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.NewReplacer("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#", `"id": "https://docs`, `"$id": "https://docs`).Replace(string(text))
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(newer), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestSARIFFollowsItsSchema(t *testing.T) {
	schema := sarifSchema(t)
	validate := func(r findingformat.Review) error {
		var log any
		if err := json.Unmarshal([]byte(write(t, "sarif", r)), &log); err != nil {
			return err
		}
		return schema.Validate(log)
	}
	deferred := review(found("style", "nit", "a.go", 1, "Rename it"))
	deferred.Deferred = true
	for name, r := range map[string]findingformat.Review{"deferred": deferred, "clean": review(), "missing": {TaskID: "T-1"}, "without a task": {Round: 1}} {
		if err := validate(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := validate(anyReview(t)); err != nil {
			t.Fatal(err)
		}
	})
	if err := schema.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{}}}); err == nil {
		t.Error("the schema accepts a run without a tool")
	}
}

func TestSARIF(t *testing.T) {
	r := review(
		found("todo-marker", "fail", "src/a b#1.php", 42, "Replace the TODO"),
		found("style", "risk", "/abs/a.go", 0, "Rename it"),
		found("todo-marker", "nit", "", 0, ""),
	)
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct{ ID string }
				}
			}
			AutomationDetails struct{ ID string }
			Results           []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
				Suppressions        []struct{ Kind, Justification string }
			}
		}
	}
	read := func() {
		t.Helper()
		log.Runs = nil
		if err := json.Unmarshal([]byte(write(t, "sarif", r)), &log); err != nil {
			t.Fatal(err)
		}
	}
	read()
	run := log.Runs[0]
	driver := run.Tool.Driver
	if driver.Name != "switchyard" || driver.Version != "v1.2.3" || len(driver.Rules) != 2 || driver.Rules[0].ID != "todo-marker" || driver.Rules[1].ID != "style" {
		t.Errorf("the driver is %+v", driver)
	}
	if run.AutomationDetails.ID != "switchyard/T-1/2" {
		t.Errorf("the run is %q", run.AutomationDetails.ID)
	}
	want := []struct {
		rule        int
		level, text string
		uri         string
		line        int
	}{
		{0, "error", "Replace the TODO", "src/a%20b%231.php", 42},
		{1, "warning", "Rename it", "file:///abs/a.go", 0},
		{0, "note", "todo-marker", "", 0},
	}
	for i, w := range want {
		got := run.Results[i]
		if got.RuleID != driver.Rules[w.rule].ID || got.RuleIndex != w.rule || got.Level != w.level || got.Message.Text != w.text ||
			got.PartialFingerprints["switchyard/v1"] != r.Findings[i].Fingerprint || got.Suppressions != nil {
			t.Errorf("result %d is %+v, want %+v", i, got, w)
		}
		if w.uri == "" {
			if got.Locations != nil {
				t.Errorf("result %d has locations", i)
			}
			continue
		}
		if at := got.Locations[0].PhysicalLocation; at.ArtifactLocation.URI != w.uri || at.Region.StartLine != w.line {
			t.Errorf("result %d is at %+v, want %+v", i, at, w)
		}
	}

	r.Deferred = true
	read()
	if got := log.Runs[0].Results[0].Suppressions; len(got) != 1 || got[0].Kind != "external" || got[0].Justification != "deferred below the bar risk" {
		t.Errorf("a deferred finding is suppressed by %+v", got)
	}
	r = review()
	read()
	if log.Runs[0].Results == nil {
		t.Error("a clean review has no results")
	}
	r = findingformat.Review{TaskID: "T-1"}
	read()
	if log.Runs[0].Results != nil {
		t.Error("a task without a review looks clean")
	}
}
