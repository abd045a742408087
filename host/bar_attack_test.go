package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
)

// mixed is a report with a finding of each severity.
const mixed = `{"critic":"critic","findings":[
	{"category":"style","severity":"fail","remediation":"a"},
	{"category":"style","severity":"risk","remediation":"b"},
	{"category":"style","severity":"nit","remediation":"c"}]}`

// newBarRecord returns an archive with two rounds of task T. The bar of the first one is
// all, that of the second one risk.
func newBarRecord(t testing.TB) *archive {
	t.Helper()
	a := &archive{root: t.TempDir()}
	a.Engine = newEngine(t, a.root, noon)
	if err := os.Mkdir(filepath.Join(a.root, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.root, "rules", "routing.rego"), []byte(barPolicy("", `bar := "fail" if {
	input.reviews_since_low >= 2
} else := "risk" if {
	input.round == 2
} else := "all"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := request(mixed)
		r.Policy = filepath.Join(a.root, "rules")
		if d, err := a.Round(t.Context(), "T", r); err != nil || d.NextAction != "executor" {
			t.Fatalf("went to %s, %v", d.NextAction, err)
		}
	}
	return a
}

// object is a part of an event's body.
type object = map[string]any

// forging returns a change of an event's body.
func forging(t testing.TB, change func(event, decision, input, barInput object)) func(string) string {
	return func(body string) string {
		var all object
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			t.Fatal(err)
		}
		decision := all["decision"].(object)
		change(all["event"].(object), decision, decision["input"].(object), decision["bar_input"].(object))
		text, err := json.Marshal(all, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// setAll sets a field in all objects.
func setAll(field string, value any, objects ...object) {
	for _, o := range objects {
		o[field] = value
	}
}

// deferRisk changes a record as if the bar fail had deferred the finding of severity risk.
func deferRisk(event, decision, input object) {
	findings := decision["findings"].([]any)
	decision["findings"], decision["deferred"] = findings[:1], append(decision["deferred"].([]any), findings[1])
	setAll("bar", "fail", event, decision)
	setAll("finding_count", 1, event, input, decision["routing"].(object))
	setAll("repeat_count", 1, decision, input)
	input["routes"] = object{"executor": 1}
	event["deferred"], input["deferred_count"] = 2, 2
}

// TestForgedBars checks that a changed bar, and what it defers, is detected, although all
// hashes match and the record does not contradict itself.
func TestForgedBars(t *testing.T) {
	t.Parallel()
	whole := newBarRecord(t)
	if report := checked(t, whole.Engine); !report.Sound() || report.Decisions != 2 {
		t.Fatalf("got %+v", report)
	}
	soundEvents(t, whole.Engine)
	for name, c := range map[string]struct {
		forge func(event, decision, input, barInput object)
		says  string
	}{
		"a higher bar":                  {func(event, decision, _, _ object) { setAll("bar", "fail", event, decision) }, `bar is "fail"`},
		"a higher bar that defers more": {func(event, decision, input, _ object) { deferRisk(event, decision, input) }, `its bar is "fail", and that of its policy and of earlier reviews is "risk"`},
		"a higher bar of the policy": {func(event, decision, input, _ object) {
			deferRisk(event, decision, input)
			decision["policy_bar"] = "fail"
		}, `gives it "risk"`},
		"facts for a higher bar": {func(event, decision, input, barInput object) {
			deferRisk(event, decision, input)
			decision["policy_bar"] = "fail"
			setAll("reviews_since_low", 2, input, barInput)
			setAll("first_time_count", 1, input, barInput)
			event["first_time"] = 1
		}, "facts of its input do not follow"},
		"facts of the input alone": {func(_, _, input, barInput object) { setAll("first_time_count", 1, input, barInput) }, "facts of its input do not follow"},
		"facts of the event alone": {func(event, _, _, _ object) { event["induced_rounds"] = 1 }, "facts of its input do not follow"},
		"induced rounds": {func(event, _, input, barInput object) {
			setAll("induced_rounds", 2, event, input, barInput)
			setAll("induced_count", 1, input, barInput)
		}, "facts of its input do not follow"},
		"a lower bar":    {func(event, decision, _, _ object) { delete(event, "bar"); decision["bar"] = "all" }, `bar is ""`},
		"an unknown bar": {func(event, decision, _, _ object) { setAll("bar", "none", event, decision) }, "the bar falls"},
		"two bars":       {func(event, _, _, _ object) { event["bar"] = "fail" }, "bar is fail in one place and risk in another"},
		"a deferred finding less": {func(event, decision, input, _ object) {
			decision["deferred"] = []any{}
			delete(event, "deferred")
			input["deferred_count"] = 0
		}, "policy-invalid-input"},
		"a deferred finding that fails": {func(_, decision, _, _ object) {
			decision["deferred"].([]any)[0].(object)["severity"] = "fail"
		}, "that the bar"},
		"a deferred finding of the audit": {func(_, decision, _, _ object) {
			decision["deferred"].([]any)[0].(object)["sources"].([]any)[0].(object)["critic"] = "audit"
		}, "that the bar"},
		"an open finding that is a nit": {func(_, decision, _, _ object) {
			decision["findings"].([]any)[1].(object)["severity"] = "nit"
		}, "that the bar"},
	} {
		t.Run(name, func(t *testing.T) {
			a := whole.copied(t)
			e := a.decided(t)[1].Event
			a.forge(t, e, forging(t, c.forge))
			a.finds(t, e, c.says)
		})
	}
}
