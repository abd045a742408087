package plugins

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestLoadKeepsEachModuleOnce has a host that lives for long load the same
// modules again and again, good ones and bad ones.
func TestLoadKeepsEachModuleOnce(t *testing.T) {
	r := New(Config{})
	defer func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	module := func(name string) []byte {
		wasm, err := os.ReadFile(filepath.Join("testdata", "hostile", name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	first, err := r.Load(t.Context(), module("puppet"))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, err := r.Load(t.Context(), module("puppet")); err != nil || again != first {
			t.Fatalf("another plugin for the same module: %v", err)
		}
		for _, bad := range []string{"no-normalize", "import-socket", "describe-garbage", "impostor", "trap-at-start"} {
			if _, err := r.Load(t.Context(), module(bad)); err == nil {
				t.Fatalf("%s loads", bad)
			}
		}
	}
	if len(r.modules) != 1 || len(r.loaded) != 1 {
		t.Errorf("%d modules and %d plugins are kept for one module", len(r.modules), len(r.loaded))
	}
}
