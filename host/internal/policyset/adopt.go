package policyset

import (
	"context"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Adopted returns the adopted policy, nil before the project's first decision.
func (s *Set) Adopted(ctx context.Context) (*api.Adopted, error) {
	l, err := s.opts.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	head, err := readHead(ctx, l)
	return head.adopted, err
}

// Adopt makes a policy the active one and records its author.
//
// # Errors
//
// policy-not-configured if the project's configuration names another policy,
// policy-unnamed, policy-rollback, and errors of loading it.
func (s *Set) Adopt(ctx context.Context, req api.AdoptRequest) (api.Adoption, error) {
	// An agent must not choose the policy that judges it.
	if err := childenv.Inside(s.opts.Environ); err != nil {
		return api.Adoption{}, err
	}
	config, err := s.opts.Config(ctx)
	if err != nil {
		return api.Adoption{}, err
	}
	c, err := s.Select(ctx, req.Policy, config)
	if err != nil {
		return api.Adoption{}, err
	}
	if c.named && c.configured {
		configured, err := s.Select(ctx, "", config)
		if err != nil {
			return api.Adoption{}, err
		}
		if configured.Identity().Digest != c.Identity().Digest {
			return api.Adoption{}, errs.New(errs.PolicyNotConfigured, "%s names policy %s, which is not %s", project.ConfigFile, config.Policy, c).
				With("configured", configured.Identity()).With("policy", c.Identity())
		}
	}
	l, err := s.opts.Ledger(ctx)
	if err != nil {
		return api.Adoption{}, err
	}
	defer l.Close()
	for {
		adoption, err := s.adopt(ctx, l, c, req)
		if errs.CodeOf(err) == errs.LedgerConflict {
			continue
		}
		if err == nil {
			adoption.State = s.Workspace().state(ctx, c.Identity())
		}
		return adoption, err
	}
}

func (s *Set) adopt(ctx context.Context, l *ledger.Ledger, c Selection, req api.AdoptRequest) (api.Adoption, error) {
	a := api.Adoption{Policy: c.Identity()}
	head, err := readHead(ctx, l)
	if err != nil {
		return a, err
	}
	unchanged := false
	if head.adopted != nil {
		from := *head.adopted
		if err := c.checkNamed(from); err != nil {
			return a, err
		}
		if err := c.checkRollback(from); err != nil && !req.AllowRollback {
			return a, err
		}
		a.From = &from.Policy
		// The same policy may come from another place, or be signed since.
		unchanged = from.Policy.Digest == a.Policy.Digest && from.Ref == c.place && from.Signer == c.Signer()
	}
	a.Changed = a.From == nil || a.From.Digest != a.Policy.Digest
	if err := s.compare(ctx, l, &a, c.Policy); err != nil || req.DryRun || unchanged {
		return a, err
	}
	b, err := s.storeBatch(ctx, l, head, c)
	if err := errors.Join(err, s.addAdoption(&b, head, c)); err != nil {
		return a, err
	}
	events, err := s.opts.Append(ctx, l, b)
	if err != nil {
		return a, err
	}
	last := events[len(events)-1]
	a.Event = &api.EventRef{N: last.N, Hash: last.Hash}
	return a, nil
}

// checkNamed refuses to replace a project policy by the built-in default, unless the user
// named it.
func (c Selection) checkNamed(adopted api.Adopted) error {
	if c.named || c.configured || routing.IsReleaseRef(adopted.Ref) {
		return nil
	}
	return errs.New(errs.PolicyUnnamed, "the project adopted %s (%s) and configures none: name the policy to adopt", adopted.Ref, adopted.Policy).
		With("adopted", adopted.Policy)
}

// compare sets the semantic difference from the policy a.From. If that is lost, this program
// cannot load it, or the comparison takes too long, the new one can still be adopted.
func (s *Set) compare(ctx context.Context, l *ledger.Ledger, a *api.Adoption, after *routing.Policy) (err error) {
	var before *routing.Policy
	if a.From != nil {
		before, err = s.ByDigest(ctx, l, a.From.Digest)
	}
	var changes diff.Diff
	if err == nil {
		changes, err = diff.Compare(ctx, before, after)
	}
	switch {
	case err == nil:
		a.Diff = &changes
	case ctx.Err() == nil && slices.Contains([]errs.Code{errs.PolicyLost, errs.PolicyInvalid, errs.PolicyDomainTooLarge, errs.PolicyTimeout}, errs.CodeOf(err)):
		a.Uncompared = err.Error()
	default:
		return err
	}
	return nil
}
