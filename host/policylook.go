package host

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// Policy loads a policy to look at: ref, or for "" the one that the project goes by,
// which is what it configures, else what it adopted, else the default. The project's
// keys hold here too, unless allowUnsigned says that a policy without a good
// signature will do.
//
// # Errors
//
// Those of policies.Load and of reading the configuration; for "" also those of the
// ledger.
func (e *Engine) Policy(ctx context.Context, ref string, allowUnsigned bool) (*policies.Policy, error) {
	c, err := e.look(ctx, ref, allowUnsigned)
	return c.Policy, err
}

func (e *Engine) look(ctx context.Context, ref string, allowUnsigned bool) (chosenPolicy, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return chosenPolicy{}, err
	}
	if allowUnsigned {
		config.Trust = project.Trust{}
	}
	c, err := e.policy(ctx, ref, config)
	if err != nil || c.named || c.configured {
		return c, err
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return c, err
	}
	defer l.Close()
	return e.admit(ctx, l, c)
}

// TestedPolicy is a policy and the tests that come with it.
type TestedPolicy struct {
	*policies.Policy
	// Files are its modules and its tests, under names that the user can open. A
	// bundle has no tests.
	Files []routing.Source
}

// PolicyTests is Policy with the policy's tests.
//
// # Errors
//
// Those of Policy and of reading the tests.
func (e *Engine) PolicyTests(ctx context.Context, ref string, allowUnsigned bool) (TestedPolicy, error) {
	c, err := e.look(ctx, ref, allowUnsigned)
	if err != nil {
		return TestedPolicy{}, err
	}
	tests, err := e.testsOf(c)
	if err != nil {
		return TestedPolicy{}, err
	}
	t := TestedPolicy{Policy: c.Policy}
	for _, s := range append(c.Sources(), tests...) {
		s.Name = path.Join(filepath.ToSlash(c.ref), s.Name)
		t.Files = append(t.Files, s)
	}
	return t, nil
}

func (e *Engine) testsOf(c chosenPolicy) ([]routing.Source, error) {
	if routing.IsReleaseRef(c.ref) {
		return c.loader.TestSources(c.ref)
	}
	from := e.project
	if !c.named {
		from = e.rooted()
	}
	dir, err := from.Resolve(c.ref)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil // A bundle, or what was adopted is there no more.
	}
	return regotest.Read(dir)
}
