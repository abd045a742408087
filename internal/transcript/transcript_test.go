package transcript_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

const day = 24 * time.Hour

func generous() transcript.Limits { return transcript.Limits{Age: 30 * day, Size: 1 << 30} }

func folder(t testing.TB) (*os.Root, string) {
	t.Helper()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, path
}

func save(t testing.TB, dir *os.Root, text string, limits transcript.Limits) string {
	t.Helper()
	sum, err := transcript.Save(t.Context(), dir, strings.NewReader(text), limits)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func fileOf(path, sum string) string { return filepath.Join(path, digest.Bare(sum)+".gz") }

func TestSaveAndOpen(t *testing.T) {
	dir, path := folder(t)
	secret := "ghp" + "_0123456789abcdefABCD"
	sum := save(t, dir, `{"say":"`+secret+"\"}\n", generous())
	r, err := transcript.Open(dir, sum)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if want := "{\"say\":\"[REDACTED:github-token]\"}\n"; err != nil || string(got) != want || sum != digest.Of(want) {
		t.Errorf("%s is %q, %v", sum, got, err)
	}
	if info, err := os.Stat(fileOf(path, sum)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	if again := save(t, dir, string(got), generous()); again != sum || len(names(t, path)) != 1 {
		t.Errorf("the same text is %s, and the files are %q", again, names(t, path))
	}
}

func TestSaveThatFails(t *testing.T) {
	dir, path := folder(t)
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader(strings.Repeat("a\n", 1<<20)), iotest.ErrReader(broken))
	if sum, err := transcript.Save(t.Context(), dir, r, generous()); sum != "" || !errors.Is(err, broken) || len(names(t, path)) != 0 {
		t.Errorf("%q, %v, and the files are %q", sum, err, names(t, path))
	}
}

func TestOpenOfWhatWasAltered(t *testing.T) {
	dir, path := folder(t)
	sum := save(t, dir, strings.Repeat("what was said\n", 1000), generous())
	file := fileOf(path, sum)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var other bytes.Buffer
	w := gzip.NewWriter(&other)
	fmt.Fprint(w, "something else")
	w.Close()
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		content []byte
		code    errs.Code
	}{
		"as it was":  {whole, ""},
		"empty":      {nil, errs.TranscriptAltered},
		"no gzip":    {[]byte("what was said"), errs.TranscriptAltered},
		"cut":        {whole[:len(whole)-9], errs.TranscriptAltered},
		"a bit":      {flipped, errs.TranscriptAltered},
		"something":  {other.Bytes(), errs.TranscriptAltered},
		"more":       {append(bytes.Clone(whole), other.Bytes()...), errs.TranscriptAltered},
		"more bytes": {append(bytes.Clone(whole), 'x'), errs.TranscriptAltered},
	} {
		if err := os.WriteFile(file, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := transcript.Check(dir, sum); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := transcript.Check(dir, sum); errs.CodeOf(err) != errs.TranscriptGone {
		t.Errorf("removed: %v", err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{sum, "", "sha256:../x"} {
		if err := transcript.Check(dir, sum); errs.CodeOf(err) != errs.TranscriptAltered {
			t.Errorf("%q: %v", sum, err)
		}
	}
}

func names(t testing.TB, path string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestOldestAreRemoved(t *testing.T) {
	dir, path := folder(t)
	var sums []string
	for i := range 4 {
		sums = append(sums, save(t, dir, fmt.Sprint("run ", i), generous()))
		at := time.Now().Add(time.Duration(i-10) * day)
		if err := os.Chtimes(fileOf(path, sums[i]), at, at); err != nil {
			t.Fatal(err)
		}
	}
	// A draft of a killed process, and one that is being written.
	for name, age := range map[string]time.Duration{".new.1": 2 * time.Hour, ".new.2": time.Minute} {
		at := time.Now().Add(-age)
		if err := errors.Join(dir.WriteFile(name, []byte("x"), 0o600), os.Chtimes(filepath.Join(path, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (left string) {
		for i, sum := range sums {
			if err := transcript.Check(dir, sum); err == nil {
				left += fmt.Sprint(i)
			} else if errs.CodeOf(err) != errs.TranscriptGone {
				t.Error(err)
			}
		}
		return left
	}
	sums = append(sums, save(t, dir, "run 4", generous()))
	if got := left(); got != "01234" {
		t.Errorf("within the limits there are left %s", got)
	}
	if got := names(t, path); len(got) != 6 || got[0] != ".new.2" {
		t.Errorf("the files are %q", got)
	}
	// An open one can be read to its end.
	r, err := transcript.Open(dir, sums[0])
	if err != nil {
		t.Fatal(err)
	}
	save(t, dir, "run 4", transcript.Limits{Age: 8*day + time.Hour, Size: 1 << 30})
	if got := left(); got != "234" {
		t.Errorf("of 8 days there are left %s", got)
	}
	if text, err := io.ReadAll(r); string(text) != "run 0" || r.Close() != nil {
		t.Errorf("%q, %v", text, err)
	}
	save(t, dir, "run 4", transcript.Limits{Age: 30 * day, Size: 8 << 10})
	if got := left(); got != "34" {
		t.Errorf("of two blocks there are left %s", got)
	}
}

// TestSaveAtTheSameTime tests that processes that save into one directory leave the latest.
func TestSaveAtTheSameTime(t *testing.T) {
	dir, path := folder(t)
	limits := transcript.Limits{Age: day, Size: 5 * 4 << 10}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 8 {
				if _, err := transcript.Save(context.Background(), dir, strings.NewReader(fmt.Sprint(i, j)), limits); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := names(t, path); len(got) != 5 {
		t.Errorf("%d files are left: %q", len(got), got)
	}
}

func BenchmarkSave(b *testing.B) {
	dir, _ := folder(b)
	event := `{"type":"assistant","message":{"content":[{"type":"text","text":"%d looks at the code in internal/redact/copy.go."}]}}` + "\n"
	var text strings.Builder
	for i := range 1 << 13 {
		fmt.Fprintf(&text, event, i*i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transcript.Save(b.Context(), dir, strings.NewReader(text.String()), generous()); err != nil {
			b.Fatal(err)
		}
	}
}
