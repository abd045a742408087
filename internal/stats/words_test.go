package stats

import (
	"math"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Percent(0, 0), "–"}, {Percent(0, 7), "0.0 %"}, {Percent(1, 3), "33.3 %"}, {Percent(7, 7), "100.0 %"},
		{Percent(1, 100_000), "< 0.1 %"}, {Percent(99_999, 100_000), "> 99.9 %"},
		{Dollars(0), "$0.00"}, {Dollars(1), "$0.000001"}, {Dollars(4_200), "$0.0042"}, {Dollars(10_000), "$0.01"},
		{Dollars(1_234_567_890), "$1,234.57"}, {Dollars(14_999), "$0.01"}, {Dollars(15_000), "$0.02"}, {Dollars(999_995_000), "$1,000.00"},
		{formatDuration(0), "0 ms"}, {formatDuration(0.0421), "42 ms"}, {formatDuration(0.9996), "1 s"}, {formatDuration(1.25), "1.2 s"}, {formatDuration(59.4), "59 s"}, {formatDuration(60), "1 min"},
		{formatDuration(90), "1 min 30 s"}, {formatDuration(3599), "59 min"}, {formatDuration(3600 * 5.5), "5 h 30 min"}, {formatDuration(36 * 3600), "1 d 12 h"},
		{formatDuration(86400 * 1234), "1,234 d"}, {formatDuration(math.Inf(1)), "11,574,074,074 d"},
		{grouped(0), "0"}, {grouped(999), "999"}, {grouped(1000), "1,000"}, {grouped(1_234_567), "1,234,567"},
		{counted(1, "task"), "1 task"}, {counted(0, "task"), "0 tasks"}, {categories(1), "1 category"}, {categories(3), "3 categories"},
		{label(""), "(none)"}, {label("a\u202eb\x1b[0m\n"), "a<U+202E>b<U+001B>[0m "}, {label("x\xffy"), "x\ufffdy"},
		{minute("2026-03-04T05:06:07.000000008Z"), "4 Mar 2026 05:06"}, {minute("soon"), "soon"},
		{shortDigest("sha256:0123456789abcdef"), "sha256:0123456789ab"}, {shortDigest("none"), "none"},
		{more(10, 10, "task"), ""}, {more(11, 10, "task"), "and 1 more task (switchyard stats --output json lists all)"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if got := label(strings.Repeat("é", 500)); len([]rune(got)) != maxShown || !strings.HasSuffix(got, "…") {
		t.Errorf("a long name is shown as %q", got)
	}
}

func TestAxesHaveRoundTops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ most, least, want float64 }{
		{0, 2, 2}, {1, 2, 2}, {2, 2, 2}, {3, 2, 4}, {5, 2, 6}, {9, 2, 10}, {10, 2, 10}, {11, 2, 20}, {28, 2, 30}, {41, 2, 50}, {99, 2, 100}, {101, 2, 200},
		{0.03, 0.000002, 0.04},
	} {
		if got := niceTop(c.most, c.least); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("the axis for %v ends at %v, want %v", c.most, got, c.want)
		}
	}
}

func TestRoundsAreGroupedWithoutAGap(t *testing.T) {
	t.Parallel()
	few := TaskRounds{Histogram: []RoundCount{{1, 5}, {3, 2}}}
	if got := few.groups(); len(got) != 3 || got[0] != (Count{"1", 5}) || got[1] != (Count{"2", 0}) || got[2] != (Count{"3", 2}) {
		t.Errorf("%v", got)
	}
	many := TaskRounds{Histogram: []RoundCount{{2, 1}, {12, 2}, {13, 3}, {20, 4}, {60, 5}, {100, 6}}}
	got := many.groups()
	want := []Count{{"13 to 20", 7}, {"21 to 50", 0}, {"51 to 100", 11}}
	if len(got) != singleRounds+3 || got[1] != (Count{"2", 1}) || got[11] != (Count{"12", 2}) {
		t.Fatalf("%v", got)
	}
	for i, w := range want {
		if got[singleRounds+i] != w {
			t.Errorf("%v, want %v", got[singleRounds+i], w)
		}
	}
	if got := (TaskRounds{Histogram: []RoundCount{{1000, 1}}}).groups(); got[len(got)-1] != (Count{"more than 100", 1}) {
		t.Errorf("%v", got)
	}
}
