package ledger_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

func drafts(kinds ...string) (all []ledger.NewEvent) {
	for _, kind := range kinds {
		all = append(all, ledger.NewEvent{Kind: kind, Body: []byte(`{}`)})
	}
	return all
}

func TestSeveralEventsAreOneChain(t *testing.T) {
	for _, made := range []bool{false, true} { // without and with a ledger
		l := open(t, state(t))
		seq := int64(0)
		if made {
			add(t, l, "other", 0)
			seq = 1
		}
		events, err := l.AppendAll(t.Context(), clock(7), ledger.Batch{Task: "a", After: 0, Events: drafts("one", "two", "three")})
		if err != nil || len(events) != 3 {
			t.Fatalf("AppendAll gives %+v, %v", events, err)
		}
		prev := ledger.Genesis
		for i, e := range events {
			if e.Seq != seq+int64(i)+1 || e.N != int64(i)+1 || e.Prev != prev || e.Hash != e.Sum() || !e.Time().Equal(clock(7)) {
				t.Errorf("event %d is %+v", i, e)
			}
			prev = e.Hash
		}
		if got := collect(t, l.Events(t.Context(), "a", 1)); !reflect.DeepEqual(got, events) {
			t.Errorf("recorded is %+v", got)
		}
		add(t, l, "a", 3)
		wantSound(t, l)
	}
}

func TestSeveralEventsAreAllOrNone(t *testing.T) {
	for _, made := range []bool{false, true} { // without and with a ledger
		dir := state(t)
		l := open(t, dir)
		if made {
			add(t, l, "a", 0)
		}
		after := int64(0)
		if made {
			after = 1
		}
		if _, err := l.AppendAll(t.Context(), clock(1), ledger.Batch{Task: "a", After: after, Events: drafts("note", "note", "refused")}); err != errRefused {
			t.Errorf("the fold's error came back as %v", err)
		}
		_, err := l.AppendAll(t.Context(), clock(1), ledger.Batch{Task: "a", After: after, Events: drafts("note", "No kind")})
		wantCode(t, err, errs.LedgerInvalid)
		_, err = l.AppendAll(t.Context(), clock(1), ledger.Batch{Task: "a", After: after, Events: nil})
		wantCode(t, err, errs.LedgerInvalid)
		_, err = l.AppendAll(t.Context(), clock(1), ledger.Batch{Task: "a", After: math.MaxInt64 - 1, Events: drafts("note", "note")})
		wantCode(t, err, errs.LedgerInvalid)
		_, err = l.AppendAll(t.Context(), clock(1), ledger.Batch{Task: "a", After: after + 1, Events: drafts("note", "note")})
		if e := wantCode(t, err, errs.LedgerConflict); e.Details["expected"] != after+1 || e.Details["actual"] != after {
			t.Errorf("details are %v", e.Details)
		}
		if exists(dir) != made {
			t.Error("refused events left state behind")
		}
		if report := wantSound(t, l); report.Events != after {
			t.Errorf("the ledger holds %d events", report.Events)
		}
	}
}

// TestAppendAllOfSeveralTasks tests that a command changes several tasks in one
// transaction.
func TestAppendAllOfSeveralTasks(t *testing.T) {
	for name, first := range map[string]bool{"the ledger's first events": true, "later events": false} {
		t.Run(name, func(t *testing.T) {
			l := open(t, state(t))
			after := int64(0)
			if !first {
				if _, err := l.Append(t.Context(), "a", 0, clock(0), "note", []byte(`{}`)); err != nil {
					t.Fatal(err)
				}
				after = 1
			}
			a := ledger.Batch{Task: "a", After: after, Events: drafts("one", "two")}
			b := ledger.Batch{Task: "_b", Events: drafts("three")}
			events, err := l.AppendAll(t.Context(), clock(1), a, b)
			if err != nil || len(events) != 3 {
				t.Fatalf("AppendAll gives %+v, %v", events, err)
			}
			for i, want := range []ledger.Event{{Task: "a", N: after + 1}, {Task: "a", N: after + 2}, {Task: "_b", N: 1}} {
				if got := events[i]; got.Task != want.Task || got.N != want.N || got.Seq != after+int64(i)+1 {
					t.Errorf("event %d is %d of %s with number %d of the ledger", i, got.N, got.Task, got.Seq)
				}
			}

			// The second task has other events, so nothing is appended to the first
			// either.
			a.After, b.Events = after+2, drafts("four")
			_, err = l.AppendAll(t.Context(), clock(2), a, b)
			if f, ok := errors.AsType[*errs.Error](err); !ok || f.Code != errs.LedgerConflict || f.Details["task"] != "_b" {
				t.Fatalf("a stale batch gives %v", err)
			}
			b.Task = "a"
			if _, err := l.AppendAll(t.Context(), clock(2), a, b); errs.CodeOf(err) != errs.LedgerInvalid {
				t.Errorf("two batches of one task give %v", err)
			}
			if _, err := l.AppendAll(t.Context(), clock(2)); errs.CodeOf(err) != errs.LedgerInvalid {
				t.Errorf("no batch at all gives %v", err)
			}
			report, err := l.Verify(t.Context())
			if err != nil || !report.Sound() || report.Events != after+3 {
				t.Errorf("the ledger is left with %+v, %v", report, err)
			}
		})
	}
}

// TestABatchWithoutDraftsHoldsItsTaskStill tests a batch without events: it records
// nothing, and the other batches are recorded only if its task has the expected events.
func TestABatchWithoutDraftsHoldsItsTaskStill(t *testing.T) {
	l := open(t, state(t))
	still := func(after int64) ledger.Batch { return ledger.Batch{Task: "_b", After: after} }
	a := ledger.Batch{Task: "a", Events: drafts("one")}
	refused := func(want errs.Code, batches ...ledger.Batch) {
		t.Helper()
		before := len(collect(t, l.EventsSince(t.Context(), 0)))
		_, err := l.AppendAll(t.Context(), clock(1), batches...)
		wantCode(t, err, want)
		if after := len(collect(t, l.EventsSince(t.Context(), 0))); after != before {
			t.Errorf("%d events, and %d before", after, before)
		}
	}
	refused(errs.LedgerConflict, a, still(1)) // There is no ledger yet.
	if events, err := l.AppendAll(t.Context(), clock(1), still(0), a); err != nil || len(events) != 1 {
		t.Fatalf("got %v, %v", events, err)
	}
	if _, err := l.Append(t.Context(), "_b", 0, clock(1), "note", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	a.After = 1
	for _, after := range []int64{0, 2} {
		refused(errs.LedgerConflict, a, still(after))
		refused(errs.LedgerConflict, still(after), a)
	}
	if events, err := l.AppendAll(t.Context(), clock(1), still(1), a); err != nil || len(events) != 1 || events[0].Task != "a" {
		t.Errorf("got %v, %v", events, err)
	}
	refused(errs.LedgerInvalid, still(1))
	refused(errs.LedgerInvalid, a, ledger.Batch{Task: "no task"})
	if h, err := l.Head(t.Context(), "_b"); err != nil || h.N != 1 {
		t.Errorf("its head is %+v, %v", h, err)
	}
}
