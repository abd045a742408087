package policyset

import (
	"context"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// Selection is a policy and how it was selected.
type Selection struct {
	*routing.Policy
	// ref is the reference that it was loaded by, relative to from. place is the same
	// reference relative to the project's root, as it is recorded.
	ref, place string
	from       project.Project
	// named reports whether the command names it, configured whether the configuration
	// does. If neither is set, it is the default.
	named, configured bool
	loader            routing.Loader
	// head is the state of the policy chain when the selection was checked against it, nil
	// before.
	head *policyHead
}

func (c Selection) hasKeys() bool { return c.loader.Trust != nil }

// Select loads the policy that the user asked for, else the configured one, else the
// default.
func (s *Set) Select(ctx context.Context, asked string, config project.Config) (Selection, error) {
	c := Selection{
		ref: asked, from: s.opts.Project, named: asked != "", configured: config.Policy != "",
	}
	if !c.named {
		c.ref, c.from = config.Policy, s.opts.Project.AtRoot()
	}
	if c.ref == "" {
		c.ref = policies.Default
	}
	c.place = placeOf(c.from, c.ref)
	var err error
	if c.loader, err = s.loader(ctx, config.TrustKeys); err != nil {
		return c, err
	}
	return c, s.read(ctx, &c)
}

func (s *Set) read(ctx context.Context, c *Selection) (err error) {
	if routing.IsReleaseRef(c.ref) {
		c.Policy, err = s.loadOnce(c.ref, func() (*routing.Policy, error) { return c.loader.Load(ctx, c.ref) })
		return err
	}
	path, err := c.from.Resolve(c.ref)
	if err == nil {
		c.Policy, err = c.loader.Load(ctx, path)
	}
	return err
}

// placeOf returns a reference that is valid in every directory of the project.
func placeOf(from project.Project, ref string) string {
	if routing.IsReleaseRef(ref) {
		return ref
	}
	rel, inside := from.Rel(ref)
	switch {
	case !inside:
		return from.Abs(ref)
	case routing.IsReleaseRef(rel):
		return "./" + rel // It is a path that looks like a version.
	default:
		return filepath.FromSlash(rel)
	}
}

// CheckAdopted returns the policy that decides a task's round, or an error if the selected
// one must not decide. A project uses its adopted policy. Another one needs an explicit
// and recorded act: naming it in the command, for this decision only, or Adopt.
//
// # Errors
//
// policy-changed, policy-rollback, and errors of ByDigest.
func (s *Set) CheckAdopted(ctx context.Context, l *ledger.Ledger, c Selection) (Selection, error) {
	head, err := readHead(ctx, l)
	if err != nil {
		return c, err
	}
	c.head = &head
	if head.adopted == nil {
		return c, nil
	}
	adopted := *head.adopted
	switch {
	case adopted.Policy.Digest == c.Identity().Digest:
		return c, nil
	case c.named:
		return c, c.checkRollback(adopted)
	case c.configured:
		return c, errPolicyChanged(adopted, c)
	}
	// A newer program may have another default, which the user did not ask for.
	c.ref, c.place, c.from = adopted.Ref, adopted.Ref, s.opts.Project.AtRoot()
	if !c.hasKeys() {
		c.Policy, err = s.ByDigest(ctx, l, adopted.Policy.Digest)
		return c, err
	}
	// The ledger's copy has no signature. It may be older than the keys, or signed by a
	// key that is no longer trusted.
	if err := s.read(ctx, &c); err != nil {
		return c, err
	}
	if c.Identity().Digest != adopted.Policy.Digest {
		return c, errPolicyChanged(adopted, c)
	}
	return c, nil
}

// CheckUnrecorded is CheckAdopted for a decision that is not recorded. It matters only if
// the project has keys.
func (s *Set) CheckUnrecorded(ctx context.Context, c Selection) error {
	if !c.hasKeys() {
		return nil
	}
	l, err := s.opts.Ledger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = s.CheckAdopted(ctx, l, c)
	return err
}

// Recheck checks a selection again after another process changed the policy chain.
func (s *Set) Recheck(ctx context.Context, l *ledger.Ledger, c Selection) (Selection, error) {
	now, err := s.CheckAdopted(ctx, l, c)
	if err == nil && now.Identity().Digest != c.Identity().Digest {
		err = errs.New(errs.PolicyChanged, "the project adopted policy %s meanwhile", now).
			With("adopted", now.Identity()).With("policy", c.Identity())
	}
	return now, err
}

// checkRollback refuses a policy older than the adopted one if the project has keys:
// signatures stay valid permanently.
func (c Selection) checkRollback(adopted api.Adopted) error {
	if !c.hasKeys() || !routing.Older(c.Identity(), adopted.Policy) {
		return nil
	}
	older, newer := c.String(), adopted.Policy.String()
	if older == newer {
		older, newer = older+" of revision "+c.Identity().Revision, "revision "+adopted.Policy.Revision
	}
	return errs.New(errs.PolicyRollback, "policy %s is older than %s, which the project adopted", older, newer).
		With("policy", c.Identity()).With("adopted", adopted.Policy)
}

func errPolicyChanged(adopted api.Adopted, c Selection) error {
	return errs.New(errs.PolicyChanged, "the project adopted policy %s (%.19s), and %s is now %s (%.19s)",
		adopted.Policy, adopted.Policy.Digest, c.ref, c, c.Identity().Digest).
		With("adopted", adopted.Policy).With("policy", c.Identity())
}
