package round

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// What a task keeps of its questions. A critic that asks more than this is
// asked again in the next round.
const (
	maxQuestions    = 100
	maxQuestionText = 2000 // bytes
	maxChoices      = 20
	maxChoice       = 200 // bytes
)

// minWait is how long a question waits for the user at the least, before its
// default may hold.
const minWait = time.Minute

// questions are what a decision asks the user: one for each finding that goes to
// a person, in the critic's own words where it has any.
func questions(policy *policies.Policy, d api.Decision, now time.Time) []task.Question {
	var all []task.Question
	for _, f := range d.Findings {
		to, _ := policy.Destination(f.Route)
		if to.Kind == policies.Human && len(all) < maxQuestions {
			all = append(all, question(f, now))
		}
	}
	if len(all) == 0 {
		// A policy may ask without a finding that does.
		all = append(all, task.Question{
			Fingerprint: fmt.Sprintf("round-%d", d.Round),
			Text:        fmt.Sprintf("The policy asks how to go on after round %d: %s.", d.Round, d.Reason),
		})
	}
	return all
}

// question is what a finding asks. Its raw text is a critic's, so whatever in it
// makes no sense is left out.
func question(f finding.Finding, now time.Time) task.Question {
	q := task.Question{Fingerprint: f.Fingerprint, Text: f.Remediation}
	for _, source := range f.Sources {
		var raw struct {
			Question jsontext.Value `json:"question_to_user"`
		}
		if json.Unmarshal(source.Raw, &raw) != nil || len(raw.Question) == 0 {
			continue
		}
		if asked, ok := readQuestion(raw.Question, now); ok {
			asked.Fingerprint = f.Fingerprint
			q = asked
			break
		}
	}
	if strings.TrimSpace(q.Text) == "" {
		q.Text = f.Category + " at " + f.Location()
	}
	q.Text = cut(q.Text, maxQuestionText)
	return q
}

// readQuestion reads question_to_user: a text, or an object with the text as
// question, choices, a default and an expiry.
func readQuestion(raw jsontext.Value, now time.Time) (task.Question, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return task.Question{Text: text}, strings.TrimSpace(text) != ""
	}
	var asked struct {
		Question  string   `json:"question"`
		Choices   []string `json:"choices"`
		Default   string   `json:"default"`
		ExpiresAt string   `json:"expires_at"`
		ExpiresIn string   `json:"expires_in"`
	}
	if json.Unmarshal(raw, &asked) != nil || strings.TrimSpace(asked.Question) == "" {
		return task.Question{}, false
	}
	q := task.Question{Text: asked.Question}
	for _, choice := range asked.Choices {
		choice = cut(choice, maxChoice)
		if len(q.Choices) < maxChoices && strings.TrimSpace(choice) != "" && !slices.Contains(q.Choices, choice) {
			q.Choices = append(q.Choices, choice)
		}
	}
	if q.Default = cut(asked.Default, maxChoice); len(q.Choices) > 0 && !slices.Contains(q.Choices, q.Default) {
		q.Default = ""
	}
	at, err := time.Parse(time.RFC3339, asked.ExpiresAt)
	if in, wrong := time.ParseDuration(asked.ExpiresIn); err != nil && wrong == nil {
		at, err = now.Add(in), nil
	}
	// A critic that leaves no time to answer would answer in the user's name. Times
	// beyond the year 9999 do not compare as texts.
	if at = at.UTC(); err == nil && !at.Before(now.Add(minWait)) && at.Year() <= 9999 {
		q.ExpiresAt = timestamp(at)
	}
	return q, true
}

// cut shortens s to at most limit bytes, at a code point's start.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit-len("…")], "") + "…"
}
