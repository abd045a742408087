package task_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// inBranch returns a task whose branch exists.
func inBranch(t tester) task.State { return do(t, task.State{}, beginBranch, task.CreateBranch{}) }

// run carries out a run of an agent.
func run(t tester, s task.State, i task.Intent, receipt task.Receipt) task.State {
	receipt.Run = i.Run
	return do(t, s, spawning(i), task.RecordReceipt{Receipt: receipt})
}

// drafted returns a task whose executor has edited the tree.
func drafted(t tester, s task.State) task.State {
	return run(t, s, agent(fmt.Sprint("e", s.Round, s.Spent.Runs), task.RoleExecutor, true), task.Receipt{Outcome: "edited"})
}

// to returns a decision for an agent.
func to(agent string, advances bool) task.DecideRound {
	o := toPlanChecker
	o.NextAction, o.AdvancesRound = agent, advances
	return o
}

func drafts(role task.Role) task.Step { return task.Step{Kind: task.StepDraft, Role: role} }

func assists(role task.Role) task.Step { return task.Step{Kind: task.StepAssist, Role: role} }

func TestNextOfEveryStatus(t *testing.T) {
	states := standing(t)
	committed := do(t, states[task.Committed], task.RecordCommit{GitCommit: theCommit})
	merged := do(t, committed, task.BeginMerge{Into: "main"}, task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.Merged, Commit: "c2"}})
	for name, c := range map[string]struct {
		state task.State
		want  task.StepKind
	}{
		"new":                    {states[task.NoTask], task.StepStart},
		"without a branch yet":   {states[task.Open], task.StepBranch},
		"waiting":                {states[task.Waiting], task.StepAsk},
		"parked":                 {states[task.Parked], task.StepPark},
		"stuck":                  {states[task.Stuck], task.StepStuck},
		"decided to commit":      {states[task.Committed], task.StepCommit},
		"committed":              {committed, task.StepDone},
		"merging":                {states[task.Merging], task.StepMerge},
		"merged":                 {merged, task.StepDone},
		"committed by a person":  {do(t, inBranch(t), task.CommitTask{Force: force}), task.StepDone},
		"committed in a round":   {decide(t, do(t, task.State{}, begin), final(toCommit)), task.StepDone},
		"begun anew":             {do(t, committed, beginBranch), task.StepBranch},
		"begun anew, same place": {do(t, committed, task.StartWork{Fallback: 3}), task.StepBranch},
	} {
		t.Run(name, func(t *testing.T) {
			if got := task.Next(c.state); got.Kind != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
		})
	}
	// A person's commit is of no reviewed tree, also after an older decision to commit.
	person := decide(t, inBranch(t), ofTree(toCommit, "t1"))
	person = decide(t, drafted(t, person), toExecutor)
	person = do(t, person, task.CommitTask{Force: force})
	if got := task.Next(person); got.Kind != task.StepDone {
		t.Errorf("after a person's commit comes %+v", got)
	}
	if e, err := task.Decide(person, task.RecordCommit{GitCommit: theCommit}); err == nil {
		t.Errorf("the older tree is committed: %+v", e)
	}
}

func TestNextInARound(t *testing.T) {
	review := task.Step{Kind: task.StepReview}
	fresh := inBranch(t)
	reviewed := func(o task.DecideRound) task.State { return decide(t, drafted(t, fresh), o) }
	stuck := do(t, fresh, task.StopTask{Reason: "enough"})
	manual := do(t, stuck, task.ResumeTask{Mode: task.Manual, Fallback: 3})
	planChecker := reviewed(to("plan-checker", false))
	planned := run(t, planChecker, agent("p", task.RolePlanChecker, false), task.Receipt{Outcome: "ok", Path: "p.json"})
	asked := do(t, run(t, planChecker, agent("p", task.RolePlanChecker, false), task.Receipt{Outcome: "ok"}), task.AskUser{Question: which})
	research := do(t, reviewed(to("researcher", true)), spawning(researcher("a", 0), researcher("b", 1)))
	answers := func(run string) task.RecordReceipt {
		return task.RecordReceipt{Receipt: task.Receipt{Run: run, Outcome: "ok", Path: run}}
	}
	found := do(t, research, answers("a"), ran(task.AgentResearcher), answers("b"), ran(task.AgentResearcher))
	partly := do(t, research, answers("a"), ran(task.AgentResearcher), lost("b"))
	secured := reviewed(to("security", false))
	criticless := toStuck
	criticless.Reviewed = false
	failed := reviewed(criticless)
	more := task.ResumeTask{Mode: task.MoreRounds, Rounds: 5}
	replanned := do(t, failed, task.ResumeTask{Mode: task.Replan, Fallback: 3}, spawning(agent("n", task.RoleExecutor, true)), ended("n"), task.StopTask{Reason: "executor-git-changed"})
	for name, c := range map[string]struct {
		state task.State
		want  task.Step
	}{
		"nothing is drafted":         {fresh, drafts("executor")},
		"a draft is being made":      {do(t, fresh, spawning(agent("e", task.RoleExecutor, true))), drafts("executor")},
		"the executor was lost":      {do(t, fresh, spawning(agent("e", task.RoleExecutor, true)), lost("e")), drafts("executor")},
		"the executor changed none":  {run(t, fresh, agent("e", task.RoleExecutor, true), task.Receipt{Outcome: "no-change"}), drafts("executor")},
		"a draft is made":            {drafted(t, fresh), review},
		"its critic was lost":        {do(t, drafted(t, fresh), spawning(critic("c")), lost("c")), review},
		"its critic has ended":       {run(t, drafted(t, fresh), critic("c"), task.Receipt{Outcome: "findings", Path: "c.json"}), review},
		"the executor is parked":     {unparked(t, do(t, fresh, spawning(agent("e", task.RoleExecutor, true))), "e"), drafts("executor")},
		"the critic is parked":       {unparked(t, do(t, drafted(t, fresh), spawning(critic("c"))), "c"), review},
		"red":                        {decide(t, drafted(t, fresh), onRed), drafts("build-fixer")},
		"back to the executor":       {reviewed(toExecutor), drafts("build-fixer")},
		"the user has answered":      {do(t, reviewed(asking(true, which)), answer("q1", "ours")), drafts("build-fixer")},
		"answered in the same round": {do(t, reviewed(asking(false, which)), answer("q1", "ours")), drafts("executor")},
		"more rounds":                {do(t, stuck, more), drafts("build-fixer")},
		"more, of no critic":         {do(t, failed, more), review},
		"more, of another plan":      {do(t, replanned, more), drafts("build-fixer")},
		"another plan":               {do(t, stuck, task.ResumeTask{Mode: task.Replan, Fallback: 3}), drafts("executor")},
		"reset":                      {do(t, stuck, task.ResumeTask{Mode: task.Reset, Fallback: 3}), drafts("executor")},

		"a person drafts":             {manual, review},
		"a person's draft is refused": {decide(t, manual, to("plan-checker", false)), assists("plan-checker")},
		"a person's draft is fixed":   {decide(t, manual, toExecutor), drafts("build-fixer")},
		"a person is asked":           {do(t, decide(t, manual, asking(false, which)), answer("q1", "ours")), drafts("build-fixer")},

		"the plan is checked":       {planChecker, assists("plan-checker")},
		"the plan-checker was lost": {do(t, planChecker, spawning(agent("p", task.RolePlanChecker, false)), lost("p")), assists("plan-checker")},
		"the plan is revised":       {planned, drafts("executor")},
		"the plan is drafted":       {drafted(t, planned), review},
		"the plan is unclear":       {asked, task.Step{Kind: task.StepAsk}},
		"the plan is made clear":    {do(t, asked, answer("q1", "ours")), assists("plan-checker")},
		"checked in the next round": {reviewed(to("plan-checker", true)), assists("plan-checker")},

		"no researcher was asked":    {reviewed(to("researcher", true)), assists("researcher")},
		"the researchers run":        {research, assists("researcher")},
		"one of them has ended":      {do(t, research, answers("a")), assists("researcher")},
		"one of them is parked":      {unparked(t, do(t, research, answers("a"), ran(task.AgentResearcher)), "b"), assists("researcher")},
		"their answers are apart":    {found, assists("researcher")},
		"their answers are merged":   {do(t, found, task.CompletePhase{Phase: task.Research, Required: 2}), drafts("build-fixer")},
		"one of them failed":         {partly, assists("researcher")},
		"the others' are merged":     {do(t, partly, task.CompletePhase{Phase: task.Research, Required: 1}), drafts("build-fixer")},
		"all failed":                 {do(t, research, lost("a"), lost("b"), task.CompletePhase{Phase: task.Research}), drafts("build-fixer")},
		"the research is worked out": {drafted(t, found), review},

		"an own agent":              {secured, assists("security")},
		"an own agent has answered": {run(t, secured, agent("s", "security", false), task.Receipt{Outcome: "ok", Path: "s.json"}), drafts("executor")},
		"an own agent has edited":   {run(t, secured, agent("s", "security", true), task.Receipt{Outcome: "edited"}), review},
		"an own agent has failed":   {run(t, secured, agent("s", "security", true), task.Receipt{Outcome: "failed"}), assists("security")},
		"the build-fixer by name":   {reviewed(to("build-fixer", false)), assists("build-fixer")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := task.Next(c.state); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// unparked parks a task for an open run, which ends, and continues it.
func unparked(t tester, s task.State, id string) task.State {
	t.Helper()
	failed := task.RecordReceipt{Receipt: task.Receipt{Run: id, Outcome: "failed", Class: "quota"}}
	p := parking
	p.Run = id
	s = do(t, s, failed, task.ParkTask{Parking: p})
	for _, r := range s.OpenRuns() {
		s = do(t, s, lost(r.Run))
	}
	return do(t, s, task.EndParking{Now: p.Until})
}

// TestEveryRunEnds carries out the next step again and again, with any outcome of the
// agents, a policy that respects the cap, and a user who answers a few times.
func TestEveryRunEnds(t *testing.T) {
	ends := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		d := driver{T: t, actions: rapid.IntRange(0, 4).Draw(t, "actions of the user")}
		const most = 250
		for range most {
			if end := d.step(); end != "" {
				ends[end]++
				return
			}
		}
		t.Fatalf("no end after %d steps: %s", most, asJSON(t, d.state))
	})
	if testing.Short() {
		return // Too few runs for every end.
	}
	for _, end := range []string{"done", "stuck", "an agent failed", "waiting", "parked"} {
		if ends[end] == 0 {
			t.Errorf("no run ends as %s: %v", end, ends)
		}
	}
}

// driver is a run whose agents, policy and user decide by chance.
type driver struct {
	*rapid.T
	state task.State
	// actions is how often the user still acts; runs counts the runs.
	actions, runs int
}

func (d *driver) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(d.T, label)
}

func (d *driver) do(commands ...task.Command) { d.state = do(d.T, d.state, commands...) }

func (d *driver) act(end string, c task.Command) string {
	if d.actions == 0 {
		return end
	}
	d.actions--
	d.do(c)
	return ""
}

// step carries out the next step, and returns why the run has ended.
func (d *driver) step() string {
	next := task.Next(d.state)
	switch next.Kind {
	case task.StepAsk:
		return d.act("waiting", answer(d.state.Questions.Open[0].Fingerprint, "yes"))
	case task.StepPark:
		return d.act("parked", task.EndParking{Now: d.state.Parked.Until})
	case task.StepStuck:
		if !d.state.MergeFailed() {
			return "stuck"
		}
		return d.act("stuck", task.BeginMerge{Into: "main"})
	case task.StepDone:
		if d.state.Merge != nil {
			return "done"
		}
		d.do(task.BeginMerge{Into: "main"})
	case task.StepMerge:
		d.do(task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.MergeOutcome(d.one("merge", "merged", "merge-red", "merge-conflict")), Verified: true}})
	case task.StepDraft, task.StepAssist:
		return d.agent(next)
	case task.StepReview:
		return d.review()
	default:
		d.do(carriedOut(d.T, d.state, next)...)
	}
	return ""
}

func (d *driver) agent(next task.Step) string {
	i := agent(fmt.Sprint("r", d.runs), next.Role, next.Kind == task.StepDraft || next.Role == "security" && d.one("profile", "edit", "readonly") == "edit")
	d.runs++
	d.do(spawning(i))
	good := task.Receipt{Run: i.Run, Outcome: "ok", Path: "a.json"}
	if i.Edits {
		good = task.Receipt{Run: i.Run, Outcome: "edited"}
	}
	switch d.one("agent", "good", "good", "good", "good", "limit", "lost", "unclear", "fails", "no change") {
	case "good":
		d.do(task.RecordReceipt{Receipt: good})
		if next.Role == task.RoleResearcher {
			d.do(task.CompletePhase{Phase: task.Research})
		}
	case "unclear":
		good.Path = ""
		d.do(task.RecordReceipt{Receipt: good})
		if next.Role == task.RolePlanChecker {
			d.do(task.AskUser{Question: task.Question{Fingerprint: "plan", Text: "Which?"}})
		}
	case "limit":
		p := parking
		p.Run = i.Run
		d.do(ended(i.Run), task.ParkTask{Parking: p})
	case "lost": // The host was killed, and a person runs it again.
		return d.act("an agent failed", lost(i.Run))
	case "fails":
		return d.act("an agent failed", ended(i.Run))
	case "no change":
		d.do(ended(i.Run), task.StopTask{Reason: "executor-no-change", By: task.BySwitchyard})
	}
	return ""
}

// review decides a draft as a policy could.
func (d *driver) review() string {
	o := task.DecideRound{}
	switch to := d.one("to", "commit", "executor", "plan-checker", "security", "researcher", "askuser", "confirm", "red"); {
	case to == "commit":
		o = ofTree(final(verified(toCommit, "green")), "t1")
	case d.state.Round >= d.state.MaxRounds:
		o = toStuck
	case to == "red":
		o = onRed
	case to == "askuser" || to == "confirm":
		o = asking(to == "askuser", which)
	default:
		o = task.DecideRound{RoundDecided: toExecutor.RoundDecided, AdvancesRound: to == "executor" || to == "researcher"}
		o.NextAction = to
	}
	round, err := task.EnterRound(d.state, task.RoundEntry{Fallback: 3})
	if err != nil {
		d.Fatalf("a drafted round is not entered: %v", err)
	}
	o.Round = round
	if _, err := task.Decide(d.state, o); errs.CodeOf(err) != "" {
		d.Fatalf("a round is not decided: %v", err)
	}
	d.do(o)
	return ""
}
