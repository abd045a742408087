package policyset_test

import (
	"context"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// countingFS counts how often each policy's Rego file is opened.
type countingFS struct {
	fs.FS
	mu    sync.Mutex
	opens map[string]int // guarded by mu
}

func (f *countingFS) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "/routing.rego") {
		f.mu.Lock()
		f.opens[name]++
		f.mu.Unlock()
	}
	return f.FS.Open(name)
}

// TestCheckLoadsEachPolicyOnce checks that checking all versions loads each of them once.
func TestCheckLoadsEachPolicyOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	root := t.TempDir()
	p := project.Project{Root: root, Dir: root}
	files := &countingFS{FS: policies.Files(), opens: make(map[string]int)}
	set := policyset.New(policyset.Options{
		Project: p, Now: time.Now, Loader: routing.Loader{Released: files},
		Config: func(ctx context.Context) (project.Config, error) { return p.Config(ctx, 100) },
		Ledger: func(ctx context.Context) (*ledger.Ledger, error) {
			return ledger.Open(ctx, p.State(), policyset.Fold)
		},
	})
	checks, err := set.Workspace().Check(t.Context(), api.CheckRequest{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := len(policies.Versions()); len(checks.Reports) != want || len(files.opens) != want {
		t.Fatalf("%d checks and %d loaded policies, want %d", len(checks.Reports), len(files.opens), want)
	}
	for name, n := range maps.All(files.opens) {
		if n != 1 {
			t.Errorf("%s was loaded %d times", name, n)
		}
	}
}
