package decision

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// Limits of a task's questions. Questions beyond them can be asked again in the next
// round.
const (
	maxQuestions    = 100
	maxQuestionText = 2000 // bytes
	maxChoices      = 20
	maxChoice       = 200 // bytes
)

// minWait is the minimum time before a question's default answer can apply.
const minWait = time.Minute

// Questions returns the questions of a decision to the user: if there is churn, how to end
// it, then one question per finding routed to a person, in the critic's words if it has any.
func Questions(policy *policies.Policy, d api.Decision, now time.Time) []task.Question {
	var all []task.Question
	if reviews := d.Churn(); reviews > 0 {
		all = append(all, task.AskAboutChurn(d.Round, reviews, d.Input.HardCap))
	}
	for _, f := range d.Findings {
		to, _ := policy.Destination(f.Route)
		if to.Kind == policies.Human && len(all) < maxQuestions {
			all = append(all, question(f, now))
		}
	}
	if len(all) == 0 {
		// A policy can ask the user even if no finding is routed to a person.
		all = append(all, task.Question{
			Fingerprint: fmt.Sprintf("round-%d", d.Round),
			Text:        fmt.Sprintf("The policy asks how to go on after round %d: %s.", d.Round, d.Reason),
		})
	}
	return all
}

// question returns the question of a finding. Raw text comes from a critic, so malformed
// questions are skipped.
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
	if words := f.Contradiction(); words != "" {
		q.Text = textutil.FitBytes(q.Text, maxQuestionText/2) + " (" + words + ")"
	}
	q.Text = textutil.FitBytes(q.Text, maxQuestionText)
	return q
}

// readQuestion reads question_to_user: a string, or an object with question, choices,
// default and expires_at or expires_in.
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
		choice = textutil.FitBytes(choice, maxChoice)
		if len(q.Choices) < maxChoices && strings.TrimSpace(choice) != "" && !slices.Contains(q.Choices, choice) {
			q.Choices = append(q.Choices, choice)
		}
	}
	if q.Default = textutil.FitBytes(asked.Default, maxChoice); len(q.Choices) > 0 && !slices.Contains(q.Choices, q.Default) {
		q.Default = ""
	}
	at, err := time.Parse(time.RFC3339, asked.ExpiresAt)
	if in, wrong := time.ParseDuration(asked.ExpiresIn); err != nil && wrong == nil {
		at, err = now.Add(in), nil
	}
	// A critic that leaves no time to answer would answer for the user. Times beyond the
	// year 9999 do not compare as strings.
	if at = at.UTC(); err == nil && !at.Before(now.Add(minWait)) && at.Year() <= 9999 {
		q.ExpiresAt = at.Format(ledger.TimeFormat)
	}
	return q, true
}
