package ledger_test

import (
	"slices"
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
		want       []ledger.Problem // without Message
	}{
		{"body", []string{`UPDATE events SET body = '{"i":9}' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"body that is no JSON", []string{`UPDATE events SET body = '{' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemForm},
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"hash", []string{`UPDATE events SET hash = ` + zeros + ` WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 4, Seq: 11, Kind: ledger.ProblemLink},
		}},
		{"last hash", []string{`UPDATE events SET hash = ` + zeros + ` WHERE task = 'b' AND n = 5`}, []ledger.Problem{
			{Task: "b", N: 5, Seq: 14, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemHead},
		}},
		{"time", []string{`UPDATE events SET at = '2026-11-22T08:00:00.000000000Z' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"time that is none", []string{`UPDATE events SET at = 'now' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemForm},
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"kind", []string{`UPDATE events SET kind = 'other' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"kind that the fold refuses", []string{`UPDATE events SET kind = 'refused' WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemFold},
		}},
		{"prev", []string{`UPDATE events SET prev = ` + zeros + ` WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemLink},
			{Task: "b", N: 3, Seq: 8, Kind: ledger.ProblemHash},
		}},
		{"state", []string{`UPDATE tasks SET state = '{}' WHERE task = 'b'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemState},
		}},
		{"entry", []string{`UPDATE entries SET value = '{"n":4} ' WHERE task = 'b' AND key = 'recent/000004'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
		}},
		{"entry deleted", []string{`DELETE FROM entries WHERE task = 'b' AND key = 'chain'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
		}},
		{"entries added", []string{
			`INSERT INTO entries VALUES ('b', 'b', '1'), ('b', 'recent/000002', '{"n":2}'), ('b', 'z' || char(10), '')`,
		}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
		}},
		{"entry renamed", []string{`UPDATE entries SET key = 'recent/000009' WHERE task = 'b' AND key = 'recent/000004'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // 9 comes from no event
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // 4 is missing
		}},
		{"entry moved to another task", []string{`UPDATE entries SET task = 'd' WHERE task = 'b' AND key = 'chain'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemEntry},
			{Task: "d", Kind: ledger.ProblemEntry},
		}},
		{"entries of no task", []string{`INSERT INTO entries VALUES ('x', 'a', '1'), ('x', 'b', '1'), ('', 'a', '1')`}, []ledger.Problem{
			{Kind: ledger.ProblemEntry},
			{Task: "x", Kind: ledger.ProblemEntry},
		}},
		{"head", []string{`UPDATE tasks SET n = 4 WHERE task = 'b'`}, []ledger.Problem{
			{Task: "b", N: 4, Kind: ledger.ProblemHead},
		}},
		{"middle event deleted", []string{`DELETE FROM events WHERE task = 'b' AND n = 3`}, []ledger.Problem{
			{Seq: 9, Kind: ledger.ProblemLedgerGap},
			{Task: "b", N: 4, Seq: 11, Kind: ledger.ProblemTaskGap},
			{Task: "b", N: 4, Seq: 11, Kind: ledger.ProblemLink},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // recent/000003 comes from no event
		}},
		{"first event deleted", []string{`DELETE FROM events WHERE seq = 1`}, []ledger.Problem{
			{Seq: 2, Kind: ledger.ProblemLedgerGap},
			{Task: "a", N: 2, Seq: 4, Kind: ledger.ProblemTaskGap},
			{Task: "a", N: 2, Seq: 4, Kind: ledger.ProblemLink},
			{Task: "a", N: 5, Kind: ledger.ProblemState},
			{Task: "a", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"last event deleted", []string{`DELETE FROM events WHERE seq = 15`}, []ledger.Problem{
			{Task: "c", N: 5, Kind: ledger.ProblemHead},
			{Task: "c", N: 4, Kind: ledger.ProblemState},
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // chain
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // recent/000005 comes from no event
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // recent/000002 is missing
		}},
		{"two events swapped", []string{
			`UPDATE events SET n = -3 WHERE task = 'b' AND n = 3`,
			`UPDATE events SET n = 3 WHERE task = 'b' AND n = 4`,
			`UPDATE events SET n = 4 WHERE task = 'b' AND n = -3`,
		}, []ledger.Problem{
			{Task: "b", N: 3, Seq: 11, Kind: ledger.ProblemLink},
			{Task: "b", N: 3, Seq: 11, Kind: ledger.ProblemHash},
			{Task: "b", N: 4, Seq: 8, Kind: ledger.ProblemOrder},
			{Task: "b", N: 4, Seq: 8, Kind: ledger.ProblemLink},
			{Task: "b", N: 4, Seq: 8, Kind: ledger.ProblemHash},
			{Task: "b", N: 5, Seq: 14, Kind: ledger.ProblemLink},
			{Task: "b", N: 5, Kind: ledger.ProblemState},
			{Task: "b", N: 5, Kind: ledger.ProblemEntry}, // chain
		}},
		{"event moved to another task", []string{
			`UPDATE events SET task = 'd', n = 1 WHERE task = 'c' AND n = 5`,
		}, []ledger.Problem{
			{Task: "c", N: 5, Kind: ledger.ProblemHead},
			{Task: "c", N: 4, Kind: ledger.ProblemState},
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // chain
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // recent/000005 comes from no event
			{Task: "c", N: 4, Kind: ledger.ProblemEntry}, // recent/000002 is missing
			{Task: "d", N: 1, Seq: 15, Kind: ledger.ProblemLink},
			{Task: "d", N: 1, Seq: 15, Kind: ledger.ProblemHash},
			{Task: "d", Kind: ledger.ProblemHead},
			{Task: "d", N: 1, Kind: ledger.ProblemEntry}, // chain is missing
			{Task: "d", N: 1, Kind: ledger.ProblemEntry}, // recent/000001 is missing
		}},
		{"whole task deleted", []string{
			`DELETE FROM events WHERE task = 'b'`, `DELETE FROM tasks WHERE task = 'b'`,
		}, []ledger.Problem{
			{Seq: 3, Kind: ledger.ProblemLedgerGap},
			{Seq: 6, Kind: ledger.ProblemLedgerGap},
			{Seq: 9, Kind: ledger.ProblemLedgerGap},
			{Seq: 12, Kind: ledger.ProblemLedgerGap},
			{Seq: 15, Kind: ledger.ProblemLedgerGap},
			{Task: "b", Kind: ledger.ProblemEntry},
		}},
		{"all events deleted", []string{`DELETE FROM events`, `DELETE FROM tasks WHERE task <> 'b'`}, []ledger.Problem{
			{Task: "b", N: 5, Kind: ledger.ProblemHead},
			{Task: "a", Kind: ledger.ProblemEntry},
			{Task: "b", Kind: ledger.ProblemEntry},
			{Task: "c", Kind: ledger.ProblemEntry},
		}},
		{"task without a name", []string{`UPDATE events SET task = '' WHERE task = 'a'`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := fill(t)
			edit(t, dir, c.statements...)
			report := verify(t, open(t, dir))
			got := slices.Clone(report.Problems)
			for i := range got {
				if got[i].Message == "" {
					t.Errorf("problem %d says nothing", i)
				}
				got[i].Message = ""
			}
			if report.Sound() {
				t.Fatal("nothing was found")
			}
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("found %+v", report.Problems)
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
