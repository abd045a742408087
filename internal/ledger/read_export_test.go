package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// printed returns the export of fill's ledger, line by line.
func printed(t testing.TB) (lines []string, events []ledger.Event) {
	t.Helper()
	events = collect(t, open(t, fill(t)).EventsSince(t.Context(), 0))
	for _, e := range events {
		lines = append(lines, asJSON(t, e))
	}
	return lines, events
}

func TestAnExportIsReadBack(t *testing.T) {
	lines, want := printed(t)
	for name, text := range map[string]string{
		"whole":                   strings.Join(lines, "\n") + "\n",
		"no newline at the end":   strings.Join(lines, "\n"),
		"lines of another system": strings.Join(lines, "\r\n") + "\r\n",
	} {
		got := collect(t, ledger.ReadExport(t.Context(), iotest.OneByteReader(strings.NewReader(text))))
		if !slices.EqualFunc(got, want, func(a, b ledger.Event) bool { return asJSON(t, a) == asJSON(t, b) }) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	if got := collect(t, ledger.ReadExport(t.Context(), strings.NewReader(""))); len(got) != 0 {
		t.Errorf("nothing has %d events", len(got))
	}
}

func TestBodiesAreReadByteForByte(t *testing.T) {
	l := open(t, state(t))
	body := `{"a":"` + "\u2028 <&> \\u0000 \\\" é 𝄞" + `","n":1e400,"z":[1.0,-0]}`
	e, err := l.Append(t.Context(), "a", 0, clock(0), "note", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got := collect(t, ledger.ReadExport(t.Context(), strings.NewReader(asJSON(t, e))))
	if len(got) != 1 || !bytes.Equal(got[0].Body, e.Body) {
		t.Errorf("got %s, want %s", got[0].Body, e.Body)
	}
}

// TestHostileExports tests that the error names the invalid line, and that the events
// before it are returned.
func TestHostileExports(t *testing.T) {
	sound, events := printed(t)
	forged := func(i int, change func(*ledger.Event)) string {
		e := events[i]
		change(&e)
		e.Hash = e.Sum()
		return asJSON(t, e)
	}
	for name, c := range map[string]struct {
		line int // from 1
		edit func(lines []string) []string
	}{
		"no JSON":           {4, func(l []string) []string { l[3] = "passed"; return l }},
		"an empty line":     {4, func(l []string) []string { return slices.Insert(l, 3, "") }},
		"half a line":       {15, func(l []string) []string { l[14] = l[14][:40]; return l }},
		"another object":    {1, func(l []string) []string { l[0] = `{"hello":"world"}`; return l }},
		"an array":          {1, func(l []string) []string { l[0] = `[]`; return l }},
		"a name twice":      {2, func(l []string) []string { l[1] = strings.Replace(l[1], `{"seq":2`, `{"seq":2,"seq":2`, 1); return l }},
		"two values a line": {3, func(l []string) []string { l[2] += "{}"; return l }},
		"no UTF-8":          {3, func(l []string) []string { l[2] = strings.Replace(l[2], "note", "not\xff", 1); return l }},
		"a number as text":  {3, func(l []string) []string { l[2] = strings.Replace(l[2], `"seq":3`, `"seq":"3"`, 1); return l }},
		"too deep":          {3, func(l []string) []string { l[2] = strings.Repeat("[", 20_000); return l }},
		"a body changed":    {5, func(l []string) []string { l[4] = strings.Replace(l[4], `{"i":1}`, `{"i":2}`, 1); return l }},
		"a time changed":    {5, func(l []string) []string { l[4] = strings.Replace(l[4], "2026-", "2025-", 1); return l }},
		"a line left out":   {7, func(l []string) []string { return slices.Delete(l, 6, 7) }},
		"the first missing": {1, func(l []string) []string { return l[1:] }},
		"a line twice":      {7, func(l []string) []string { return slices.Insert(l, 6, l[5]) }},
		"lines swapped":     {6, func(l []string) []string { l[5], l[8] = l[8], l[5]; return l }},
		"two exports":       {16, func(l []string) []string { return append(l, l...) }},
		"rewritten": {5, func(l []string) []string {
			l[4] = forged(4, func(e *ledger.Event) { e.Prev = ledger.Genesis })
			return l
		}},
		"a gap in a task": {15, func(l []string) []string { l[14] = forged(14, func(e *ledger.Event) { e.N++ }); return l }},
		"numbered anew":   {15, func(l []string) []string { l[14] = forged(14, func(e *ledger.Event) { e.Seq = 16 }); return l }},
		"another's chain": {15, func(l []string) []string { l[14] = forged(14, func(e *ledger.Event) { e.Task = "a" }); return l }},
		"a strange task":  {15, func(l []string) []string { l[14] = forged(14, func(e *ledger.Event) { e.Task = "../c" }); return l }},
		"no time":         {15, func(l []string) []string { l[14] = forged(14, func(e *ledger.Event) { e.At = "noon" }); return l }},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(c.edit(slices.Clone(sound)), "\n") + "\n"
			good := 0
			for e, err := range ledger.ReadExport(t.Context(), strings.NewReader(text)) {
				if err == nil {
					good++
					continue
				}
				f := wantCode(t, err, errs.LedgerExportInvalid)
				if f.Details["line"] != int64(c.line) || e.Seq != 0 {
					t.Errorf("line %v (%v), want %d", f.Details["line"], err, c.line)
				}
				if good != c.line-1 {
					t.Errorf("%d events before line %d", good, c.line)
				}
				return
			}
			t.Error("nothing is wrong")
		})
	}
}

// endless is a line without an end.
type endless struct{ read int }

func (r *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	r.read += len(p)
	return len(p), nil
}

func TestLinesHaveAnEnd(t *testing.T) {
	r := &endless{}
	for _, err := range ledger.ReadExport(t.Context(), r) {
		f := wantCode(t, err, errs.LedgerExportInvalid)
		if f.Details["line"] != int64(1) {
			t.Errorf("line %v", f.Details["line"])
		}
	}
	if r.read == 0 || r.read > 3*ledger.MaxBody {
		t.Errorf("%d bytes were read of a line", r.read)
	}
}

func TestReadingAnExportEnds(t *testing.T) {
	lines, _ := printed(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for _, err := range ledger.ReadExport(ctx, strings.NewReader(lines[0])) {
		if !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	}
	broken := io.MultiReader(strings.NewReader(lines[0]+"\n"), iotest.ErrReader(errors.New("no disk")))
	good := 0
	for _, err := range ledger.ReadExport(t.Context(), broken) {
		if err == nil {
			good++
			continue
		}
		wantCode(t, err, errs.LedgerIO)
	}
	if good != 1 {
		t.Errorf("%d events before the error, want 1", good)
	}
}

// FuzzExported tests that any text gives chained events or a typed error, and never a
// panic.
func FuzzExported(f *testing.F) {
	lines, _ := printed(f)
	f.Add(strings.Join(lines, "\n"))
	f.Add(lines[0])
	f.Add("{}\n")
	f.Add(strings.Replace(lines[0], `"hash":"`, `"hash":"0`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		heads := map[string]string{}
		for e, err := range ledger.ReadExport(t.Context(), strings.NewReader(text)) {
			if err != nil {
				if wantCode(t, err, errs.LedgerExportInvalid).Details["line"] == nil {
					t.Fatal("no line is named")
				}
				continue
			}
			if prev := heads[e.Task]; e.Hash != e.Sum() || prev != "" && e.Prev != prev || prev == "" && e.Prev != ledger.Genesis {
				t.Fatalf("event %+v does not follow %q", e, prev)
			}
			heads[e.Task] = e.Hash
		}
	})
}

// BenchmarkExported reads events of 4 KiB.
func BenchmarkExported(b *testing.B) {
	const n = 1000
	l := open(b, state(b))
	var text bytes.Buffer
	for i := range int64(n) {
		e, err := l.Append(b.Context(), "a", i, clock(i), "note", fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("words ", 680)))
		if err != nil {
			b.Fatal(err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if got := len(collect(b, ledger.ReadExport(b.Context(), bytes.NewReader(text.Bytes())))); got != n {
			b.Fatal(got)
		}
	}
}
