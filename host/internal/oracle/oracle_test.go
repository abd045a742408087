// Package oracle recomputes every metric from the events that `switchyard ledger export`
// prints, and compares.
//
// It is deliberately naive and independent. It shares no code with the counting at the
// time of recording: neither the fold and its counts, nor the caps and cells of the
// counters, nor the metric families. It repeats the names, labels, caps and bucket
// borders, parses the events' JSON itself, and counts in one pass with maps. So a change
// to what is counted must be made twice, and a mistake in either place shows up as a
// difference. docs/metrics.md describes what each metric counts.
package oracle

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Recount is the result of the events so far. Its memory grows with the tasks and the
// series, not with the events. It is not safe for concurrent use.
type Recount struct {
	metrics      map[string]metric
	events       int64
	since, until string
	sums         map[string]*sum            // by metric and labels
	histograms   map[string]*histogram      // by metric and labels
	known        map[string]map[string]bool // values by dimension
	lost         map[string]bool            // values that the current event has counted as other
	levels       map[string]string          // the confinement of the last process, by agent
	chains       map[string]*chain
}

// New returns a recount without events.
func New() *Recount {
	return &Recount{
		metrics: byName(),
		sums:    make(map[string]*sum), histograms: make(map[string]*histogram),
		known: make(map[string]map[string]bool), lost: make(map[string]bool), levels: make(map[string]string), chains: make(map[string]*chain),
	}
}

// Of recounts the events up to the one whose Seq is upTo. Events come in the order of Seq;
// those after upTo are not read.
func Of(events iter.Seq2[ledger.Event, error], upTo int64) (*Recount, error) {
	r := New()
	if upTo <= 0 {
		return r, nil
	}
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if e.Seq > upTo {
			break
		}
		if err := r.Add(e); err != nil {
			return nil, err
		}
		if e.Seq == upTo {
			break
		}
	}
	return r, nil
}

// Add counts the next event. After an error the recount must not be used.
func (r *Recount) Add(e ledger.Event) error {
	var b body
	if err := json.Unmarshal(e.Body, &b); err != nil {
		return impossible(e, err)
	}
	if e.Time().IsZero() {
		return impossible(e, fmt.Errorf("%q is not a time", e.At))
	}
	r.events++
	if r.since == "" {
		r.since = e.At
	}
	r.until = e.At
	clear(r.lost)
	switch e.Task {
	case "_policies":
		r.policy(e, b)
		return nil
	case "_failures":
		r.failure(e, b)
		return nil
	case "_sessions": // Nothing counts them.
		return nil
	}
	c := r.chains[e.Task]
	if c == nil {
		c = &chain{isTask: !strings.HasPrefix(e.Task, "_")}
		r.chains[e.Task] = c
	}
	before := c.status
	if err := r.event(c, e, b); err != nil {
		return impossible(e, err)
	}
	r.moved(c, before, e, b)
	return nil
}

func impossible(e ledger.Event, err error) error {
	return fmt.Errorf("event %d of %s: %w", e.N, e.Task, err)
}

// policy counts an event about policies.
func (r *Recount) policy(e ledger.Event, b body) {
	switch e.Kind {
	case "policy-kept":
		// The policy's own names take label values first.
		for _, name := range b.Categories {
			r.admit("category", name)
		}
		for _, name := range b.Destinations {
			r.admit("next_action", name)
		}
	case "policy-adopted":
		r.add("policy_adoptions_total", 1, e.At, b.Policy.Version, b.Policy.Digest)
	}
}

// failure counts a failed round.
func (r *Recount) failure(e ledger.Event, b body) {
	if e.Kind != "round-failed" {
		return
	}
	r.add("round_failures_total", 1, e.At, b.Code)
	if b.Plugin != "" {
		r.add("plugin_failures_total", 1, e.At, b.Plugin, strings.TrimPrefix(b.Code, "plugin-"))
	}
}

// event counts an event of a task and updates the task.
func (r *Recount) event(c *chain, e ledger.Event, b body) error {
	if e.Kind == "work-stopped" && b.Event.Stop == nil {
		return fmt.Errorf("a task stops without a reason")
	}
	r.force(e, b)
	c.move(e, b)
	switch e.Kind {
	case "round-decided":
		r.decided(e, b)
	case "question-asked":
		r.add("questions_total", int64(len(b.Event.Questions)), e.At)
	case "work-resumed":
		r.add("resumes_total", 1, e.At, b.Event.Mode)
	case "answer-given":
		for range b.Event.Answers {
			r.observe("question_wait_seconds", e.Time().Sub(c.asked).Milliseconds())
		}
	case "spawn-begun":
		c.open = append(c.open, b.Event.Intents...)
		if b.Limits != nil {
			c.limits = *b.Limits
		}
		for _, run := range b.Event.Intents {
			// No run records a program that was missing.
			if class, ok := strings.CutPrefix(run.Why, "fallback:"); ok && run.Attempt == 1 && run.Role != "other" {
				r.add("spawn_fallbacks_total", 1, e.At, run.Agent, class)
			}
		}
	case "spawn-ended":
		return r.ended(c, e, b)
	}
	return nil
}

// force counts a forced gate.
func (r *Recount) force(e ledger.Event, b body) {
	if b.Event.Force == nil {
		return
	}
	phase := map[string]string{
		"work-begun": "start", "phase-done": b.Event.Phase, "draft-verified": "draft", "round-decided": "draft", "work-committed": "commit",
	}[e.Kind]
	if e.Kind == "round-decided" && b.Event.Reviewed {
		phase = "review"
	}
	r.add("forced_gates_total", 1, e.At, phase)
}

func (r *Recount) decided(e ledger.Event, b body) {
	d := b.Decision
	r.add("rounds_total", 1, e.At, d.NextAction, d.Policy.Version)
	r.add("round_verifications_total", 1, e.At, b.Event.Verify)
	for _, f := range d.Findings {
		r.add("findings_total", 1, e.At, f.Category, f.Severity, f.Route)
	}
	for _, f := range d.Deferred {
		r.add("findings_deferred_total", 1, e.At, f.Severity)
	}
	r.add("findings_induced_total", d.Induced, e.At)
	if b.Event.Reviewed {
		r.add("finding_progress_total", d.Input.New, e.At, "new")
		r.add("finding_progress_total", d.Input.Repeat, e.At, "repeat")
		r.add("finding_progress_total", d.Input.Reopened, e.At, "reopened")
		r.add("finding_progress_total", d.Input.Resolved, e.At, "resolved")
		if d.NoProgress {
			r.add("rounds_without_progress_total", 1, e.At)
		}
	}
	r.add("policy_info", 1, e.At, d.Policy.Version, d.Policy.Digest, d.Policy.ADR)
	r.add("questions_total", int64(len(b.Event.Questions)), e.At)
	if b.Timing == nil {
		return
	}
	if b.Timing.Policy != nil {
		r.observe("policy_evaluation_seconds", *b.Timing.Policy)
	}
	for _, p := range b.Timing.Plugins {
		r.observe("plugin_duration_seconds", p.Micros, p.Plugin)
	}
}

// ended counts an agent run that has ended.
func (r *Recount) ended(c *chain, e ledger.Event, b body) error {
	receipt := b.Event.Receipt
	at := slices.IndexFunc(c.open, func(i intent) bool { return i.Run == receipt.Run })
	if at < 0 {
		return fmt.Errorf("run %q ends and never began", receipt.Run)
	}
	run := c.open[at]
	c.open = slices.Delete(c.open, at, at+1)
	c.spent.add(receipt.cost(run.Reserve))

	r.add("spawns_total", 1, e.At, run.Agent, run.Adapter, receipt.Outcome)
	if receipt.Spawn != nil {
		r.levels[r.admitted("spawn_confinement", []string{run.Agent, ""})[0]] = receipt.Confinement
	}
	class := receipt.Class
	if class == "" {
		class = "none"
	}
	switch receipt.Next {
	case "fallback", "hand-back":
		r.add("spawn_fallbacks_total", 1, e.At, run.Agent, class)
	case "retry":
		r.add("spawn_retries_total", 1, e.At, run.Agent, class)
	}
	if receipt.Outcome != "lost" {
		r.observe("spawn_duration_seconds", receipt.Used.Millis)
	}
	if b.Spawn == nil {
		return nil
	}
	for _, t := range []struct {
		direction string
		tokens    *int64
	}{{"in", b.Spawn.In}, {"out", b.Spawn.Out}, {"cached", b.Spawn.Cached}} {
		if t.tokens != nil {
			r.add("spawn_tokens_total", max(*t.tokens, 0), e.At, run.Agent, t.direction)
		}
	}
	if b.Spawn.MicroDollars != nil {
		r.add("spawn_cost_dollars_total", max(*b.Spawn.MicroDollars, 0), e.At, run.Agent)
	}
	return nil
}

// moved counts a change of a task's status.
func (r *Recount) moved(c *chain, before string, e ledger.Event, b body) {
	if c.status == before {
		return
	}
	switch c.status {
	case "stuck":
		reason := "imported"
		switch {
		case e.Kind == "round-decided":
			reason = b.Event.Reason
		case e.Kind == "work-stopped" && b.Event.Stop.By == "switchyard":
			reason = b.Event.Stop.Reason
		case e.Kind == "work-stopped":
			reason = "by-hand"
		case e.Kind == "merge-ended":
			reason = b.Event.Outcome
		case e.Kind == "answer-given":
			reason = "budget"
			r.add("budget_stops_total", 1, e.At, c.budgets[b.Event.Answers[0].Fingerprint])
		}
		r.add("stuck_total", 1, e.At, reason)
		if reason == "budget" && e.Kind == "work-stopped" && b.Budget != "" {
			r.add("budget_stops_total", 1, e.At, b.Budget)
		}
	case "committed":
		if e.Kind != "merge-ended" {
			bar := c.bar
			if bar == "" {
				bar = "all"
			}
			r.add("commits_total", 1, e.At, bar)
			r.observe("task_rounds", c.rounds())
		}
	}
}
