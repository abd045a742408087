package redact_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/redact"
)

func copied(t testing.TB, r io.Reader) string {
	t.Helper()
	var b strings.Builder
	if err := redact.Copy(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCopyIsText has each kind of secret at the places where a long text is split.
func TestCopyIsText(t *testing.T) {
	const piece = 64 << 10
	for _, k := range known {
		secret := strings.Replace(k.around, "%s", k.secret, 1)
		if strings.HasSuffix(secret, "ended") {
			continue // Text hides everything after it.
		}
		for _, border := range []int{piece, 3 * piece, 4 * piece} {
			for off := -len(secret) - 1; off <= 1; off += 3 {
				text := strings.Repeat(" ", border+off) + secret + strings.Repeat(" ", 3*piece) + secret
				if got, want := copied(t, strings.NewReader(text)), redact.Text(text); got != want {
					t.Fatalf("%s at %d: %d bytes, want %d", k.kind, border+off, len(got), len(want))
				}
			}
		}
	}
}

func TestCopyOfAnyReader(t *testing.T) {
	text := strings.Repeat("a "+known[0].secret+"\n{\"k\":\""+known[4].secret+"\"}\n\xff", 2000)
	if got := copied(t, iotest.OneByteReader(strings.NewReader(text))); got != redact.Text(text) {
		t.Error("it depends on how the text is read")
	}
	broken := errors.New("broken")
	if err := redact.Copy(io.Discard, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	for _, text := range []string{"a", known[0].secret, strings.Repeat("a\n", 1<<20), "{}\n{}\n"} {
		if err := redact.Copy(w, strings.NewReader(text)); !errors.Is(err, broken) {
			t.Errorf("%.10s: %v", text, err)
		}
	}
}

// TestCopyOfALongSecret tests that nothing of a secret stays that is longer than what is
// searched at a time.
func TestCopyOfALongSecret(t *testing.T) {
	got := copied(t, strings.NewReader("Authorization: Bearer "+strings.Repeat("x", 3<<20)+" end"))
	if got != "Authorization: Bearer [REDACTED:bearer] end" {
		t.Errorf("%d bytes: %.80q", len(got), got)
	}
}

// TestCopyOfALongKey tests that a line can end a key without an end and what is searched
// at a time, together.
func TestCopyOfALongKey(t *testing.T) {
	const window = 256 << 10
	begin := key("-----BEGIN PRIVATE ", "KEY-----\n")
	text := begin + strings.Repeat("x", window-len(begin)-1) + "\n"
	for _, next := range []string{"", "{}\n"} {
		if got := copied(t, strings.NewReader(text+next)); got != "[REDACTED:private-key]\n"+next {
			t.Errorf("before %q: %d bytes: %.80q", next, len(got), got)
		}
	}
}

// TestCopyKeepsTheNextEvent tests that the beginning of a private key, which may be a
// quotation, hides the rest of its JSON object only.
func TestCopyKeepsTheNextEvent(t *testing.T) {
	begin := key("-----BEGIN PRIVATE ", "KEY-----")
	got := copied(t, strings.NewReader(`{"say":"`+begin+`"}`+"\n{\"say\":\"next\"}\n"+begin+"\nMIIE\nabc\n"))
	if want := "{\"say\":\"[REDACTED:private-key]\n{\"say\":\"next\"}\n[REDACTED:private-key]\n"; got != want {
		t.Errorf("got %q", got)
	}
}

func BenchmarkCopy(b *testing.B) {
	event := `{"type":"assistant","message":{"content":[{"type":"text","text":"I look at the code in internal/redact/copy.go."}]}}` + "\n"
	for name, text := range map[string]string{"lines": strings.Repeat(event, 1<<13), "line": strings.Repeat(event[:100], 1<<13)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_ = redact.Copy(io.Discard, strings.NewReader(text))
			}
		})
	}
}
