package metrics_test

import (
	"context"
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// moments returns the next state of a ledger at each call.
type moments []func() (ledger.Counters, error)

func (m *moments) Counters(context.Context, ...ledger.CounterQuery) (ledger.Counters, error) {
	now := (*m)[0]
	*m = (*m)[1:]
	return now()
}

func TestGuardedSource(t *testing.T) {
	events := func(n int64) func() (ledger.Counters, error) {
		return func() (ledger.Counters, error) { return ledger.Counters{Events: n}, nil }
	}
	locked := errors.New("locked")
	fails := func() (ledger.Counters, error) { return ledger.Counters{}, locked }
	source := metrics.Guard(&moments{events(0), fails, events(2), fails, events(0), events(0), events(1)})
	for i, want := range []struct {
		events int64
		fails  bool
		code   errs.Code
	}{{}, {fails: true}, {events: 2}, {fails: true}, {fails: true, code: errs.MetricsLedgerGone}, {fails: true, code: errs.MetricsLedgerGone}, {events: 1}} {
		got, err := source.Counters(t.Context())
		if got.Events != want.events || (err != nil) != want.fails || errs.CodeOf(err) != want.code {
			t.Errorf("moment %d: %d events, %v, want %+v", i, got.Events, err, want)
		}
	}
}

// TestGuardedSourceDuringTheFirstEvent has one scrape read the ledger before its first event, and
// end after another scrape that saw the event.
func TestGuardedSourceDuringTheFirstEvent(t *testing.T) {
	var source metrics.Source
	source = metrics.Guard(&moments{
		func() (ledger.Counters, error) {
			if _, err := source.Counters(t.Context()); err != nil {
				t.Error(err)
			}
			return ledger.Counters{}, nil
		},
		func() (ledger.Counters, error) { return ledger.Counters{Events: 1}, nil },
	})
	if _, err := source.Counters(t.Context()); err != nil {
		t.Error(err)
	}
}
