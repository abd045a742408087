package host

import (
	"context"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// chosenPolicy is a policy and who chose it.
type chosenPolicy struct {
	*policies.Policy
	// ref is what it was loaded by, and place the same from the project's root, as it
	// is recorded.
	ref, place string
	// named says that the command names it, and configured that the project does.
	// Where nobody does, it is the default.
	named, configured bool
	// rollback says that it may be older than the adopted one.
	rollback bool
	// loader is how the project loads policies.
	loader routing.Loader
	// admitted is what the ledger knew of policies when it was admitted, nil before.
	admitted *policyShelf
}

// trusted says that the project has keys.
func (c chosenPolicy) trusted() bool { return c.loader.Trust != nil }

// policy loads what the user asked for, else what the project configures, else the
// default.
func (e *Engine) policy(ctx context.Context, asked string, config project.Config) (chosenPolicy, error) {
	c := chosenPolicy{
		ref: asked, named: asked != "", configured: config.Policy != "",
		rollback: config.Trust.AllowRollback,
	}
	from := e.project
	if !c.named {
		c.ref, from = config.Policy, e.rooted()
	}
	if c.ref == "" {
		c.ref = policies.Default
	}
	c.place = placeOf(from, c.ref)
	var err error
	if c.loader, err = e.loader(ctx, config); err != nil {
		return c, err
	}
	return c, c.load(ctx, from)
}

// load loads the policy by its reference, which is relative to a folder of the
// project.
func (c *chosenPolicy) load(ctx context.Context, from project.Project) error {
	path := c.ref
	var err error
	if !routing.IsReleaseRef(path) {
		if path, err = from.Resolve(path); err != nil {
			return err
		}
	}
	c.Policy, err = c.loader.Load(ctx, path)
	return err
}

// placeOf is a reference that means the same in every folder of the project.
func placeOf(from project.Project, ref string) string {
	if routing.IsReleaseRef(ref) {
		return ref
	}
	rel, inside := from.Rel(ref)
	switch {
	case !inside:
		return from.Abs(ref)
	case routing.IsReleaseRef(rel):
		return "./" + rel // It is a path all the same.
	default:
		return filepath.FromSlash(rel)
	}
}

// admit returns the policy that is to decide a task's round, or why none may: a
// project goes by the policy that it adopted, and takes up another one only by an
// explicit act that is recorded. Such acts are naming a policy in the command, for
// that one decision, and Adopt.
//
// # Errors
//
// policy-changed, policy-rollback, and those of policyBy.
func (e *Engine) admit(ctx context.Context, l *ledger.Ledger, c chosenPolicy) (chosenPolicy, error) {
	shelf, err := policyShelfOf(ctx, l)
	if err != nil {
		return c, err
	}
	c.admitted = &shelf
	if shelf.adopted == nil {
		return c, nil
	}
	adopted := *shelf.adopted
	switch {
	case adopted.Policy.Digest == c.Identity().Digest:
		return c, nil
	case c.named:
		return c, c.rolledBack(adopted)
	case c.configured:
		return c, changed(adopted, c)
	}
	// A newer program brings a newer default. Nobody asked for it.
	c.ref, c.place = adopted.Ref, adopted.Ref
	if !c.trusted() {
		c.Policy, err = e.policyBy(ctx, l, adopted.Policy.Digest)
		return c, err
	}
	// What the ledger keeps carries no signature, and may be from before there were
	// keys, or by one that is trusted no more.
	if err := c.load(ctx, e.rooted()); err != nil {
		return c, err
	}
	if c.Identity().Digest != adopted.Policy.Digest {
		return c, changed(adopted, c)
	}
	return c, nil
}

// current is admit for a decision that is not recorded. Only a project with keys has
// something to lose by it.
func (e *Engine) current(ctx context.Context, c chosenPolicy) error {
	if !c.trusted() {
		return nil
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = e.admit(ctx, l, c)
	return err
}

// rolledBack refuses what is older than the adopted policy, where the project has
// keys: a signature that was good once stays good for ever.
func (c chosenPolicy) rolledBack(adopted Adopted) error {
	if !c.trusted() || c.rollback || !routing.Older(c.Identity(), adopted.Policy) {
		return nil
	}
	return errs.New(errs.PolicyRollback, "policy %s is older than %s, which the project adopted", c, named(adopted.Policy)).
		With("policy", c.Identity()).With("adopted", adopted.Policy)
}

func changed(adopted Adopted, c chosenPolicy) error {
	return errs.New(errs.PolicyChanged, "the project adopted policy %s (%.19s), and %s is now %s (%.19s)",
		named(adopted.Policy), adopted.Policy.Digest, c.ref, c, c.Identity().Digest).
		With("adopted", adopted.Policy).With("policy", c.Identity())
}

// named is a policy's name and version.
func named(p policies.Identity) string { return p.Name + "@" + p.Version }
