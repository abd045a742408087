package task_test

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// model is the state machine as a naive reader of docs/tasks.md would build it: it keeps
// all commands and computes each answer from the whole list. It shares no code with the
// package.
type model []seen

// seen is an executed command.
type seen struct {
	// what is the command; for a round, a decision.
	what any
	// round is the round of the command; grew is set if it began the next round.
	round int
	grew  bool
	// forced is set if it had to force a gate.
	forced bool
}

// decision is a round that was entered and decided.
type decision struct {
	entry   task.RoundEntry
	outcome task.DecideRound
}

// becomes returns the status after a decision.
func (d decision) becomes() task.Status {
	switch o := d.outcome; {
	case o.NextAction == "commit" && o.Final:
		return task.Committed
	case o.NextAction == "commit":
		return task.Open
	case o.DestinationKind == "terminal":
		return task.Stuck
	case o.DestinationKind == "human":
		return task.Waiting
	default:
		return task.Open
	}
}

// keeps reports whether a decision keeps the round's evidence for the phase commit.
func (d decision) keeps() bool { return d.outcome.NextAction == "commit" && !d.outcome.Final }

func (m model) status() task.Status {
	for _, h := range slices.Backward(m) {
		switch w := h.what.(type) {
		case task.StartWork, task.ResumeTask:
			return task.Open
		case decision:
			return w.becomes()
		case task.CommitTask:
			return task.Committed
		case task.StopTask:
			return task.Stuck
		case task.AskUser:
			return task.Waiting
		case task.ParkTask:
			return task.Parked
		case task.EndParking:
			return task.Open
		case task.BeginMerge:
			return task.Merging
		case task.EndMerge:
			if w.Outcome == "merged" {
				return task.Committed
			}
			return task.Stuck
		case task.ImportTask:
			if w.Stop != nil {
				return task.Stuck
			}
			return task.Open
		case task.AnswerQuestion, task.ExpireQuestions:
			switch q := m.questions(); {
			case !q.asked:
				return task.Stuck // It was stopped instead of paid for.
			case len(q.open) > 0:
				return task.Waiting
			default:
				return task.Open
			}
		}
	}
	if slices.ContainsFunc(m, seen.makes) {
		return task.Open
	}
	return task.NoTask
}

// makes reports whether a step creates the task. Runs by hand do not.
func (h seen) makes() bool {
	switch w := h.what.(type) {
	case task.ReserveRuns:
		return slices.ContainsFunc(w.Intents, func(i task.Intent) bool { return i.Role != "other" })
	case task.RecordReceipt:
		return false
	default:
		return true
	}
}

func (m model) round() int {
	if len(m) == 0 {
		return 1
	}
	h := m[len(m)-1]
	if i, ok := h.what.(task.ImportTask); ok {
		return i.Round
	}
	if h.grew {
		return h.round + 1
	}
	return h.round
}

// limit returns the task's cap, and whether it is the task's own.
func (m model) limit() (rounds int, own bool) {
	for i, h := range slices.Backward(m) {
		before := m[:i]
		switch w := h.what.(type) {
		case task.StartWork:
			return before.beginLimit(w, m[:i+1].round())
		case decision:
			rounds, own = before.entryLimit(w.entry)
			return rounds, own && w.becomes() != task.Committed
		case task.CommitTask:
			rounds, _ = before.limit()
			return rounds, false
		case task.StopTask:
			rounds, own = before.limit()
			return rounds, own && !w.ForgetCap
		case task.ResumeTask:
			return before.resumeLimit(w)
		case task.ImportTask:
			return w.MaxRounds, w.CustomCap
		}
	}
	return 0, false
}

// hard returns the task's hard cap, 0 before it has a cap.
func (m model) hard() int {
	for i, h := range slices.Backward(m) {
		before := m[:i]
		rounds, _ := m[:i+1].limit()
		switch w := h.what.(type) {
		case task.StartWork:
			return hardest(rounds, m[:i+1].round()-1, w.HardCap)
		case decision:
			return before.entryHard(w.entry)
		case task.ResumeTask:
			return max(before.hard(), hardest(rounds, before.round(), w.HardCap))
		case task.ImportTask:
			return hardest(rounds, 0, w.HardCap)
		}
	}
	return 0
}

func (m model) entryHard(e task.RoundEntry) int {
	if hard := m.hard(); hard != 0 {
		return hard
	}
	rounds, _ := m.entryLimit(e)
	return hardest(rounds, 0, e.HardCap)
}

// hardest returns the hard cap for a cap, if the project's is counted after a round.
func hardest(rounds, after, project int) int {
	if project == 0 {
		after, project = 0, 2*rounds
	}
	return max(min(after+project, 100), rounds)
}

func (m model) beginLimit(c task.StartWork, round int) (int, bool) {
	if c.MaxRounds != 0 {
		return c.MaxRounds, true
	}
	if rounds, own := m.limit(); own && rounds >= round {
		return rounds, true
	}
	return min(round-1+c.Fallback, 100), false
}

func (m model) entryLimit(e task.RoundEntry) (int, bool) {
	if rounds, own := m.limit(); rounds != 0 {
		return rounds, own
	}
	if e.MaxRounds != 0 {
		return e.MaxRounds, true
	}
	return e.Fallback, false
}

func (m model) resumeLimit(c task.ResumeTask) (int, bool) {
	rounds, _ := m.limit()
	if c.Mode == task.MoreRounds {
		return max(rounds, m.round()) + c.Rounds, true
	}
	return min(m.round()+c.Fallback, 100), false
}

// thisRound returns the steps since the round began, including the one that began it.
func (m model) thisRound() model {
	for i, h := range slices.Backward(m) {
		if h.grew {
			return m[i:]
		}
	}
	return m
}

// unspent returns the steps since evidence was last used up.
func (m model) unspent() model {
	for i, h := range slices.Backward(m) {
		if h.grew {
			return m[i+1:]
		}
		if d, ok := h.what.(decision); ok && !d.keeps() {
			return m[i+1:]
		}
		if _, ok := h.what.(task.CommitTask); ok {
			return m[i+1:]
		}
	}
	return m
}

// redrafts reports whether a step makes another draft of the round or announces its
// verification, so that no reviewer has seen it.
func (h seen) redrafts() bool {
	switch w := h.what.(type) {
	case task.BeginVerification:
		return !w.Same
	case task.ReserveRuns:
		return slices.ContainsFunc(w.Intents, func(i task.Intent) bool { return i.Edits })
	case task.RecordVerification:
		return true
	case task.AttestAgent:
		return w.Agent == "np-executor" || w.Agent == "np-build-fixer"
	default:
		return false
	}
}

func (m model) attestations(agent string) int {
	found := 0
	for _, h := range m.unspent() {
		if agent == "np-critic" && h.redrafts() {
			found = 0
		}
		if a, ok := h.what.(task.AttestAgent); ok && a.Agent == agent {
			found++
		}
	}
	return found
}

// drafter returns the agent of the round's draft: the executor in the first round, and ""
// if a person took over.
func (m model) drafter() string {
	for i, h := range m {
		r, resumed := h.what.(task.ResumeTask)
		if resumed && r.Mode == task.Manual && m[:i+1].round() == m.round() {
			return ""
		}
	}
	if m.round() == m.fresh() {
		return "np-executor"
	}
	return "np-build-fixer"
}

// fresh returns the round of the last start.
func (m model) fresh() int {
	fresh := 1
	for i, h := range m {
		r, resumed := h.what.(task.ResumeTask)
		_, began := h.what.(task.StartWork)
		if h.grew && (began || resumed && (r.Mode == task.Replan || r.Mode == task.Reset)) {
			fresh = m[:i+1].round()
		}
	}
	return fresh
}

// lacks reports whether a phase lacks attestations of its agent.
func (m model) lacks(p task.Phase, required int) bool {
	agent := map[task.Phase]string{
		task.Research: "np-researcher", task.Design: "np-task-architect", task.Tests: "np-test-writer",
		task.Draft: m.drafter(), task.Review: "np-critic",
	}[p]
	return agent != "" && m.attestations(agent) < required
}

// green reports whether this round has a green verification.
func (m model) green() bool {
	green := false
	for _, h := range m.unspent() {
		_, begins := h.what.(task.BeginVerification)
		green = green && !h.redrafts() && !begins
		switch w := h.what.(type) {
		case task.RecordVerification:
			green = true
		case decision:
			green = green || w.outcome.Verify == "green"
		}
	}
	return green
}

// verifies reports whether the task was ever verified or imported.
func (m model) verifies() bool {
	return slices.ContainsFunc(m, func(h seen) bool {
		switch w := h.what.(type) {
		case task.RecordVerification, task.ImportTask, task.BeginVerification:
			return true
		case task.StartWork:
			return w.MustVerify
		case decision:
			return w.outcome.Verify == "green" || w.outcome.Verify == "red"
		}
		return false
	})
}

// used reports whether this round has decided on a report.
func (m model) used(digest string) bool {
	return slices.ContainsFunc(m.thisRound(), func(h seen) bool {
		d, ok := h.what.(decision)
		return ok && !h.grew && slices.Contains(d.outcome.Evidence, digest)
	})
}

// stored counts the decisions that did not end the round.
func (m model) stored() int {
	n := 0
	for _, h := range m.thisRound() {
		if d, ok := h.what.(decision); ok && !h.grew && d.outcome.DestinationKind != "terminal" {
			n++
		}
	}
	return n
}

// begun reports whether the work is under way, so that only force restarts it.
func (m model) begun() bool {
	if m.status() == task.Waiting || m.status() == task.Parked {
		return true
	}
	decided := slices.ContainsFunc(m, func(h seen) bool { _, ok := h.what.(decision); return ok })
	return m.status() == task.Open && (decided || m.phase() != nil)
}

// phase returns the latest phase step of this round, or nil. If it is about an older
// draft, the round is back at its start.
func (m model) phase() any {
	outdated := false
	for _, h := range slices.Backward(m.thisRound()) {
		switch w := h.what.(type) {
		case task.StartWork, task.CompletePhase, task.CommitTask:
			return w
		case task.RecordVerification:
			if outdated {
				return task.StartWork{}
			}
			return w
		case decision:
			if !h.grew && outdated {
				return task.StartWork{}
			}
			if !h.grew {
				return w
			}
		}
		outdated = outdated || h.redrafts()
	}
	return nil
}

// phaseName returns the phase's name in the state.
func (m model) phaseName() task.Phase {
	switch w := m.phase().(type) {
	case task.StartWork:
		return task.Start
	case task.CompletePhase:
		return w.Phase
	case task.RecordVerification:
		return task.Draft
	case decision:
		if w.outcome.Reviewed {
			return task.Review
		}
		return task.Draft
	case task.CommitTask:
		return task.Commit
	default:
		return ""
	}
}

// missing returns the preconditions that the round lacks for a commit.
func (m model) missing(must bool) []string {
	var missing []string
	if !m.green() && (must || m.verifies()) {
		missing = append(missing, "verification")
	}
	switch d, ok := m.phase().(decision); {
	case !ok || !d.outcome.Reviewed:
		missing = append(missing, "review")
	case d.outcome.NextAction != "commit" || d.outcome.FindingCount > 0 || len(m.violations()) > 0:
		missing = append(missing, "zero-findings")
	}
	return missing
}

// credit returns how many of an agent's searches count, and the violation if the agent
// must search and none counts.
func (m model) credit(a task.AttestAgent) (credited int, violation task.ViolationKind) {
	claims := 0
	for _, tool := range a.Tools {
		if slices.Contains(a.SearchTools, tool) {
			claims++
		}
	}
	named, own, unnamed := 0, 0, 0
	for _, h := range m.unspent() {
		l, ok := h.what.(task.RecordSearch)
		switch {
		case !ok:
		case l.Agent == "":
			unnamed++
		default:
			named++
			if l.Agent == a.Agent {
				own++
			}
		}
	}
	backed := a.Source == task.ByHost || own > 0 || named == 0 && unnamed > 0
	if backed {
		credited = claims
	}
	switch {
	case !slices.Contains(a.Audited, a.Agent) || credited > 0:
		return credited, ""
	case claims > 0:
		return credited, task.SearchUnverified
	default:
		return credited, task.NoSearch
	}
}

// violations returns those that no decision has routed to an agent, one per agent and
// kind.
func (m model) violations() []task.Violation {
	var pending []task.Violation
	for i, h := range m {
		switch w := h.what.(type) {
		case task.ImportTask:
			pending = w.Violations
		case task.AttestAgent:
			_, kind := m[:i].credit(w)
			same := func(v task.Violation) bool { return v.Agent == w.Agent && v.Kind == kind }
			if kind != "" && !slices.ContainsFunc(pending, same) {
				pending = append(pending[:len(pending):len(pending)], task.Violation{Round: h.round, Agent: w.Agent, Kind: kind})
			}
		case task.CommitTask:
			pending = nil
		case decision:
			if s := w.becomes(); s == task.Committed || s == task.Open && w.outcome.Reviewed {
				pending = nil
			}
		}
	}
	return pending
}

// inquiry has the questions to the user and their answers.
type inquiry struct {
	asked    bool
	round    int
	open     []task.Question
	answered map[string]string
	// inserted is set if no decision asked.
	inserted bool
}

func (m model) questions() inquiry {
	var q inquiry
	for _, h := range m {
		switch w := h.what.(type) {
		case decision:
			q = inquiry{}
			if w.becomes() == task.Waiting {
				q = inquiry{asked: true, round: h.round, open: slices.Clone(w.outcome.Questions), answered: map[string]string{}}
			}
		case task.StartWork, task.StopTask, task.CommitTask:
			q = inquiry{}
		case task.AskUser:
			q = inquiry{asked: true, inserted: true, round: h.round, open: []task.Question{w.Question}, answered: map[string]string{}}
		case task.AnswerQuestion:
			open, _ := q.meant(w)
			if open.Budget != "" && open.said(w) == "stop" {
				q = inquiry{}
				continue
			}
			q.close(open.Fingerprint, open.said(w))
		case task.ExpireQuestions:
			for _, open := range slices.Clone(q.open) {
				if over(open, w.Now) {
					q.close(open.Fingerprint, open.Default)
				}
			}
		}
	}
	return q
}

func over(q task.Question, now string) bool {
	return q.Default != "" && q.ExpiresAt != "" && q.ExpiresAt <= now
}

// asked is a question in the model.
type asked struct{ task.Question }

// said returns the text of an answer.
func (q asked) said(r task.AnswerQuestion) string {
	if r.Choice >= 1 && r.Choice <= len(q.Choices) {
		return q.Choices[r.Choice-1]
	}
	return r.Text
}

// meant returns the open question that a reply refers to.
func (q inquiry) meant(r task.AnswerQuestion) (asked, bool) {
	for _, open := range q.open {
		if open.Fingerprint == r.Fingerprint || r.Fingerprint == "" && len(q.open) == 1 {
			return asked{open}, true
		}
	}
	return asked{}, false
}

func (q *inquiry) close(fingerprint, text string) {
	q.answered[fingerprint] = text
	q.open = slices.DeleteFunc(slices.Clone(q.open), func(o task.Question) bool { return o.Fingerprint == fingerprint })
}

func (m model) overrides() int {
	n := 0
	for _, h := range m {
		if i, ok := h.what.(task.ImportTask); ok {
			n += i.Overrides
		}
		if h.forced {
			n++
		}
	}
	return n
}

// beyond reports whether a round or a cap is out of range.
func beyond(round, rounds int) bool { return round > 100 || rounds > 100 || rounds < 1 }

// mayDecide returns a status's error code for commands that only an open task accepts.
func (m model) mayDecide() errs.Code {
	return map[task.Status]errs.Code{
		task.Waiting: errs.TaskWaiting, task.Parked: errs.TaskParked, task.Stuck: errs.TaskStuck, task.Committed: errs.TaskCommitted, task.Merging: errs.TaskMerging,
	}[m.status()]
}

// verdict is the model's expectation of a command.
type verdict struct {
	code errs.Code
	// idle is set if there is nothing to do.
	idle bool
	// impossible is set if the error has no code, since only a defect leads to it.
	impossible bool
	// grew and forced are as in seen.
	grew, forced bool
}

func refused(code errs.Code) verdict { return verdict{code: code} }

func (m model) begin(c task.StartWork) verdict {
	begun := m.begun()
	if m.status() == task.Merging {
		return refused(errs.TaskMerging)
	}
	if begun && c.Force == nil {
		return refused(errs.TaskStarted)
	}
	v := verdict{grew: begun || m.status() == task.Stuck || m.status() == task.Committed, forced: begun}
	round := m.round()
	if v.grew {
		round++
	}
	if rounds, _ := m.beginLimit(c, round); beyond(round, rounds) || rounds < round {
		return refused(errs.RoundsExhausted)
	}
	return v
}

// gate returns the verdict on a phase that needs evidence.
func (m model) gate(p task.Phase, required int, f *task.Force) verdict {
	switch code := m.mayDecide(); {
	case code != "":
		return refused(code)
	case !m.lacks(p, required):
		return verdict{}
	case f == nil:
		return refused(errs.EvidenceMissing)
	default:
		return verdict{forced: true}
	}
}

// redraft returns the verdict on an announced verification.
func (m model) redraft(c task.BeginVerification) verdict {
	if code := m.mayDecide(); code != "" {
		return refused(code)
	}
	return verdict{idle: c.Same && !m.green()}
}

func (m model) enter(e task.RoundEntry) verdict {
	if code := m.mayDecide(); code != "" {
		return refused(code)
	}
	if e.Expected != 0 && e.Expected != m.round() {
		return refused(errs.RoundShifted)
	}
	if rounds, _ := m.limit(); rounds != 0 && e.MaxRounds != 0 && e.MaxRounds != rounds {
		return refused(errs.CapFixed)
	}
	v := verdict{}
	for _, p := range e.Phases {
		one := m.gate(p, 1, e.Force)
		if one.code != "" {
			return one
		}
		v.forced = v.forced || one.forced
	}
	return v
}

func (m model) decide(d decision, entered verdict) verdict {
	o := d.outcome
	if o.Round.Number != m.round() {
		return refused(errs.RoundShifted)
	}
	if o.NextAction == "commit" {
		if slices.ContainsFunc(o.Evidence, m.used) && m.attestations("np-critic") == 0 {
			return refused(errs.ReportReplayed)
		}
		switch {
		case !o.Reviewed || o.FindingCount > 0 || len(m.violations()) > 0 || o.Verify == "red":
			return refused(errs.CommitPreconditionMissing)
		case o.Final && o.Verify != "green" && (o.MustVerify || m.verifies()):
			return refused(errs.CommitUnverified)
		}
	}
	rounds, _ := m.entryLimit(d.entry)
	v := verdict{
		forced: entered.forced,
		grew:   o.DestinationKind != "terminal" && (o.AdvancesRound || o.Verify == "red" || m.stored()+1 >= rounds),
	}
	round := m.round()
	if v.grew {
		round++
	}
	if beyond(round, rounds) || v.grew && round > m.entryHard(d.entry) {
		return refused(errs.RoundsExhausted)
	}
	return v
}

func (m model) finish(c task.CommitTask) verdict {
	switch code := m.mayDecide(); {
	case code != "":
		return refused(code)
	case len(m.missing(c.MustVerify)) == 0:
		return verdict{}
	case c.Force == nil:
		return refused(errs.CommitPreconditionMissing)
	default:
		return verdict{forced: true}
	}
}

// untilCommitted returns the verdict on commands that every uncommitted task accepts.
func (m model) untilCommitted() verdict {
	if m.status() == task.Committed || m.status() == task.Merging {
		return refused(m.mayDecide())
	}
	return verdict{}
}

// stop returns the verdict on a stop, which a merge allows, too.
func (m model) stop() verdict {
	if m.status() == task.Committed {
		return refused(errs.TaskCommitted)
	}
	return verdict{}
}

func (m model) audit(c task.AttestAgent) verdict {
	v := m.untilCommitted()
	if v.code != "" {
		return v
	}
	if c.Agent == "" {
		return refused(errs.AgentInvalid)
	}
	// A commit forgets the round's runs; a failed merge can follow it in the same round.
	for _, h := range slices.Backward(m.thisRound()) {
		switch w := h.what.(type) {
		case task.AttestAgent:
			v.idle = v.idle || c.Run != "" && w.Run == c.Run && w.Agent == c.Agent
		case task.CommitTask:
			return v
		case decision:
			if w.becomes() == task.Committed {
				return v
			}
		}
	}
	return v
}

func (m model) resume(c task.ResumeTask) verdict {
	switch m.status() {
	case task.NoTask:
		return refused(errs.TaskNotFound)
	case task.Open:
		return refused(errs.TaskNotStuck)
	case task.Stuck:
	default:
		return refused(m.mayDecide())
	}
	if rounds, _ := m.resumeLimit(c); beyond(m.round()+1, rounds) || rounds < m.round()+1 {
		return refused(errs.RoundsExhausted)
	}
	return verdict{grew: true}
}

func (m model) reply(c task.AnswerQuestion) verdict {
	q := m.questions()
	switch {
	case m.status() == task.NoTask:
		return refused(errs.TaskNotFound)
	case !q.asked && c.Round == 0:
		return refused(cmp.Or(m.mayDecide(), errs.TaskNotWaiting))
	case !q.asked || c.Round != 0 && c.Round != q.round:
		return refused(errs.QuestionStale)
	}
	if open, ok := q.meant(c); ok {
		switch {
		case c.Choice < 0 || c.Choice > len(open.Choices):
			return refused(errs.AnswerInvalid)
		case open.said(c) == "" || len(open.said(c)) > 64<<10:
			return refused(errs.AnswerInvalid)
		case open.Budget != "" && open.said(c) != "stop" && raiseOf(open.Budget, open.said(c)) == task.Raise{}:
			return refused(errs.AnswerInvalid)
		}
		return verdict{}
	}
	if c.Fingerprint == "" && len(q.open) == 0 && len(q.answered) == 1 {
		for fingerprint := range q.answered {
			c.Fingerprint = fingerprint
		}
	}
	text, ok := q.answered[c.Fingerprint]
	switch {
	case c.Fingerprint == "" && len(q.open) == 0:
		return refused(m.exists(errs.TaskNotWaiting))
	case !ok:
		return refused(errs.QuestionUnknown)
	case text == m.question(c.Fingerprint).said(c):
		return verdict{idle: true}
	default:
		return refused(errs.QuestionAnswered)
	}
}

// question returns a question of the latest ones, answered or not.
func (m model) question(fingerprint string) asked {
	for _, h := range slices.Backward(m) {
		if a, ok := h.what.(task.AskUser); ok && a.Question.Fingerprint == fingerprint {
			return asked{a.Question}
		}
		d, ok := h.what.(decision)
		if !ok {
			continue
		}
		for _, q := range d.outcome.Questions {
			if q.Fingerprint == fingerprint {
				return asked{q}
			}
		}
	}
	return asked{}
}

func (m model) expire(c task.ExpireQuestions) verdict {
	return verdict{idle: !slices.ContainsFunc(m.questions().open, func(q task.Question) bool { return over(q, c.Now) })}
}

func (m model) adopt(c task.ImportTask) verdict {
	if m.status() != task.NoTask {
		return refused(errs.TaskExists)
	}
	if beyond(c.Round, c.MaxRounds) {
		return refused(errs.RoundsExhausted)
	}
	return verdict{}
}
