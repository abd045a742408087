package ledger_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// measures returns the measures of obedient. Two of them share a capped dimension with a
// known value.
func measures() map[string]counters.Measure {
	word, size := counters.Dimension{Name: "word", Cap: 3, Known: []string{"e"}}, counters.Dimension{Name: "size", Cap: 1}
	free := counters.Dimension{Name: "free"}
	all := make(map[string]counters.Measure)
	for _, m := range []counters.Measure{
		{Name: "plain"},
		{Name: "free", Labels: []counters.Dimension{free}},
		{Name: "words", Labels: []counters.Dimension{word}},
		{Name: "both", Labels: []counters.Dimension{word, free, size}},
		{Name: "big", Labels: []counters.Dimension{word}},
		{Name: "deep", Labels: []counters.Dimension{free}},
	} {
		all[m.Name] = m
	}
	return all
}

// request is a change in an event's body. Its values may be any bytes.
type request struct {
	Measure string         `json:"measure"`
	Values  [][]byte       `json:"values"`
	Add     int64          `json:"add"`
	Note    jsontext.Value `json:"note,omitzero"`
}

// obedient is a fold that counts the changes in an event's body.
func obedient(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
	changes, err := requested(e.Body)
	return ledger.Projection{State: []byte(`{}`), Changes: changes}, err
}

func requested(body []byte) (changes []counters.Change, err error) {
	var requests []request
	if err := json.Unmarshal(body, &requests); err != nil {
		return nil, err
	}
	for _, r := range requests {
		c := counters.Change{Measure: measures()[r.Measure], Add: r.Add, Exemplar: r.Note}
		for _, value := range r.Values {
			c.Values = append(c.Values, string(value))
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// counterModel is a simple model of the table tallies, updated event by event.
type counterModel map[string]modelCounter

type modelCounter struct {
	sum     int64
	seq     int64
	at      string
	note    string
	measure string
	values  []string
}

func (m counterModel) add(e ledger.Event, measure string, values []string, amount int64, note string) {
	key := measure + " " + labels(values)
	s := m[key]
	s = modelCounter{min(max(s.sum+amount, -counters.MaxSum), counters.MaxSum), e.Seq, e.At, note, measure, values}
	if m[key] = s; s.sum == 0 {
		delete(m, key)
	}
}

// count follows the rules of Change and Dimension literally. lost are the values that
// earlier changes of the same event have removed.
func (m counterModel) count(e ledger.Event, c counters.Change, lost map[string]bool) {
	var values []string
	for i, value := range c.Values {
		d := c.Measure.Labels[i]
		stored := utf8.ValidString(value) && len(value) <= counters.MaxValue
		if stored && d.Cap > 0 {
			label := []string{d.Name, value}
			_, stored = m["label "+labels(label)]
			admitted := 0
			for _, s := range m {
				if s.measure == "label" && s.values[0] == d.Name {
					admitted++
				}
			}
			if !stored && (admitted < d.Cap || slices.Contains(d.Known, value)) {
				m.add(e, "label", label, 1, "")
				stored = true
			}
		}
		if !stored {
			if gone := d.Name + " " + value; d.Cap > 0 && !lost[gone] {
				lost[gone] = true
				m.add(e, "overflow", []string{d.Name}, 1, "")
			}
			value = "other"
		}
		values = append(values, value)
	}
	m.add(e, c.Measure.Name, values, min(max(c.Add, -counters.MaxAdd), counters.MaxAdd), string(c.Exemplar))
}

// labels returns the text of label values.
func labels(values []string) string {
	if len(values) == 0 {
		return "[]"
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// lines returns the model in the format of linesOf.
func (m counterModel) lines() []string {
	var lines []string
	for key, s := range m {
		lines = append(lines, fmt.Sprintf("%s %d %d %s %s", key, s.sum, s.seq, s.at, s.note))
	}
	slices.Sort(lines)
	return lines
}

// linesOf returns the rows of the table tallies, sorted.
func linesOf(t failer, dir string) (lines []string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT measure || ' ' || labels || ' ' || sum || ' ' || seq || ' ' || at || ' ' || coalesce(note, '') FROM tallies`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// ask returns the model's answer to a query.
func (m counterModel) ask(q ledger.CounterQuery) (rows []ledger.Counter) {
	for _, s := range m {
		if s.measure == q.Measure && len(s.values) >= len(q.Prefix) && slices.Equal(s.values[:len(q.Prefix)], q.Prefix) {
			rows = append(rows, ledger.Counter{Values: s.values, Sum: s.sum, Seq: s.seq, At: s.at})
			if s.note != "" {
				rows[len(rows)-1].Exemplar = jsontext.Value(s.note)
			}
		}
	}
	slices.SortFunc(rows, func(a, b ledger.Counter) int { return strings.Compare(labels(a.Values), labels(b.Values)) })
	if q.Descending {
		slices.Reverse(rows)
	}
	if q.Limit > 0 {
		rows = rows[:min(q.Limit, len(rows))]
	}
	return rows
}

// requests generates changes. Only "big" reaches the maximum of a counter, and is never
// decreased; "deep" is only decreased.
func requests() *rapid.Generator[request] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "", "other", `"`, `","`, `]`, `a","b`, "a\x00", "é", "\u2028", "\xff", strings.Repeat("x", 200), strings.Repeat("x", 201)}),
		rapid.StringN(0, 3, -1))
	return rapid.Custom(func(t *rapid.T) request {
		r := request{Measure: rapid.SampledFrom(slices.Sorted(maps.Keys(measures()))).Draw(t, "measure")}
		for range measures()[r.Measure].Labels {
			r.Values = append(r.Values, []byte(word.Draw(t, "value")))
		}
		switch r.Measure {
		case "big":
			r.Add = rapid.SampledFrom([]int64{1, counters.MaxAdd, math.MaxInt64}).Draw(t, "add")
		case "deep":
			r.Add = rapid.SampledFrom([]int64{-1, -counters.MaxAdd, math.MinInt64}).Draw(t, "add")
		default:
			r.Add = rapid.Int64Range(-2, 2).Draw(t, "add")
		}
		if rapid.Bool().Draw(t, "noted") {
			r.Note = jsontext.Value(rapid.SampledFrom([]string{`1`, `null`, `{"task":"ü"}`}).Draw(t, "note"))
		}
		return r
	})
}

// TestSumsBehaveLikeTheirModel compares the counters with those of the model, whichever
// events are recorded in one transaction, and with the results of Verify, which counts
// task by task, and of a migration.
func TestSumsBehaveLikeTheirModel(t *testing.T) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		defer os.RemoveAll(dir)
		l, err := ledger.Open(t.Context(), dir, obedient)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { l.Close() }()
		m := make(counterModel)
		var last ledger.Event
		n := make(map[string]int64)
		for i := range rapid.IntRange(1, 6).Draw(t, "transactions") {
			var batches []ledger.Batch
			for _, task := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3, rapid.ID[string]).Draw(t, "tasks") {
				b := ledger.Batch{Task: task, After: n[task]}
				for range rapid.IntRange(1, 3).Draw(t, "events") {
					body := asJSON(t, rapid.SliceOfN(requests(), 0, 8).Draw(t, "changes"))
					b.Events = append(b.Events, ledger.NewEvent{Kind: "note", Body: []byte(body)})
					n[task]++
				}
				batches = append(batches, b)
			}
			events, err := l.AppendAll(t.Context(), clock(int64(i)), batches...)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				changes, err := requested(e.Body)
				if err != nil {
					t.Fatal(err)
				}
				lost := make(map[string]bool)
				for _, c := range changes {
					m.count(e, c, lost)
				}
			}
			last = events[len(events)-1]
		}
		if got, want := linesOf(t, dir), m.lines(); !slices.Equal(got, want) {
			t.Fatalf("the sums are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if report, err := l.Verify(t.Context()); err != nil || !report.Sound() {
			t.Fatalf("Verify gives %+v, %v", report, err)
		}
		if err := l.Refold(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := linesOf(t, dir), m.lines(); !slices.Equal(got, want) {
			t.Fatalf("counted anew, the sums are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		var queries []ledger.CounterQuery
		for _, measure := range append(slices.Sorted(maps.Keys(measures())), "label", "overflow", "none") {
			q := ledger.CounterQuery{
				Measure:    measure,
				Limit:      rapid.IntRange(0, 3).Draw(t, "limit"),
				Descending: rapid.Bool().Draw(t, "descending"),
			}
			if rows := m.ask(ledger.CounterQuery{Measure: measure}); len(rows) > 0 {
				values := rapid.SampledFrom(rows).Draw(t, "row").Values
				q.Prefix = values[:rapid.IntRange(0, len(values)).Draw(t, "prefix")]
			}
			queries = append(queries, q)
		}
		got, err := l.Counters(t.Context(), queries...)
		if err != nil || got.Events != last.Seq || got.Since != clock(0).Format(ledger.TimeFormat) || got.Until != last.At {
			t.Fatalf("Counters gives %+v, %v", got, err)
		}
		for i, q := range queries {
			if want := m.ask(q); asJSON(t, got.Rows[i]) != asJSON(t, want) {
				t.Fatalf("%+v gives %s, want %s", q, asJSON(t, got.Rows[i]), asJSON(t, want))
			}
		}
	})
	if runs == 0 {
		t.Error("no run at all")
	}
}

// writeCounters records one event that counts the requested changes.
func writeCounters(t testing.TB, l *ledger.Ledger, task string, after int64, requests ...request) {
	t.Helper()
	if _, err := l.Append(t.Context(), task, after, clock(after), "note", []byte(asJSON(t, requests))); err != nil {
		t.Fatal(err)
	}
}

func TestCountsHaveRules(t *testing.T) {
	noted := func(note string) counters.Change {
		return counters.Change{Measure: counters.Measure{Name: "m"}, Add: 1, Exemplar: jsontext.Value(note)}
	}
	for _, c := range []struct {
		name   string
		counts []counters.Change
		code   errs.Code
	}{
		{"a measure of both signs", []counters.Change{{Measure: counters.Measure{Name: "m"}, Add: 1}, {Measure: counters.Measure{Name: "m"}, Add: -1}}, ""},
		{"the longest note", []counters.Change{noted(`"` + strings.Repeat("x", counters.MaxExemplar-2) + `"`)}, ""},
		{"a longer note", []counters.Change{noted(`"` + strings.Repeat("x", counters.MaxExemplar-1) + `"`)}, errs.LedgerInvalid},
		{"a note that is no JSON", []counters.Change{noted(`{`)}, errs.LedgerInvalid},
		{"an empty note", []counters.Change{noted(``)}, errs.LedgerInvalid},
		{"a note with a name twice", []counters.Change{noted(`{"a":1,"a":2}`)}, errs.LedgerInvalid},
		{"a note that is not UTF-8", []counters.Change{noted("\"\xff\"")}, errs.LedgerInvalid},
		{"too many", make([]counters.Change, ledger.MaxChanges+1), errs.LedgerInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := state(t)
			for _, made := range []bool{false, true} { // without and with a ledger
				if made {
					add(t, open(t, dir), "before", 0)
				}
				l := openWith(t, dir, func(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
					if e.Task == "before" {
						return digest((&model{}).view(), e)
					}
					return ledger.Projection{State: []byte(`{}`), Changes: c.counts}, nil
				})
				_, err := l.Append(t.Context(), "a", 0, clock(0), "note", []byte(`{}`))
				if got := errs.CodeOf(err); got != c.code || c.code == "" && err != nil {
					t.Fatalf("error %v has code %q, want %q", err, got, c.code)
				}
				if c.code == "" {
					wantSound(t, l)
					return
				}
				if head, err := l.Head(t.Context(), "a"); err != nil || head.N != 0 || exists(dir) != made {
					t.Errorf("a refused event left %+v, %v", head, err)
				}
			}
		})
	}
}

// TestManyCounts changes more rows than fit into one statement.
func TestManyCounts(t *testing.T) {
	var requests []request
	for i := range 5_000 {
		requests = append(requests, request{Measure: "free", Values: [][]byte{fmt.Append(nil, i)}, Add: 1})
	}
	l := openWith(t, state(t), obedient)
	writeCounters(t, l, "a", 0, requests...)
	for i := range requests {
		requests[i].Add = -1 // All except one are removed again.
	}
	writeCounters(t, l, "a", 1, requests[1:]...)
	sums, err := l.Counters(t.Context(), ledger.CounterQuery{Measure: "free"})
	if err != nil || len(sums.Rows[0]) != 1 || sums.Rows[0][0].Values[0] != "0" {
		t.Errorf("Counters gives %+v, %v", sums, err)
	}
	wantSound(t, l)
}

// TestManyValues tests an event with more new values of a capped dimension than fit
// into one statement, when some values are already known.
func TestManyValues(t *testing.T) {
	l := openWith(t, state(t), obedient)
	word := func(i int) request {
		return request{Measure: "words", Values: [][]byte{fmt.Append(nil, i)}, Add: 1}
	}
	writeCounters(t, l, "a", 0, word(999))
	var requests []request
	for i := range 1000 {
		requests = append(requests, word(i))
	}
	writeCounters(t, l, "a", 1, requests...)
	sums, err := l.Counters(t.Context(), ledger.CounterQuery{Measure: "words"}, ledger.CounterQuery{Measure: "overflow"})
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, row := range slices.Concat(sums.Rows...) {
		got[row.Values[0]] = row.Sum
	}
	// Three values are separate: the one that existed, and the first two.
	if want := map[string]int64{"999": 2, "0": 1, "1": 1, "other": 997, "word": 997}; !maps.Equal(got, want) {
		t.Errorf("the sums are %v, want %v", got, want)
	}
	wantSound(t, l)
}

func TestSumsOfNoLedger(t *testing.T) {
	dir := state(t)
	for _, fold := range []ledger.Fold{digest, nil} {
		sums, err := openWith(t, dir, fold).Counters(t.Context(), ledger.CounterQuery{Measure: "a"}, ledger.CounterQuery{Measure: "b"})
		if err != nil || len(sums.Rows) != 2 || sums.Events != 0 || sums.Since != "" || sums.Until != "" || exists(dir) {
			t.Errorf("Counters gives %+v, %v", sums, err)
		}
	}
	_, err := openWith(t, dir, digest).Counters(t.Context(), ledger.CounterQuery{Measure: "a", Limit: -1})
	wantCode(t, err, errs.LedgerInvalid)
}

// TestMixedSumsAtTheLimitAreSound tests positive and negative changes at the limit: the
// result depends on the order of the events, and Verify, which uses another order,
// accepts it.
func TestMixedSumsAtTheLimitAreSound(t *testing.T) {
	l := openWith(t, state(t), obedient)
	for task, amount := range map[string]int64{"b": counters.MaxAdd, "a": -5} {
		for n := range int64(9) {
			writeCounters(t, l, task, n, request{Measure: "plain", Add: amount})
		}
	}
	wantSound(t, l)
	if err := l.Exec(t.Context(), "UPDATE tallies SET sum = sum * 2 WHERE measure = 'plain'"); err != nil {
		t.Fatal(err)
	}
	if report := verify(t, l); len(report.Problems) != 1 || report.Problems[0].Kind != ledger.ProblemCounter {
		t.Errorf("of a sum beyond the limit Verify gives %+v", report)
	}
}

// TestSumsThatNoLedgerHolds tests values that only another program can have written.
func TestSumsThatNoLedgerHolds(t *testing.T) {
	for name, change := range map[string]string{
		"nothing":               `SET sum = 0`,
		"more than the limit":   `SET sum = 9007199254740993`,
		"the greatest number":   `SET sum = 9223372036854775807`,
		"the smallest number":   `SET sum = -9223372036854775808`,
		"a time that is none":   `SET at = 'now'`,
		"a note that is none":   `SET note = '{'`,
		"an empty note":         `SET note = ''`,
		"a longer note":         `SET note = printf('"%0600d"', 0)`,
		"labels of numbers":     `SET labels = '["a",1]'`,
		"labels of another way": `SET labels = '[ "a"]'`,
		"a label that is null":  `SET labels = '["a",null]'`,
		"labels that end":       `SET labels = '["a'`,
		"bytes in a label":      `SET labels = '["' || CAST(x'ff' AS TEXT) || '"]'`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			l := openWith(t, dir, obedient)
			writeCounters(t, l, "a", 0, request{Measure: "free", Values: [][]byte{[]byte("a")}, Add: 1})
			edit(t, dir, `UPDATE tallies `+change)
			_, err := l.Counters(t.Context(), ledger.CounterQuery{Measure: "free"})
			wantCode(t, err, errs.LedgerCorrupt)
			report, err := l.Verify(t.Context())
			if err != nil || report.Sound() {
				t.Errorf("Verify gives %+v, %v", report, err)
			}
			// Recording continues, and a value beyond the limit is reset to it.
			writeCounters(t, l, "a", 1, request{Measure: "free", Values: [][]byte{[]byte("a")}, Add: 1})
		})
	}
	t.Run("values of another type", func(t *testing.T) {
		dir := state(t)
		l := openWith(t, dir, obedient)
		writeCounters(t, l, "a", 0, request{Measure: "free", Values: [][]byte{[]byte("a")}, Add: 1})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		// A file can contain values that a STRICT table would reject.
		edit(t, dir, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'STRICT, ', '') WHERE name = 'tallies'`)
		edit(t, dir, `UPDATE tallies SET sum = 'much', note = x'00'`)
		edit(t, dir, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') WITHOUT', ') STRICT, WITHOUT') WHERE name = 'tallies'`)
		l = openWith(t, dir, obedient)
		_, err := l.Counters(t.Context(), ledger.CounterQuery{Measure: "free"})
		wantCode(t, err, errs.LedgerCorrupt)
		_, err = l.Verify(t.Context())
		wantCode(t, err, errs.LedgerCorrupt)
	})
}

func TestVerifyFindsTamperedSums(t *testing.T) {
	for name, statement := range map[string]string{
		"sum":             `UPDATE tallies SET sum = 3 WHERE labels = '["a"]'`,
		"event":           `UPDATE tallies SET seq = 1 WHERE labels = '["a"]'`,
		"time":            `UPDATE tallies SET at = '2026-11-22T08:00:00.000000000Z' WHERE labels = '["a"]'`,
		"note":            `UPDATE tallies SET note = '2' WHERE labels = '["a"]'`,
		"note removed":    `UPDATE tallies SET note = NULL WHERE labels = '["a"]'`,
		"note added":      `UPDATE tallies SET note = '1' WHERE measure = 'overflow'`,
		"removed":         `DELETE FROM tallies WHERE labels = '["a"]'`,
		"added":           `INSERT INTO tallies VALUES ('words', '["z"]', 1, 1, 'now', NULL)`,
		"renamed measure": `UPDATE tallies SET measure = 'wordz' WHERE labels = '["a"]'`,
		"cut elsewhere":   `UPDATE tallies SET measure = 'words[', labels = '"a"]' WHERE labels = '["a"]'`,
		"admitted":        `INSERT INTO tallies VALUES ('label', '["word","d"]', 1, 3, '2026-11-21T08:00:00.000000002Z', NULL)`,
		"not admitted":    `DELETE FROM tallies WHERE measure = 'label' AND labels = '["word","b"]'`,
		"overflow":        `UPDATE tallies SET sum = sum + 1 WHERE measure = 'overflow'`,
		"all":             `DELETE FROM tallies`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			l := openWith(t, dir, obedient)
			for i, word := range []string{"a", "b", "c", "d", "a"} {
				writeCounters(t, l, fmt.Sprint("t", i%2), int64(i/2), request{Measure: "words", Values: [][]byte{[]byte(word)}, Add: 1, Note: []byte(`1`)})
			}
			wantSound(t, l)
			edit(t, dir, statement)
			report := verify(t, l)
			if report.Sound() {
				t.Fatal("nothing was found")
			}
			for _, p := range report.Problems {
				if p.Kind != ledger.ProblemCounter || p.Message == "" || p.String() != p.Message {
					t.Errorf("found %+v", p)
				}
			}
		})
	}
}

// TestRefusedEventsLeaveSumsAlone tests that Verify reports an event that the fold
// rejects, but no counters: without the event they are unknown.
func TestRefusedEventsLeaveSumsAlone(t *testing.T) {
	dir := state(t)
	l := openWith(t, dir, obedient)
	writeCounters(t, l, "a", 0, request{Measure: "plain", Add: 1})
	if _, err := l.Append(t.Context(), "b", 0, clock(0), "note", []byte(`"nothing to count"`)); err == nil {
		t.Fatal("the fold refused nothing")
	}
	wantSound(t, l)
	edit(t, dir, `UPDATE events SET body = '"nothing to count"'`)
	report := verify(t, l)
	kinds := make(map[ledger.ProblemKind]bool)
	for _, p := range report.Problems {
		kinds[p.Kind] = true
	}
	if !kinds[ledger.ProblemFold] || kinds[ledger.ProblemCounter] {
		t.Errorf("found %+v", report.Problems)
	}
}

// TestAReaderHasAllSumsOfOneMoment reads while another ledger writes, and tests that
// all counters are of the same moment.
func TestAReaderHasAllSumsOfOneMoment(t *testing.T) {
	dir := state(t)
	writer, reader := openWith(t, dir, obedient), openWith(t, dir, nil)
	done := make(chan error, 1)
	go func() {
		for n := range int64(100) {
			body := `[{"measure":"plain","add":1},{"measure":"free","values":["YQ=="],"add":1}]`
			if _, err := writer.Append(t.Context(), "a", n, clock(n), "note", []byte(body)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	deadline := time.Now().Add(time.Minute)
	for last := int64(0); last < 100; {
		sums, err := reader.Counters(t.Context(), ledger.CounterQuery{Measure: "plain"}, ledger.CounterQuery{Measure: "free"})
		if err != nil {
			t.Fatal(err)
		}
		if last = sums.Events; last > 0 && (sums.Rows[0][0].Sum != last || sums.Rows[1][0].Sum != last || sums.Until != sums.Rows[0][0].At) {
			t.Fatalf("a reader saw %+v", sums)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			done <- nil
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("only %d events after a minute", last)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
