package research_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/research"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

const answer = `{"decisions": [{"text": "Use a queue", "confidence": 0.9, "provenance": "[VERIFIED]"}],
 "risks": [{"text": "It fills up", "severity": "HIGH"}],
 "questions": [{"text": "How long?"}],
 "sources": [{"url": "docs/queue.md", "title": "Queues", "credibility": "medium"}],
 "patterns": [{"text": "outbox"}]}`

func TestParse(t *testing.T) {
	sure := 0.9
	want := &research.Output{
		Decisions: []research.Decision{{Text: "Use a queue", Confidence: &sure, Provenance: research.Verified}},
		Risks:     []research.Risk{{Text: "It fills up", Severity: research.High}},
		Questions: []research.Question{{Text: "How long?"}},
		Sources:   []research.Source{{URL: "docs/queue.md", Title: "Queues", Credibility: research.Medium}},
		Patterns:  []research.Pattern{{Text: "outbox", Provenance: research.Assumed}},
	}
	for name, text := range map[string]string{
		"bare":                 answer,
		"in a fence":           "```json\n" + answer + "\n```",
		"amid prose":           "This is what I found: " + answer + " Good luck.",
		"twice":                answer + "\n" + answer,
		"beside other objects": `{"note": "not this"} ` + answer,
		"with more members":    strings.Replace(answer, "{", `{"language": "en", `, 1),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := research.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
}

func TestParseRemovesSecrets(t *testing.T) {
	secret := strings.Join([]string{"ghp", "0123456789abcdefghij"}, "_")
	got, err := research.Parse(strings.NewReplacer("Use a queue", "Use "+secret, "outbox", secret).Replace(answer))
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Decisions[0].Text + ", " + got.Patterns[0].Text; text != "Use [REDACTED:github-token], [REDACTED:github-token]" {
		t.Errorf("it has %q", text)
	}
}

func TestParseWithoutMuch(t *testing.T) {
	for _, text := range []string{
		`{"decisions": []}`,
		`{"decisions": [], "risks": null}`,
	} {
		if out, err := research.Parse(text); err != nil || len(out.Decisions) != 0 {
			t.Errorf("%s: %+v, %v", text, out, err)
		}
	}
	for said, want := range map[string]research.Provenance{
		`"[VERIFIED]"`: research.Verified, `"[CITED]"`: research.Cited, `"[ASSUMED]"`: research.Assumed,
		`"verified"`: research.Assumed, `"[verified]"`: research.Assumed, `""`: research.Assumed, `null`: research.Assumed,
	} {
		out, err := research.Parse(`{"decisions": [{"text": "a", "provenance": ` + said + `}]}`)
		if err != nil || out.Decisions[0].Provenance != want {
			t.Errorf("%s: %+v, %v, want %s", said, out, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, ref string }{
		"nothing":               {"", ""},
		"prose":                 {"Use a queue.", ""},
		"another object":        {`{"risks": []}`, ""},
		"inside another object": {`{"result": ` + answer + `}`, ""},
		"in a list":             {"[" + answer + "]", ""},
		"cut short":             {answer[:len(answer)-1], ""},
		"two that differ":       {answer + ` {"decisions": []}`, ""},
		"one and a cut one":     {answer + ` {"decisions": [`, ""},
		"a key twice":           {`{"decisions": [], "decisions": []}`, ""},
		"no UTF-8":              {"{\"decisions\": [{\"text\": \"\xff\"}]}", ""},
		"decisions of null":     {`{"decisions": null}`, ""},
		"decisions of text":     {`{"decisions": "none"}`, ""},
		"a decision of text":    {`{"decisions": ["Use a queue"]}`, ""},
		"a decision of null":    {`{"decisions": [null]}`, "/decisions/0"},
		"a decision of nothing": {`{"decisions": [{"text": "a"}, {"text": " "}]}`, "/decisions/1"},
		"too sure":              {`{"decisions": [{"text": "a", "confidence": 90}]}`, "/decisions/0"},
		"less than unsure":      {`{"decisions": [{"text": "a", "confidence": -0.1}]}`, "/decisions/0"},
		"sure in words":         {`{"decisions": [{"text": "a", "confidence": "high"}]}`, ""},
		"sure beyond numbers":   {`{"decisions": [{"text": "a", "confidence": 1e999}]}`, ""},
		"a risk of nothing":     {`{"decisions": [], "risks": [{"severity": "low"}]}`, "/risks/0"},
		"another severity":      {`{"decisions": [], "risks": [{"text": "a", "severity": "fatal"}]}`, "/risks/0"},
		"a question of nothing": {`{"decisions": [], "questions": [{}]}`, "/questions/0"},
		"no address":            {`{"decisions": [], "sources": [{"title": "a"}]}`, "/sources/0"},
		"another credibility":   {`{"decisions": [], "sources": [{"url": "a", "credibility": "9/10"}]}`, "/sources/0"},
		"a pattern of nothing":  {`{"decisions": [], "patterns": [{}]}`, "/patterns/0"},
		"too long":              {answer + strings.Repeat(" ", 1<<20), ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := research.Parse(c.text)
			if errs.CodeOf(err) != errs.ResearchOutputInvalid || out != nil {
				t.Fatalf("%+v, %v", out, err)
			}
			if ref, _ := err.(*errs.Error).Details["ref"].(string); ref != c.ref {
				t.Errorf("it is to blame on %q, want %q", ref, c.ref)
			}
		})
	}
}

// FuzzParse checks that no message panics, that every error has its code, and that an
// answer can be merged, rendered and read again.
func FuzzParse(f *testing.F) {
	f.Add(answer)
	f.Add("```\n" + `{"decisions": [{"text": "a\u0000# b", "confidence": 1}]}` + "\n```")
	f.Add(`{"decisions": [null]}`)
	f.Fuzz(func(t *testing.T, text string) {
		out, err := research.Parse(text)
		if err != nil {
			if errs.CodeOf(err) != errs.ResearchOutputInvalid {
				t.Fatal(err)
			}
			return
		}
		c := research.Merge([]research.Answer{{Index: 1, Output: out}})
		if page := c.Markdown("T1", 1, "?"); strings.Count(page, "\n## ") != sections {
			t.Errorf("the page has other sections:\n%s", page)
		}
		data, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := research.Parse(string(data))
		if err != nil {
			if len(data) > 1<<20 { // The encoded form may exceed the limit.
				return
			}
			t.Fatalf("%s: %v", data, err)
		}
		same(t, research.Merge([]research.Answer{{Index: 1, Output: again}}), c)
	})
}
