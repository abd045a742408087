package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// walk records random events that the state machine accepts, with the engine's fold but
// without an engine. It reaches combinations that an engine's rounds never produce.
type walk struct {
	*rapid.T
	ledger  *ledger.Ledger
	now     time.Time
	n       map[string]int64
	tasks   map[string]task.State
	stored  map[string]bool
	adopted string
	runs    int
}

func newWalk(t *rapid.T, dir string) *walk {
	l, err := ledger.Open(context.Background(), dir, record.Fold)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return &walk{T: t, ledger: l, now: noon(), n: make(map[string]int64), tasks: make(map[string]task.State), stored: make(map[string]bool)}
}

type reported map[string]any

func (w *walk) number(label string, from, to int) int {
	return rapid.IntRange(from, to).Draw(w.T, label)
}

func (w *walk) yes(label string) bool { return rapid.Bool().Draw(w.T, label) }

func (w *walk) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(w.T, label) }

// name returns one of a number of names, sometimes one that is too long or odd.
func (w *walk) name(label string, of int) string {
	if w.number(label+" kind", 0, 20) == 0 {
		return w.one(label, "", "other", "ä", "a\nb", `a"b\c`, fmt.Sprintf("%0201d", 7))
	}
	return fmt.Sprintf("%s-%d", label, w.number(label, 1, of))
}

// append records events of one chain.
func (w *walk) append(chain string, drafts ...ledger.NewEvent) {
	w.now = w.now.Add(time.Duration(w.number("milliseconds", -1000, 100_000)) * time.Millisecond)
	if _, err := w.ledger.AppendAll(context.Background(), w.now, ledger.Batch{Task: chain, After: w.n[chain], Events: drafts}); err != nil {
		w.Fatal(err)
	}
	w.n[chain] += int64(len(drafts))
}

func (w *walk) draft(kind string, body reported) ledger.NewEvent {
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		w.Fatal(err)
	}
	return ledger.NewEvent{Kind: kind, Body: text}
}

// policy returns a policy from a set larger than the label cap.
func (w *walk) policy() reported {
	n := w.number("policy", 1, 70)
	return reported{"name": "routing", "version": fmt.Sprintf("1.%d.0", n%40), "digest": fmt.Sprint("sha256:", n), "adr": fmt.Sprint("ADR-", n%3)}
}

// adopt adopts other policies.
func (w *walk) adopt() {
	var drafts []ledger.NewEvent
	for range w.number("adoptions", 1, 4) * w.number("times", 1, 8) {
		p := w.policy()
		digest := p["digest"].(string)
		if !w.stored[digest] {
			w.stored[digest] = true
			drafts = append(drafts, w.draft("policy-kept", reported{"by": "ann", "ref": "x", "policy": p, "sources": []any{reported{"path": "a.rego", "text": ""}}}))
		}
		drafts = append(drafts, w.draft("policy-adopted", reported{"by": "ann", "ref": "x", "policy": p, "from": w.adopted}))
		w.adopted = digest
	}
	w.append("_policies", drafts...)
}

// fail records a failed round.
func (w *walk) fail() {
	body := reported{"by": "ann", "task": "A", "code": w.one("code", "plugin-trap", "plugin-", "verify-timeout", w.name("code", 130)), "message": "x"}
	if w.yes("by a plugin") {
		body["plugin"] = w.name("plugin", 40)
	}
	w.append("_failures", w.draft("round-failed", body))
}

// block records that a session was blocked, or released.
func (w *walk) block() {
	tasks := []any{reported{"task": w.one("blocked", "A", "B"), "round": 2, "decided_at": w.one("decided", "x", "y")}}
	if w.yes("released") {
		w.append("_sessions", w.draft("session-released", reported{"by": "ann", "tasks": tasks, "reason": "x"}))
		return
	}
	w.append("_sessions", w.draft("session-blocked", reported{"by": "ann", "tasks": tasks, "session": "s", "tree": "t"}))
}

// step records an event of a task, or of runs outside any task.
func (w *walk) step(chain string, kind task.Kind) {
	s := w.tasks[chain]
	e, body := w.event(s, kind)
	if e != nil {
		w.record(chain, e, body)
	}
}

// record records an event if it can follow.
func (w *walk) record(chain string, e task.Event, body reported) {
	next, err := task.Apply(w.tasks[chain], e)
	if err != nil {
		return
	}
	w.tasks[chain] = next
	body["by"], body["event"] = "ann", e
	w.append(chain, w.draft(string(e.Kind()), body))
}

// commit records a task that can be merged.
func (w *walk) commit(chain string) {
	branch := &task.Branch{Name: "b", Worktree: "/w", Base: "c0"}
	w.record(chain, task.WorkStarted{Round: 1, MaxRounds: 3, Branch: branch}, reported{})
	w.record(chain, task.RoundDecided{Round: 1, NextRound: 1, MaxRounds: 3, NextAction: "commit", DestinationKind: "terminal", Verify: "absent", Final: true, Tree: "t"},
		reported{"decision": reported{"next_action": "commit", "policy": w.policy(), "input": reported{}}})
	w.record(chain, task.CommitCreated{Round: 1, Commit: task.GitCommit{SHA: "c1", Tree: "t"}}, reported{})
}

// event returns a random event of a kind, or nil if it cannot follow.
func (w *walk) event(s task.State, kind task.Kind) (task.Event, reported) {
	round := max(s.Round, 1)
	var force *task.Force
	if w.yes("forced") {
		force = &task.Force{Reason: "x", By: "ann"}
	}
	switch kind {
	case task.KindStarted:
		begun := w.yes("anew") // Invalid combinations are rejected.
		if begun {
			round = s.Round + 1
		}
		return task.WorkStarted{Round: round, MaxRounds: 3, Force: force, Branch: &task.Branch{Name: "b", Worktree: "/w", Base: "c0"}}, reported{}
	case task.KindAttested:
		return task.AgentAttested{Attestation: task.Attestation{Agent: "executor", Round: round}}, reported{}
	case task.KindPrepared:
		return task.PhaseDone{Round: round, Phase: task.Phase(w.one("phase", "research", "design", "tests")), Force: force}, reported{}
	case task.KindDrafted:
		return task.DraftVerified{Round: round, Force: force}, reported{}
	case task.KindFinished:
		return task.WorkCommitted{Round: round, Force: force}, reported{}
	case task.KindStopped:
		stop := task.Stop{Round: round, Reason: w.one("why", "budget", w.name("reason", 90)), By: w.one("by", "switchyard", "ann")}
		body := reported{}
		if stop.By == "switchyard" && stop.Reason == "budget" {
			body["budget"] = w.one("unit", "task-rounds", "round-tokens", "task-dollars")
		}
		return task.WorkStopped{Stop: stop}, body
	case task.KindResumed:
		return task.WorkResumed{Round: s.Round + 1, MaxRounds: 9, Mode: task.Mode(w.one("mode", "rounds", "replan", "manual", "reset")), By: "ann"}, reported{}
	case task.KindImported:
		e := task.TaskImported{Round: w.number("round", 1, 9), MaxRounds: 9, Overrides: w.number("overrides", 0, 2), By: "ann"}
		if w.yes("stuck") {
			e.Stop = &task.Stop{Round: e.Round, Reason: "x", By: "y"}
		}
		return e, reported{}
	case task.KindDecided:
		return w.decided(s, round, force)
	case task.KindAnswered:
		return w.answered(s), reported{}
	case task.KindBranched:
		return task.BranchCreated{}, reported{}
	case task.KindAsked:
		q := task.Question{Fingerprint: "q0"}
		if w.yes("about a budget") {
			q.Budget = w.one("unit", "task-time", "round-tokens", "task-tokens", "task-dollars", "task-rounds")
		}
		return task.QuestionAsked{Round: round, Questions: []task.Question{q}}, reported{}
	case task.KindParked:
		return task.TaskParked{Round: round, Parking: task.Parking{Until: "2030", Run: "r1"}}, reported{}
	case task.KindUnparked:
		return task.ParkingEnded{By: "expiry"}, reported{}
	case task.KindCommitCreated:
		return task.CommitCreated{Round: round, Commit: task.GitCommit{SHA: "c1", Tree: "t"}}, reported{}
	case task.KindMergeBegun:
		return task.MergeBegun{Into: "main"}, reported{}
	case task.KindMergeEnded:
		return task.MergeEnded{Outcome: task.MergeOutcome(w.one("merge", "merged", "merge-conflict", "merge-red"))}, reported{}
	case task.KindSpawnBegun:
		return w.begun(s)
	case task.KindSpawnEnded:
		return w.ended(s)
	default:
		w.Fatalf("no event is a %s", kind)
		return nil, nil
	}
}

func (w *walk) decided(s task.State, round int, force *task.Force) (task.Event, reported) {
	bars := []string{"", "risk", "fail"}
	to := w.one("to", "executor", "commit", "askuser", "stuck", w.name("destination", 20))
	e := task.RoundDecided{
		Round: round, NextRound: round + w.number("next", 0, 1), MaxRounds: 9, NextAction: to, Reason: w.name("reason", 90),
		DestinationKind: map[string]string{"commit": "terminal", "askuser": "human", "stuck": "terminal"}[to],
		Reviewed:        w.yes("reviewed"), Verify: w.one("verify", "green", "red", "absent"), Final: w.yes("final"), Force: force, Tree: "t",
		Bar: w.one("bar", bars[slices.Index(bars, s.Bar):]...),
	}
	if to == "askuser" {
		for i := range w.number("questions", 1, 3) {
			e.Questions = append(e.Questions, task.Question{Fingerprint: fmt.Sprint("q", i), Churn: w.yes("churn")})
		}
	}
	findings := []reported{}
	for i := range w.number("findings", 0, 9) * w.number("times", 1, 14) {
		findings = append(findings, reported{
			"fingerprint": fmt.Sprint("f", i), "category": w.name("category", 120), "severity": w.name("severity", 9), "route": w.name("destination", 20),
		})
	}
	deferred := []reported{}
	for i := range w.number("deferred", 0, 3) {
		deferred = append(deferred, reported{"fingerprint": fmt.Sprint("d", i), "severity": w.one("deferred severity", "nit", "risk")})
	}
	decision := reported{"next_action": to, "findings": findings, "deferred": deferred, "policy": w.policy(), "policy_bar": e.Bar, "no_progress": w.yes("stalled")}
	input := reported{}
	for _, count := range []string{"new_count", "repeat_count", "reopened_count", "resolved_count"} {
		decision[count] = w.number(count, 0, 3)
		input[count] = decision[count]
	}
	if w.yes("induced is known") {
		decision["induced_count"] = w.number("induced", 0, 3)
	}
	decision["input"] = input
	body := reported{"decision": decision}
	if w.yes("timed") {
		var plugins []reported
		for range w.number("plugins", 0, 3) {
			plugins = append(plugins, reported{"plugin": w.name("plugin", 40), "us": w.micros("us")})
		}
		body["timing"] = reported{"policy_us": w.micros("policy_us"), "plugins": plugins}
	}
	return e, body
}

// micros returns a number in any cell, often at a border.
func (w *walk) micros(label string) int64 {
	if w.yes(label + " at a border") {
		return int64(1_000_000)<<w.number(label, 0, 10)>>10 + int64(w.number(label+" beside", -1, 1))
	}
	return int64(1)<<w.number(label, 0, 50) + int64(w.number(label+" more", 0, 1000))
}

func (w *walk) answered(s task.State) task.Event {
	if s.Questions == nil || len(s.Questions.Open) == 0 {
		return nil
	}
	e := task.QuestionsAnswered{Round: s.Questions.Round}
	for _, q := range s.Questions.Open[:w.number("answers", 1, len(s.Questions.Open))] {
		text := w.one("answer", "x", " Land with the residual risk")
		if q.Budget != "" {
			text = w.one("text", "stop", map[string]string{
				"task-time": "raise by 1h2m0.5s", "task-dollars": "$2.50", "task-rounds": "Raise by 3 rounds",
			}[q.Budget])
			text = cmp.Or(text, w.one("tokens", "50000 tokens", "9223372036854775807"))
		}
		e.Answers = append(e.Answers, task.Answer{Fingerprint: q.Fingerprint, Text: text, By: "ann"})
	}
	return e
}

// amount returns the use of a run, sometimes too large to add up.
func (w *walk) amount(label string) task.Amount {
	if w.number(label+" is huge", 0, 15) == 0 {
		return task.Amount{Millis: 1 << 62, Tokens: 1 << 62, MicroDollars: 1 << 62}
	}
	return task.Amount{
		Millis: int64(w.number(label+" ms", 0, 5_000_000)), Tokens: int64(w.number(label+" tokens", 0, 5000)), MicroDollars: int64(w.number(label+" money", 0, 9)),
	}
}

func (w *walk) begun(s task.State) (task.Event, reported) {
	e := task.SpawnBegun{}
	for range w.number("intents", 1, 3) {
		w.runs++
		e.Intents = append(e.Intents, task.Intent{
			Run: fmt.Sprint("r", w.runs), Round: max(s.Round, 1), Role: task.Role(w.one("role", "critic", "researcher", "other")),
			Agent: w.name("agent", 40), Adapter: w.name("adapter", 20), Attempt: 1, Why: "first", Reserve: w.amount("reserve"),
		})
	}
	if w.yes("limited") {
		limits := task.Limits{Task: w.amount("limit"), Round: w.amount("limit"), Rounds: w.number("rounds", 0, 4)}
		return e, reported{"limits": limits}
	}
	return e, reported{}
}

func (w *walk) ended(s task.State) (task.Event, reported) {
	open := s.OpenRuns()
	if len(open) == 0 {
		return nil, nil
	}
	e := task.SpawnEnded{Receipt: task.Receipt{
		Run: open[w.number("run", 0, len(open)-1)].Run, Outcome: outcome.Outcome(w.one("outcome", "clean", "findings", "critic-error", "lost")),
		Class: outcome.Class(w.one("class", "", "timeout", w.name("reason", 90))), Next: w.one("next", "", "retry", "fallback", "hand-back"), Used: w.amount("used"),
	}}
	if w.yes("ran") {
		e.Receipt.Spawn = &task.Spawn{PID: 1}
	}
	e.Receipt.Confinement = confinement.Level(w.one("level", "", "none", "files", "files+ports", "files+network"))
	for _, what := range []string{task.UnknownTokens, task.UnknownMoney} {
		if w.yes("unknown " + what) {
			e.Receipt.Unknown = append(e.Receipt.Unknown, what)
		}
	}
	if e.Receipt.Outcome == task.OutcomeLost {
		return e, reported{}
	}
	spawn := reported{"confinement": e.Receipt.Confinement}
	for _, what := range []string{"tokens_in", "tokens_out", "tokens_cached", "cost_microdollars"} {
		spawn[what] = rapid.SampledFrom([]any{nil, 0, 1, 70_000, -5, int64(1) << 60}).Draw(w.T, what)
	}
	return e, reported{"spawn": spawn}
}

// TestCountersOfAnyHistory compares metrics with their recount, and counters with those of
// a refold, after random events.
func TestCountersOfAnyHistory(t *testing.T) {
	t.Parallel()
	kinds := []task.Kind{
		task.KindStarted, task.KindAttested, task.KindPrepared, task.KindDrafted, task.KindDecided, task.KindDecided, task.KindDecided, task.KindFinished,
		task.KindStopped, task.KindAnswered, task.KindAnswered, task.KindResumed, task.KindResumed, task.KindImported,
		task.KindSpawnBegun, task.KindSpawnBegun, task.KindSpawnEnded, task.KindSpawnEnded,
		task.KindBranched, task.KindAsked, task.KindParked, task.KindUnparked, task.KindCommitCreated, task.KindMergeBegun, task.KindMergeEnded,
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWalk(rt, t.TempDir())
		w.adopt()
		w.commit("merged")
		for range w.number("steps", 1, 40) {
			switch w.number("what", 0, 19) {
			case 0:
				w.adopt()
			case 1:
				w.fail()
				w.block()
			case 2, 3:
				w.step("_spawns", rapid.SampledFrom([]task.Kind{task.KindSpawnBegun, task.KindSpawnEnded}).Draw(rt, "kind"))
			case 4, 5, 6:
				w.step("merged", rapid.SampledFrom([]task.Kind{task.KindMergeBegun, task.KindMergeEnded, task.KindMergeEnded, task.KindStopped}).Draw(rt, "kind"))
			case 7, 8, 9:
				w.step("asked", rapid.SampledFrom([]task.Kind{task.KindAsked, task.KindAnswered, task.KindSpawnBegun, task.KindParked, task.KindUnparked, task.KindResumed}).Draw(rt, "kind"))
			default:
				w.step(w.one("task", "A", "B", "C"), rapid.SampledFrom(kinds).Draw(rt, "kind"))
			}
		}
		compareLedger(rt, w.ledger, w.ledger.EventsSince(context.Background(), 0))
		if report, err := w.ledger.Verify(context.Background()); err != nil || !report.Sound() {
			rt.Fatalf("the ledger is not sound: %+v, %v", report.Problems, err)
		}
	})
}
