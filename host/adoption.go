package host

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/policies/difference"
	"github.com/switchyard-dev/switchyard/policies/release"
	"github.com/switchyard-dev/switchyard/spawner/environ"
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
	loader policies.Loader
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
	if !policies.IsReleaseRef(path) {
		if path, err = from.Resolve(path); err != nil {
			return err
		}
	}
	c.Policy, err = c.loader.Load(ctx, path)
	return err
}

// placeOf is a reference that means the same in every folder of the project.
func placeOf(from project.Project, ref string) string {
	if policies.IsReleaseRef(ref) {
		return ref
	}
	rel, inside := from.Rel(ref)
	switch {
	case !inside:
		return from.Abs(ref)
	case policies.IsReleaseRef(rel):
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
// CodePolicyChanged, policies.CodeRollback, and those of policyBy.
func (e *Engine) admit(ctx context.Context, l *ledger.Ledger, c chosenPolicy) (chosenPolicy, error) {
	shelf, err := policyShelfOf(ctx, l)
	if err != nil || shelf.adopted == nil {
		return c, err
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
	if !c.trusted() || c.rollback || !policies.Older(c.Identity(), adopted.Policy) {
		return nil
	}
	return fault.New(policies.CodeRollback, "policy %s is older than %s, which the project adopted", c, named(adopted.Policy)).
		With("policy", c.Identity()).With("adopted", adopted.Policy)
}

func changed(adopted Adopted, c chosenPolicy) error {
	return fault.New(CodePolicyChanged, "the project adopted policy %s (%.19s), and %s is now %s (%.19s)",
		named(adopted.Policy), adopted.Policy.Digest, c.ref, c, c.Identity().Digest).
		With("adopted", adopted.Policy).With("policy", c.Identity())
}

// named is a policy's name and version.
func named(p policies.Identity) string { return p.Name + "@" + p.Version }

// shelve is what has to be recorded of a policy together with what it decides: the
// policy itself, where the ledger does not keep it yet, and its adoption, where it
// is the first and nobody named it. The batch is empty where nothing has.
func (e *Engine) shelve(ctx context.Context, l *ledger.Ledger, c chosenPolicy) (ledger.Batch, error) {
	admitted, err := e.admit(ctx, l, c)
	if err != nil {
		return ledger.Batch{}, err
	}
	if admitted.Identity().Digest != c.Identity().Digest {
		return ledger.Batch{}, fault.New(CodePolicyChanged, "the project adopted policy %s meanwhile", admitted).
			With("adopted", admitted.Identity()).With("policy", c.Identity())
	}
	shelf, err := policyShelfOf(ctx, l)
	if err != nil {
		return ledger.Batch{}, err
	}
	b, err := e.kept(ctx, l, shelf, c)
	if err == nil && shelf.adopted == nil && !c.named {
		err = b.adopt(shelf, c)
	}
	return b.Batch, err
}

// policyBatch is what is to be recorded of policies.
type policyBatch struct {
	ledger.Batch
	by string
}

// kept is the batch that keeps a policy, unless the ledger does already.
func (e *Engine) kept(ctx context.Context, l *ledger.Ledger, shelf policyShelf, c chosenPolicy) (policyBatch, error) {
	b := policyBatch{Batch: ledger.Batch{Task: policiesChain, After: shelf.n}, by: e.by}
	key := keyPolicy + c.Identity().Digest
	entries, err := l.Entries(ctx, policiesChain, []string{key})
	if err != nil || entries[key] != nil {
		return b, err
	}
	return b, b.add(kindKept, policyEvent{Ref: c.place, Policy: c.Identity(), Signer: c.Signer(), Sources: c.Sources()})
}

func (b *policyBatch) adopt(shelf policyShelf, c chosenPolicy) error {
	event := policyEvent{Ref: c.place, Policy: c.Identity(), Signer: c.Signer()}
	if shelf.adopted != nil {
		event.From = shelf.adopted.Policy.Digest
		event.Rollback = policies.Older(c.Identity(), shelf.adopted.Policy)
	}
	return b.add(kindAdopted, event)
}

func (b *policyBatch) add(kind string, event policyEvent) error {
	event.By = b.by
	// A path may hold any bytes. The digest is over the texts alone.
	body, err := json.Marshal(event, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	b.Drafts = append(b.Drafts, ledger.Draft{Kind: kind, Body: body})
	return err
}

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
	// Diff is what changes in meaning.
	Diff difference.Diff `json:"diff"`
	// Event is where it is recorded, nil where nothing is.
	Event *Event `json:"event"`
}

// Adopt makes a policy the one that the project goes by, and records who did so.
//
// # Errors
//
// CodePolicyElsewhere where the project's configuration names another policy,
// CodePolicyUnnamed, policies.CodeRollback, and those of loading it.
func (e *Engine) Adopt(ctx context.Context, req AdoptRequest) (Adoption, error) {
	// What an agent is judged by is not for it to decide.
	if err := environ.Inside(e.environ); err != nil {
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
			return Adoption{}, fault.New(CodePolicyElsewhere, "%s names policy %s, which is not %s", project.ConfigFile, config.Policy, c).
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
		if fault.CodeOf(err) != ledger.CodeConflict {
			adoption.State = e.PolicyTree("", "").state(ctx, c.Identity())
			return adoption, err
		}
	}
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
	if err != nil || shelf.adopted == nil || policies.IsReleaseRef(shelf.adopted.Ref) {
		return err
	}
	return fault.New(CodePolicyUnnamed, "the project adopted %s (%s) and configures none: name the policy to adopt", shelf.adopted.Ref, named(shelf.adopted.Policy)).
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
		if before, err = e.policyBy(ctx, l, from.Digest); err != nil && fault.CodeOf(err) != CodePolicyLost {
			return a, err
		}
	}
	a.Changed = a.From == nil || a.From.Digest != a.Policy.Digest
	// The same policy may come from elsewhere, or be signed by now.
	known := !a.Changed && shelf.adopted.Ref == c.place && shelf.adopted.Signer == c.Signer()
	if a.Diff, err = difference.Compare(ctx, before, c.Policy); err != nil || dry || known {
		return a, err
	}
	b, err := e.kept(ctx, l, shelf, c)
	if err := errors.Join(err, b.adopt(shelf, c)); err != nil {
		return a, err
	}
	events, err := l.AppendAll(ctx, e.now(), b.Batch)
	if err != nil {
		return a, err
	}
	last := events[len(events)-1]
	a.Event = &Event{N: last.N, Hash: last.Hash}
	return a, nil
}
