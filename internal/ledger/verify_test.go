package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Event i of task a has seq 3i-2, of b 3i-1, of c 3i.
func TestVerifyFindsTampering(t *testing.T) {
	const zeros = "'0000000000000000000000000000000000000000000000000000000000000000'"
	for _, c := range []struct {
		name       string
		statements []string
		want       string // kind, task, N and #Seq of each problem; "" for any
	}{
		{"body", []string{`UPDATE events SET body = '{"i":9}' WHERE task = 'b' AND n = 3`},
			"hash b 3 #8, state b 5, entry b 5"}, // entry: chain
		{"body that is no JSON", []string{`UPDATE events SET body = '{' WHERE task = 'b' AND n = 3`},
			"form b 3 #8, hash b 3 #8, state b 5, entry b 5"}, // entry: chain
		{"hash", []string{`UPDATE events SET hash = ` + zeros + ` WHERE task = 'b' AND n = 3`},
			"hash b 3 #8, link b 4 #11"},
		{"last hash", []string{`UPDATE events SET hash = ` + zeros + ` WHERE task = 'b' AND n = 5`},
			"hash b 5 #14, head b 5"},
		{"time", []string{`UPDATE events SET at = '2026-11-22T08:00:00.000000000Z' WHERE task = 'b' AND n = 3`},
			"hash b 3 #8, state b 5, entry b 5"}, // entry: chain
		{"time that is none", []string{`UPDATE events SET at = 'now' WHERE task = 'b' AND n = 3`},
			"form b 3 #8, hash b 3 #8, state b 5, entry b 5"}, // entry: chain
		{"kind", []string{`UPDATE events SET kind = 'other' WHERE task = 'b' AND n = 3`},
			"hash b 3 #8, state b 5, entry b 5"}, // entry: chain
		{"kind that the fold refuses", []string{`UPDATE events SET kind = 'refused' WHERE task = 'b' AND n = 3`},
			"hash b 3 #8, fold b 3 #8"},
		{"prev", []string{`UPDATE events SET prev = ` + zeros + ` WHERE task = 'b' AND n = 3`},
			"link b 3 #8, hash b 3 #8"},
		{"state", []string{`UPDATE tasks SET state = '{}' WHERE task = 'b'`}, "state b 5"},
		{"entry", []string{`UPDATE entries SET value = '{"n":4} ' WHERE task = 'b' AND key = 'recent/000004'`},
			"entry b 5"},
		{"entry deleted", []string{`DELETE FROM entries WHERE task = 'b' AND key = 'chain'`}, "entry b 5"},
		{"entries added", []string{
			`INSERT INTO entries VALUES ('b', 'b', '1'), ('b', 'recent/000002', '{"n":2}'), ('b', 'z' || char(10), '')`,
		}, "entry b 5, entry b 5, entry b 5"},
		{"entry renamed", []string{`UPDATE entries SET key = 'recent/000009' WHERE task = 'b' AND key = 'recent/000004'`},
			"entry b 5, entry b 5"}, // entry: 9 comes from no event; 4 is missing
		{"entry moved to another task", []string{`UPDATE entries SET task = 'd' WHERE task = 'b' AND key = 'chain'`},
			"entry b 5, entry d"},
		{"entries of no task", []string{`INSERT INTO entries VALUES ('x', 'a', '1'), ('x', 'b', '1'), ('', 'a', '1')`},
			"entry, entry x"},
		{"head", []string{`UPDATE tasks SET n = 4 WHERE task = 'b'`}, "head b 4"},
		{"middle event deleted", []string{`DELETE FROM events WHERE task = 'b' AND n = 3`},
			"ledger-gap #9, task-gap b 4 #11, link b 4 #11, state b 5, entry b 5, entry b 5"}, // entry: chain; recent/000003 comes from no event
		{"first event deleted", []string{`DELETE FROM events WHERE seq = 1`},
			"ledger-gap #2, task-gap a 2 #4, link a 2 #4, state a 5, entry a 5"}, // entry: chain
		{"last event deleted", []string{`DELETE FROM events WHERE seq = 15`},
			"head c 5, state c 4, entry c 4, entry c 4, entry c 4"}, // entry: chain; recent/000005 comes from no event; recent/000002 is missing
		{"two events swapped", []string{
			`UPDATE events SET n = -3 WHERE task = 'b' AND n = 3`,
			`UPDATE events SET n = 3 WHERE task = 'b' AND n = 4`,
			`UPDATE events SET n = 4 WHERE task = 'b' AND n = -3`,
		}, "link b 3 #11, hash b 3 #11, order b 4 #8, link b 4 #8, hash b 4 #8, link b 5 #14, state b 5, entry b 5"}, // entry: chain
		{"event moved to another task", []string{
			`UPDATE events SET task = 'd', n = 1 WHERE task = 'c' AND n = 5`,
		}, "head c 5, state c 4, entry c 4, entry c 4, entry c 4, link d 1 #15, hash d 1 #15, head d, entry d 1, entry d 1"}, // entry: chain; recent/000005 comes from no event; recent/000002 is missing; chain is missing; recent/000001 is missing
		{"whole task deleted", []string{
			`DELETE FROM events WHERE task = 'b'`, `DELETE FROM tasks WHERE task = 'b'`,
		}, "ledger-gap #3, ledger-gap #6, ledger-gap #9, ledger-gap #12, ledger-gap #15, entry b"},
		{"all events deleted", []string{`DELETE FROM events`, `DELETE FROM tasks WHERE task <> 'b'`},
			"head b 5, entry a, entry b, entry c"},
		{"task without a name", []string{`UPDATE events SET task = '' WHERE task = 'a'`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := fill(t)
			edit(t, dir, c.statements...)
			report := verify(t, open(t, dir))
			var got []string
			for _, p := range report.Problems {
				words := []string{string(p.Kind)}
				if p.Task != "" {
					words = append(words, p.Task)
				}
				if p.N != 0 {
					words = append(words, fmt.Sprint(p.N))
				}
				if p.Seq != 0 {
					words = append(words, fmt.Sprintf("#%d", p.Seq))
				}
				got = append(got, strings.Join(words, " "))
				if p.Message == "" {
					t.Errorf("%s says nothing", got)
				}
			}
			if report.Sound() {
				t.Fatal("nothing was found")
			}
			if c.want != "" && strings.Join(got, ", ") != c.want {
				t.Errorf("found %s:\n%+v", strings.Join(got, ", "), report.Problems)
			}
		})
	}
}

// TestWhatTheChainCannotShow tests the changes that, according to docs/ledger.md,
// cannot be detected from the ledger alone.
func TestWhatTheChainCannotShow(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	var hashes []string
	var before model // the last event
	for e, err := range l.Events(t.Context(), "c", 1) {
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, e.Hash)
		if e.N < 5 {
			before.add(t, digest, e)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, `DELETE FROM events WHERE seq = 15`,
		`UPDATE tasks SET n = 4, head = '`+hashes[3]+`', state = '`+string(before.state)+`' WHERE task = 'c'`,
		`DELETE FROM entries WHERE task = 'c'`)
	for key, value := range before.entries {
		edit(t, dir, `INSERT INTO entries VALUES ('c', '`+key+`', '`+string(value)+`')`)
	}
	report := wantSound(t, open(t, dir))
	// A copy of the removed event's hash reveals the removal.
	if slices.ContainsFunc(report.Heads, func(h ledger.Head) bool { return h.Hash == hashes[4] }) {
		t.Error("the removed event is still a head")
	}
}

func TestAppendToATaskWhoseHeadIsGoneIsRefused(t *testing.T) {
	dir := fill(t)
	edit(t, dir, `DELETE FROM tasks WHERE task = 'b'`)
	_, err := open(t, dir).Append(t.Context(), "b", 0, clock(9), "note", []byte(`{}`))
	wantCode(t, err, errs.LedgerCorrupt)
}

func TestHeadsOfNoEventAreRefused(t *testing.T) {
	for _, n := range []string{"0", "-1"} {
		dir := fill(t)
		edit(t, dir, `UPDATE tasks SET n = `+n+` WHERE task = 'b'`)
		l := open(t, dir)
		_, err := l.Head(t.Context(), "b")
		wantCode(t, err, errs.LedgerCorrupt)
		_, err = l.Append(t.Context(), "b", 0, clock(9), "note", []byte(`{}`))
		wantCode(t, err, errs.LedgerCorrupt)
	}
}

func TestReportsAreBounded(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	add(t, l, "a", 0)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, `WITH RECURSIVE i(v) AS (SELECT 2 UNION ALL SELECT v + 1 FROM i WHERE v < 2000)
		INSERT INTO events SELECT v, 'a', v, 'now', 'note', '{}', '', '' FROM i`)
	report := verify(t, open(t, dir))
	if len(report.Problems) != 1000 || report.Omitted == 0 || report.Events != 2000 {
		t.Errorf("%d problems, %d omitted, %d events", len(report.Problems), report.Omitted, report.Events)
	}
}

// TestRangesAreReportedInOrder tests a ledger whose tasks are verified side by side, with
// a task that is larger than any range and problems in several ranges.
func TestRangesAreReportedInOrder(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	var batches []ledger.Batch
	for i := range 3000 {
		events := make([]ledger.NewEvent, 1)
		if i == 100 {
			events = make([]ledger.NewEvent, 2500)
		}
		for j := range events {
			events[j] = ledger.NewEvent{Kind: "first", Body: []byte(`{}`)}
		}
		batches = append(batches, ledger.Batch{Task: fmt.Sprintf("t%04d", i), Events: events})
	}
	if _, err := l.AppendAll(t.Context(), clock(0), batches...); err != nil {
		t.Fatal(err)
	}
	report := wantSound(t, l)
	if report.Tasks != 3000 || report.Events != 5499 || len(report.Heads) != 3000 ||
		!slices.IsSortedFunc(report.Heads, func(a, b ledger.Head) int { return strings.Compare(a.Task, b.Task) }) {
		t.Errorf("%d tasks, %d events, %d heads", report.Tasks, report.Events, len(report.Heads))
	}
	edit(t, dir, `UPDATE tasks SET state = '{}' WHERE task IN ('t0000', 't0100', 't0101', 't1500', 't2999')`,
		`INSERT INTO tasks VALUES ('', 1, '', '{}'), ('t0100a', 1, '', '{}'), ('zzz', 1, '', '{}')`,
		`INSERT INTO entries VALUES ('', 'a', '1'), ('t0100a', 'a', '1'), ('zzz', 'a', '1')`,
		`UPDATE tallies SET sum = 7 WHERE labels = '["t0100"]'`)
	var got []string
	for _, p := range verify(t, l).Problems {
		got = append(got, string(p.Kind)+" "+p.Task)
	}
	want := "state t0000, state t0100, state t0101, state t1500, state t2999, head , head t0100a, head zzz, " +
		"entry , entry t0100a, entry zzz, tally , tally "
	if strings.Join(got, ", ") != want {
		t.Errorf("found %s", strings.Join(got, ", "))
	}
}

// TestVerifySeesOneMoment verifies while another ledger writes.
func TestVerifySeesOneMoment(t *testing.T) {
	dir := fill(t)
	writer, reader := open(t, dir), open(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil {
			if _, err := insist(t.Context(), writer, "a"); err != nil {
				t.Error(err)
				return
			}
			if last, err := writer.Last(t.Context()); err != nil || last > 600 {
				return
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		wantSound(t, reader)
	}
	if last := wantSound(t, reader).Events; last <= 600 {
		t.Errorf("%d events", last)
	}
}
