package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bench"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/testdata/series"
)

// head is the beginning of a valid series.
const head = `{"title": "t", "source": "o/r#1", "kind": "sick", "reviews": `

func load(t *testing.T, text string) []bench.Series {
	t.Helper()
	all, err := bench.Load(fstest.MapFS{"one.json": {Data: []byte(text)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// variant loads routing 1.2.0 with old replaced by its replacement.
func variant(t *testing.T, old, replacement string) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), "routing@1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	text := p.Sources()[0].Text
	if !strings.Contains(text, old) {
		t.Fatalf("the policy lacks %q", old)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "routing.rego"), []byte(strings.ReplaceAll(text, old, replacement)), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err = policies.Load(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return p
}

// The counts of some published series are those of their sources.
func TestPublishedSeries(t *testing.T) {
	all, err := bench.Load(series.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string][]int)
	for _, s := range all {
		for _, r := range s.Reviews {
			counts[s.Name] = append(counts[s.Name], r.Count())
		}
	}
	for name, want := range map[string][]int{
		"no-mistakes-683":   {6, 3, 3, 3, 7, 6, 5, 2, 5, 3, 3, 1, 1, 1, 1, 2, 3, 7, 2, 3, 4},
		"no-mistakes-683-a": {3, 4, 4, 3, 2, 2, 2, 2, 5, 2},
		"no-mistakes-683-b": {6, 3, 6, 6, 4, 5, 6},
		"sparring-14":       {6, 2, 1, 4, 1},
		"flow-next-6-1":     {6, 1, 0},
		"flow-next-7-2":     {7, 2},
		"qwen-code-6457":    {2, 2, 7, 0, 0, 5, 3, 1},
	} {
		if !slices.Equal(counts[name], want) {
			t.Errorf("%s has %v, want %v", name, counts[name], want)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
	}{
		"empty":              {"", "unexpected EOF"},
		"null":               {"null", "title is missing"},
		"cut short":          {head, "unexpected EOF"},
		"two documents":      {head + `[{}]} {}`, "after top-level value"},
		"unknown field":      {head + `[{"fial": 1}]}`, `"fial"`},
		"field twice":        {head + `[{"fail": 1, "fail": 2}]}`, "duplicate"},
		"text":               {head + `[{"fail": "1"}]}`, "/reviews/0/fail"},
		"fraction":           {head + `[{"fail": 1.5}]}`, "/reviews/0/fail"},
		"no source":          {`{"title": "t", "kind": "sick", "reviews": [{}]}`, "source is missing"},
		"kind":               {`{"title": "t", "source": "s", "kind": "ill", "reviews": [{}]}`, `kind is "ill"`},
		"no reviews":         {head + `[]}`, "there are no reviews"},
		"null review":        {head + `[{}, null]}`, "review 2 is null"},
		"below 0":            {head + `[{"nit": -1}]}`, "review 1: a count is -1"},
		"too many":           {head + `[{"risk": 10001}]}`, "a count is 10001"},
		"open at first":      {head + `[{"open": 1}]}`, "review 1: open is 1, want at most 0"},
		"open beyond before": {head + `[{"fail": 1, "unrated": 1}, {"open": 2, "nit": 1}, {"open": 4}]}`, "review 3: open is 4, want at most 3"},
		"induced beyond":     {head + `[{"fail": 1}, {"open": 1, "nit": 1, "induced": 2}]}`, "review 2: induced is 2, want 0 to 1"},
		"induced below 0":    {head + `[{"induced": -1}]}`, "induced is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bench.Load(fstest.MapFS{"a.json": {Data: []byte(head + "[{}]}")}, "b.json": {Data: []byte(c.text)}}, "dir")
			if errs.CodeOf(err) != errs.SeriesInvalid {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(err.Error(), filepath.Join("dir", "b.json")+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not name the file and %q", err, c.want)
			}
		})
	}
}

func TestLoadUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		files fstest.MapFS
		code  errs.Code
		want  string
	}{
		"no series":  {fstest.MapFS{"README.md": {}}, errs.SeriesNotFound, "dir has no series"},
		"directory":  {fstest.MapFS{"a.json/b": {}}, errs.SeriesUnreadable, "a.json: it is not a regular file"},
		"link":       {fstest.MapFS{"a.json": {Mode: os.ModeSymlink}}, errs.SeriesUnreadable, "a.json: it is not a regular file"},
		"large file": {fstest.MapFS{"a.json": {Data: make([]byte, 1<<20+1)}}, errs.SeriesUnreadable, "a.json: larger than"},
	} {
		if _, err := bench.Load(c.files, "dir"); errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := bench.Load(os.DirFS(filepath.Join(t.TempDir(), "none")), "none"); errs.CodeOf(err) != errs.SeriesUnreadable {
		t.Errorf("no directory: got %v", err)
	}
}

func TestRun(t *testing.T) {
	released, err := policies.Load(t.Context(), "routing@1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		review int
		ended  bool
		reason string
	}
	for name, c := range map[string]struct {
		policy           *routing.Policy
		reviews          string
		capped, uncapped want
		open             bench.OpenFindings // of the second
	}{
		"the cap ends it, and no finding is lost": {
			released, `[{"fail": 4}, {"risk": 1}, {"risk": 2}, {"nit": 1, "unrated": 1, "open": 2}]`,
			want{3, true, "max-rounds"}, want{4, false, "routed"},
			bench.OpenFindings{First: bench.First{Nit: 1, Unrated: 1}, Repeated: 2},
		},
		"clean": {
			released, `[{"fail": 1}, {}, {"fail": 1}]`,
			want{2, true, "no-findings"}, want{2, true, "no-findings"}, bench.OpenFindings{},
		},
		"nothing but repeats": {
			released, `[{"fail": 2}, {"open": 2}, {"open": 2}, {"open": 2}]`,
			want{3, true, "max-rounds"}, want{3, true, "no-progress"}, bench.OpenFindings{Repeated: 2},
		},
		"one repeat is resolved": {
			released, `[{"fail": 3}, {"open": 3}, {"open": 2}, {"open": 2}]`,
			want{3, true, "max-rounds"}, want{4, false, "routed"}, bench.OpenFindings{Repeated: 2},
		},
		"a person is asked": {
			variant(t, `{"next_action": _strongest,`, `{"next_action": "askuser",`), `[{"nit": 1}, {"nit": 2}]`,
			want{1, true, "routed"}, want{1, true, "routed"}, bench.OpenFindings{First: bench.First{Nit: 1}},
		},
		"a destination that does not advance the round": {
			variant(t, `{"next_action": _strongest,`, `{"next_action": "plan-checker",`), `[{"nit": 1}, {"nit": 2}, {"nit": 3}, {"nit": 4}]`,
			want{4, false, "routed"}, want{4, false, "routed"}, bench.OpenFindings{First: bench.First{Nit: 4}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := bench.Run(t.Context(), load(t, head+c.reviews+"}"), []*routing.Policy{c.policy})
			if err != nil {
				t.Fatal(err)
			}
			by := report.Series[0].Policies[0]
			for _, e := range []struct {
				got  bench.Ending
				want want
			}{{by.Capped, c.capped}, {by.Uncapped, c.uncapped}} {
				if got := (want{e.got.Review, e.got.Ended, e.got.Reason}); got != e.want {
					t.Errorf("with %d rounds: got %+v, want %+v", e.got.MaxRounds, got, e.want)
				}
			}
			if by.Uncapped.Open != c.open {
				t.Errorf("open: got %+v, want %+v", by.Uncapped.Open, c.open)
			}
		})
	}
}

// A policy without an executor cannot take the findings.
func TestRunFails(t *testing.T) {
	p := variant(t, `"executor"`, `"coder"`)
	_, err := bench.Run(t.Context(), load(t, head+`[{"fail": 1}]}`), []*routing.Policy{p})
	if errs.CodeOf(err) != errs.PolicyInvalidInput {
		t.Errorf("got %v", err)
	}
}

// Routing 1.3.0 raises the bar in sick series by review 5, in healthy ones never, and
// defers no failure (ADR-0024).
func TestTheBarIsHeldAgainstPublishedSeries(t *testing.T) {
	type rise struct{ capped, uncapped int } // the first review with a bar, 0 for none
	rises := map[string]rise{
		"claude-skills-272": {2, 2}, // induced twice
		"cqlite-1490":       {0, 7},
		"cqlite-3224":       {0, 7},
		"cqlite-3904":       {5, 5}, // 1, then 2 and 3
		"no-mistakes-683":   {5, 5}, // 3, then 7 in round 5
		"no-mistakes-683-a": {3, 3}, // 3, then 4 and 4
		"no-mistakes-683-b": {4, 4}, // 3, then 6 and 6
		"ose-public-249":    {5, 5}, // induced twice
		"qwen-code-9659":    {5, 5}, // 3, then 5 and 4
		"roborev-1002":      {3, 3}, // induced twice
		"roborev-1030":      {5, 5}, // no failure in round 5
	}
	// These end before a bar could rise: stalled at review 3, and after 3 and 2 reviews.
	short := []string{"clickhouse-105489", "qrspi-plus-111", "sdlc-harness-598"}
	all, err := bench.Load(series.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policies.Load(t.Context(), "routing@1.3.0")
	if err != nil {
		t.Fatal(err)
	}
	report, err := bench.Run(t.Context(), all, []*routing.Policy{p})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]int)
	for _, s := range report.Series {
		kinds[s.Kind]++
		got := s.Policies[0]
		if r := (rise{got.Capped.BarAt, got.Uncapped.BarAt}); r != rises[s.Name] {
			t.Errorf("%s: the bar rises at %+v, want %+v", s.Name, r, rises[s.Name])
		}
		for _, end := range []bench.Ending{got.Capped, got.Uncapped} {
			switch {
			case end.Deferred.Fail+end.Deferred.Unrated > 0:
				t.Errorf("%s: %+v are deferred", s.Name, end.Deferred)
			case s.Kind == "healthy" && end.BarAt > 0:
				t.Errorf("%s: the bar rises at %d", s.Name, end.BarAt)
			case s.Kind == "sick" && (end.BarAt == 0 || end.BarAt > 5) && !slices.Contains(short, s.Name):
				t.Errorf("%s: the bar is not up by review 5: %+v", s.Name, end)
			}
		}
	}
	if kinds["sick"] < 11 || kinds["healthy"] < 8 {
		t.Errorf("the series are %v", kinds)
	}
}
