package plugins_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

// coldStart makes this test's program a process that normalises one report with
// the cache in that directory, and says how many findings there were.
const coldStart = "SWITCHYARD_TEST_COLD_START"

func beColdStart(dir string) int {
	n, err := normalizeTwenty(context.Background(), dir, "np-critic")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(n)
	return 0
}

// normalizeTwenty normalises a report in a new runtime, as the first call in a process does.
func normalizeTwenty(ctx context.Context, dir, plugin string) (int, error) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "reports", "twenty.json"))
	if err != nil {
		return 0, err
	}
	doc, err := document.Parse(data, document.Limits{})
	if err != nil {
		return 0, err
	}
	r := plugins.New(plugins.Config{CacheDir: dir})
	defer func() { _ = r.Close(ctx) }()
	p, err := plugins.NewCatalog(r).Named(plugin)
	if err != nil {
		return 0, err
	}
	result, err := p.Normalize(ctx, doc, nil)
	return len(result.Findings), err
}

func mustNormalize(t *testing.T, dir string) {
	t.Helper()
	if n, err := normalizeTwenty(t.Context(), dir, "np-critic"); err != nil || n != 20 {
		t.Fatalf("%d findings and %v, want 20", n, err)
	}
}

func coldProcess(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), coldStart+"="+dir)
	return cmd
}

// entries are the entries of a cache.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "switchyard-code", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// codeFile is wazero's file in the only entry of a cache.
func codeFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "switchyard-code", "*", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache holds %q (%v), want one file of code", files, err)
	}
	return files[0]
}

func TestCacheServesConcurrentColdStarts(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			out, err := coldProcess(t, dir).CombinedOutput()
			if err != nil || string(out) != "20" {
				t.Errorf("a cold start says %q, %v", out, err)
			}
		})
	}
	all.Wait()
	if all := entries(t, dir); len(all) != 1 {
		t.Errorf("the cache holds %q, want one entry", all)
	}
	mustNormalize(t, dir)
}

// TestCacheSurvivesKilledProcesses kills processes at every moment of a start.
func TestCacheSurvivesKilledProcesses(t *testing.T) {
	dir := t.TempDir()
	for i := range exhaustive.Count(8, 40) {
		cmd := coldProcess(t, dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%20) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if i%10 == 9 {
			mustNormalize(t, dir)
			if err := os.RemoveAll(entries(t, dir)[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustNormalize(t, dir)
}

// TestCacheSurvivesDamage flips bits all over an entry. wazero alone would jump to
// wrong places, or ask for all the memory there is.
func TestCacheSurvivesDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	dir := t.TempDir()
	mustNormalize(t, dir)
	code := codeFile(t, dir)
	good, err := os.ReadFile(code)
	if err != nil {
		t.Fatal(err)
	}
	seal := filepath.Join(filepath.Dir(filepath.Dir(code)), "seal")
	damages := map[string]func() error{
		"no seal":       func() error { return os.Remove(seal) },
		"empty seal":    func() error { return os.WriteFile(seal, nil, 0o600) },
		"seal is cut":   func() error { return os.Truncate(seal, 63) },
		"code is cut":   func() error { return os.Truncate(code, int64(len(good)/2)) },
		"code is empty": func() error { return os.Truncate(code, 0) },
		"code is gone":  func() error { return os.Remove(code) },
		"code is there twice": func() error {
			return os.WriteFile(code+"2", good, 0o600)
		},
		"a directory for code": func() error {
			if err := os.Remove(code); err != nil {
				return err
			}
			return os.Mkdir(code, 0o700)
		},
	}
	step := exhaustive.Count(9973, 997)
	for at := 0; at < len(good); at++ {
		if at >= 64 {
			at += step
		}
		at := min(at, len(good)-1)
		damages[fmt.Sprintf("bit %d of byte %d", at%8, at)] = func() error {
			bad := append([]byte(nil), good...)
			bad[at] ^= 1 << (at % 8)
			return os.WriteFile(code, bad, 0o600)
		}
	}
	for name, damage := range damages {
		if err := damage(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mustNormalize(t, dir)
		if mended, err := os.ReadFile(codeFile(t, dir)); err != nil || len(mended) != len(good) {
			t.Fatalf("%s: it is not mended: %v", name, err)
		}
	}
}

// TestCacheHoldsNothingForAnother puts one module's entry in another's place, as an
// upgrade would that kept the names.
func TestCacheHoldsNothingForAnother(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	mustNormalize(t, dir)
	if _, err := normalizeTwenty(t.Context(), other, "sarif"); err == nil {
		t.Fatal("the report is no SARIF")
	}
	entry, wrong := entries(t, dir)[0], entries(t, other)[0]
	if err := os.RemoveAll(entry); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(wrong, entry); err != nil {
		t.Fatal(err)
	}
	mustNormalize(t, dir)
	mustNormalize(t, dir)
	if len(entries(t, dir)) != 1 {
		t.Errorf("the cache holds %q", entries(t, dir))
	}
}

func TestCacheForgetsWhatNoneUses(t *testing.T) {
	dir := t.TempDir()
	mustNormalize(t, dir)
	code := filepath.Join(dir, "switchyard-code")
	long := time.Now().Add(-31 * 24 * time.Hour)
	made := map[string]time.Time{
		"new-abandoned": time.Now().Add(-2 * time.Hour), "new-in-the-making": time.Now(),
		"of-an-old-version": long, "of-another-plugin": time.Now(),
	}
	for name, at := range made {
		if err := os.Mkdir(filepath.Join(code, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(code, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	used := filepath.Dir(filepath.Dir(codeFile(t, dir)))
	if err := os.Chtimes(used, long, long); err != nil {
		t.Fatal(err)
	}
	mustNormalize(t, dir)                             // Which notes that this entry is in use,
	_, _ = normalizeTwenty(t.Context(), dir, "sarif") // and this, that others are not.
	var left []string
	for _, e := range entries(t, dir) {
		if e == used {
			e = "used"
		}
		left = append(left, filepath.Base(e))
	}
	got := strings.Join(left, " ")
	for name, stays := range map[string]bool{
		"new-abandoned": false, "new-in-the-making": true, "of-an-old-version": false, "of-another-plugin": true, "used": true,
	} {
		if strings.Contains(got, name) != stays {
			t.Errorf("%s: it stays is %t; left are %s", name, !stays, got)
		}
	}
}

// TestCacheHasALimit checks that a cache of more than 64 MiB loses its least recently used files.
func TestCacheHasALimit(t *testing.T) {
	dir := t.TempDir()
	mustNormalize(t, dir)
	code := filepath.Join(dir, "switchyard-code")
	entries, err := os.ReadDir(code)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
	used := filepath.Join(code, entries[0].Name())
	const each = 10 << 20
	for i := range 10 {
		wazero := filepath.Join(code, fmt.Sprintf("entry%d", i), "wazero")
		if err := os.MkdirAll(wazero, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(wazero, "code"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(wazero, "code"), each); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(filepath.Dir(wazero), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := normalizeTwenty(t.Context(), dir, "sarif"); err == nil {
		t.Fatal("a critic's report is read as SARIF")
	}
	for i := range 10 {
		_, err := os.Stat(filepath.Join(code, fmt.Sprintf("entry%d", i)))
		if stored := err == nil; stored != (i < 6) {
			t.Errorf("the entry of %d hours ago is kept: %t", i+1, stored)
		}
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("the newest entry: %v", err)
	}
}
