package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// soundEvents returns the events of a project in the order of recording, and fails if the
// ledger is not sound.
func soundEvents(t testing.TB, e *host.Engine) (events []ledger.Event) {
	t.Helper()
	if report, err := e.Verify(t.Context()); err != nil || !report.Sound() {
		t.Fatalf("the ledger is not sound: %v %v", report.Problems, err)
	}
	for event, err := range e.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// recordedTimes returns the recorded times of a project's task events, in the order of
// recording.
func recordedTimes(t *testing.T, root string) []string {
	t.Helper()
	var times []string
	for _, event := range soundEvents(t, newEngine(t, root, noon)) {
		if !strings.HasPrefix(event.Task, "_") {
			times = append(times, event.At)
		}
	}
	return times
}

// TestClockJumps moves the clock back and far ahead between the rounds of a task. Events
// keep the order of recording and the time of the clock.
func TestClockJumps(t *testing.T) {
	root := t.TempDir()
	now := noon()
	e := newEngine(t, root, func() time.Time { return now })
	jumps := []struct {
		to   time.Time
		want string
	}{
		{noon(), "2026-11-21T12:00:00.000000000Z"},
		{noon().Add(-time.Hour), "2026-11-21T11:00:00.000000000Z"},
		{noon().Add(-time.Hour), "2026-11-21T11:00:00.000000000Z"}, // The clock has stopped.
		{time.Unix(0, 0), "1970-01-01T00:00:00.000000000Z"},        // A machine without a battery has booted.
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), "9999-12-31T23:59:59.000000000Z"},
		{noon(), "2026-11-21T12:00:00.000000000Z"},
	}
	var want []string
	for i, jump := range jumps {
		now = jump.to
		r := request(fmt.Sprintf(`{"critic":"critic","findings":[{"category":"style","remediation":"another one, %d"}]}`, i))
		r.MaxRounds = len(jumps) + 1
		d, err := e.Round(t.Context(), "T", r)
		if err != nil {
			t.Fatalf("at %v: %v", jump.to, err)
		}
		if d.Round != i+1 || d.NextRound != i+2 {
			t.Errorf("at %v, round %d leads to %d, want %d and %d", jump.to, d.Round, d.NextRound, i+1, i+2)
		}
		want = append(want, jump.want)
		status, err := e.Task(t.Context(), "T")
		if err != nil {
			t.Fatal(err)
		}
		if status.Round != i+2 || status.UpdatedAt != jump.want {
			t.Errorf("at %v, the task is in round %d since %s, want %d and %s", jump.to, status.Round, status.UpdatedAt, i+2, jump.want)
		}
	}
	if got := recordedTimes(t, root); !slices.Equal(got, want) {
		t.Errorf("the record says %v, want %v", got, want)
	}
}

// TestClockOutOfRange sets the clock to a time that no event can have. Nothing is
// recorded, and everything works once the clock is right.
func TestClockOutOfRange(t *testing.T) {
	wrong := []time.Time{{}, time.Date(0, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, begun := range []bool{false, true} {
		root := t.TempDir()
		now := noon()
		e := newEngine(t, root, func() time.Time { return now })
		var want []string
		if begun {
			if _, err := e.Round(t.Context(), "T", request(issues)); err != nil {
				t.Fatal(err)
			}
			want = append(want, "2026-11-21T12:00:00.000000000Z")
		}
		for _, now = range wrong {
			if _, err := e.Round(t.Context(), "T", request(issues)); errs.CodeOf(err) != errs.LedgerInvalid {
				t.Errorf("at %v: got %v, want %s", now, err, errs.LedgerInvalid)
			}
			if got := recordedTimes(t, root); !slices.Equal(got, want) {
				t.Errorf("at %v, the record says %v, want %v", now, got, want)
			}
		}
		now = noon()
		if d, err := e.Round(t.Context(), "T", request(issues)); err != nil || d.Round != len(want)+1 {
			t.Errorf("once the clock is right: round %d, %v", d.Round, err)
		}
	}
}
