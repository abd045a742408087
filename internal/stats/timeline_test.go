package stats

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func dayOf(t testing.TB, text string) time.Time {
	t.Helper()
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return day
}

func TestPeriodsBegin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit       unit
		day, start string
	}{
		{byDay, "2026-03-04", "2026-03-04"},
		{byWeek, "2026-03-04", "2026-03-02"}, // a Wednesday
		{byWeek, "2026-03-02", "2026-03-02"},
		{byWeek, "2026-03-08", "2026-03-02"},
		{byWeek, "1969-12-31", "1969-12-29"},
		{byMonth, "2024-02-29", "2024-02-01"},
		{byMonth, "2024-12-31", "2024-12-01"},
		{byYear, "2024-12-31", "2024-01-01"},
	} {
		if got := c.unit.begin(dayOf(t, c.day)); !got.Equal(dayOf(t, c.start)) {
			t.Errorf("the %v of %s begins %s, want %s", c.unit, c.day, got.Format(time.DateOnly), c.start)
		}
	}
}

func TestUnitFollowsFromTheSpan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		unit     unit
		periods  int
	}{
		{"2026-01-01", "2026-01-01", byDay, 1},
		{"2026-01-01", "2026-03-31", byDay, 90},
		{"2026-01-01", "2026-04-01", byWeek, 14},
		{"2026-01-05", "2027-09-26", byWeek, 90},
		{"2026-01-05", "2027-09-27", byMonth, 21},
		{"2000-01-01", "2026-01-01", byYear, 27},
		{"1900-01-01", "2026-01-01", byYear, 90},
	} {
		line := newTimeline([]Day{{Day: c.from}, {Day: c.to}})
		if line.unit != c.unit || len(line.periods) != c.periods {
			t.Errorf("%s to %s: %d periods of a %v, want %d of a %v", c.from, c.to, len(line.periods), line.unit, c.periods, c.unit)
		}
		if line.left != (c.from == "1900-01-01") {
			t.Errorf("%s to %s: left is %v", c.from, c.to, line.left)
		}
	}
	if line := newTimeline(nil); len(line.periods) != 0 {
		t.Errorf("nothing happened in %d periods", len(line.periods))
	}
}

// TestTimelineKeepsAllNumbers checks that periods are consecutive, and that only numbers
// before the first period are dropped.
func TestTimelineKeepsAllNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		offsets := rapid.SliceOfNDistinct(rapid.IntRange(0, rapid.SampledFrom([]int{5, 100, 1000, 40_000}).Draw(t, "span")), 1, 40, rapid.ID).Draw(t, "days")
		slices.Sort(offsets)
		var days []Day
		for _, o := range offsets {
			days = append(days, Day{
				Day:         time.Date(1975, 6, 1+o, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
				NextActions: []Count{{"commit", rapid.Int64Range(0, 9).Draw(t, "commits")}, {"stuck", 1}},
				Spawns:      2, Fallbacks: 1, MicroDollars: 7, Committed: 3, Stuck: 4,
			})
		}
		line := newTimeline(days)
		if n := len(line.periods); n == 0 || n > maxPeriods {
			t.Fatalf("%d periods", n)
		}
		for i := 1; i < len(line.periods); i++ {
			if before := line.unit.begin(line.periods[i].start.AddDate(0, 0, -1)); !before.Equal(line.periods[i-1].start) {
				t.Fatalf("there is a gap behind %s", line.periods[i-1].start)
			}
		}
		var got, want period
		for _, p := range line.periods {
			got.rounds += p.rounds
			got.Spawns += p.Spawns
			got.Fallbacks += p.Fallbacks
			got.MicroDollars += p.MicroDollars
			got.Committed += p.Committed
			got.Stuck += p.Stuck
		}
		for _, d := range days {
			if dateOf(d).Before(line.periods[0].start) {
				if !line.left {
					t.Fatal("a day is missing, and nothing says so")
				}
				continue
			}
			want.rounds += d.NextActions[0].Count + 1
			want.Spawns += 2
			want.Fallbacks++
			want.MicroDollars += 7
			want.Committed += 3
			want.Stuck += 4
		}
		if got.rounds != want.rounds || got.Spawns != want.Spawns || got.Fallbacks != want.Fallbacks ||
			got.MicroDollars != want.MicroDollars || got.Committed != want.Committed || got.Stuck != want.Stuck {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}
