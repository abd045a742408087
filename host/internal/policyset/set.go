// Package policyset selects the policy of a project, adopts and stores it in the ledger,
// and replays recorded decisions. It also manages the workspace in which a project writes
// versions of a policy.
package policyset

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Options configure a Set.
type Options struct {
	Project project.Project
	// Environ is the environment, in the form of os.Environ.
	Environ []string
	Now     func() time.Time
	// By is the recorded name of the caller.
	By string
	// Loader has the built-in policies and the engine; the Set adds the project's keys.
	Loader routing.Loader
	// Config reads the project's configuration.
	Config func(context.Context) (project.Config, error)
	// Ledger opens the project's ledger, with a fold that calls Fold.
	Ledger func(context.Context) (*ledger.Ledger, error)
	// Append appends to the project's ledger.
	Append func(context.Context, *ledger.Ledger, ...ledger.Batch) ([]ledger.Event, error)
}

// Set has the policies of a project. It is safe for concurrent use.
type Set struct {
	opts   Options
	loaded sync.Map // policies by the names of loadOnce
}

// New returns the policies of a project.
func New(o Options) *Set { return &Set{opts: o} }

// Load loads a policy to inspect it. If ref is "", it loads the active policy: the
// configured one, else the adopted one, else the default. The project's keys apply unless
// allowUnsigned is set.
//
// # Errors
//
// The errors of routing.Loader.Load and of reading the configuration; for "" also errors of
// the ledger.
func (s *Set) Load(ctx context.Context, ref string, allowUnsigned bool) (*routing.Policy, error) {
	c, err := s.load(ctx, ref, allowUnsigned)
	return c.Policy, err
}

func (s *Set) load(ctx context.Context, ref string, allowUnsigned bool) (Selection, error) {
	config, err := s.opts.Config(ctx)
	if err != nil {
		return Selection{}, err
	}
	if allowUnsigned {
		config.TrustKeys = nil
	}
	c, err := s.Select(ctx, ref, config)
	if err != nil || c.named || c.configured {
		return c, err
	}
	l, err := s.opts.Ledger(ctx)
	if err != nil {
		return c, err
	}
	defer l.Close()
	return s.CheckAdopted(ctx, l, c)
}

// LoadTests is Load with the policy's tests.
func (s *Set) LoadTests(ctx context.Context, ref string, allowUnsigned bool) (api.TestedPolicy, error) {
	c, err := s.load(ctx, ref, allowUnsigned)
	if err != nil {
		return api.TestedPolicy{}, err
	}
	tests, err := s.tests(c)
	if err != nil {
		return api.TestedPolicy{}, err
	}
	t := api.TestedPolicy{Policy: c.Policy}
	for _, source := range append(c.Sources(), tests...) {
		source.Name = path.Join(filepath.ToSlash(c.ref), source.Name)
		t.Files = append(t.Files, source)
	}
	return t, nil
}

func (s *Set) tests(c Selection) ([]routing.Source, error) {
	if routing.IsReleaseRef(c.ref) {
		return c.loader.TestSources(c.ref)
	}
	dir, err := c.from.Resolve(c.ref)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // A bundle has no tests, and the adopted policy's files may be gone.
	}
	return routing.ReadDir(dir, routing.IsTest)
}

const maxKey = 64 << 10 // bytes

// loader returns a loader with the project's keys. An unreadable key is an error, because
// without it a policy could be accepted wrongly.
//
// # Errors
//
// policy-key-invalid.
func (s *Set) loader(ctx context.Context, keys []project.TrustKey) (routing.Loader, error) {
	loader := s.opts.Loader
	if len(keys) == 0 {
		return loader, nil
	}
	loader.Trust = &bundle.Trust{Now: s.opts.Now}
	for _, k := range keys {
		material, err := s.keyMaterial(ctx, k)
		if err != nil {
			return loader, err
		}
		loader.Trust.Keys = append(loader.Trust.Keys, bundle.Key{ID: k.ID, Algorithm: k.Algorithm, Material: material, File: k.File, Scope: k.Scope})
	}
	return loader, nil
}

func (s *Set) keyMaterial(ctx context.Context, k project.TrustKey) (string, error) {
	if k.Env != "" {
		if value := childenv.Value(s.opts.Environ, k.Env); value != "" {
			return value, nil
		}
		return "", errs.New(errs.PolicyKeyInvalid, "key %s: the environment has no %s", k.ID, k.Env).With("key_id", k.ID)
	}
	text, err := s.opts.Project.AtRoot().Read(ctx, k.File, maxKey)
	if err != nil {
		return "", errs.New(errs.PolicyKeyInvalid, "key %s: %w", k.ID, err).With("key_id", k.ID)
	}
	return string(text), nil
}
