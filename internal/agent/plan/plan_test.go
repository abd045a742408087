package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/plan"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

const (
	revised  = `{"plan": "# Plan\n\n1. Do {\"plan\": \"it\"}.\n", "summary": "Uses the queue that there is."}`
	question = `{"question": "Which database?", "choices": ["sqlite", "none"], "default": "none"}`
)

func TestParse(t *testing.T) {
	changed := plan.Answer{Plan: "# Plan\n\n1. Do {\"plan\": \"it\"}."}
	asked := plan.Answer{Question: "Which database?", Choices: []string{"sqlite", "none"}, Default: "none"}
	for text, want := range map[string]plan.Answer{
		revised:                                 changed,
		"```json\n" + revised + "\n```":         changed,
		"Here it is: " + revised + " Bye.":      changed,
		revised + "\n" + revised:                changed,
		`{"note": 1} ` + revised:                changed,
		question:                                asked,
		`{"plan": null, ` + question[1:]:        asked,
		`{"plan": " \n", ` + question[1:]:       asked,
		`{"plan": "a"}`:                         {Plan: "a"},
		`{"plan": "a", "summary": ["a list"]}`:  {Plan: "a"},
		`{"question": "a"}`:                     {Question: "a"},
		`{"question": "a", "default": "b"}`:     {Question: "a", Default: "b"},
		fmt.Sprintf(`{"plan": "%0262144d"}`, 0): {Plan: strings.Repeat("0", 256<<10)},
	} {
		if got, err := plan.Parse(text); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%.200s: %.200s, %v", text, fmt.Sprintf("%+v", got), err)
		}
	}
}

func TestParseRemovesSecrets(t *testing.T) {
	secret, mark := strings.Join([]string{"ghp", "0123456789abcdefghij"}, "_"), "[REDACTED:github-token]"
	for text, want := range map[string]plan.Answer{
		`{"plan": "Use SECRET."}`: {Plan: "Use " + mark + "."},
		`{"question": "Use SECRET?", "choices": ["SECRET", "b"], "default": "SECRET"}`: {Question: "Use " + mark + "?", Choices: []string{mark, "b"}, Default: mark},
	} {
		if got, err := plan.Parse(strings.ReplaceAll(text, "SECRET", secret)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	choices := strings.Repeat(`"a", `, 10)
	for name, text := range map[string]string{
		"nothing":                     "",
		"prose":                       "The plan is fine.",
		"another object":              `{"summary": "a"}`,
		"inside another object":       `{"result": ` + revised + `}`,
		"cut short":                   revised[:len(revised)-1],
		"two that differ":             revised + ` {"plan": "b"}`,
		"a plan, and a question":      revised + question,
		"both in one":                 `{"plan": "a", "question": "b"}`,
		"neither":                     `{"plan": "", "question": " "}`,
		"a key twice":                 `{"plan": "a", "plan": "a"}`,
		"no UTF-8":                    "{\"plan\": \"\xff\"}",
		"a plan in parts":             `{"plan": ["a", "b"]}`,
		"choices of another kind":     `{"question": "a", "choices": "b"}`,
		"an empty choice":             `{"question": "a", "choices": [" "]}`,
		"a default that is no choice": `{"question": "a", "choices": ["b"], "default": "c"}`,
		"too many choices":            `{"question": "a", "choices": [` + choices + `"b"]}`,
		"a long choice":               fmt.Sprintf(`{"question": "a", "choices": ["%0201d"]}`, 0),
		"a long default":              fmt.Sprintf(`{"question": "a", "default": "%0201d"}`, 0),
		"a long question":             fmt.Sprintf(`{"question": "%04097d"}`, 0),
		"a long plan":                 fmt.Sprintf(`{"plan": "%0262145d"}`, 0),
		"a long message":              revised + strings.Repeat(" ", 1<<20),
	} {
		if got, err := plan.Parse(text); errs.CodeOf(err) != errs.PlanOutputInvalid || got.Plan+got.Question != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// FuzzParse: any message is an answer that reads the same again, or a typed error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{revised, question, "```\n" + revised + "\n```", `{"plan": "a\u0000"} {"question"`, "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := plan.Parse(text)
		if err != nil {
			if errs.CodeOf(err) != errs.PlanOutputInvalid {
				t.Fatal(err)
			}
			return
		}
		if (a.Plan == "") == (a.Question == "") || len(a.Plan) > 256<<10 || len(a.Choices) > 10 {
			t.Fatalf("%+v", a)
		}
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := plan.Parse(string(data)); len(data) <= 1<<20 && (err != nil || fmt.Sprint(again) != fmt.Sprint(a)) {
			t.Fatalf("%s: %+v, %v", data, again, err)
		}
	})
}
