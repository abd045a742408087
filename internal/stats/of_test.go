package stats_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/stats"
)

func one(m counters.Measure, values ...string) counters.Change { return add(m, 1, values...) }

func add(m counters.Measure, n int64, values ...string) counters.Change {
	return counters.Change{Measure: m, Values: values, Add: n}
}

func of(t testing.TB, source stats.Source) stats.Stats {
	t.Helper()
	s, err := stats.Of(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOf has two tasks, one of which is stuck, and checks all of their numbers.
func TestOf(t *testing.T) {
	t.Parallel()
	l := &memLedger{}
	first := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	second := first.Add(26 * time.Hour)
	const day1, day2 = "2026-03-04", "2026-03-05"
	const at1, at2 = "2026-03-04T10:00:00.000000000Z", "2026-03-05T12:00:00.000000000Z"
	l.Record(first, one(counters.Adoptions(), "1.2.0", "sha256:aa"))
	changes := []counters.Change{
		one(counters.Rounds(), "executor", "1.2.0"), one(counters.Rounds(), "stuck", "1.2.0"),
		one(counters.DailyRounds(), day1, "executor"), one(counters.DailyRounds(), day1, "stuck"),
		add(counters.Policies(), 2, "1.2.0", "sha256:aa", "ADR-0003"),
		add(counters.Findings(), 2, "style", "warn", "executor"), one(counters.Findings(), "vibes", "fail", "stuck"),
		add(counters.Deferred(), 2, "nit"), one(counters.Deferred(), "risk"), one(counters.Induced()), one(counters.Commits(), "risk"),
		add(counters.Progress(), 3, "new"), one(counters.Stalled()), one(counters.Forced(), "commit"),
		one(counters.Tasks(), "stuck"), one(counters.BlockedTasks(), "stuck", at1, "B", "stuck-finding"),
		one(counters.BlockedTasks(), "waiting", at1, "C", "askuser"), one(counters.Tasks(), "waiting"), one(counters.Questions()),
		one(counters.Daily(), day1, counters.DayStuck), add(counters.Daily(), 3, day1, counters.DaySpawns), one(counters.Daily(), day1, counters.DayFallbacks),
		add(counters.Daily(), 5000, day1, counters.DayMicroDollars),
		one(counters.Spawns(), "critic", "claude", "critic-error"), one(counters.Spawns(), "critic", "codex", "findings"),
		one(counters.Spawns(), "researcher", "claude", "ok"), one(counters.Fallbacks(), "critic", "auth"), one(counters.Retries(), "researcher", "rate-limit"),
		add(counters.Tokens(), 10, "critic", "in"), add(counters.Tokens(), 20, "critic", "out"), add(counters.Tokens(), 30, "researcher", "cached"),
		add(counters.MicroDollars(), 1000, "critic"), add(counters.MicroDollars(), 4000, "researcher"),
	}
	for _, millis := range []int64{1000, 4000} { // Both are bounds of cells.
		changes = append(changes, counters.SpawnRuns().Observe(counters.Observation{Value: millis})...)
	}
	l.Record(first, changes...)
	changes = []counters.Change{
		one(counters.Rounds(), "commit", "1.3.0"), one(counters.DailyRounds(), day2, "commit"), one(counters.Policies(), "1.3.0", "sha256:bb", "ADR-0004"),
		one(counters.Tasks(), "committed"), one(counters.Tasks(), "open"), one(counters.Tasks(), "parked"), one(counters.Tasks(), "merging"), one(counters.Daily(), day2, counters.DayCommitted),
	}
	changes = append(changes, counters.TaskRounds().Observe(counters.Observation{Value: 2})...)
	l.Record(second, append(changes, counters.QuestionWaits().Observe(counters.Observation{Value: 8000})...)...)

	want := stats.Stats{
		Ledger: stats.Ledger{Events: 3, Since: at1, Until: at2},
		Tasks:  stats.Tasks{Total: 6, Open: 1, Waiting: 1, Stuck: 1, Parked: 1, Merging: 1, Committed: 1, Bars: []stats.Count{{Name: "risk", Count: 1}}},
		Rounds: stats.Rounds{Total: 3, NextActions: []stats.Count{{Name: "commit", Count: 1}, {Name: "executor", Count: 1}, {Name: "stuck", Count: 1}}, Forced: 1},
		TaskRounds: stats.TaskRounds{
			Spread: stats.Spread{Count: 1, Mean: 2, Median: 2, P90: 2}, Histogram: []stats.RoundCount{{Rounds: 2, Tasks: 1}},
		},
		Findings: stats.Findings{
			Total: 3, Categories: []stats.Count{{Name: "style", Count: 2}, {Name: "vibes", Count: 1}},
			Severities: []stats.Count{{Name: "warn", Count: 2}, {Name: "fail", Count: 1}},
			Routes:     []stats.Count{{Name: "executor", Count: 2}, {Name: "stuck", Count: 1}},
			Progress:   []stats.Count{{Name: "new", Count: 3}}, Stalled: 1,
			Deferred: []stats.Count{{Name: "nit", Count: 2}, {Name: "risk", Count: 1}}, Induced: 1,
		},
		Spawns: stats.Spawns{
			Usage: stats.Usage{Spawns: 3, Fallbacks: 1, Retries: 1, FallbackRate: 1.0 / 3, TokensIn: 10, TokensOut: 20, TokensCached: 30, MicroDollars: 5000},
			Agents: []stats.Agent{
				{Agent: "researcher", Usage: stats.Usage{Spawns: 1, Retries: 1, TokensCached: 30, MicroDollars: 4000}, Outcomes: []stats.Count{{Name: "ok", Count: 1}}},
				{
					Agent: "critic", Usage: stats.Usage{Spawns: 2, Fallbacks: 1, FallbackRate: 0.5, TokensIn: 10, TokensOut: 20, MicroDollars: 1000},
					Outcomes: []stats.Count{{Name: "critic-error", Count: 1}, {Name: "findings", Count: 1}},
				},
			},
		},
		Questions: stats.Questions{Asked: 1},
		Standing: []stats.Standing{
			{Task: "B", Status: "stuck", Since: at1, Why: "stuck-finding"}, {Task: "C", Status: "waiting", Since: at1, Why: "askuser"},
		},
		Policies: []stats.Policy{
			{Version: "1.3.0", Digest: "sha256:bb", ADR: "ADR-0004", Decisions: 1, LastAt: at2},
			{Version: "1.2.0", Digest: "sha256:aa", ADR: "ADR-0003", Decisions: 2, LastAt: at1, AdoptedAt: at1},
		},
		Days: []stats.Day{
			{Day: day1, NextActions: []stats.Count{{Name: "executor", Count: 1}, {Name: "stuck", Count: 1}}, Spawns: 3, Fallbacks: 1, MicroDollars: 5000, Stuck: 1},
			{Day: day2, NextActions: []stats.Count{{Name: "commit", Count: 1}}, Committed: 1},
		},
	}
	got := of(t, l)
	if run := got.Spawns.Run; run.Count != 2 || run.Mean != 2.5 || run.Median != 1 || run.P90 < 3.6 || run.P90 > 4 {
		t.Errorf("runs of 1 s and 4 s took %+v", run)
	}
	if w := got.Questions.Wait; w.Count != 1 || w.Mean != 8 || w.Median < 7.3 || w.Median > 8 {
		t.Errorf("a wait of 8 s was %+v", w)
	}
	got.Spawns.Run, got.Questions.Wait = stats.Spread{}, stats.Spread{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestEmptyLedgerHasNoNumbers(t *testing.T) {
	t.Parallel()
	s := of(t, &memLedger{})
	if !s.Empty() {
		t.Error("it is not empty")
	}
	text, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	var back stats.Stats
	if err := json.Unmarshal(text, &back, json.RejectUnknownMembers(true)); err != nil || !back.Empty() || back.Standing == nil {
		t.Errorf("%v: %s", err, text)
	}
}

// TestSumsAgreeWithEachOther checks that numbers that a sample reports in two ways are
// equal.
func TestSumsAgreeWithEachOther(t *testing.T) {
	t.Parallel()
	s := of(t, newSample(300, 200))
	var rounds, spawns, fallbacks, micro, agents, committed int64
	for _, d := range s.Days {
		for _, c := range d.NextActions {
			rounds += c.Count
		}
		spawns, fallbacks, micro, committed = spawns+d.Spawns, fallbacks+d.Fallbacks, micro+d.MicroDollars, committed+d.Committed
	}
	for _, a := range s.Spawns.Agents {
		agents += a.Spawns
	}
	if rounds == 0 || rounds != s.Rounds.Total {
		t.Errorf("%d rounds by day, %d in all", rounds, s.Rounds.Total)
	}
	if u := s.Spawns; spawns != u.Spawns || agents != u.Spawns || fallbacks != u.Fallbacks || micro != u.MicroDollars {
		t.Errorf("%d runs, %d fallbacks and %d by day, %d runs by agent, in all %+v", spawns, fallbacks, micro, agents, u.Usage)
	}
	if committed != s.TaskRounds.Count {
		t.Errorf("%d tasks committed by day, %d in all", committed, s.TaskRounds.Count)
	}
	if n := int64(len(s.Standing)); n == 0 || n != s.Tasks.Stuck+s.Tasks.Waiting {
		t.Errorf("%d tasks need a person, of %+v", n, s.Tasks)
	}
	if s.Tasks.Total != 300 {
		t.Errorf("%d tasks", s.Tasks.Total)
	}
}

// TestSummary checks that a summary has the numbers of everything, and only the tasks that
// have waited longest.
func TestSummary(t *testing.T) {
	t.Parallel()
	l := &memLedger{}
	for i := range 200 {
		at, status := time.Date(2026, 3, 1, i, 0, 0, 0, time.UTC), "stuck"
		if i%2 == 0 {
			status = "waiting"
		}
		l.Record(at, one(counters.Tasks(), status), one(counters.BlockedTasks(), status, at.Format(ledger.TimeFormat), "T-"+string(rune('a'+i%26)), "askuser"),
			one(counters.Rounds(), "askuser", "1.3.0"), one(counters.DailyRounds(), at.Format(time.DateOnly), "askuser"))
	}
	want := of(t, l)
	got, err := stats.Summary(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Days) < 8 || len(want.Standing) != 200 {
		t.Errorf("%d days, %d tasks", len(want.Days), len(want.Standing))
	}
	want.Days, want.Standing = []stats.Day{}, want.Standing[:stats.SummaryStanding]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %+v, want %+v", got, want)
	}
}

// broken returns one row for one measure, and none for all others.
type broken struct {
	measure string
	row     ledger.Counter
	err     error
}

func (b broken) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t := ledger.Counters{Events: 1, Rows: make([][]ledger.Counter, len(queries))}
	for i, q := range queries {
		if q.Measure == b.measure {
			t.Rows[i] = []ledger.Counter{b.row}
		}
	}
	return t, b.err
}

func TestSumsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		broken
	}{
		{"too few labels", broken{measure: counters.BlockedTasks().Name, row: ledger.Counter{Values: []string{"stuck"}, Sum: 1}}},
		{"too many labels", broken{measure: counters.Stalled().Name, row: ledger.Counter{Values: []string{"x"}, Sum: 1}}},
		{"below nothing", broken{measure: counters.Tasks().Name, row: ledger.Counter{Values: []string{"open"}, Sum: -1}}},
		{"no day", broken{measure: counters.DailyRounds().Name, row: ledger.Counter{Values: []string{"today", "commit"}, Sum: 1}}},
		{"no day", broken{measure: counters.Daily().Name, row: ledger.Counter{Values: []string{"2026-13-01", "stuck"}, Sum: 1}}},
		{"no cell of waits", broken{measure: counters.QuestionWaits().Cells().Name, row: ledger.Counter{Values: []string{"x"}, Sum: 1}}},
		{"no cell of runs", broken{measure: counters.SpawnRuns().Cells().Name, row: ledger.Counter{Values: []string{"x"}, Sum: 1}}},
		{"no cell of rounds", broken{measure: counters.TaskRounds().Cells().Name, row: ledger.Counter{Values: []string{"-3"}, Sum: 1}}},
		{"no cell of rounds", broken{measure: counters.TaskRounds().Cells().Name, row: ledger.Counter{Values: []string{"9223372036854775807"}, Sum: 1}}},
	} {
		if _, err := stats.Of(t.Context(), c.broken); errs.CodeOf(err) != errs.LedgerCorrupt {
			t.Errorf("%s in %s: %v", c.name, c.measure, err)
		}
	}
	gone := errors.New("gone")
	if _, err := stats.Of(t.Context(), broken{err: gone}); !errors.Is(err, gone) {
		t.Errorf("the source fails, and the error is %v", err)
	}
}
