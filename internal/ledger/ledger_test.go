package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

func TestWhatIsAppendedIsReadBack(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	var want []ledger.Event
	var folded model
	for i := range int64(600) { // more than two pages
		e := add(t, l, "M001-S001-T0001", i)
		if e.Seq != i+1 || e.N != i+1 || e.Hash != e.Sum() || !e.Time().Equal(clock(i)) {
			t.Fatalf("event %d is %+v", i, e)
		}
		folded.add(t, digest, e)
		want = append(want, e)
	}
	other := add(t, l, "other", 0)

	for _, where := range []string{"the same ledger", "a new one"} {
		t.Run(where, func(t *testing.T) {
			l := l
			if where == "a new one" {
				l = open(t, dir)
			}
			for from, want := range map[int64][]ledger.Event{math.MinInt64: want, 0: want, 1: want, 2: want[1:], 600: want[599:], 601: nil, math.MaxInt64: nil} {
				if got := collect(t, l.Events(t.Context(), "M001-S001-T0001", from)); !reflect.DeepEqual(got, want) {
					t.Errorf("Events from %d gives %d events, or other ones", from, len(got))
				}
			}
			for n, want := range map[int64]ledger.Event{-1: {}, 0: {}, 1: want[0], 300: want[299], 600: want[599], 601: {}} {
				if got, err := l.Event(t.Context(), "M001-S001-T0001", n); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("Event %d gives %+v, %v", n, got, err)
				}
			}
			if last, err := l.Last(t.Context()); err != nil || last != 601 {
				t.Errorf("Last gives %d, %v", last, err)
			}
			if got := collect(t, l.EventsSince(t.Context(), 590)); !reflect.DeepEqual(got, append(want[590:len(want):len(want)], other)) {
				t.Errorf("EventsSince gives %d events, or other ones", len(got))
			}
			head, err := l.Head(t.Context(), "M001-S001-T0001")
			last := want[len(want)-1]
			if err != nil || head.N != last.N || head.Hash != last.Hash || string(head.State) != string(folded.state) {
				t.Errorf("Head gives %+v, %v", head, err)
			}
			heads := collect(t, l.Heads(t.Context()))
			if len(heads) != 2 || !reflect.DeepEqual(heads[0], head) || heads[1].Task != "other" {
				t.Errorf("Heads gives %+v", heads)
			}
			report := wantSound(t, l)
			if report.Tasks != 2 || report.Events != 601 || len(report.Heads) != 2 || report.Heads[0].Hash != last.Hash {
				t.Errorf("the report is %+v", report)
			}
		})
	}
}

func TestLargeBodiesAreReadInSmallPages(t *testing.T) {
	l := open(t, state(t))
	for i := range int64(5) {
		body := `"` + strings.Repeat("x", 700<<10) + `"`
		if _, err := l.Append(t.Context(), "a", i, clock(i), "note", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if got := collect(t, l.Events(t.Context(), "a", 1)); len(got) != 5 {
		t.Errorf("got %d events", len(got))
	}
}

func TestALoopMayUseTheLedgerAndStopEarly(t *testing.T) {
	l := open(t, state(t))
	for i := range int64(3) {
		add(t, l, "a", i)
	}
	for e, err := range l.Events(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		add(t, l, "b", e.N-1)
		if e.N == 2 {
			break
		}
	}
	wantSound(t, l)
}

func TestReadingCreatesNothing(t *testing.T) {
	root := t.TempDir()
	for _, made := range []bool{false, true} { // without and with an empty state directory
		dir := filepath.Join(root, ".switchyard")
		if made {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		l := open(t, dir)
		head, err := l.Head(t.Context(), "a")
		if err != nil || !reflect.DeepEqual(head, ledger.Head{}) {
			t.Errorf("Head gives %+v, %v", head, err)
		}
		if n := len(collect(t, l.Heads(t.Context()))) + len(collect(t, l.Events(t.Context(), "a", 1))); n != 0 {
			t.Errorf("an absent ledger gives %d items", n)
		}
		if e, err := l.Event(t.Context(), "a", 1); err != nil || !reflect.DeepEqual(e, ledger.Event{}) {
			t.Errorf("Event gives %+v, %v", e, err)
		}
		if entries, err := l.Entries(t.Context(), "a", []string{"chain"}); err != nil || entries == nil || len(entries) != 0 {
			t.Errorf("Entries gives %v, %v", entries, err)
		}
		if entries, err := l.LatestEntries(t.Context(), "a", "", 5); err != nil || len(entries) != 0 {
			t.Errorf("Newest gives %v, %v", entries, err)
		}
		if last, err := l.Last(t.Context()); err != nil || last != 0 {
			t.Errorf("Last gives %d, %v", last, err)
		}
		if report := wantSound(t, l); report.Events != 0 || report.Tasks != 0 {
			t.Errorf("the report is %+v", report)
		}
		if exists(dir) != made || exists(filepath.Join(dir, "ledger.db")) {
			t.Error("reading created something")
		}
	}
}

func TestRefusedEventsLeaveNoState(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	ctx := t.Context()
	_, err := l.Append(ctx, "a", 1, clock(0), "note", []byte(`{}`))
	wantCode(t, err, errs.LedgerConflict)
	if _, err := l.Append(ctx, "a", 0, clock(0), "refused", []byte(`{}`)); err != errRefused {
		t.Errorf("the fold's error came back as %v", err)
	}
	for _, c := range []struct {
		name, task string
		after      int64
		at         time.Time
		kind, body string
	}{
		{"no task", "", 0, clock(0), "note", "{}"},
		{"task with newline", "a\nb", 0, clock(0), "note", "{}"},
		{"task with path", "../a", 0, clock(0), "note", "{}"},
		{"task that is long", strings.Repeat("a", 129), 0, clock(0), "note", "{}"},
		{"no kind", "a", 0, clock(0), "", "{}"},
		{"kind with newline", "a", 0, clock(0), "no\nte", "{}"},
		{"kind with capital", "a", 0, clock(0), "Note", "{}"},
		{"kind that is long", "a", 0, clock(0), strings.Repeat("a", 65), "{}"},
		{"negative after", "a", -1, clock(0), "note", "{}"},
		{"no time", "a", 0, time.Time{}, "note", "{}"},
		{"year 10000", "a", 0, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "note", "{}"},
		{"no body", "a", 0, clock(0), "note", ""},
		{"two bodies", "a", 0, clock(0), "note", "{} {}"},
		{"duplicate names", "a", 0, clock(0), "note", `{"a":1,"a":2}`},
		{"not UTF-8", "a", 0, clock(0), "note", "\"\xff\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := l.Append(ctx, c.task, c.after, c.at, c.kind, []byte(c.body))
			wantCode(t, err, errs.LedgerInvalid)
		})
	}
	for name, fold := range map[string]ledger.Fold{
		"no fold":            nil,
		"state not JSON":     gives("{"),
		"state missing":      gives(""),
		"state of bad UTF-8": gives("\"\xff\""),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ledger.Open(ctx, dir, fold)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			_, err = l.Append(ctx, "a", 0, clock(0), "note", []byte(`{}`))
			wantCode(t, err, errs.LedgerInvalid)
		})
	}
	if exists(dir) {
		t.Error("a refused event left state behind")
	}
}

func TestRefusedEventsChangeNoLedger(t *testing.T) {
	l := open(t, state(t))
	add(t, l, "a", 0)
	before := asJSON(t, collect(t, l.EventsSince(t.Context(), 0)))
	if _, err := l.Append(t.Context(), "a", 1, clock(1), "refused", []byte(`{}`)); err != errRefused {
		t.Errorf("the fold's error came back as %v", err)
	}
	for _, after := range []int64{0, 2} {
		_, err := l.Append(t.Context(), "a", after, clock(1), "note", []byte(`{}`))
		e := wantCode(t, err, errs.LedgerConflict)
		if e.Details["expected"] != after || e.Details["actual"] != int64(1) {
			t.Errorf("details are %v", e.Details)
		}
	}
	if now := asJSON(t, collect(t, l.EventsSince(t.Context(), 0))); now != before {
		t.Errorf("the ledger changed to %s", now)
	}
	wantSound(t, l)
	add(t, l, "a", 1) // It still works.
}

func TestAPanickingFoldLeavesTheLedgerUsable(t *testing.T) {
	dir := fill(t)
	armed := true
	l, err := ledger.Open(t.Context(), dir, func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		if armed {
			panic("boom")
		}
		return digest(before, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	func() {
		defer func() { recover() }()
		l.Append(t.Context(), "a", 5, clock(5), "note", []byte(`{}`))
	}()
	armed = false
	add(t, l, "a", 5)
	wantSound(t, l)
}

func TestModesOfWhatIsCreated(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	add(t, l, "a", 0)
	add(t, l, "a", 1) // The first one creates the ledger, the second one needs the log.
	for path, want := range map[string]os.FileMode{
		dir:                                 os.ModeDir | 0o700,
		filepath.Join(dir, "ledger.db"):     0o600,
		filepath.Join(dir, "ledger.db-wal"): 0o600,
		filepath.Join(dir, "ledger.db-shm"): 0o600,
	} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(path), info.Mode(), want)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".gitignore", "ledger.db", "ledger.db-shm", "ledger.db-wal"}; !slices.Equal(names, want) {
		t.Errorf("after Close the directory holds %v, want %v", names, want)
	}
}

func TestExportedEventsKeepTheHashedBytes(t *testing.T) {
	l := open(t, state(t))
	body := "{ \"text\": \"\\u0061\\/<\\u003c \\u2028 \\u0000 \\ud83d\\ude00\",\n\t\"n\": [1.00e5, 123456789012345678901234567890] }"
	e, err := l.Append(t.Context(), "a", 0, clock(0), "note", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	line := asJSON(t, e)
	if !strings.Contains(line, `"body":`+string(e.Body)+`,"prev"`) {
		t.Errorf("the line %s does not hold the body %s", line, e.Body)
	}
	if strings.ContainsAny(string(e.Body), "\n\t") || !strings.Contains(string(e.Body), `123456789012345678901234567890`) {
		t.Errorf("the body became %s", e.Body)
	}
	wantSound(t, l)
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{"a b", "a?mode=memory", "a#b", "a%20b", "ä;'\"b", "file:x"} {
		t.Run(name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(parent, 0o700); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(parent, ".switchyard")
			l := open(t, dir)
			add(t, l, "a", 0)
			if !exists(filepath.Join(dir, "ledger.db")) {
				t.Error("the database is somewhere else")
			}
		})
	}
}

func TestALedgerThatAppearsLaterIsFound(t *testing.T) {
	dir := state(t)
	reader, writer := open(t, dir), open(t, dir)
	add(t, writer, "a", 0)
	if head, err := reader.Head(t.Context(), "a"); err != nil || head.N != 1 {
		t.Errorf("Head gives %+v, %v", head, err)
	}
}

func TestALedgerThatWasRemovedIsNotWrittenTo(t *testing.T) {
	for _, events := range []int64{1, 2} {
		t.Run(fmt.Sprintf("after %d events", events), func(t *testing.T) {
			dir := state(t)
			l := open(t, dir)
			for i := range events {
				add(t, l, "a", i)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			_, err := l.Append(t.Context(), "a", events, clock(9), "note", []byte(`{}`))
			wantCode(t, err, errs.StateUnsafe)
			wantBack(t, err)
			if exists(dir) {
				t.Error("it was made anew")
			}
		})
	}
}

func TestALedgerThatWasReplacedIsNotWrittenTo(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	add(t, l, "a", 0)
	add(t, l, "a", 1) // The file is open from here on.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, dir), "a", 0)
	_, err := l.Append(t.Context(), "a", 1, clock(1), "note", []byte(`{}`))
	wantCode(t, err, errs.StateUnsafe)
	wantBack(t, err)
}

// wantBack fails unless the hint is to put the ledger back: what is there now, if anything, may
// be the only record.
func wantBack(t *testing.T, err error) {
	t.Helper()
	if e, ok := errors.AsType[*errs.Error](err); !ok || !strings.HasPrefix(e.Hint, "put ") {
		t.Errorf("the hint of %v is %q", err, e.Hint)
	}
}

func TestUseAfterClose(t *testing.T) {
	l := open(t, fill(t))
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Head(t.Context(), "a"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Head after Close gives %v", err)
	}
}

func TestEndedContext(t *testing.T) {
	dir := fill(t)
	l := open(t, dir)
	why := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := l.Append(ctx, "a", 5, clock(5), "note", []byte(`{}`))
	if !errors.Is(err, why) {
		t.Errorf("Append gives %v", err)
	}
	if _, err := l.Head(ctx, "a"); !errors.Is(err, why) {
		t.Errorf("Head gives %v", err)
	}
	if _, err := l.Verify(ctx); !errors.Is(err, why) {
		t.Errorf("Verify gives %v", err)
	}
	for _, err := range l.Events(ctx, "a", 1) {
		if !errors.Is(err, why) {
			t.Errorf("Events gives %v", err)
		}
	}
	if _, err := ledger.Open(ctx, dir, digest); !errors.Is(err, why) {
		t.Errorf("Open gives %v", err)
	}
	wantSound(t, l)
}

func TestAReaderWithoutFoldVerifiesTheChain(t *testing.T) {
	dir := fill(t)
	edit(t, dir, `UPDATE tasks SET state = '{}' WHERE task = 'a'`)
	l, err := ledger.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if report := wantSound(t, l); report.Events != 15 {
		t.Errorf("the report is %+v", report)
	}
}

func ExampleLedger() {
	ctx := context.Background()
	root, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	count := func(_ *ledger.View, e ledger.Event) (ledger.Projection, error) {
		return ledger.Projection{
			State:   fmt.Appendf(nil, `{"events":%d}`, e.N),
			Entries: []ledger.Entry{{Key: fmt.Sprintf("decision/%09d", e.N), Value: e.Body}},
		}, nil
	}
	l, err := ledger.Open(ctx, filepath.Join(root, ".switchyard"), count)
	if err != nil {
		panic(err)
	}
	defer l.Close()
	head, _ := l.Head(ctx, "T1")
	e, err := l.Append(ctx, "T1", head.N, time.Unix(1795248000, 0), "round-decided", []byte(`{"next_action":"commit"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(e.N, e.At, e.Hash)
	head, _ = l.Head(ctx, "T1")
	fmt.Println(head.N, string(head.State))
	newest, _ := l.LatestEntries(ctx, "T1", "decision/", 1)
	fmt.Println(newest[0].Key, string(newest[0].Value))
	// Output:
	// 1 2026-11-21T08:00:00.000000000Z 6a6e33b80960a0002cf77059e41375be557b77d4a1681d9f7b1185acc318da42
	// 1 {"events":1}
	// decision/000000001 {"next_action":"commit"}
}
