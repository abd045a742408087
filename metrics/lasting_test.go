package metrics_test

import (
	"context"
	"errors"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// moments gives what a ledger is at one moment after the other.
type moments []func() (ledger.Tallies, error)

func (m *moments) Tallies(context.Context, ...ledger.TallyQuery) (ledger.Tallies, error) {
	now := (*m)[0]
	*m = (*m)[1:]
	return now()
}

func TestALedgerThatIsGoneIsNoEmptyOne(t *testing.T) {
	events := func(n int64) func() (ledger.Tallies, error) {
		return func() (ledger.Tallies, error) { return ledger.Tallies{Events: n}, nil }
	}
	locked := errors.New("locked")
	fails := func() (ledger.Tallies, error) { return ledger.Tallies{}, locked }
	source := metrics.NewLasting(&moments{events(0), fails, events(2), fails, events(0), events(0), events(1)})
	for i, want := range []struct {
		events int64
		fails  bool
		code   errs.Code
	}{{}, {fails: true}, {events: 2}, {fails: true}, {fails: true, code: errs.MetricsLedgerGone}, {fails: true, code: errs.MetricsLedgerGone}, {events: 1}} {
		got, err := source.Tallies(t.Context())
		if got.Events != want.events || (err != nil) != want.fails || errs.CodeOf(err) != want.code {
			t.Errorf("moment %d: %d events, %v, want %+v", i, got.Events, err, want)
		}
	}
}
