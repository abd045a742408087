package redact_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/redact"
)

func tail(t *testing.T, text string, limit int) string {
	t.Helper()
	got, err := redact.Tail(strings.NewReader(text), int64(len(text)), limit)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 10, ""},
		{"abc", 10, "abc"},
		{"abc", 3, "abc"},
		{"abc", 2, "bc"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"a€", 2, ""}, // Half a sign is none.
		{"a€", 3, "€"},
		{"x\xffy", 10, "x\uFFFDy"},
		{"\xff\xff\xff", 2, ""},
	} {
		if got := tail(t, c.text, c.limit); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

// TestTailRedactsBeforeItCuts is weakness 13: wherever the cut goes through a
// secret, nothing of it stays.
func TestTailRedactsBeforeItCuts(t *testing.T) {
	const after = " and then it failed"
	for _, k := range known {
		if strings.HasSuffix(k.secret, "ended") {
			continue // It takes what is after it.
		}
		around, rest, _ := strings.Cut(k.around, "%s")
		text := strings.Repeat("line\n", 14_000) + around + k.secret + rest + after
		for limit := len(after); limit < len(k.secret)+len(rest)+len(after)+20; limit += 3 {
			got := tail(t, text, limit)
			if len(got) > limit || !strings.HasSuffix(got, after) {
				t.Fatalf("%s, %d: %q", k.kind, limit, got)
			}
			for n := 6; n <= len(k.secret); n++ {
				if part := k.secret[len(k.secret)-n:]; !strings.Contains(marked(k.kind), part) && strings.Contains(got, part) {
					t.Fatalf("%s, %d: %q has %q", k.kind, limit, got, part)
				}
			}
		}
	}
}

// TestTailDoesNotGuessAboutALongWord: the begin of a word is further away than
// anybody looks, so that it may be a token.
func TestTailDoesNotGuessAboutALongWord(t *testing.T) {
	text := "Bearer " + strings.Repeat("0123456789", 100_000) + " end"
	if got := tail(t, text, 4096); got != "[REDACTED:cut] end" {
		t.Errorf("got %d bytes, %.40q", len(got), got)
	}
	if got := tail(t, text, 3); got != "end" {
		t.Errorf("got %q", got)
	}
}

// TestTailOmitsEarlierText: that secrets become shorter pulls nothing
// into the tail whose own begin was not seen.
func TestTailOmitsEarlierText(t *testing.T) {
	secrets := strings.Repeat(key("sk-", strings.Repeat("0", 1000))+" ", 100)
	got := tail(t, "x "+strings.Repeat("body\n", 1000)+secrets+"end", 2000)
	if strings.Contains(got, "body") || strings.Contains(got, "0000") || !strings.HasSuffix(got, " end") {
		t.Errorf("got %.100q", got)
	}
}

func TestTailOfShrunkFile(t *testing.T) {
	if got, err := redact.Tail(strings.NewReader("abc"), 1000, 10); err != nil || got != "abc" {
		t.Errorf("shorter: %q, %v", got, err)
	}
	if got, err := redact.Tail(strings.NewReader("abcdef"), 3, 2); err != nil || got != "bc" {
		t.Errorf("longer: %q, %v", got, err)
	}
	broken := errors.New("broken")
	if got, err := redact.Tail(failing{broken}, 3, 2); !errors.Is(err, broken) || got != "" {
		t.Errorf("failing: %q, %v", got, err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

var _ io.ReaderAt = failing{}

// TestTailOfAnyBytes: it is UTF-8, within its limit, and the end of the redacted
// text where that is short.
func TestTailOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "text"))
		limit := rapid.IntRange(1, 250).Draw(t, "limit")
		got, err := redact.Tail(strings.NewReader(text), int64(len(text)), limit)
		if err != nil || !utf8.ValidString(got) || len(got) > limit {
			t.Fatalf("got %q, %v", got, err)
		}
		if whole := strings.ToValidUTF8(redact.Text(text), "\uFFFD"); len(text) <= limit && len(whole) <= limit && got != whole {
			t.Fatalf("got %q, want %q", got, whole)
		}
	})
}
