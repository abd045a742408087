package host

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// policiesChain is the chain of the ledger that has the policies: each that ever
// decided something, with its sources, and which of them the project adopted
// (ADR-0017). No task has its name.
const policiesChain = "_policies"

// isChain says that a name of the ledger's is no task's.
func isChain(name string) bool { return strings.HasPrefix(name, "_") }

// The kinds of events in the chain of policies.
const (
	kindKept    = "policy-kept"
	kindAdopted = "policy-adopted"
)

// keyPolicy is the prefix of the keys under which the kept policies are found, by
// digest: the number of the event that has the sources.
const keyPolicy = "policy/"

// policyEvent is the body of an event in the chain of policies.
type policyEvent struct {
	By string `json:"by"`
	// Ref is how the policy was named, and Policy which one that was.
	Ref    string            `json:"ref"`
	Policy policies.Identity `json:"policy"`
	// Signer is the key that signed it, "" for none.
	Signer string `json:"signer,omitzero"`
	// Sources are set where the policy is kept, and so are the categories and the
	// destinations that it knows, by name.
	Sources      []routing.Source `json:"sources,omitzero"`
	Categories   []string         `json:"categories,omitzero"`
	Destinations []string         `json:"destinations,omitzero"`
	// From is the digest of the policy that was adopted before, "" for none, where
	// one is adopted.
	From string `json:"from,omitzero"`
	// Rollback says that an older policy was allowed to follow a newer one.
	Rollback bool `json:"rollback,omitzero"`
}

// Adopted is the policy that a project goes by, and since when.
type Adopted struct {
	Ref    string            `json:"ref"`
	Policy policies.Identity `json:"policy"`
	Signer string            `json:"signer,omitzero"`
	By     string            `json:"by"`
	At     string            `json:"at"`
	Event  EventRef          `json:"event"`
}

// library is the state of the chain of policies.
type library struct {
	// Adopted is the policy that was adopted last, nil before the first.
	Adopted *Adopted `json:"adopted"`
}

// digest is that of the adopted policy, "" for none.
func (s library) digest() string {
	if s.Adopted == nil {
		return ""
	}
	return s.Adopted.Policy.Digest
}

// foldPolicies applies an event of the chain of policies.
func foldPolicies(before ledger.View, e ledger.Event) (ledger.Projection, error) {
	var state library
	if text := before.State(); text != nil {
		if err := json.Unmarshal(text, &state); err != nil {
			return ledger.Projection{}, err
		}
	}
	var told policyEvent
	if err := json.Unmarshal(e.Body, &told); err != nil {
		return ledger.Projection{}, err
	}
	key := keyPolicy + told.Policy.Digest
	known, err := before.Entry(key)
	if err != nil {
		return ledger.Projection{}, err
	}
	p, c := projection{}, counts{}
	switch e.Kind {
	case kindKept:
		if known != nil || len(told.Sources) == 0 {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s is kept twice, or without its sources", told.Policy.Digest)
		}
		p.put(key, e.N)
		for _, name := range told.Categories {
			c.add(counters.Categories(), 1, name)
		}
		for _, name := range told.Destinations {
			c.add(counters.Destinations(), 1, name)
		}
	case kindAdopted:
		if known == nil {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s is adopted and was never kept", told.Policy.Digest)
		}
		// Who edits the state is found out by whoever adopts the next policy.
		if from := state.digest(); told.From != from {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s is adopted after %q, and it was after %q", told.Policy.Digest, told.From, from)
		}
		state.Adopted = &Adopted{
			Ref: told.Ref, Policy: told.Policy, Signer: told.Signer, By: told.By, At: e.At, Event: EventRef{N: e.N, Hash: e.Hash},
		}
		c.add(counters.Adoptions(), 1, told.Policy.Version, told.Policy.Digest)
	default:
		return ledger.Projection{}, errs.New(errs.LedgerTampered, "unknown kind of event %q about policies", e.Kind)
	}
	text := p.encode(state)
	return ledger.Projection{State: text, Entries: p.entries, Changes: c.changes}, p.err
}

// policyShelf is what the ledger knows of policies at one moment.
type policyShelf struct {
	n       int64 // the chain's newest event
	adopted *Adopted
}

// policyShelfOf reads the state of the chain of policies.
func policyShelfOf(ctx context.Context, l *ledger.Ledger) (policyShelf, error) {
	head, err := l.Head(ctx, policiesChain)
	if err != nil || head.N == 0 {
		return policyShelf{}, err
	}
	var state library
	if err := json.Unmarshal(head.State, &state); err != nil {
		return policyShelf{}, tamperedPolicies("its state cannot be read: %w", err)
	}
	return policyShelf{n: head.N, adopted: state.Adopted}, nil
}

func tamperedPolicies(format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of policies was changed: "+format, args...).With("task", policiesChain)
}

// policyBy loads the policy with a digest: a built-in one, or one that the ledger
// keeps.
//
// # Errors
//
// policy-lost, ledger-tampered.
func (e *Engine) policyBy(ctx context.Context, l *ledger.Ledger, digest string) (*policies.Policy, error) {
	e.mu.Lock()
	p := e.policies[digest]
	e.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := e.findPolicy(ctx, l, digest)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.policies[digest] = p
	return p, nil
}

func (e *Engine) findPolicy(ctx context.Context, l *ledger.Ledger, digest string) (*policies.Policy, error) {
	entries, err := l.Entries(ctx, policiesChain, []string{keyPolicy + digest})
	if err != nil {
		return nil, err
	}
	text, ok := entries[keyPolicy+digest]
	if !ok {
		if p, err := builtIn(ctx, digest); p != nil || err != nil {
			return p, err
		}
		return nil, errs.New(errs.PolicyLost, "nothing is kept of policy %s", digest).With("digest", digest)
	}
	var n int64
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, tamperedPolicies("%s cannot be read: %w", keyPolicy+digest, err)
	}
	event, err := l.Event(ctx, policiesChain, n)
	if err != nil {
		return nil, err
	}
	var told policyEvent
	if err := json.Unmarshal(event.Body, &told); err != nil {
		return nil, tamperedPolicies("event %d cannot be read: %w", n, err)
	}
	p, err := routing.Loader{Released: policies.Files(), Engine: e.engine}.FromSources(ctx, told.Ref, told.Sources)
	if err != nil {
		return nil, tamperedPolicies("event %d keeps no policy: %w", n, err)
	}
	if p.Identity().Digest != digest {
		return nil, tamperedPolicies("event %d keeps another policy than %s", n, digest)
	}
	return p, nil
}

// builtIn is the built-in policy with a digest, or nil.
func builtIn(ctx context.Context, digest string) (*policies.Policy, error) {
	for _, ref := range policies.Versions() {
		p, err := policies.Load(ctx, ref)
		if err != nil || p.Identity().Digest == digest {
			return p, err
		}
	}
	return nil, nil
}

// loader is how the project loads policies. A key that cannot be read is an error:
// nothing is loaded without it.
func (e *Engine) loader(ctx context.Context, config project.Config) (routing.Loader, error) {
	trust, err := e.trust(ctx, config.Trust)
	return routing.Loader{Released: policies.Files(), Engine: e.engine, Trust: trust}, err
}
