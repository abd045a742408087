package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// TestLedgerBehavesLikeItsModel compares a ledger, reopened at random, with plain
// slices under random appends.
func TestLedgerBehavesLikeItsModel(t *testing.T) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		defer os.RemoveAll(dir)
		l, err := ledger.Open(t.Context(), dir, digest)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { l.Close() }()
		var all []ledger.Event
		byTask := make(map[string][]ledger.Event)
		models := make(map[string]*model)
		task := rapid.SampledFrom([]string{"a", "A", "a.b", "b-1"})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				task := task.Draw(t, "task")
				after := int64(len(byTask[task])) + rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1}).Draw(t, "off")
				kind := rapid.SampledFrom([]string{"note", "note", "x-1", "refused"}).Draw(t, "kind")
				body := asJSON(t, rapid.String().Draw(t, "body"))
				e, err := l.Append(t.Context(), task, after, clock(rapid.Int64Range(0, 1e9).Draw(t, "at")), kind, []byte(body))
				switch {
				case after < 0:
					wantErr(t, err, errs.LedgerInvalid)
				case after != int64(len(byTask[task])):
					wantErr(t, err, errs.LedgerConflict)
				case kind == "refused":
					if err != errRefused {
						t.Fatalf("the fold's error came back as %v", err)
					}
				case err != nil:
					t.Fatal(err)
				default:
					all = append(all, e)
					byTask[task] = append(byTask[task], e)
					if models[task] == nil {
						models[task] = new(model)
					}
					models[task].add(t, digest, e)
				}
			},
			"reopen": func(t *rapid.T) {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if l, err = ledger.Open(t.Context(), dir, digest); err != nil {
					t.Fatal(err)
				}
			},
			"read": func(t *rapid.T) {
				task := task.Draw(t, "task")
				want := byTask[task]
				if got := collect(t, l.Events(t.Context(), task, 1)); asJSON(t, got) != asJSON(t, want) {
					t.Fatalf("Events gives %+v", got)
				}
				if last, err := l.Last(t.Context()); err != nil || last != int64(len(all)) {
					t.Fatalf("Last gives %d, %v", last, err)
				}
				since := rapid.IntRange(0, len(all)).Draw(t, "since")
				if got := collect(t, l.EventsSince(t.Context(), int64(since))); asJSON(t, got) != asJSON(t, all[since:]) {
					t.Fatalf("EventsSince gives %+v", got)
				}
			},
			"": func(t *rapid.T) {
				for task, events := range byTask {
					head, err := l.Head(t.Context(), task)
					if err != nil || head.N != int64(len(events)) || head.Hash != events[len(events)-1].Hash ||
						string(head.State) != string(models[task].state) {
						t.Fatalf("Head gives %+v, %v", head, err)
					}
					entries, err := l.LatestEntries(t.Context(), task, "", 10)
					if want := models[task].descending(""); err != nil || asJSON(t, entries) != asJSON(t, want) {
						t.Fatalf("the entries are %s, %v, want %s", asJSON(t, entries), err, asJSON(t, want))
					}
				}
				report, err := l.Verify(t.Context())
				if err != nil || !report.Sound() || report.Events != int64(len(all)) || report.Tasks != int64(len(byTask)) {
					t.Fatalf("Verify gives %+v, %v", report, err)
				}
			},
		})
	})
	if runs == 0 {
		t.Error("no run at all")
	}
}

func wantErr(t *rapid.T, err error, code errs.Code) {
	if got := errs.CodeOf(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
}
