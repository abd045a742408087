package metrics_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

var _ prometheus.Collector = (*metrics.Collector)(nil)

func TestSameBytes(t *testing.T) {
	b, o := example()
	first := written(t, gather(t, b, o), metrics.OpenMetrics)
	for range 5 {
		if written(t, gather(t, b, o), metrics.OpenMetrics) != first {
			t.Fatal("the same sums give other bytes")
		}
	}
}

// source is a function as a Source.
type source func(queries []ledger.CounterQuery) (ledger.Counters, error)

func (s source) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	return s(queries)
}

func TestErrorsOfTheSourceAreAll(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	c := collector(t, source(func([]ledger.CounterQuery) (ledger.Counters, error) {
		calls++
		return ledger.Counters{}, broken
	}), metrics.Options{})
	families, err := c.Gather(t.Context())
	if !errors.Is(err, broken) || families != nil || calls != 1 {
		t.Errorf("after %d looks there are %d families and %v", calls, len(families), err)
	}
}

// TestCorruptSums checks that impossible counters, which any process that can write the
// ledger's file can produce, cause an error with a code, and neither a panic nor half an
// exposition.
func TestCorruptSums(t *testing.T) {
	row := func(sum int64, values ...string) ledger.Counter {
		return ledger.Counter{Values: values, Sum: sum, At: at(1)}
	}
	noted := func(note string, cell string) ledger.Counter {
		r := row(1, cell)
		r.Exemplar = jsontext.Value(note)
		return r
	}
	timed := func(when string, values ...string) ledger.Counter {
		return ledger.Counter{Values: values, Sum: 1, At: when}
	}
	waits, rounds := counters.QuestionWaits().Cells().Name, counters.TaskRounds().Cells().Name
	for name, c := range map[string]struct {
		measure string
		row     ledger.Counter
	}{
		"too few labels":            {counters.Rounds().Name, row(1, "executor")},
		"no labels":                 {counters.Rounds().Name, row(1)},
		"too many labels":           {counters.Questions().Name, row(1, "x")},
		"below nothing":             {counters.Questions().Name, row(-1)},
		"nothing":                   {counters.Questions().Name, row(0)},
		"more than a sum can be":    {counters.Questions().Name, row(counters.MaxSum + 1)},
		"a label that is not UTF-8": {counters.Stops().Name, row(1, "\xff")},
		"a cell without number":     {waits, row(1, "x")},
		"a cell written otherwise":  {waits, row(1, "+1")},
		"a cell too high":           {waits, row(1, "99999")},
		"a cell too low":            {waits, row(1, "-99999")},
		"an exact cell of nothing":  {rounds, row(1, "0")},
		"no cell":                   {waits, row(1)},
		"fewer values than none":    {waits, row(-5, "1")},
		"a sample of another cell":  {waits, noted(`{"value":1000000,"task":"T"}`, "0")},
		"a sample that is none":     {waits, noted(`[]`, "0")},
		"a sample of round -1":      {waits, noted(`{"value":1000,"task":"T","round":-1}`, "0")},
		"a sum without values":      {counters.QuestionWaits().Sum().Name, row(7)},
		"a sum below nothing":       {counters.QuestionWaits().Sum().Name, row(-7)},
		"a time that is none":       {counters.Adoptions().Name, timed("yesterday", "1.2.0", "sha256:aa")},
		"a task since no time":      {counters.BlockedTasks().Name, row(1, "stuck", "", "T", "budget")},
		"a task since nonsense":     {counters.BlockedTasks().Name, row(1, "stuck", "x", "T", "budget")},
		"a budget of no number":     {counters.BudgetUse().Name, row(1, "task-time", "-1", "T")},
		"a budget of two labels":    {counters.BudgetUse().Name, row(1, "task-time", "000001")},
	} {
		t.Run(name, func(t *testing.T) {
			c1 := collector(t, source(func(queries []ledger.CounterQuery) (ledger.Counters, error) {
				all := ledger.Counters{Events: 1, Since: at(1), Until: at(1), Rows: make([][]ledger.Counter, len(queries))}
				for i, q := range queries {
					if q.Measure == c.measure && (len(q.Prefix) == 0 || q.Prefix[0] == c.row.Values[0]) {
						all.Rows[i] = []ledger.Counter{c.row}
					}
				}
				return all, nil
			}), metrics.Options{})
			families, err := c1.Gather(t.Context())
			if errs.CodeOf(err) != errs.LedgerCorrupt || families != nil {
				t.Errorf("there are %d families and %v", len(families), err)
			}
		})
	}
}

func TestCorruptAnswers(t *testing.T) {
	for name, change := range map[string]func(*ledger.Counters){
		"more rows than there can be": func(t *ledger.Counters) {
			t.Rows[0] = slices.Repeat([]ledger.Counter{{Values: []string{"task-time"}, Sum: 1, At: at(1)}}, 100_001)
		},
		"lists are missing": func(t *ledger.Counters) { t.Rows = t.Rows[1:] },
		"a first event at no time": func(t *ledger.Counters) {
			t.Since = "x"
		},
		"a last event at no time": func(t *ledger.Counters) { t.Until = strings.Repeat("9", 1000) },
		"another label than asked for": func(t *ledger.Counters) {
			for i := range t.Rows {
				t.Rows[i] = nil
			}
			t.Rows[1] = []ledger.Counter{{Values: []string{"x", "1", "T"}, Sum: 1, At: at(1)}}
		},
	} {
		c := collector(t, source(func(queries []ledger.CounterQuery) (ledger.Counters, error) {
			all := ledger.Counters{Events: 1, Since: at(1), Until: at(1), Rows: make([][]ledger.Counter, len(queries))}
			change(&all)
			return all, nil
		}), metrics.Options{})
		if _, err := c.Gather(t.Context()); errs.CodeOf(err) != errs.LedgerCorrupt || len(err.Error()) > 300 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLevelOfTheLastProcess checks that an agent has the level of its last process, which
// is the last one in the ledger whatever the clock says, and 0 for the others.
func TestLevelOfTheLastProcess(t *testing.T) {
	b := &record{}
	for _, run := range [][]string{{"critic", "files+network"}, {"critic", "none"}, {"executor", "none"}, {"critic", "files+network"}, {"executor", "files"}} {
		b.record(one(counters.SpawnLevels(), run...))
	}
	row := b.rows[counters.SpawnLevels().Name][`["critic","none"]`]
	row.At = at(9)
	b.rows[counters.SpawnLevels().Name][`["critic","none"]`] = row
	const want = `switchyard_spawn_confinement{agent="critic",level="files"} 0
switchyard_spawn_confinement{agent="critic",level="files+network"} 1
switchyard_spawn_confinement{agent="critic",level="files+ports"} 0
switchyard_spawn_confinement{agent="critic",level="none"} 0
switchyard_spawn_confinement{agent="executor",level="files"} 1
switchyard_spawn_confinement{agent="executor",level="files+network"} 0
switchyard_spawn_confinement{agent="executor",level="files+ports"} 0
switchyard_spawn_confinement{agent="executor",level="none"} 0
`
	if got := written(t, gather(t, b, metrics.Options{}), metrics.Text); !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestConstantLabels(t *testing.T) {
	for name, labels := range map[string]map[string]string{
		"no name":                {"": "x"},
		"a name with a dash":     {"a-b": "x"},
		"a name with a line":     {"a\n": "x"},
		"a digit first":          {"1a": "x"},
		"not ASCII":              {"ä": "x"},
		"Prometheus's own":       {"__name__": "x"},
		"a metric's":             {"agent": "x"},
		"of an info":             {"goversion": "x"},
		"of a histogram":         {"le": "1"},
		"set by the scrape":      {"instance": "x"},
		"no value":               {"team": ""},
		"a value too long":       {"team": strings.Repeat("x", 201)},
		"a value not UTF-8":      {"team": "\xff"},
		"a name too long":        {strings.Repeat("a", 65): "x"},
		"one of several is none": {"a": "x", "b": "x", "le": "x"},
	} {
		_, err := metrics.New(&record{}, metrics.Options{Labels: labels})
		if errs.CodeOf(err) != errs.MetricsLabelInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := make(map[string]string)
	for _, c := range "abcdefghijklmnop" {
		many[string(c)] = "x"
	}
	if _, err := metrics.New(&record{}, metrics.Options{Labels: many}); err != nil {
		t.Errorf("16 labels: %v", err)
	}
	many["q"] = "x"
	if _, err := metrics.New(&record{}, metrics.Options{Labels: many}); errs.CodeOf(err) != errs.MetricsLabelInvalid {
		t.Errorf("17 labels: %v", err)
	}
}

// TestRegistry registers a collector and expects the metrics that it gathers itself.
func TestRegistry(t *testing.T) {
	t.Parallel()
	b := &record{}
	c, err := metrics.New(b, metrics.Options{Labels: map[string]string{"team": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	got, err := registry.Gather()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d families of %d, %v", len(got), len(want), err)
	}
	for i, f := range want {
		f.Unit = nil // A registry does not know units.
		if !proto.Equal(got[i], f) {
			t.Errorf("got %v, want %v", got[i], f)
		}
	}
}
