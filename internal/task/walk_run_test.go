package task_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// runStep executes a command that only `run` issues.
func (w *walk) runStep(command string) {
	switch command {
	case "branch":
		w.expect(task.CreateBranch{}, task.CreateBranch{}, w.model.createBranch())
	case "ask":
		c := task.AskUser{Question: task.Question{Fingerprint: fmt.Sprint("q", w.number("asks", 0, 2)), Text: "Raise it?"}}
		if w.oneIn(2, "plan") {
			c.Question = w.question(0)
		} else {
			c.Question.Budget = w.pick("unit", "task-time", "round-tokens", "task-dollars", "task-rounds")
			c.Question.Choices = []string{map[string]string{"task-time": "raise by 40ms", "task-dollars": "raise by 2.5"}[c.Question.Budget], "stop"}
			if c.Question.Choices[0] == "" {
				c.Question.Choices[0] = "raise by 2"
			}
		}
		w.expect(c, c, w.model.ask())
	case "park":
		c := task.ParkTask{Parking: task.Parking{Until: "2026-11-22T08:00:00.000000000Z", Run: "nobody", Adapter: "claude"}}
		if runs := w.model.listed(); len(runs) > 0 {
			c.Run = runs[w.number("which", 0, len(runs)-1)].Run
		}
		w.expect(c, c, w.model.park())
	case "unpark":
		c := task.EndParking{By: w.pick("by", "somebody", ""), Now: w.pick("now", "2026-11-22T08:00:00.000000000Z", "2026-11-22T07:59:59.999999999Z")}
		w.expect(c, c, w.model.unpark(c))
	case "record":
		c := task.RecordCommit{GitCommit: task.GitCommit{SHA: fmt.Sprint("c", w.number("commit", 2, 3)), Tree: w.model.decided(), Decision: "d1"}}
		if w.oneIn(4, "another tree") {
			c.Tree = w.pick("tree", "", "t1", "t2")
		}
		w.expect(c, c, w.model.record(c))
	case "merge":
		c := task.BeginMerge{Into: "main"}
		w.expect(c, c, w.model.beginMerge())
	case "merged":
		c := task.EndMerge{MergeEnded: task.MergeEnded{Outcome: rapid.SampledFrom([]task.MergeOutcome{task.Merged, task.MergeConflict, task.MergeRed}).Draw(w.T, "ends")}}
		if c.Outcome == task.Merged {
			c.Commit, c.Verified = "c9", !w.oneIn(3, "not verified")
		}
		w.expect(c, c, w.model.endMerge(c))
	default:
		w.Fatalf("no command is %q", command)
	}
}

// commitFirst begins a walk with a task whose first round is committed: what follows a
// commit is rare otherwise.
func (w *walk) commitFirst() {
	w.expect(beginBranch, beginBranch, w.model.begin(beginBranch))
	w.expect(task.CreateBranch{}, task.CreateBranch{}, w.model.createBranch())
	o := toward(w, w.state, ofTree(final(verified(toCommit, "green")), "t1"))
	d := decision{task.RoundEntry{Fallback: 3}, o}
	w.expect(o, d, w.model.decide(d, verdict{}))
}

// pay answers a question about a budget.
func (w *walk) pay(c task.AnswerQuestion) {
	c.Choice = w.number("choice", 0, 2)
	if c.Choice == 0 {
		c.Text = w.pick("text", "stop", "2ms", "5 tokens", "$0.000003", "1", "-1", "later", "raise by", "")
	}
	before := w.state.Raised
	if w.expect(c, c, w.model.reply(c)) && w.state.Raised != before {
		w.seen["a budget was raised"]++
	}
}

// compareBranch checks what the state knows about git against the model.
func (w *walk) compareBranch(wrong func(what string, got, want any)) {
	s, m := w.state, w.model
	wrong("branch", s.Branch, m.branch())
	wrong("commit", s.Commit, m.commit())
	wrong("merge", s.Merge, m.merge())
	wrong("a failed merge", s.MergeFailed(), m.status() == task.Stuck && m.mergeFailed())
	wrong("parked", s.Parked != nil, m.status() == task.Parked)
	plan := ""
	if s.Plan != nil {
		plan = s.Plan.Path
		w.seen["a revised plan"]++
	}
	wrong("revised plan", plan, m.plan())
	wrong("raised budget", s.Raised, task.Raise{
		Amount: task.Amount{Millis: m.raised(0), Tokens: m.raised(1), MicroDollars: m.raised(2)}, Rounds: int(m.raised(3)),
	})
}

// nextIsAllowed checks that the state machine accepts a command of the next step, so that
// `run` can always continue. Only a task at the greatest number of rounds cannot.
func (w *walk) nextIsAllowed() {
	if w.state.Status != task.NoTask && w.state.Branch == nil {
		return // It is worked on in the checkout, and run refuses it.
	}
	step := task.Next(w.state)
	w.seen["next: "+string(step.Kind)]++
	s := w.state
	for _, r := range s.OpenRuns() { // Their processes are gone when run continues.
		s = do(w, s, lost(r.Run))
	}
	for _, c := range carriedOut(w, s, step) {
		e, err := task.Decide(s, c)
		if code := errs.CodeOf(err); code == errs.RoundsExhausted || code == errs.StampsTooMany {
			return
		}
		if err != nil || e == nil {
			w.Fatalf("the next step is %+v, and %+v makes %v, %v\n%s", step, c, e, err, asJSON(w, s))
		}
		if s, err = task.Apply(s, e); err != nil {
			w.Fatalf("the next step is %+v, and %+v is refused: %v\n%s", step, e, err, asJSON(w, s))
		}
		if err := s.Check(); err != nil {
			w.Fatalf("the next step is %+v, and then: %v\n%s", step, err, asJSON(w, s))
		}
	}
}

// carriedOut returns the commands of a step that goes well.
func carriedOut(t tester, s task.State, step task.Step) []task.Command {
	switch step.Kind {
	case task.StepStart:
		return []task.Command{beginBranch}
	case task.StepBranch:
		return []task.Command{task.CreateBranch{}}
	case task.StepDraft, task.StepAssist:
		receipt := ended("next")
		receipt.Outcome = "edited"
		return []task.Command{spawning(agent("next", step.Role, step.Kind == task.StepDraft)), receipt}
	case task.StepReview:
		return []task.Command{spawning(critic("next")), ended("next"), toward(t, s, toExecutor)}
	case task.StepAsk:
		q := s.Questions.Open[0]
		if len(q.Choices) > 0 {
			return []task.Command{task.AnswerQuestion{Fingerprint: q.Fingerprint, Choice: 1, By: "somebody"}}
		}
		return []task.Command{answer(q.Fingerprint, "yes")}
	case task.StepPark:
		return []task.Command{task.EndParking{Now: s.Parked.Until}}
	case task.StepCommit:
		return []task.Command{task.RecordCommit{GitCommit: task.GitCommit{SHA: "c2", Tree: s.Last.Tree, Decision: "d1"}}}
	case task.StepMerge:
		return []task.Command{task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.Merged, Commit: "c3", Verified: true}}}
	case task.StepStuck:
		if s.MergeFailed() {
			return []task.Command{task.BeginMerge{Into: "main"}}
		}
		return []task.Command{task.ResumeTask{Mode: task.MoreRounds, Rounds: 1}}
	case task.StepDone:
		if s.Commit == nil {
			return nil
		}
		return []task.Command{task.BeginMerge{Into: "main"}}
	default:
		t.Fatalf("no step is %q", step.Kind)
		return nil
	}
}
