package ledger_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
)

// roleVar turns the test binary into a child process: see child.
const roleVar = "SWITCHYARD_LEDGER_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		if err := child(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, fault.CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child appends events, args being directory, task and count, and acknowledges
// each with one line on stdout. With a count of 0 it never ends.
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
		e, err := insist(ctx, l, args[1])
		if err != nil {
			return err
		}
		fmt.Println(e.Task, e.N, e.Hash)
	}
	return l.Close()
}

// insist appends one event, again and again while others are faster.
func insist(ctx context.Context, l *ledger.Ledger, task string) (ledger.Event, error) {
	for {
		head, err := l.Head(ctx, task)
		if err != nil {
			return ledger.Event{}, err
		}
		e, err := l.Append(ctx, task, head.N, time.Now(), "note", fmt.Appendf(nil, `{"pid":%d}`, os.Getpid()))
		if fault.CodeOf(err) != ledger.CodeConflict {
			return e, err
		}
	}
}

// start runs child in a process of its own.
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

// acknowledged reads all that the child still has to say. Its last line may be
// cut short if it was killed, and is then left out.
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

// digest is the fold of these tests: its state depends on every byte of every
// event, and it refuses the kind "refused".
func digest(state []byte, e ledger.Event) ([]byte, error) {
	if e.Kind == "refused" {
		return nil, errRefused
	}
	sum := sha256.Sum256(append(append([]byte{}, state...), e.Task+e.At+e.Kind+string(e.Body)...))
	return fmt.Appendf(nil, `{"n":%d,"sum":%q}`, e.N, hex.EncodeToString(sum[:])), nil
}

var errRefused = errors.New("refused by the fold")

// clock gives times that differ by their nanoseconds.
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

// fill makes a closed ledger of tasks a, b and c, whose events take turns, five
// of each.
func fill(t testing.TB) string {
	t.Helper()
	dir := state(t)
	l := open(t, dir)
	for i := range int64(5) {
		for _, task := range []string{"a", "b", "c"} {
			add(t, l, task, i)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// failer is what *testing.T, *testing.B and *rapid.T have in common here.
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

func wantCode(t testing.TB, err error, code fault.Code) *fault.Error {
	t.Helper()
	if got := fault.CodeOf(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
	e, _ := errors.AsType[*fault.Error](err)
	return e
}

// edit changes a closed ledger behind its back.
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
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// schemaOf returns the text of all tables.
func schemaOf(t testing.TB, dir string) (text string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(),
		`SELECT group_concat(sql, ' ') FROM (SELECT sql FROM sqlite_schema WHERE type = 'table' ORDER BY name)`).Scan(&text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// exists reports whether anything is at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
