package oracle

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// history creates events like a ledger's, without hashes, which are not recounted.
type history struct {
	start  time.Time
	events []ledger.Event
	n      map[string]int64
}

func newHistory() *history {
	return &history{start: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC), n: make(map[string]int64)}
}

// add appends an event at a time after the start.
func (h *history) add(after time.Duration, task, kind, body string) {
	h.n[task]++
	h.events = append(h.events, ledger.Event{
		Seq: int64(len(h.events)) + 1, Task: task, N: h.n[task], Kind: kind, Body: jsontext.Value(body),
		At: h.start.Add(after).Format(ledger.TimeFormat),
	})
}

// each yields the events.
func (h *history) each(yield func(ledger.Event, error) bool) {
	for _, e := range h.events {
		if !yield(e, nil) {
			return
		}
	}
}

// recount counts all events.
func (h *history) recount(t testing.TB) *Recount {
	t.Helper()
	r, err := Of(h.each, int64(len(h.events)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parse reads an exposition and fails the test on an error.
func parse(t testing.TB, text string) Exposition {
	t.Helper()
	x, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// differences returns the differences between a history and an exposition.
func differences(t testing.TB, h *history, text string) []string {
	t.Helper()
	var all []string
	for _, d := range h.recount(t).Compare(parse(t, text)).Differences {
		all = append(all, d.String())
	}
	return all
}
