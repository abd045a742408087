package host

import (
	"context"
	"errors"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// Adopted is the policy that the project goes by, nil before its first decision.
func (e *Engine) Adopted(ctx context.Context) (*Adopted, error) {
	l, err := e.ledger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	shelf, err := policyShelfOf(ctx, l)
	return shelf.adopted, err
}

// AdoptRequest names the policy that a project is to go by.
type AdoptRequest struct {
	// Policy is a reference, "" for what the project configures.
	Policy string
	// AllowRollback lets an older policy follow a newer one.
	AllowRollback bool
	// DryRun only says what would change.
	DryRun bool
}

// Adoption is what adopting a policy came to.
type Adoption struct {
	Policy policies.Identity `json:"policy"`
	// From is the policy that was adopted before, nil for none.
	From *policies.Identity `json:"from"`
	// State says how far a version of the project's tree is, "" for what is none of
	// its versions.
	State release.State `json:"state,omitzero"`
	// Changed says that this is another policy than before.
	Changed bool `json:"changed"`
	// Diff is what changes in meaning, nil where the two could not be compared;
	// Uncompared says why not.
	Diff       *diff.Diff `json:"diff"`
	Uncompared string     `json:"uncompared,omitzero"`
	// Event is where it is recorded, nil where nothing is.
	Event *EventRef `json:"event"`
}

// Adopt makes a policy the one that the project goes by, and records who did so.
//
// # Errors
//
// policy-not-configured where the project's configuration names another policy,
// policy-unnamed, policy-rollback, and those of loading it.
func (e *Engine) Adopt(ctx context.Context, req AdoptRequest) (Adoption, error) {
	// What an agent is judged by is not for it to decide.
	if err := childenv.Inside(e.environ); err != nil {
		return Adoption{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Adoption{}, err
	}
	c, err := e.policy(ctx, req.Policy, config)
	if err != nil {
		return Adoption{}, err
	}
	c.rollback = c.rollback || req.AllowRollback
	if c.named && c.configured {
		configured, err := e.policy(ctx, "", config)
		if err != nil {
			return Adoption{}, err
		}
		if configured.Identity().Digest != c.Identity().Digest {
			return Adoption{}, errs.New(errs.PolicyNotConfigured, "%s names policy %s, which is not %s", project.ConfigFile, config.Policy, c).
				With("configured", configured.Identity()).With("policy", c.Identity())
		}
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return Adoption{}, err
	}
	defer l.Close()
	if !c.named && !c.configured {
		if err := mayReturn(ctx, l); err != nil {
			return Adoption{}, err
		}
	}
	for {
		adoption, err := e.adopt(ctx, l, c, req.DryRun)
		if errs.CodeOf(err) != errs.LedgerConflict {
			adoption.State = e.PolicyTree("", "").state(ctx, c.Identity())
			return adoption, err
		}
	}
}

// compare says what changes. A policy that cannot be compared in time must not be the
// last that a project can have.
func (a *Adoption) compare(ctx context.Context, before, after *policies.Policy) error {
	diff, err := diff.Compare(ctx, before, after)
	switch code := errs.CodeOf(err); {
	case err == nil:
		a.Diff = &diff
	case ctx.Err() == nil && (code == errs.PolicyDomainTooLarge || code == errs.PolicyTimeout):
		a.Uncompared = err.Error()
	default:
		return err
	}
	return nil
}

// state says how far the version with an identity is, "" for what is none. Where there
// is no tree that can be read, as in a project that keeps other things under its names,
// there are no versions either: that must not keep anybody from adopting one.
func (t PolicyTree) state(ctx context.Context, id policies.Identity) release.State {
	all, err := t.known(ctx)
	if err != nil {
		return ""
	}
	for _, k := range all {
		if k.Policy != nil && k.Policy.Digest == id.Digest {
			return k.State
		}
	}
	return ""
}

// mayReturn refuses to give up a policy of the project's own for the built-in default
// that nobody named.
func mayReturn(ctx context.Context, l *ledger.Ledger) error {
	shelf, err := policyShelfOf(ctx, l)
	if err != nil || shelf.adopted == nil || routing.IsReleaseRef(shelf.adopted.Ref) {
		return err
	}
	return errs.New(errs.PolicyUnnamed, "the project adopted %s (%s) and configures none: name the policy to adopt", shelf.adopted.Ref, named(shelf.adopted.Policy)).
		With("adopted", shelf.adopted.Policy)
}

func (e *Engine) adopt(ctx context.Context, l *ledger.Ledger, c chosenPolicy, dry bool) (Adoption, error) {
	a := Adoption{Policy: c.Identity()}
	shelf, err := policyShelfOf(ctx, l)
	if err != nil {
		return a, err
	}
	var before *policies.Policy
	if shelf.adopted != nil {
		from := shelf.adopted.Policy
		a.From = &from
		if err := c.rolledBack(*shelf.adopted); err != nil {
			return a, err
		}
		// What nobody can read any more cannot be compared with.
		if before, err = e.policyBy(ctx, l, from.Digest); err != nil && errs.CodeOf(err) != errs.PolicyLost {
			return a, err
		}
	}
	a.Changed = a.From == nil || a.From.Digest != a.Policy.Digest
	// The same policy may come from elsewhere, or be signed by now.
	known := !a.Changed && shelf.adopted.Ref == c.place && shelf.adopted.Signer == c.Signer()
	if err := a.compare(ctx, before, c.Policy); err != nil || dry || known {
		return a, err
	}
	b, err := e.kept(ctx, l, shelf, c)
	if err := errors.Join(err, b.adopt(shelf, c)); err != nil {
		return a, err
	}
	events, err := e.store(ctx, l, b.Batch)
	if err != nil {
		return a, err
	}
	last := events[len(events)-1]
	a.Event = &EventRef{N: last.N, Hash: last.Hash}
	return a, nil
}
