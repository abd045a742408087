package ledger_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/switchyard-dev/switchyard/host/ledger"
)

func drafts(kinds ...string) (all []ledger.Draft) {
	for _, kind := range kinds {
		all = append(all, ledger.Draft{Kind: kind, Body: []byte(`{}`)})
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
		events, err := l.AppendAll(t.Context(), "a", 0, clock(7), drafts("one", "two", "three"))
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
		if _, err := l.AppendAll(t.Context(), "a", after, clock(1), drafts("note", "note", "refused")); err != errRefused {
			t.Errorf("the fold's error came back as %v", err)
		}
		_, err := l.AppendAll(t.Context(), "a", after, clock(1), drafts("note", "No kind"))
		wantCode(t, err, ledger.CodeInvalid)
		_, err = l.AppendAll(t.Context(), "a", after, clock(1), nil)
		wantCode(t, err, ledger.CodeInvalid)
		_, err = l.AppendAll(t.Context(), "a", math.MaxInt64-1, clock(1), drafts("note", "note"))
		wantCode(t, err, ledger.CodeInvalid)
		_, err = l.AppendAll(t.Context(), "a", after+1, clock(1), drafts("note", "note"))
		if e := wantCode(t, err, ledger.CodeConflict); e.Details["expected"] != after+1 || e.Details["actual"] != after {
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
