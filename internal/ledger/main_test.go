package ledger_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// roleVar turns the test binary into a child process: see child.
const roleVar = "SWITCHYARD_LEDGER_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		run := child
		if role == "stall" {
			run = stall
		}
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, errs.CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child appends pairs of events and acknowledges each event with one line on stdout.
// args are the directory, the task and the number of pairs; with 0 it never ends.
func child(args []string) error {
	ctx := context.Background()
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	l, err := ledger.Open(ctx, args[0], digest)
	if err != nil {
		return err
	}
	for i := 0; count == 0 || i < count; i++ {
		pair, err := insist(ctx, l, args[1])
		if err != nil {
			return err
		}
		for _, e := range pair {
			fmt.Println(e.Task, e.N, e.Hash)
		}
	}
	return l.Close()
}

// stall opens the older ledger in the directory args[0], prints a line while counting
// it, and then waits for the end of stdin.
func stall(args []string) error {
	counted := 0
	_, err := ledger.Open(context.Background(), args[0], func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		if counted++; counted == 10 {
			fmt.Println("counting")
			io.Copy(io.Discard, os.Stdin)
		}
		return digest(before, e)
	})
	return err
}

// insist appends a pair of events, and retries while other processes are faster.
func insist(ctx context.Context, l *ledger.Ledger, task string) ([]ledger.Event, error) {
	body := fmt.Appendf(nil, `{"pid":%d}`, os.Getpid())
	for {
		head, err := l.Head(ctx, task)
		if err != nil {
			return nil, err
		}
		pair, err := l.AppendAll(ctx, time.Now(), ledger.Batch{Task: task, After: head.N, Events: []ledger.NewEvent{{Kind: "first", Body: body}, {Kind: "second", Body: body}}})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return pair, err
		}
	}
}

// start runs child in a new process.
func start(t *testing.T, dir, task string, count int) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], dir, task, strconv.Itoa(count))}
	p.Env = append(os.Environ(), roleVar+"=child")
	p.Stderr = &p.complaint
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

type process struct {
	*exec.Cmd
	out       *bufio.Scanner
	complaint buffer
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// acknowledged reads the rest of the child's output. It ignores a last line that is cut
// short because the child was killed.
func (p *process) acknowledged() []ledger.Head {
	var heads []ledger.Head
	for p.out.Scan() {
		var h ledger.Head
		if n, _ := fmt.Sscan(p.out.Text(), &h.Task, &h.N, &h.Hash); n == 3 && len(h.Hash) == 64 {
			heads = append(heads, h)
		}
	}
	return heads
}

// digest is the fold of these tests. Its state and its entry "chain" depend on every
// byte of every event, its entries "recent/…" are the last three events, and it rejects
// the kind "refused". For the pairs that children append it adds the counters of pairs.
func digest(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
	if e.Kind == "refused" {
		return ledger.Projection{}, errRefused
	}
	chain, err := before.Entry("chain")
	if err != nil {
		return ledger.Projection{}, err
	}
	h := sha256.New()
	for _, part := range []string{string(before.State), string(chain), e.Task, e.At, e.Kind, string(e.Body)} {
		io.WriteString(h, part)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	p := ledger.Projection{
		State: fmt.Appendf(nil, `{"n":%d,"sum":%q}`, e.N, sum[:32]),
		Entries: []ledger.Entry{
			{Key: recent(e.N), Value: fmt.Appendf(nil, `{"n":%d}`, e.N)},
			{Key: "chain", Value: fmt.Appendf(nil, `%q`, sum[32:])},
		},
	}
	if e.N > 3 {
		p.Entries = append(p.Entries, ledger.Entry{Key: recent(e.N - 3)})
	}
	p.Changes = pairs(e)
	return p, nil
}

// pairs counts the events of pairs: by kind, of which only one is a separate label
// value, all events of a task, and whether a task has a first event without its second.
func pairs(e ledger.Event) []counters.Change {
	if e.Kind != "first" && e.Kind != "second" {
		return nil
	}
	one := func(name string, d counters.Dimension, value string, add int64) counters.Change {
		return counters.Change{Measure: counters.Measure{Name: name, Labels: []counters.Dimension{d}}, Values: []string{value}, Add: add}
	}
	half := int64(1)
	if e.Kind == "second" {
		half = -1
	}
	return []counters.Change{
		one("kinds", counters.Dimension{Name: "kind", Cap: 1}, e.Kind, 1),
		one("events", counters.Dimension{Name: "task"}, e.Task, 1),
		one("halves", counters.Dimension{Name: "task"}, e.Task, half),
	}
}

func recent(n int64) string { return fmt.Sprintf("recent/%06d", n) }

// model is a task's projection in plain Go.
type model struct {
	state   []byte
	entries map[string]jsontext.Value
}

func (m *model) view() *ledger.View {
	return ledger.NewView(m.state, func(keys []string) (map[string]jsontext.Value, error) {
		found := maps.Clone(m.entries)
		maps.DeleteFunc(found, func(key string, _ jsontext.Value) bool { return !slices.Contains(keys, key) })
		return found, nil
	})
}

// add folds e into the model.
func (m *model) add(t failer, fold ledger.Fold, e ledger.Event) {
	t.Helper()
	p, err := fold(m.view(), e)
	if err != nil {
		t.Fatal(err)
	}
	m.state = p.State
	if m.entries == nil {
		m.entries = make(map[string]jsontext.Value)
	}
	for _, entry := range p.Entries {
		if delete(m.entries, entry.Key); entry.Value != nil {
			m.entries[entry.Key] = entry.Value
		}
	}
}

// descending returns the entries whose keys begin with prefix, in descending order.
func (m *model) descending(prefix string) (entries []ledger.Entry) {
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(m.entries))) {
		if strings.HasPrefix(key, prefix) {
			entries = append(entries, ledger.Entry{Key: key, Value: m.entries[key]})
		}
	}
	return entries
}

var errRefused = errors.New("refused by the fold")

// clock returns times that differ by nanoseconds.
func clock(i int64) time.Time { return time.Date(2026, 11, 21, 8, 0, 0, int(i), time.UTC) }

// state returns a state directory that does not exist yet.
func state(t testing.TB) string { return filepath.Join(t.TempDir(), ".switchyard") }

func open(t testing.TB, dir string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), dir, digest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func add(t testing.TB, l *ledger.Ledger, task string, after int64) ledger.Event {
	t.Helper()
	e, err := l.Append(t.Context(), task, after, clock(after), "note", fmt.Appendf(nil, `{"i":%d}`, after))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// fill creates a closed ledger of tasks a, b and c with five interleaved events each, all
// of them in ledger.db.
func fill(t testing.TB) string {
	t.Helper()
	dir := state(t)
	l := open(t, dir)
	for i := range int64(5) {
		for _, task := range []string{"a", "b", "c"} {
			add(t, l, task, i)
		}
	}
	if _, err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// failer is the common part of *testing.T, *testing.B and *rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func collect[T any](t failer, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for item, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

func verify(t testing.TB, l *ledger.Ledger) ledger.Report {
	t.Helper()
	report, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func wantSound(t testing.TB, l *ledger.Ledger) ledger.Report {
	t.Helper()
	report := verify(t, l)
	if !report.Sound() {
		t.Fatalf("problems: %+v", report.Problems)
	}
	return report
}

func wantCode(t testing.TB, err error, code errs.Code) *errs.Error {
	t.Helper()
	if got := errs.CodeOf(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
	e, _ := errors.AsType[*errs.Error](err)
	return e
}

// edit changes a closed ledger without the package.
func edit(t testing.TB, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func asJSON(t failer, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// schemaOf returns the text of all tables, in the order of their creation.
func schemaOf(t testing.TB, dir string) (text string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(),
		`SELECT group_concat(sql, ' ') FROM (SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid)`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// exists reports whether path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
