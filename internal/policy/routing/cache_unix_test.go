//go:build unix

package routing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// loadCached loads the default policy on the wasm engine with the code cache in dir, as
// the first command of a process does.
func loadCached(t testing.TB, dir string) *routing.Policy {
	t.Helper()
	p, err := routing.Loader{Released: policies.Files(), Engine: routing.EngineWasm, CacheDir: dir}.Load(t.Context(), policies.Default)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWasmCodeIsCached checks that a second load uses the code cached by the first, and
// that damaged code is compiled again.
func TestWasmCodeIsCached(t *testing.T) {
	dir := t.TempDir()
	code := func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "switchyard-code", "*", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	loadCached(t, dir)
	first := code()
	if len(first) == 0 {
		t.Fatal("the cache is empty")
	}
	before, err := os.Stat(first[0])
	if err != nil {
		t.Fatal(err)
	}
	in := input(1, 3, routing.Green, map[string]int{"researcher": 1})
	if d, err := loadCached(t, dir).Decide(t.Context(), in); err != nil || d.NextAction != "researcher" {
		t.Errorf("with cached code, the decision is %v, %v", d, err)
	}
	after, err := os.Stat(first[0])
	if err != nil || !os.SameFile(before, after) || len(code()) != len(first) {
		t.Errorf("the cache went from %q to %q: %v", first, code(), err)
	}
	if err := os.Truncate(first[0], before.Size()/2); err != nil {
		t.Fatal(err)
	}
	loadCached(t, dir)
	if repaired, err := os.Stat(first[0]); err != nil || repaired.Size() != before.Size() {
		t.Errorf("damaged code is not compiled again: %v", err)
	}
}

// TestWasmCacheOfOthersIsRefused checks that a cache directory of another user is not used:
// its content would be executed.
func TestWasmCacheOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := routing.Loader{Released: policies.Files(), Engine: routing.EngineWasm, CacheDir: dir}.Load(t.Context(), policies.Default)
	wantCode(t, err, errs.PluginCacheUnsafe)
}

// BenchmarkPreparedWasmStart compares a first load with one that finds cached code.
func BenchmarkPreparedWasmStart(b *testing.B) {
	for name, dir := range map[string]string{"cache=none": "", "cache=disk": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			loadCached(b, dir)
			for b.Loop() {
				loadCached(b, dir)
			}
		})
	}
}
