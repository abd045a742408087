package task_test

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// tester is the common part of *testing.T and *rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// do folds commands into a state. Each must have an effect.
func do(t tester, s task.State, commands ...task.Command) task.State {
	t.Helper()
	for i, c := range commands {
		e, err := task.Decide(s, c)
		if err != nil || e == nil {
			t.Fatalf("command %d, %+v, of a task that is %q: %v, %v", i, c, s.Status, e, err)
		}
		if s, err = task.Apply(s, e); err != nil {
			t.Fatalf("command %d: its own event is refused: %v", i, err)
		}
		if err := s.Check(); err != nil {
			t.Fatalf("command %d: its own state is refused: %v", i, err)
		}
	}
	return s
}

// refuse fails the test unless a command is refused with the code.
func refuse(t tester, s task.State, c task.Command, code errs.Code) *errs.Error {
	t.Helper()
	e, err := task.Decide(s, c)
	if err == nil || errs.CodeOf(err) != code {
		t.Fatalf("%+v of a task that is %q: %+v, %v; want %s", c, s.Status, e, err, code)
	}
	f, _ := err.(*errs.Error)
	return f
}

// nothing fails the test unless a command has no effect.
func nothing(t tester, s task.State, c task.Command) {
	t.Helper()
	if e, err := task.Decide(s, c); e != nil || err != nil {
		t.Fatalf("%+v of a task that is %q: %+v, %v; want nothing to do", c, s.Status, e, err)
	}
}

// toward returns the outcome of a round that was entered without a gate.
func toward(t tester, s task.State, o task.DecideRound) task.DecideRound {
	t.Helper()
	round, err := task.EnterRound(s, task.RoundEntry{Fallback: 3})
	if err != nil {
		t.Fatalf("a task that is %q may not enter its round: %v", s.Status, err)
	}
	o.Round = round
	return o
}

// decide folds the decision of a round.
func decide(t tester, s task.State, o task.DecideRound) task.State {
	t.Helper()
	return do(t, s, toward(t, s, o))
}

// Destinations as the policies declare them; confirm is one of a custom policy, which
// asks without advancing the round.
var (
	toExecutor    = task.DecideRound{AdvancesRound: true, RoundDecided: task.RoundDecided{NextAction: "executor", DestinationKind: "agent", Reason: "routed", Reviewed: true, FindingCount: 1, Verify: "absent"}}
	toPlanChecker = task.DecideRound{RoundDecided: task.RoundDecided{NextAction: "plan-checker", DestinationKind: "agent", Reason: "routed", Reviewed: true, FindingCount: 1, Verify: "absent"}}
	toStuck       = task.DecideRound{RoundDecided: task.RoundDecided{NextAction: "stuck", DestinationKind: "terminal", Reason: "max-rounds", Policy: "routing@1.2.0", Reviewed: true, FindingCount: 2, Verify: "absent"}}
	toCommit      = task.DecideRound{RoundDecided: task.RoundDecided{NextAction: "commit", DestinationKind: "terminal", Reason: "no-findings", Reviewed: true, Verify: "absent"}}
	onRed         = task.DecideRound{AdvancesRound: true, RoundDecided: task.RoundDecided{NextAction: "executor", DestinationKind: "agent", Reason: "verify-red", Verify: "red"}}
)

// asking returns the outcome of a review with questions to the user.
func asking(advances bool, questions ...task.Question) task.DecideRound {
	return task.DecideRound{AdvancesRound: advances, RoundDecided: task.RoundDecided{
		NextAction: "askuser", DestinationKind: "human", Reason: "routed", Reviewed: true,
		FindingCount: len(questions), Verify: "absent", Questions: questions,
	}}
}

// final makes a decision to commit also commit the task.
func final(o task.DecideRound) task.DecideRound {
	o.Final = true
	return o
}

// verified adds the outcome of a verification.
func verified(o task.DecideRound, verify string) task.DecideRound {
	o.Verify = verify
	return o
}

// ran returns the attestation of an agent without an audit.
func ran(agent string) task.AttestAgent {
	return task.AttestAgent{Agent: agent, Source: task.ByHand, By: "somebody"}
}

// critic, researcher and byHand return runs to announce.
func critic(run string) task.Intent {
	return task.Intent{Run: run, Role: task.RoleCritic, Agent: "critic", Attempt: 1, Adapter: "claude", Why: "first"}
}

func researcher(run string, index int) task.Intent {
	return task.Intent{Run: run, Role: task.RoleResearcher, Agent: "researcher", Index: index, Attempt: 1, Adapter: "claude", Why: "first"}
}

func byHand(run string) task.Intent {
	return task.Intent{Run: run, Role: task.RoleOther, Agent: "helper", Attempt: 1, Adapter: "exec", Why: "first"}
}

// agent returns a run of any role.
func agent(run string, role task.Role, edits bool) task.Intent {
	return task.Intent{Run: run, Role: role, Agent: string(role), Attempt: 1, Adapter: "claude", Why: "first", Edits: edits}
}

// spawning announces runs without limits.
func spawning(intents ...task.Intent) task.ReserveRuns { return task.ReserveRuns{Intents: intents} }

// ended ends a run that used nothing.
func ended(run string) task.RecordReceipt {
	return task.RecordReceipt{Receipt: task.Receipt{Run: run, Outcome: "clean"}}
}

var begin = task.StartWork{Query: "build it", Fallback: 3}

var force = &task.Force{Reason: "the network is down", By: "somebody"}

// standing returns a task in each status.
func standing(t tester) map[task.Status]task.State {
	t.Helper()
	open := do(t, task.State{}, beginBranch)
	committed := decide(t, open, ofTree(final(toCommit), "t1"))
	merging := do(t, committed, task.RecordCommit{GitCommit: theCommit}, task.BeginMerge{Into: "main"})
	return map[task.Status]task.State{
		task.NoTask:    {},
		task.Open:      open,
		task.Waiting:   decide(t, open, asking(true, task.Question{Fingerprint: "q1", Text: "Which key?"})),
		task.Parked:    do(t, open, task.ParkTask{Parking: parking}),
		task.Stuck:     do(t, merging, task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.MergeConflict}}),
		task.Committed: committed,
		task.Merging:   merging,
	}
}

// What parks a task, and the commit of its decision.
var (
	parking   = task.Parking{Until: "2030-01-01T00:00:00.000000000Z", Run: "r1", Adapter: "claude"}
	theCommit = task.GitCommit{SHA: "c1", Tree: "t1", Decision: "d1"}
)

// beginBranch starts a task with a branch of its own.
var beginBranch = task.StartWork{Fallback: 3, Branch: &task.Branch{Name: "switchyard/t", Worktree: "/w", Base: "c0", Onto: "main"}}

// ofTree adds the tree of a decision.
func ofTree(o task.DecideRound, tree string) task.DecideRound {
	o.Tree = tree
	return o
}
