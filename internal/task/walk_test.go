package task_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// walk drives one task through random commands and compares it with the model.
type walk struct {
	*rapid.T
	state  task.State
	model  model
	events []task.Event
	// snapshots are all previous states as they were when created.
	snapshots []snapshot
	// must is set if the project requires verification for every commit, and mayForce if
	// gates may be forced.
	must, mayForce bool
	// seen counts events and outcomes over all walks.
	seen map[string]int
}

type snapshot struct {
	state task.State
	text  string
}

// steps is the length of a walk.
const steps = 100

func (w *walk) run() {
	if w.oneIn(5, "committed first") {
		w.commitFirst()
	}
	for range steps {
		w.step()
	}
	w.refold()
	w.withoutSpawns()
	for i, old := range w.snapshots {
		if text := asJSON(w, old.state); text != old.text {
			w.Fatalf("state %d changed after it was folded:\n%s\n%s", i, old.text, text)
		}
	}
}

// step executes one command, usually one that fits the task's status.
func (w *walk) step() {
	common := []string{"audit", "look", "halt", "begin", "decide", "prepare", "redraft", "verify", "finish", "reply", "expire", "resume", "import", "reserve", "receive",
		"branch", "ask", "park", "unpark", "record", "merge", "merged"}
	likely := map[task.Status][]string{
		task.NoTask:    {"begin", "begin", "begin", "audit", "verify", "decide", "import", "import", "reserve", "reserve", "receive", "halt", "reply", "resume", "finish"},
		task.Open:      {"audit", "audit", "audit", "look", "prepare", "redraft", "verify", "verify", "verify", "decide", "decide", "decide", "decide", "reply", "reserve", "receive", "receive", "ask", "park"},
		task.Waiting:   {"reply", "reply", "reply", "reply", "expire", "receive"},
		task.Parked:    {"unpark", "unpark", "unpark", "receive"},
		task.Stuck:     {"receive", "resume", "resume", "resume", "resume", "begin", "merge"},
		task.Committed: {"begin", "begin", "begin", "record", "merge"},
		task.Merging:   {"merged", "merged", "merged", "halt"},
	}[w.model.status()]
	if w.model.status() == task.Open && len(w.state.Evidence) > 0 {
		likely = []string{"audit", "audit", "audit", "audit", "decide", "decide", "decide", "decide", "verify", "reserve", "receive"}
	}
	if w.model.status() == task.Open && len(w.model.missing(w.must)) == 0 {

		likely = []string{"finish", "finish", "finish", "finish", "finish", "redraft", "verify", "audit", "decide"}
	}
	if w.state.Phase == task.Review && w.state.Status == task.Open {
		likely = append(likely, "reserve")
	}
	switch status, branch := w.model.status(), w.model.branch(); {
	case branch == nil:
	case status == task.Open && !branch.Created:
		likely = append(likely, "branch", "branch", "branch", "branch")
	case status == task.Committed && w.model.commit() == nil:
		likely = []string{"record", "record", "record", "record", "begin"}
	case status == task.Committed || status == task.Stuck && w.model.mergeFailed():
		likely = append(likely, "merge", "merge", "merge", "merge", "merge", "merge", "merge", "merge", "record")
	}
	if !w.oneIn(6, "anything") {
		common = likely
	}
	switch command := rapid.SampledFrom(common).Draw(w.T, "command"); command {
	case "audit":
		w.audit()
	case "look":
		c := task.RecordSearch{Agent: w.pick("searcher", "", "np-executor", "np-executor", "np-researcher"), Query: "q", Source: task.ByHand, By: "somebody"}
		w.expect(c, c, w.model.untilCommitted())
	case "halt":
		c := task.StopTask{Reason: "user-requested", By: "somebody", FindingCount: w.number("findings", -1, 2), ForgetCap: w.oneIn(2, "forget")}
		w.expect(c, c, w.model.stop())
	case "begin":
		c := task.StartWork{Query: "q", MaxRounds: w.limit(), Fallback: 3, HardCap: w.hard(), MustVerify: w.oneIn(4, "must verify"), Force: w.force()}
		if !w.oneIn(4, "in the checkout") {
			c.Branch = &task.Branch{Name: "switchyard/t", Worktree: "/w", Base: w.pick("base", "c0", "c1"), Onto: "main"}
		}
		w.expect(c, c, w.model.begin(c))
	case "decide":
		w.decide()
	case "prepare":
		c := task.CompletePhase{Phase: rapid.SampledFrom([]task.Phase{task.Research, task.Design, task.Tests}).Draw(w.T, "phase"), Required: w.number("required", 1, 2), Force: w.force()}
		if c.Phase == task.Tests {
			c.Tests = []string{w.pick("test", "a_test.go", "b_test.go")}
		}
		w.expect(c, c, w.model.gate(c.Phase, c.Required, c.Force))
	case "redraft":
		c := task.BeginVerification{Same: w.oneIn(3, "same draft")}
		w.expect(c, c, w.model.redraft(c))
	case "verify":
		code := 0
		c := task.RecordVerification{Verification: task.Verification{Command: "make", ExitCode: &code, Runs: 1}, Force: w.force()}
		w.expect(c, c, w.model.gate(task.Draft, 1, c.Force))
	case "finish":
		c := task.CommitTask{MustVerify: w.must, Force: w.force()}
		w.expect(c, c, w.model.finish(c))
	case "reply":
		w.reply()
	case "expire":
		c := task.ExpireQuestions{Now: w.pick("now", "2026-11-21T08:00:00.000000000Z", "2026-11-22T08:00:00.000000000Z", "2026-11-23T08:00:00.000000000Z")}
		w.expect(c, c, w.model.expire(c))
	case "resume":
		c := task.ResumeTask{Mode: rapid.SampledFrom([]task.Mode{task.MoreRounds, task.Replan, task.Manual, task.Reset}).Draw(w.T, "mode"), Fallback: 3, HardCap: w.hard(), By: "somebody"}
		if c.Mode == task.MoreRounds {
			c.Rounds = rapid.SampledFrom([]int{1, 5, 5, 5, 0, -3, 200, int(^uint(0) >> 1)}).Draw(w.T, "rounds")
		}
		w.expect(c, c, w.model.resume(c))
	case "import":
		w.adopt()
	case "reserve":
		w.reserve()
	case "receive":
		w.receive()
	default:
		w.runStep(command)
	}
}

func (w *walk) audit() {
	agents := []string{w.model.drafter(), w.model.drafter(), "np-critic", "np-critic", "np-researcher", "np-task-architect", "np-test-writer", ""}
	if len(w.state.Evidence) > 0 {
		agents = append(agents, "np-critic", "np-critic", "np-critic", "np-critic")
	}
	c := task.AttestAgent{
		Agent: rapid.SampledFrom(agents).Draw(w.T, "agent"), By: "somebody", Run: w.pick("run", "", "", "r1", "r2"),
		Source:      rapid.SampledFrom([]task.Source{task.ByHost, task.ByHost, task.ByHand}).Draw(w.T, "source"),
		Audited:     []string{"np-researcher", "np-executor", "np-build-fixer"},
		SearchTools: []string{"knowledge-search"},
		Tools:       rapid.SampledFrom([][]string{{"knowledge-search"}, {"knowledge-search", "edit", "knowledge-search"}, {"knowledge-search"}, {"edit"}, nil}).Draw(w.T, "tools"),
	}
	w.expect(c, c, w.model.audit(c))
}

// decide enters a round and decides it.
func (w *walk) decide() {
	entry := task.RoundEntry{
		Expected: rapid.SampledFrom([]int{0, 0, 0, 0, w.model.round(), w.model.round() - 1, w.model.round() + 1, -1}).Draw(w.T, "expected"),
		Phases:   rapid.SampledFrom([][]task.Phase{nil, nil, {task.Draft}, {task.Review}, {task.Draft, task.Review}}).Draw(w.T, "phases"),
		Fallback: 3, MaxRounds: w.limit(), HardCap: w.hard(), Force: w.force(),
	}
	want := w.model.enter(entry)
	round, err := task.EnterRound(w.state, entry)
	if code := errs.CodeOf(err); code != want.code || err != nil && code == "" {
		w.Fatalf("%+v enters with %v; want %q", entry, err, want.code)
	}
	if err != nil {
		w.seen["refused: "+string(want.code)]++
		return
	}
	if rounds, own := w.model.entryLimit(entry); round.Number != w.model.round() || round.MaxRounds != rounds || round.CustomCap != own || round.HardCap != w.model.entryHard(entry) || (round.Force != nil) != want.forced {
		w.Fatalf("%+v enters %+v; want round %d of %d", entry, round, w.model.round(), rounds)
	}
	o := w.outcome()
	o.Round, o.MustVerify = round, w.must
	if w.oneIn(30, "stale") {
		o.Round.Number--
	}
	d := decision{entry, o}
	want = w.model.decide(d, want)
	repeats := slices.ContainsFunc(o.Evidence, w.model.used)
	if !w.expect(o, d, want) {
		return
	}
	switch {
	case repeats && o.NextAction == "commit":
		w.seen["commit on a report that its critic repeats"]++
	case repeats:
		w.seen["report of an earlier decision"]++
	case o.NextAction != "commit" && !want.grew && len(o.Evidence) > 0 && w.model.status() == task.Open:
		w.seen["evidence used up"]++
	}
	if want.grew && !o.AdvancesRound && o.Verify != "red" {
		w.seen["advanced, having been kept too often"]++
	}
}

// outcome returns an outcome of a policy, or, rarely, an invalid one.
func (w *walk) outcome() task.DecideRound {
	o := task.DecideRound{RoundDecided: task.RoundDecided{
		Reason: "routed", Policy: "routing@1.2.0", Reviewed: true, FindingCount: w.number("findings", 1, 3),
		Verify: w.pick("verify", "absent", "absent", "green", "red"), Final: w.oneIn(2, "final"),
		Tree:     w.pick("tree", "t1", "t1", "t1", "t1", "t2", "t2", ""),
		Evidence: rapid.SliceOfN(rapid.SampledFrom([]string{"sha256:a", "sha256:b", "sha256:c", "sha256:d"}), 0, 2).Draw(w.T, "evidence"),
	}}
	given, _ := w.state.VerificationOutcome(o.Verify)
	if want := w.model.green() && o.Verify != "red"; (given == "green") != (want || o.Verify == "green") {
		w.Fatalf("given %s, the round's verification is %s", o.Verify, given)
	}
	o.Verify = given
	actions := []string{"commit", "commit", "commit", "executor", "plan-checker", "plan-checker", "askuser", "confirm", "stuck", "abandon"}
	known := w.state.Evidence
	switch {
	case len(known) > 0 && w.model.attestations("np-critic") > 0: // It may repeat a report.
		actions = append(actions, slices.Repeat([]string{"commit"}, 15)...)
	case w.model.stored() > 0: // Too many decisions may not advance the round.
		actions = append(actions, slices.Repeat([]string{"plan-checker"}, 10)...)
	}
	o.NextAction = w.pick("action", actions...)
	switch o.NextAction {
	case "commit":
		o.DestinationKind, o.FindingCount = "terminal", 0
		if o.Verify == "red" && !w.oneIn(4, "over red") {
			o.Verify = "green"
		}
		if w.oneIn(12, "with findings") {
			o.FindingCount = 2
		}
		o.Reviewed = !w.oneIn(12, "unreviewed")
		if len(known) > 0 && !w.oneIn(3, "anew") {
			o.Evidence = known[:1]
		}
	case "stuck", "abandon":
		o.DestinationKind = "terminal"
	case "askuser", "confirm":
		o.DestinationKind, o.AdvancesRound = "human", o.NextAction == "askuser"
		for i := range w.number("questions", 1, 3) {
			o.Questions = append(o.Questions, w.question(i))
		}
	default:
		o.DestinationKind, o.AdvancesRound = "agent", o.NextAction == "executor"
		if o.Verify == "red" && w.oneIn(2, "red alone") {
			o.Reviewed, o.FindingCount, o.Evidence = false, 0, nil
		}
	}
	return o
}

func (w *walk) question(i int) task.Question {
	q := task.Question{Fingerprint: fmt.Sprintf("q%d", i), Text: "Which one?"}
	if w.oneIn(2, "choices") {
		q.Choices = []string{"yes", "no"}
	}
	if w.oneIn(2, "default") {
		q.Default = "yes"
	}
	if w.oneIn(2, "expires") {
		q.ExpiresAt = "2026-11-22T08:00:00.000000000Z"
	}
	return q
}

func (w *walk) reply() {
	q := w.model.questions()
	c := task.AnswerQuestion{
		Round:       rapid.SampledFrom([]int{0, 0, 0, q.round, q.round, q.round - 1, w.model.round() + 1}).Draw(w.T, "to"),
		Fingerprint: w.pick("question", "", "q0", "q0", "q1", "q2", "q9"), By: "somebody",
	}
	if len(q.open) > 0 && !w.oneIn(2, "another") {
		c.Fingerprint = q.open[0].Fingerprint
		if q.open[0].Budget != "" {
			w.pay(c)
			return
		}
	}
	if c.Choice = rapid.SampledFrom([]int{0, 0, 1, 2, 3, -1}).Draw(w.T, "choice"); c.Choice == 0 {
		c.Text = w.pick("text", "yes", "no", "later", "")
	}
	w.expect(c, c, w.model.reply(c))
}

func (w *walk) adopt() {
	i := task.TaskImported{Source: "other", Digest: "sha256:e", Round: w.number("imported", 1, 4), MaxRounds: w.number("cap", 3, 8), HardCap: w.hard(), CustomCap: w.oneIn(2, "raised"), By: "somebody"}
	if w.oneIn(8, "late") {
		i.Round, i.MaxRounds = w.number("imported", 97, 101), 100
	}
	if w.oneIn(3, "stopped") {
		i.Stop = &task.Stop{Round: i.Round, Reason: "elsewhere", By: "somebody"}
	}
	if w.oneIn(3, "violation") {
		i.Violations = []task.Violation{{Round: 1, Agent: "np-executor", Kind: task.NoSearch}}
	}
	if w.mayForce {
		i.Overrides = w.number("overrides", 0, 2)
	}
	c := task.ImportTask{TaskImported: i}
	w.expect(c, c, w.model.adopt(c))
}

// expect executes a command, compares the result with the model's verdict, and reports
// whether it had an effect.
func (w *walk) expect(c task.Command, what any, want verdict) bool {
	before := asJSON(w, w.state)
	e, err := task.Decide(w.state, c)
	switch code := errs.CodeOf(err); {
	case code != want.code || (err != nil && code == "") != want.impossible:
		w.Fatalf("%+v is answered by %v; want %q\n%s", c, err, want.code, before)
	case err != nil:
		w.seen["refused: "+cmp.Or(string(code), "impossible")]++
		if e != nil {
			w.Fatalf("%+v is refused, and yet there is %+v", c, e)
		}
		return false
	case want.idle != (e == nil):
		w.Fatalf("%+v makes %+v; idle should be %v\n%s", c, e, want.idle, before)
	case e == nil:
		w.seen[fmt.Sprintf("idle: %T", c)]++
		return false
	}
	after, err := task.Apply(w.state, e)
	if err != nil {
		w.Fatalf("the event of %+v is refused: %v", c, err)
	}
	if got := asJSON(w, w.state); got != before {
		w.Fatalf("%+v changed the state before it:\n%s\n%s", c, before, got)
	}
	w.model = append(w.model, seen{what: what, round: w.model.round(), grew: want.grew, forced: want.forced})
	w.events = append(w.events, e)
	w.readBack(e, after)
	status := w.state.Status
	w.state = after
	w.snapshots = append(w.snapshots, snapshot{after, asJSON(w, after)})
	// Another fold from an older state must not affect this one.
	_, _ = task.Apply(w.snapshots[w.number("branch", 0, len(w.snapshots)-1)].state, e)
	w.count(status, c, e)
	w.compare()
	return true
}

// readBack checks that the event and the state survive encoding and decoding.
func (w *walk) readBack(e task.Event, after task.State) {
	again := task.NewEvent(e.Kind())
	if err := json.Unmarshal([]byte(asJSON(w, e)), again); err != nil {
		w.Fatalf("%+v cannot be read back: %v", e, err)
	}
	if !alike(reflect.ValueOf(again).Elem(), reflect.ValueOf(e)) {
		w.Fatalf("%+v comes back as %+v", e, again)
	}
	folded, err := task.Apply(w.state, again)
	if err != nil || !alike(reflect.ValueOf(folded), reflect.ValueOf(after)) {
		w.Fatalf("%+v, read back, folds to %+v, %v; want %+v", e, folded, err, after)
	}
	var s task.State
	if err := json.Unmarshal([]byte(asJSON(w, after)), &s); err != nil || !alike(reflect.ValueOf(s), reflect.ValueOf(after)) {
		w.Fatalf("a state comes back as %+v, %v; want %+v", s, err, after)
	}
}

// refold checks that folding the events again gives the same state.
func (w *walk) refold() {
	var s task.State
	for i, e := range w.events {
		var err error
		if s, err = task.Apply(s, e); err != nil {
			w.Fatalf("event %d, folded again: %v", i, err)
		}
	}
	if !reflect.DeepEqual(s, w.state) {
		w.Fatalf("the events fold to %+v, and then to %+v", w.state, s)
	}
}

// compare checks the state against the model.
func (w *walk) compare() {
	s, m := w.state, w.model
	if err := s.Check(); err != nil {
		w.Fatalf("a state that was reached is refused: %v\n%s", err, asJSON(w, s))
	}
	wrong := func(what string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			w.Fatalf("%s: got %v, want %v, after %+v\n%s", what, got, want, m[len(m)-1], asJSON(w, s))
		}
	}
	rounds, own := m.limit()
	wrong("status", s.Status, m.status())
	if m.status() == task.NoTask {
		wrong("round of no task", s.Round, 0)
	} else {
		wrong("round", s.Round, m.round())
	}
	wrong("phase", s.Phase, m.phaseName())
	wrong("decisions that kept the round", s.NonAdvancing, m.stored())
	wrong("cap", s.MaxRounds, rounds)
	wrong("hard cap", s.HardCap, m.hard())
	wrong("a cap of its own", s.CustomCap, own)
	wrong("overrides", s.Overrides, m.overrides())
	wrong("the newest override is known", s.Forced != nil, slices.ContainsFunc(m, func(h seen) bool { return h.forced }))
	wrong("wants verification", s.Verifies, m.verifies())
	wrong("stuck for a reason", s.Stop != nil, m.status() == task.Stuck)
	wrong("violations", asJSON(w, s.Violations), asJSON(w, m.violations()))
	wrong("findings of the audit", len(s.AuditFindings()), len(m.violations()))
	wrong("drafter", s.DraftAgent(), m.drafter())
	for _, agent := range []string{"np-executor", "np-build-fixer", "np-critic", "np-researcher"} {
		wrong("stamps of "+agent, s.CountAttestations(agent), m.attestations(agent))
	}
	if m.status() == task.Open {
		wrong("missing for a commit", s.MissingForCommit(w.must), m.missing(w.must))
	}
	w.compareRuns(wrong)
	w.compareBranch(wrong)
	w.nextIsAllowed()
	q := m.questions()
	wrong("has asked", s.Questions != nil, q.asked)
	if q.asked {
		wrong("questions' round", s.Questions.Round, q.round)
		wrong("inserted questions", s.Questions.Inserted, q.inserted)
		wrong("open questions", asJSON(w, s.Questions.Open), asJSON(w, q.open))
		wrong("answers", len(s.Questions.Answers), len(q.answered))
	}
}

// count counts an event.
func (w *walk) count(before task.Status, c task.Command, e task.Event) {
	w.seen[string(e.Kind())]++
	switch e := e.(type) {
	case task.RoundDecided:
		w.seen["decided: "+e.NextAction]++
		if e.Round > e.MaxRounds {
			w.seen["decided beyond the cap"]++
		}
		if w.state.Status == task.Committed {
			w.seen["committed by a decision"]++
		}
	case task.WorkCommitted:
		if e.Force == nil {
			w.seen["committed by its phase"]++
		}
	case task.WorkResumed:
		w.seen["resumed: "+string(e.Mode)]++
	case task.QuestionsAnswered:
		if e.Answers[0].Default {
			w.seen["expired"]++
		}
		switch w.state.Status {
		case task.Open:
			w.seen["all answered"]++
		case task.Stuck:
			w.seen["stopped for a budget"]++
		}
	case task.QuestionAsked:
		if e.Questions[0].Budget != "" {
			w.seen["asked for a budget"]++
		}
	case task.MergeEnded:
		w.seen["merge: "+string(e.Outcome)]++
	case task.MergeBegun:
		if before == task.Stuck {
			w.seen["merged again"]++
		}
	case task.WorkStarted:
		if e.Round > 1 {
			w.seen["begun anew"]++
		}
	case task.AgentAttested:
		if e.Attestation.Violation != "" {
			w.seen[string(e.Attestation.Violation)]++
		}
	}
	if w.model[len(w.model)-1].forced {
		w.seen[fmt.Sprintf("forced: %T", c)]++
	}
}

func (w *walk) oneIn(n int, label string) bool {
	// Use the last number, so that a counterexample shrinks to the usual case.
	return rapid.IntRange(1, n).Draw(w.T, label) == n && n > 1
}

func (w *walk) number(label string, low, high int) int {
	return rapid.IntRange(low, high).Draw(w.T, label)
}

func (w *walk) pick(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(w.T, label)
}

// limit returns a caller's cap, usually none.
func (w *walk) limit() int {
	return rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 8, 100, 101, -1}).Draw(w.T, "cap")
}

// hard returns the project's hard cap, usually none.
func (w *walk) hard() int {
	return rapid.SampledFrom([]int{0, 0, 3, 5, 100}).Draw(w.T, "hard cap")
}

func (w *walk) force() *task.Force {
	if w.mayForce && w.oneIn(4, "force") {
		return force
	}
	return nil
}

// TestTasksBehaveLikeTheirModel compares random histories with the model.
func TestTasksBehaveLikeTheirModel(t *testing.T) {
	seen := make(map[string]int)
	walks := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 6 {
			walks++
			w := walk{T: t, seen: seen, mayForce: true}
			w.must = w.oneIn(2, "must verify")
			w.run()
		}
	})
	for _, what := range []string{
		"work-begun", "agent-stamped", "search-recorded", "phase-done", "draft-begun", "draft-verified", "round-decided",
		"work-committed", "work-stopped", "answer-given", "work-resumed", "task-imported", "spawn-begun", "spawn-ended",
		"branch-created", "question-asked", "task-parked", "parking-ended", "commit-created", "merge-begun", "merge-ended",
		"asked for a budget", "stopped for a budget", "a budget was raised", "a draft ends a review", "a revised plan",
		"merge: merged", "merge: merge-conflict", "merge: merge-red", "merged again", "idle: task.CreateBranch", "idle: task.EndParking",
		"next: start", "next: branch", "next: draft", "next: review", "next: assist", "next: ask", "next: park", "next: commit", "next: merge", "next: stuck", "next: done",
		"refused: task-no-branch", "refused: task-parked", "refused: task-not-parked", "refused: task-merging", "refused: task-not-committed", "refused: impossible",
		"spawned outside any task", "a receipt of an earlier round", "an ended run is stale",
		"decided: commit", "decided: executor", "decided: plan-checker", "decided: askuser", "decided: confirm", "decided: stuck", "decided: abandon",
		"committed by a decision", "committed by its phase", "begun anew", "all answered", "expired", "evidence used up",
		"report of an earlier decision", "commit on a report that its critic repeats", "advanced, having been kept too often",
		"resumed: rounds", "resumed: replan", "resumed: manual", "resumed: reset",
		"rule-9-no-search-tool-invoked", "rule-9-search-tool-unverified",
		"forced: task.StartWork", "forced: task.CompletePhase", "forced: task.RecordVerification", "forced: task.DecideRound", "forced: task.CommitTask",
		"idle: task.AttestAgent", "idle: task.BeginVerification", "idle: task.AnswerQuestion", "idle: task.ExpireQuestions",
		"refused: task-not-found", "refused: task-exists", "refused: task-started", "refused: task-waiting", "refused: task-not-waiting",
		"refused: task-stuck", "refused: task-not-stuck", "refused: task-committed", "refused: round-shifted", "refused: rounds-exhausted", "refused: cap-fixed", "decided beyond the cap",
		"refused: commit-precondition-missing", "refused: commit-unverified", "refused: evidence-missing", "refused: report-replayed",
		"refused: agent-invalid", "refused: question-unknown", "refused: question-answered", "refused: question-stale", "refused: answer-invalid",
		"refused: budget-exhausted", "refused: spawn-run-unknown",
	} {
		if !t.Failed() && seen[what] < walks/300 { // The rarest steps happen in one walk of 60.
			t.Errorf("%s: reached %d times in %d walks", what, seen[what], walks)
		}
	}
}

// asJSON returns v as the ledger would store it.
func asJSON(t tester, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%+v cannot be written: %v", v, err)
	}
	return string(text)
}

// alike is reflect.DeepEqual, except that an empty slice equals nil: encoding may change
// that.
func alike(a, b reflect.Value) bool {
	switch {
	case a.Type() != b.Type():
		return false
	case a.Kind() == reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || alike(a.Elem(), b.Elem()))
	case a.Kind() == reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Interface() == b.Interface()
	}
}
