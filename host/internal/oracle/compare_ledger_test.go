package oracle

import (
	"bytes"
	"context"
	"iter"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// failer is implemented by tests and by property checks.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// compareLedger checks that the metrics of a ledger match its events, both as gathered and
// as text, and returns the numbers of series and events compared. events yields all
// events.
func compareLedger(t failer, source metrics.Source, events iter.Seq2[ledger.Event, error]) Report {
	t.Helper()
	ctx := context.Background()
	c, err := metrics.New(source, metrics.Options{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	families, err := c.Gather(ctx)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var text bytes.Buffer
	if err := metrics.Write(&text, families, metrics.Text); err != nil {
		t.Fatalf("%v", err)
	}
	gathered, err := Gathered(families)
	if err != nil {
		t.Fatalf("%v", err)
	}
	read, err := Parse(&text)
	if err != nil {
		t.Fatalf("%v", err)
	}
	counted, err := Of(events, gathered.Events)
	if err != nil {
		t.Fatalf("%v", err)
	}
	report := counted.Compare(gathered)
	for _, d := range append(report.Differences, counted.Compare(read).Differences...) {
		t.Errorf("%s: shown %s, counted %s", d, numberText(d.Shown), numberText(d.Recounted))
	}
	if report.Events == 0 || report.Series < 10 {
		t.Fatalf("only %d series of %d events were compared", report.Series, report.Events)
	}
	return report
}

// numberText formats a number that may be missing.
func numberText(n *float64) string {
	if n == nil {
		return "nothing"
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}
