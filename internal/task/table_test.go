package task_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// eventTexts describes each kind of event for users. A kind without a description
// fails the page's test.
var eventTexts = map[task.Kind]string{
	task.KindStarted:   "the work starts, or starts again",
	task.KindAttested:  "an agent is known to have run",
	task.KindSearched:  "an agent is known to have searched",
	task.KindPrepared:  "research, design or tests are done",
	task.KindRedrafted: "another draft of the round is about to be verified",
	task.KindDrafted:   "a draft is done, and its verification is green",
	task.KindDecided:   "the round is decided",
	task.KindFinished:  "the task is committed",
	task.KindStopped:   "a person, or a budget's end, stops the task",
	task.KindAnswered:  "a question is answered, or its time is over",
	task.KindResumed:   "a stuck task is resumed",
	task.KindImported:  "the task is imported from another tool",

	task.KindBranched:      "the branch and the worktree of the task exist",
	task.KindAsked:         "a budget or a plan-checker asks the user",
	task.KindParked:        "an agent has met a usage limit",
	task.KindUnparked:      "the usage limit has ended",
	task.KindCommitCreated: "the reviewed tree is committed",
	task.KindMergeBegun:    "the commit is about to be merged",
	task.KindMergeEnded:    "the merge has ended",

	task.KindSpawnBegun: "agents are about to be run",
	task.KindSpawnEnded: "a run has ended",
}

// TestTable checks the table of docs/tasks.md against Transition. UPDATE=1 rewrites it.
func TestTable(t *testing.T) {
	doccheck.Table(t, "../../docs", "tasks.md", "transitions", table(t))
}

func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n| what happens | event |")
	for _, s := range task.Statuses() {
		fmt.Fprintf(&b, " %s |", title(s))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(task.Statuses())) + "\n")
	for _, k := range task.Kinds() {
		if eventTexts[k] == "" {
			t.Errorf("%s has no words", k)
		}
		fmt.Fprintf(&b, "| %s | `%s` |", eventTexts[k], k)
		for _, s := range task.Statuses() {
			fmt.Fprintf(&b, " %s |", cell(s, k))
		}
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

func title(s task.Status) string {
	if s == task.NoTask {
		return "new"
	}
	return string(s)
}

func cell(s task.Status, k task.Kind) string {
	code := task.Transition(s, k)
	switch {
	case code != "":
		return "`" + string(code) + "`"
	case k == task.KindStarted && s == task.Open:
		return "yes; forced once it has begun"
	case k == task.KindMergeBegun && s == task.Stuck:
		return "if its merge failed"
	case k == task.KindStarted && (s == task.Waiting || s == task.Parked):
		return "forced"
	default:
		return "yes"
	}
}

// TestEveryKindIsInTheTable checks Kinds against the constants of the source.
func TestEveryKindIsInTheTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, k := range task.Kinds() {
		listed[string(k)] = true
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Kind" {
			return true
		}
		for _, value := range spec.Values {
			kind, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil || !listed[kind] {
				t.Errorf("Kinds lacks %s, %v", kind, err)
			}
			found++
		}
		return true
	})
	if found == 0 || found != len(listed) {
		t.Errorf("the source has %d kinds, and Kinds %d", found, len(listed))
	}
}

// TestEveryPair tries every event in every status.
func TestEveryPair(t *testing.T) {
	commands := map[task.Kind]func(task.State) task.Command{
		task.KindStarted:  func(task.State) task.Command { return task.StartWork{Fallback: 3, Force: force} },
		task.KindAttested: func(task.State) task.Command { return ran(task.AgentCritic) },
		task.KindSearched: func(task.State) task.Command { return task.RecordSearch{Query: "q", Source: task.ByHand} },
		task.KindPrepared: func(task.State) task.Command {
			return task.CompletePhase{Phase: task.Research, Required: 1, Force: force}
		},
		task.KindRedrafted: func(task.State) task.Command { return task.BeginVerification{} },
		task.KindDrafted:   func(task.State) task.Command { return task.RecordVerification{Force: force} },
		task.KindDecided: func(s task.State) task.Command {
			o := toExecutor
			o.Round = task.Round{Number: max(s.Round, 1), MaxRounds: 3, HardCap: 6}
			return o
		},
		task.KindFinished: func(task.State) task.Command { return task.CommitTask{Force: force} },
		task.KindStopped:  func(task.State) task.Command { return task.StopTask{Reason: "enough"} },
		task.KindAnswered: func(task.State) task.Command { return task.AnswerQuestion{Text: "the blue one", By: "somebody"} },
		task.KindResumed:  func(task.State) task.Command { return task.ResumeTask{Mode: task.Replan, Fallback: 3} },
		task.KindImported: func(task.State) task.Command {
			return task.ImportTask{TaskImported: task.TaskImported{Source: "other", Round: 1, MaxRounds: 3}}
		},
		task.KindBranched: func(task.State) task.Command { return task.CreateBranch{} },
		task.KindAsked: func(task.State) task.Command {
			return task.AskUser{Question: task.Question{Fingerprint: "q9", Text: "Which plan?"}}
		},
		task.KindParked:        func(task.State) task.Command { return task.ParkTask{Parking: parking} },
		task.KindUnparked:      func(task.State) task.Command { return task.EndParking{By: "somebody"} },
		task.KindCommitCreated: func(task.State) task.Command { return task.RecordCommit{GitCommit: theCommit} },
		task.KindMergeBegun:    func(task.State) task.Command { return task.BeginMerge{Into: "main"} },
		task.KindMergeEnded: func(task.State) task.Command {
			return task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.Merged, Commit: "c2"}}
		},
		task.KindSpawnBegun: func(task.State) task.Command { return spawning(critic("r2")) },
		task.KindSpawnEnded: func(task.State) task.Command { return ended("r1") },
	}
	// The events of the commands; Apply must reject those that are not allowed.
	events := make(map[task.Kind]task.Event)
	states := standing(t)
	states[task.Open] = do(t, states[task.Open], ran(task.AgentCritic)) // Its draft has evidence.
	for status, s := range states {
		s.Runs = do(t, task.State{}, spawning(byHand("r1"))).Runs // It has an open run in every status.
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		states[status] = s
	}
	for _, k := range task.Kinds() {
		command, ok := commands[k]
		if !ok {
			t.Fatalf("nothing provokes %s", k)
		}
		for _, status := range task.Statuses() {
			s, code := states[status], task.Transition(status, k)
			if k == task.KindMergeBegun && status == task.Committed {
				s = do(t, s, task.RecordCommit{GitCommit: theCommit})
			}
			if s.Status != status {
				t.Fatalf("the task is %q, not %q", s.Status, status)
			}
			if code != "" {
				continue
			}
			e, err := task.Decide(s, command(s))
			if err != nil || e == nil || e.Kind() != k {
				t.Errorf("%s while %q: %v, %v", k, status, e, err)
				continue
			}
			if _, err := task.Apply(s, e); err != nil {
				t.Errorf("%s while %q, applied: %v", k, status, err)
			}
			events[k] = e
		}
		for _, status := range task.Statuses() {
			s, code := states[status], task.Transition(status, k)
			if code == "" {
				continue
			}
			if e, err := task.Decide(s, command(s)); errs.CodeOf(err) != code || e != nil {
				t.Errorf("%s while %q: %v, %v; want %s", k, status, e, err, code)
			}
			if _, err := task.Apply(s, events[k]); err == nil {
				t.Errorf("%s while %q is applied all the same", k, status)
			}
		}
	}
}

// TestForceOpensNoStatus checks that force passes gates, but not statuses.
func TestForceOpensNoStatus(t *testing.T) {
	for status, code := range map[task.Status]errs.Code{
		task.Waiting: errs.TaskWaiting, task.Stuck: errs.TaskStuck, task.Committed: errs.TaskCommitted,
	} {
		s := standing(t)[status]
		refuse(t, s, task.CompletePhase{Phase: task.Research, Required: 1, Force: force}, code)
		refuse(t, s, task.BeginVerification{}, code)
		refuse(t, s, task.RecordVerification{Force: force}, code)
		refuse(t, s, task.CommitTask{Force: force}, code)
		refuse(t, s, spawning(critic("r1")), code)
		if _, err := task.EnterRound(s, task.RoundEntry{Fallback: 3, Phases: []task.Phase{task.Review}, Force: force}); errs.CodeOf(err) != code {
			t.Errorf("a task that is %s enters its round with %v", status, err)
		}
	}
}

// TestUnknownKinds checks that a kind of a later version is not an event and is rejected
// in every status.
func TestUnknownKinds(t *testing.T) {
	if e := task.NewEvent("task-renamed"); e != nil {
		t.Errorf("an unknown kind is %T", e)
	}
	for _, k := range task.Kinds() {
		if e := task.NewEvent(k); e == nil || e.Kind() != k {
			t.Errorf("Blank(%s) is %T", k, e)
		}
	}
	for _, s := range task.Statuses() {
		if task.Transition(s, "task-renamed") == "" {
			t.Errorf("an unknown event may follow while %q", s)
		}
	}
}
