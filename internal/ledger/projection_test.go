package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// gives returns a fold with the same result for every event.
func gives(state string, entries ...ledger.Entry) ledger.Fold {
	return func(*ledger.View, ledger.Event) (ledger.Projection, error) {
		return ledger.Projection{State: []byte(state), Entries: entries}, nil
	}
}

// obey is a fold that sets the entries in an event's body. A null value removes an
// entry.
func obey(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
	p := ledger.Projection{State: []byte(`{}`)}
	if err := json.Unmarshal(e.Body, &p.Entries); err != nil {
		return p, err
	}
	for i, entry := range p.Entries {
		if entry.Value.Kind() == 'n' {
			p.Entries[i].Value = nil
		}
	}
	return p, nil
}

func openWith(t testing.TB, dir string, fold ledger.Fold) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), dir, fold)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestEntriesHaveRules(t *testing.T) {
	entry := func(key, value string) ledger.Entry { return ledger.Entry{Key: key, Value: jsontext.Value(value)} }
	long := strings.Repeat("k", 200)
	text := func(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }
	for _, c := range []struct {
		name    string
		entries []ledger.Entry
		code    errs.Code
	}{
		{"every byte of a key", []ledger.Entry{entry("AZaz09./_:-", "1")}, ""},
		{"a key that begins with any of them", []ledger.Entry{entry("/", "1"), entry(".", "1"), entry("..", "1"), entry("-", "1")}, ""},
		{"the longest key", []ledger.Entry{entry(long, "1")}, ""},
		{"the longest value", []ledger.Entry{entry("a", text(ledger.MaxValue))}, ""},
		{"null", []ledger.Entry{entry("a", "null")}, ""},
		{"removing what is not there", []ledger.Entry{{Key: "a"}}, ""},
		{"no key", []ledger.Entry{entry("", "1")}, errs.LedgerInvalid},
		{"a longer key", []ledger.Entry{entry(long+"k", "1")}, errs.LedgerInvalid},
		{"a space", []ledger.Entry{entry("a b", "1")}, errs.LedgerInvalid},
		{"a quote", []ledger.Entry{entry("a'b", "1")}, errs.LedgerInvalid},
		{"a NUL", []ledger.Entry{entry("a\x00", "1")}, errs.LedgerInvalid},
		{"an umlaut", []ledger.Entry{entry("ä", "1")}, errs.LedgerInvalid},
		{"removing against the rules", []ledger.Entry{{Key: "a b"}}, errs.LedgerInvalid},
		{"a key twice", []ledger.Entry{entry("a", "1"), entry("b", "1"), entry("a", "1")}, errs.LedgerInvalid},
		{"set and removed", []ledger.Entry{entry("a", "1"), {Key: "a"}}, errs.LedgerInvalid},
		{"a longer value", []ledger.Entry{entry("a", text(ledger.MaxValue+1))}, errs.LedgerInvalid},
		{"no JSON", []ledger.Entry{entry("a", "{")}, errs.LedgerInvalid},
		{"an empty value", []ledger.Entry{entry("a", "")}, errs.LedgerInvalid},
		{"two values", []ledger.Entry{entry("a", "1 2")}, errs.LedgerInvalid},
		{"a name twice", []ledger.Entry{entry("a", `{"a":1,"a":2}`)}, errs.LedgerInvalid},
		{"bad UTF-8", []ledger.Entry{entry("a", "\"\xff\"")}, errs.LedgerInvalid},
		{"too many", make([]ledger.Entry, ledger.MaxEntries+1), errs.LedgerInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := state(t)
			for _, made := range []bool{false, true} { // without and with a ledger
				if made {
					add(t, open(t, dir), "other", 0)
				}
				l := openWith(t, dir, gives(`{}`, c.entries...))
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

func TestAFoldSeesWhatItsTaskHas(t *testing.T) {
	dir := state(t)
	var seen []string
	l := openWith(t, dir, func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		value, err := before.Entry("last")
		none, noneErr := before.Entry("no such key, and no key at all")
		if err != nil || noneErr != nil || none != nil {
			t.Errorf("Entry gives %v, and %s, %v", err, none, noneErr)
		}
		seen = append(seen, fmt.Sprintf("%s%d %s %s", e.Task, e.N, []byte(before.State), []byte(value)))
		return ledger.Projection{State: e.Body, Entries: []ledger.Entry{{Key: "last", Value: e.Body}}}, nil
	})
	draft := func(body string) ledger.NewEvent { return ledger.NewEvent{Kind: "note", Body: []byte(body)} }
	// Twice for the first: a ledger is created only for events that are accepted.
	if _, err := l.AppendAll(t.Context(), clock(0), ledger.Batch{Task: "a", Events: []ledger.NewEvent{draft("1"), draft("2")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.AppendAll(t.Context(), clock(0), ledger.Batch{Task: "a", After: 2, Events: []ledger.NewEvent{draft("3"), draft("4")}}); err != nil {
		t.Fatal(err)
	}
	add(t, l, "b", 0)
	want := []string{"a1  ", "a2 1 1", "a1  ", "a2 1 1", "a3 2 2", "a4 3 3", "b1  "}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("the fold saw %q", seen)
	}
	seen = nil
	wantSound(t, l)
	if want = append(want[2:6:6], "b1  "); !reflect.DeepEqual(seen, want) {
		t.Errorf("verifying, it saw %q", seen)
	}
}

// TestManyEntriesAtOnce reads, writes and removes more entries than fit into one
// statement.
func TestManyEntriesAtOnce(t *testing.T) {
	const many = 700
	keys, want := []string{"none", "0-none"}, make(map[string]jsontext.Value)
	for i := range many {
		key := fmt.Sprintf("many/%d", i)
		keys, want[key] = append(keys, key), fmt.Appendf(nil, "%d", i)
	}
	l := openWith(t, state(t), func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		found, err := before.Entries(keys)
		p := ledger.Projection{State: e.Body}
		for key, value := range want {
			if e.N == 2 { // Every second one is removed, and another one added.
				if !bytes.Equal(found[key], value) {
					t.Errorf("the fold finds %s for %s", found[key], key)
				}
				if i, _ := strconv.Atoi(string(value)); i%2 == 0 {
					p.Entries = append(p.Entries, ledger.Entry{Key: "new/" + key, Value: value})
					value = nil
				}
			}
			p.Entries = append(p.Entries, ledger.Entry{Key: key, Value: value})
		}
		if first := e.N == 1; first != (len(found) == 0) || !first && len(found) != many {
			t.Errorf("the fold finds %d entries before event %d", len(found), e.N)
		}
		return p, err
	})
	add(t, l, "a", 0)
	add(t, l, "b", 0)
	if found, err := l.Entries(t.Context(), "a", keys); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("there are %d entries, %v", len(found), err)
	}
	add(t, l, "a", 1)
	for task, left := range map[string]int{"a": many / 2, "b": many} {
		if found, err := l.Entries(t.Context(), task, keys); err != nil || len(found) != left {
			t.Errorf("then task %s has %d entries, %v", task, len(found), err)
		}
	}
	wantSound(t, l)
}

func TestAViewThatFailsEndsTheAppend(t *testing.T) {
	dir := fill(t)
	why := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	l := openWith(t, dir, func(before *ledger.View, _ ledger.Event) (ledger.Projection, error) {
		cancel(why)
		if value, err := before.Entry("chain"); err == nil {
			t.Errorf("Entry gives %s", value)
		}
		if found, err := before.Entries([]string{"chain"}); err == nil {
			t.Errorf("Entries gives %v", found)
		}
		return ledger.Projection{State: []byte(`{}`)}, nil
	})
	if _, err := l.Append(ctx, "a", 5, clock(5), "note", []byte(`{}`)); !errors.Is(err, why) {
		t.Errorf("Append gives %v", err)
	}
	wantSound(t, open(t, dir))
}

func TestEntriesAreRead(t *testing.T) {
	l := openWith(t, state(t), obey)
	for i, body := range []string{
		`[{"key":"x/1","value":1},{"key":"x/3","value":3},{"key":"x","value":0},{"key":"y/1","value":{}},{"key":"X/9","value":9}]`,
		`[{"key":"x/2","value":{"a": [2]}},{"key":"x/3","value":null}]`,
	} {
		if _, err := l.Append(t.Context(), "a", int64(i), clock(0), "note", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Append(t.Context(), "b", 0, clock(0), "note", []byte(`[{"key":"x/5","value":5}]`)); err != nil {
		t.Fatal(err)
	}
	found, err := l.Entries(t.Context(), "a", []string{"y/1", "x/3", "x/2", "x/5", "x/2", "no key"})
	if want := map[string]jsontext.Value{"x/2": jsontext.Value(`{"a":[2]}`), "y/1": jsontext.Value(`{}`)}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("Entries gives %v, %v", found, err)
	}
	for _, c := range []struct {
		task, prefix string
		limit        int
		want         string
	}{
		{"a", "", 9, "y/1 x/2 x/1 x X/9"},
		{"a", "x", 9, "x/2 x/1 x"},
		{"a", "x/", 9, "x/2 x/1"},
		{"a", "x/", 1, "x/2"},
		{"a", "x/", 0, ""},
		{"a", "x/", -1, ""},
		{"a", "x/2", 9, "x/2"},
		{"a", "z", 9, ""},
		{"a", "%", 9, ""},
		{"b", "", 9, "x/5"},
		{"c", "", 9, ""},
	} {
		entries, err := l.LatestEntries(t.Context(), c.task, c.prefix, c.limit)
		var keys []string
		for _, entry := range entries {
			keys = append(keys, entry.Key)
		}
		if got := strings.Join(keys, " "); err != nil || got != c.want {
			t.Errorf("the newest %d of %q in %s are %q, %v, want %q", c.limit, c.prefix, c.task, got, err, c.want)
		}
	}
}

// TestEntriesBehaveLikeTheirModel compares entries with a plain map under random
// changes, and with the result of Verify.
func TestEntriesBehaveLikeTheirModel(t *testing.T) {
	key := rapid.StringMatching(`[a-c/Z]{1,3}`)
	change := rapid.Custom(func(t *rapid.T) ledger.Entry {
		return ledger.Entry{Key: key.Draw(t, "key"), Value: jsontext.Value(rapid.SampledFrom([]string{"null", "1", `"x"`}).Draw(t, "value"))}
	})
	changes := rapid.SliceOfNDistinct(change, 0, 12, func(e ledger.Entry) string { return e.Key })
	l := openWith(t, state(t), obey)
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		task := fmt.Sprint("t", runs)
		var m model
		n := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "transactions") {
			var drafts []ledger.NewEvent
			for range rapid.IntRange(1, 3).Draw(t, "events") {
				drafts = append(drafts, ledger.NewEvent{Kind: "note", Body: []byte(asJSON(t, changes.Draw(t, "changes")))})
			}
			events, err := l.AppendAll(t.Context(), clock(0), ledger.Batch{Task: task, After: n, Events: drafts})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				m.add(t, obey, e)
			}
			n += int64(len(events))
		}
		prefix := rapid.StringMatching(`[a-c/Z]{0,2}`).Draw(t, "prefix")
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		want := m.descending(prefix)
		want = want[:min(limit, len(want))]
		if got, err := l.LatestEntries(t.Context(), task, prefix, limit); err != nil || asJSON(t, got) != asJSON(t, want) {
			t.Fatalf("Newest gives %s, %v, want %s", asJSON(t, got), err, asJSON(t, want))
		}
		keys := rapid.SliceOfN(key, 0, 10).Draw(t, "keys")
		wanted := make(map[string]jsontext.Value)
		for _, key := range keys {
			if value, ok := m.entries[key]; ok {
				wanted[key] = value
			}
		}
		if got, err := l.Entries(t.Context(), task, keys); err != nil || !reflect.DeepEqual(got, wanted) {
			t.Fatalf("Entries gives %s, %v, want %s", asJSON(t, got), err, asJSON(t, wanted))
		}
	})
	if report := wantSound(t, l); report.Tasks != int64(runs) {
		t.Errorf("%d tasks after %d runs", report.Tasks, runs)
	}
}
