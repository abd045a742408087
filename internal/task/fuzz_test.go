package task_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// everything returns a command of each type, forced if possible.
func everything() []task.Command {
	return []task.Command{
		begin, task.StartWork{Fallback: -1, Force: force},
		task.CompletePhase{Phase: task.Research, Required: 1, Force: force}, task.BeginVerification{}, task.RecordVerification{Force: force},
		toExecutor, final(toCommit), asking(true, which), toStuck,
		task.CommitTask{MustVerify: true, Force: force}, task.StopTask{FindingCount: -1},
		task.ResumeTask{Mode: task.MoreRounds, Rounds: 5}, task.ResumeTask{Mode: task.Reset, Fallback: 3},
		task.ImportTask{TaskImported: task.TaskImported{Round: 1, MaxRounds: 3}},
		audited(task.AgentExecutor, "knowledge-search"), looked(""),
		task.AnswerQuestion{Text: "yes"}, task.AnswerQuestion{Round: 1, Fingerprint: "q1", Choice: 1}, task.ExpireQuestions{Now: evening},
		spawning(critic("r1")), spawning(byHand("r2")),
		task.ReserveRuns{Intents: []task.Intent{costly("r3", 7)}, Limits: task.Limits{Task: all(9), Round: all(8), Rounds: 2}},
		ended("r1"), lost("r2"), spawning(agent("r4", task.RoleExecutor, true)),
		beginBranch, task.CreateBranch{}, task.AskUser{Question: which}, task.ParkTask{Parking: parking},
		task.EndParking{Now: evening}, task.EndParking{By: "somebody"}, task.RecordCommit{GitCommit: theCommit}, task.BeginMerge{Into: "main"},
		task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.Merged}}, task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.MergeRed}},
	}
}

// FuzzCheck reads states as the ledger does, which may have been edited. Every command on
// a state that passes Check must return without a panic.
func FuzzCheck(f *testing.F) {
	for _, status := range task.Statuses() {
		f.Add([]byte(asJSON(f, standing(f)[status])))
	}
	f.Add([]byte(`{"round":1,"fresh":1,"status":"waiting","max_rounds":3,"questions":{"round":0,"open":null},"last":{"kind":"human"}}`))
	f.Add([]byte(`{"round":0,"max_rounds":0,"status":"","last":null,"spawns":[{"run":"r2","round":1,"role":"other","agent":"a","attempt":1,"adapter":"exec","why":"first","reserve":{"ms":9223372036854775807}}],"spent":{"task":{"ms":9223372036854775807},"runs":1}}`))
	f.Add([]byte(asJSON(f, do(f, task.State{}, spawning(critic("r1"), researcher("r2", 0)), ended("r1")))))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s task.State
		if json.Unmarshal(text, &s) != nil || s.Check() != nil {
			return
		}
		_, _ = s.VerificationOutcome("")
		_, _, _ = s.AuditFindings(), s.DraftAgent(), s.MissingForCommit(true)
		_, _, _ = s.OpenRuns(), s.LatestRun(task.RoleCritic, 0), s.Attempts(task.RoleCritic, 0)
		_, _, _ = task.Next(s), s.MergeFailed(), task.Limits{Task: all(1), Rounds: 1}.Usage(s)
		for _, c := range everything() {
			if o, ok := c.(task.DecideRound); ok {
				round, err := task.EnterRound(s, task.RoundEntry{Fallback: 3, Phases: []task.Phase{task.Review}, Force: force})
				if err != nil {
					continue
				}
				o.Round = round
				c = o
			}
			e, err := task.Decide(s, c)
			if e == nil || err != nil {
				continue
			}
			_, _ = task.Apply(s, e)
		}
	})
}

// FuzzApply folds events as the ledger returns them, one per line: the kind, a space, and
// the body. None may panic.
func FuzzApply(f *testing.F) {
	f.Add([]byte("work-begun {\"round\":1,\"max_rounds\":3}\nagent-stamped {\"stamp\":{\"round\":1,\"agent\":\"np-executor\"}}"))
	f.Add([]byte("round-decided {\"round\":1,\"next_round\":2,\"max_rounds\":3,\"next_action\":\"askuser\",\"kind\":\"human\",\"questions\":[{\"fingerprint\":\"q1\"}]}\nanswer-given {\"round\":1,\"answers\":[{\"fingerprint\":\"q1\"}]}"))
	f.Add([]byte("work-stopped {\"stop\":{\"round\":1}}\nwork-resumed {\"round\":2,\"mode\":\"replan\",\"max_rounds\":3}\nphase-done {\"round\":2,\"tests\":[\"a\",\"a\"]}"))
	f.Add([]byte("task-imported {\"round\":3,\"violations\":[{\"round\":1}],\"stop\":{}}\nsearch-recorded {\"search\":{\"round\":3}}"))
	f.Add([]byte("draft-verified {\"round\":1}\nwork-committed {\"round\":1}"))
	f.Add([]byte("draft-begun {\"round\":1}\nagent-stamped {\"stamp\":{\"round\":1,\"agent\":\"np-critic\"}}\ndraft-begun {\"round\":1}"))
	f.Add([]byte("spawn-begun {\"intents\":[{\"run\":\"r1\",\"round\":1,\"role\":\"critic\",\"reserve\":{\"tokens\":5}}]}\ndraft-begun {\"round\":1}\nspawn-ended {\"receipt\":{\"run\":\"r1\",\"outcome\":\"lost\"}}"))
	f.Add([]byte("spawn-begun {\"intents\":[{\"run\":\"r1\",\"round\":1,\"role\":\"other\",\"reserve\":{\"ms\":9223372036854775807}}]}\ntask-imported {\"round\":2}\nspawn-ended {\"receipt\":{\"run\":\"r1\",\"used\":{\"ms\":9},\"unknown\":[\"tokens\"]}}"))
	f.Add([]byte("work-begun {\"round\":1,\"max_rounds\":3,\"branch\":{\"name\":\"b\"}}\nbranch-created {}\nround-decided {\"round\":1,\"next_round\":1,\"next_action\":\"commit\",\"kind\":\"terminal\",\"final\":true,\"tree\":\"t\"}\ncommit-created {\"round\":1,\"commit\":{\"sha\":\"c\",\"tree\":\"t\"}}\nmerge-begun {}\nmerge-ended {\"outcome\":\"merge-red\"}\nmerge-begun {}\nwork-stopped {\"stop\":{\"round\":1}}"))
	f.Add([]byte("question-asked {\"round\":1,\"questions\":[{\"fingerprint\":\"q\",\"budget\":{\"unit\":\"task-tokens\"}}]}\nanswer-given {\"round\":1,\"answers\":[{\"fingerprint\":\"q\",\"text\":\"9223372036854775807\"}]}\ntask-parked {\"round\":1,\"parking\":{\"until\":\"2\"}}\nparking-ended {}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s task.State
		for line := range bytes.Lines(text) {
			kind, body, _ := bytes.Cut(line, []byte(" "))
			e := task.NewEvent(task.Kind(kind))
			if e == nil || json.Unmarshal(body, e) != nil {
				continue
			}
			before := asJSON(t, s)
			next, err := task.Apply(s, e)
			if asJSON(t, s) != before {
				t.Fatalf("%s changes the state that it follows", kind)
			}
			if err != nil {
				continue
			}
			if next.Round < s.Round {
				t.Fatalf("%s leads from round %d to round %d", kind, s.Round, next.Round)
			}
			if spent, before := next.Spent.Task, s.Spent.Task; spent.Millis < before.Millis || spent.Tokens < before.Tokens || spent.MicroDollars < before.MicroDollars {
				t.Fatalf("%s takes back what was spent: %+v, then %+v", kind, before, spent)
			}
			s = next
			_ = s.Check()
		}
	})
}
