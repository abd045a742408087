package fakeagent

import (
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// apply applies the differences of o to an object.
func (o Object) apply(object map[string]any) map[string]any {
	maps.Copy(object, o.Set)
	for _, name := range o.Without {
		delete(object, name)
	}
	return object
}

// encode encodes an object with its members in order.
func encode(object map[string]any, options ...json.Options) []byte {
	data, err := json.Marshal(object, append(options, json.Deterministic(true))...)
	if err != nil {
		panic(err) // It was decoded from JSON.
	}
	return data
}

// Critique returns the answer of a correct critic: its report, and the envelope as its
// final message.
func Critique(b Brief, findings ...Finding) (report []byte, message string) {
	r := Report{Findings: findings}
	report, verdict, blockers := r.compose(b)
	return report, string(encode(envelope(b, b.ReportPath, verdict, blockers)))
}

// compose returns a report's content, with the verdict and the number of blockers of its
// findings.
func (r *Report) compose(b Brief) (content []byte, verdict string, blockers int) {
	verdict = "passed"
	for _, f := range r.Findings {
		verdict = "issues_found"
		if f.Severity == "" || f.Severity == "fail" {
			blockers++
		}
	}
	if r.Text != nil {
		return []byte(b.fill(*r.Text)), verdict, blockers
	}
	report := map[string]any{
		"critic": "critic", "task_id": b.Task, "round": b.Round, "verdict": verdict, "findings": r.Findings,
		"criteria": []map[string]any{{"id": "AC-1", "claim": "it works", "verdict": "Satisfied", "evidence": "seen"}},
	}
	return encode(r.Object.apply(report), jsontext.Multiline(true)), verdict, blockers
}

func (r *Report) put(path string, content []byte, b Brief) error {
	if r.Link != "" {
		target, err := filepath.Abs(b.fill(r.Link))
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o600); err != nil {
			return err
		}
		// Replace an existing report.
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return os.Symlink(target, path)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	if r.Age == 0 {
		return nil
	}
	then := time.Now().Add(-time.Duration(r.Age))
	return os.Chtimes(path, then, then)
}

// envelope returns the final message of a critic that wrote such a report.
func envelope(b Brief, path, verdict string, blockers int) map[string]any {
	e := map[string]any{"critic": "critic", "task_id": b.Task, "round": b.Round, "verdict": verdict,
		"blockers_count": blockers, "report_path": path}
	if b.RunID != "" {
		e["run_id"] = b.RunID
	}
	return e
}

func (f *Final) text(b Brief, fitting map[string]any) string {
	if f.Text != nil {
		return b.fill(*f.Text)
	}
	object := string(encode(f.Object.apply(fitting)))
	switch f.Wrap {
	case "fence":
		return "```json\n" + object + "\n```"
	case "prose":
		return "The review is done. " + object + " That is all."
	case "twice":
		return object + "\n" + object
	}
	return object
}
