package nubospilot

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkpoint is the content of a checkpoint. Others has the keys that are not imported.
type checkpoint struct {
	Schema  int                       `json:"schema_version"`
	TaskID  string                    `json:"task_id"`
	Status  string                    `json:"status"`
	Started jsontext.Value            `json:"started_at"`
	Updated jsontext.Value            `json:"last_update"`
	Loop    loop                      `json:"nubosloop"`
	Others  map[string]jsontext.Value `json:",embed"`
}

// loop is the state of a task's loop.
type loop struct {
	Round     *int   `json:"round"`
	Phase     string `json:"last_phase"`
	Action    string `json:"last_action"`
	MaxRounds *int   `json:"max_rounds_override"`
	// Stuck stays set if a task restarts. Only the status is reliable.
	Stuck  jsontext.Value `json:"stuck"`
	Reason string         `json:"stuck_reason"`
	// Findings is the latest list, ByRound the lists of all rounds.
	Findings []entry                   `json:"findings"`
	ByRound  map[int][]entry           `json:"findings_per_round"`
	Audits   []audit                   `json:"tool_use_audit"`
	Others   map[string]jsontext.Value `json:",embed"`
}

// entry is a finding or a whole report. Reports are in tasks that became stuck by a report's
// path.
type entry struct {
	Category    string           `json:"category"`
	Severity    finding.Severity `json:"severity"`
	File        *string          `json:"file"`
	Line        *int             `json:"line"`
	Remediation string           `json:"remediation"`
	Findings    []entry          `json:"findings"`
}

// audit is the record of an agent's run, with its violation of the search-before-write rule.
type audit struct {
	Agent     string `json:"agent"`
	Round     int    `json:"round"`
	Violation string `json:"violation"`
	Routed    int    `json:"routed_in_round"`
}

const (
	// schema is the supported version of checkpoints.
	schema = 1
	// maxFindings limits the findings of a task.
	maxFindings = 10_000
)

// parse reads a checkpoint, and adds the names of keys that are not imported to others. It fails
// if a part cannot be imported: the rest would be a wrong task.
func parse(id string, data []byte, others map[string]bool) (Task, error) {
	var c checkpoint
	if err := json.Unmarshal(data, &c); err != nil {
		return Task{}, fmt.Errorf("it is damaged: %w", textutil.JSONReason(err))
	}
	l := c.Loop
	round := 1
	if l.Round != nil {
		round = *l.Round
	}
	statuses := []string{"in-progress", "verifying", "pre-commit", "done", "stuck"}
	switch {
	case c.Schema != schema:
		return Task{}, fmt.Errorf("it has schema version %d, and only %d is known", c.Schema, schema)
	case task.CheckID(id) != nil || c.TaskID != id:
		return Task{}, errors.New("it is about another task than its name says")
	case !slices.Contains(statuses, c.Status):
		return Task{}, fmt.Errorf("its status is not one of %s", strings.Join(statuses, ", "))
	case round < 1 || l.Round == nil && l.Phase != "":
		return Task{}, errors.New("its round is not a whole number of 1 or more")
	case l.MaxRounds != nil && (*l.MaxRounds < 1 || *l.MaxRounds > task.MaxRounds):
		return Task{}, fmt.Errorf("its max_rounds_override is not from 1 to %d", task.MaxRounds)
	}
	t := Task{ID: id, Done: c.Status == "done", Stuck: c.Status == "stuck", Round: round, Digest: digest.Of(data)}
	if t.Stuck {
		t.Reason = l.Reason
	}
	if l.MaxRounds != nil {
		t.MaxRounds = *l.MaxRounds
	}
	for name, value := range l.Others {
		// Any value but null and false was set on purpose.
		if strings.HasPrefix(name, "forced_") {
			if kind := value.Kind(); kind != 'n' && kind != 'f' {
				t.Forced++
			}
			delete(l.Others, name)
		}
	}
	var err error
	if t.Findings, err = l.openFindings(round, t.Digest); err != nil {
		return Task{}, err
	}
	if t.Violations, err = l.violations(t); err != nil {
		return Task{}, err
	}
	for _, keys := range []map[string]jsontext.Value{c.Others, l.Others} {
		for name, value := range keys {
			if !slices.Contains([]string{"null", "false", `""`, "[]", "{}"}, string(value)) {
				others[name] = true
			}
		}
	}
	return t, nil
}

// openFindings returns the findings of the latest round that has any.
func (l loop) openFindings(round int, report string) ([]finding.Finding, error) {
	newest := 0
	for r, list := range l.ByRound {
		if r < 1 || r > round {
			return nil, fmt.Errorf("it has findings of round %d, in which the task was not", r)
		}
		if len(list) > 0 {
			newest = max(newest, r)
		}
	}
	entries := l.Findings
	if newest == round || len(entries) == 0 {
		entries = slices.Concat(l.ByRound[newest], entries)
	}
	var all []finding.Finding
	seen := make(map[string]bool)
	for _, e := range flatten(nil, entries) {
		f := finding.Finding{
			Critic: Name, Category: e.Category, Severity: e.Severity, File: e.File, Line: e.Line, Remediation: e.Remediation,
			ConfirmedBy: []string{Name}, Sources: []finding.Source{{Critic: Name, Plugin: Name, Report: report}},
		}
		if f.Severity != finding.Risk && f.Severity != finding.Nit {
			f.Severity = finding.Fail
		}
		if f.Category == "" || f.Line != nil && *f.Line < 1 {
			return nil, errors.New("one of its findings has no category, or a line below 1")
		}
		if len(all) == maxFindings {
			return nil, fmt.Errorf("it has more than %d findings", maxFindings)
		}
		// The latest list repeats those of its round.
		if key := fmt.Sprintf("%q %s %q", f.Category, f.Location(), f.Remediation); !seen[key] {
			seen[key] = true
			all = append(all, f)
		}
	}
	return all, nil
}

// flatten appends the entries of a list to all, with the findings of each report in its
// place.
func flatten(all, entries []entry) []entry {
	for _, e := range entries {
		if e.Category == "" && e.Findings != nil {
			all = flatten(all, e.Findings)
		} else {
			all = append(all, e)
		}
	}
	return all
}

// violations returns the violations of the search-before-write rule that are still open.
func (l loop) violations(t Task) ([]task.Violation, error) {
	isAgent := regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`).MatchString
	var all []task.Violation
	for _, a := range l.Audits {
		if a.Violation == "" || l.isSettled(a, t) {
			continue
		}
		if a.Round < 1 || a.Round > t.Round || !isAgent(a.Agent) {
			return nil, errors.New("one of the violations in its tool_use_audit has no agent, or another task's round")
		}
		v := task.Violation{Round: a.Round, Agent: a.Agent, Kind: task.NoSearch}
		if a.Violation == string(task.SearchUnverified) {
			v.Kind = task.SearchUnverified
		}
		if !slices.ContainsFunc(all, func(o task.Violation) bool { return o.Agent == v.Agent && o.Kind == v.Kind }) {
			all = append(all, v)
		}
	}
	return all, nil
}

// isSettled reports whether a round routed the violation to an agent that could fix it.
// nubos-pilot also marks a violation as routed if the round ended in stuck or in a question, and
// never returns to it.
func (l loop) isSettled(a audit, t Task) bool {
	switch {
	case a.Routed == 0:
		return false
	case (t.Stuck || l.Phase == "stuck" || l.Action == "stuck") && a.Routed == t.Round:
		return false
	case l.Action == "askuser" && a.Routed >= t.Round-1: // Later versions advance the round.
		return false
	}
	return true
}
