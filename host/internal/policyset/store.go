package policyset

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Chain is the name of the ledger chain of policies and adoptions (ADR-0017), which has the
// sources of every policy that ever decided. A task cannot have this name.
const Chain = evidence.PolicyChain

// Kinds of events in the chain.
const (
	kindStored  = "policy-kept"
	kindAdopted = "policy-adopted"
)

// keyPolicy is the prefix of the keys of stored policies, by digest. The values are the
// numbers of the events with the sources.
const keyPolicy = "policy/"

type policyEvent struct {
	By string `json:"by"`
	// Ref is the policy's reference.
	Ref    string           `json:"ref"`
	Policy routing.Identity `json:"policy"`
	// Signer is the id of the key that signed it, "" if it is not signed.
	Signer string `json:"signer,omitzero"`
	// Sources, and the policy's categories and destinations, are set if the event stores
	// the policy.
	Sources      []routing.Source `json:"sources,omitzero"`
	Categories   []string         `json:"categories,omitzero"`
	Destinations []string         `json:"destinations,omitzero"`
	// From is the digest of the previously adopted policy, or "".
	From string `json:"from,omitzero"`
	// Rollback reports whether the policy is older than the previous one.
	Rollback bool `json:"rollback,omitzero"`
}

type chainState struct {
	// Adopted is the latest adoption, nil before the first.
	Adopted *api.Adopted `json:"adopted"`
}

// Fold applies an event of the chain.
func Fold(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
	var state chainState
	if text := before.State; text != nil {
		if err := json.Unmarshal(text, &state); err != nil {
			return ledger.Projection{}, err
		}
	}
	var event policyEvent
	if err := json.Unmarshal(e.Body, &event); err != nil {
		return ledger.Projection{}, err
	}
	key := keyPolicy + event.Policy.Digest
	known, err := before.Entry(key)
	if err != nil {
		return ledger.Projection{}, err
	}
	var p ledger.Projection
	count := func(m counters.Measure, values ...string) {
		p.Changes = append(p.Changes, counters.Change{Measure: m, Values: values, Add: 1})
	}
	switch e.Kind {
	case kindStored:
		if known != nil || len(event.Sources) == 0 {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s is stored twice, or without its sources", event.Policy.Digest)
		}
		n, err := json.Marshal(e.N)
		if err != nil {
			return ledger.Projection{}, err
		}
		p.Entries = []ledger.Entry{{Key: key, Value: n}}
		for _, name := range event.Categories {
			count(counters.Categories(), name)
		}
		for _, name := range event.Destinations {
			count(counters.Destinations(), name)
		}
	case kindAdopted:
		if known == nil {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s was adopted but never stored", event.Policy.Digest)
		}
		// This detects an edited state.
		from := ""
		if state.Adopted != nil {
			from = state.Adopted.Policy.Digest
		}
		if event.From != from {
			return ledger.Projection{}, errs.New(errs.LedgerTampered, "policy %s was adopted to replace %q, but the adopted policy was %q", event.Policy.Digest, event.From, from)
		}
		state.Adopted = &api.Adopted{
			Ref: event.Ref, Policy: event.Policy, Signer: event.Signer, By: event.By, At: e.At, Event: api.EventRef{N: e.N, Hash: e.Hash},
		}
		count(counters.Adoptions(), event.Policy.Version, event.Policy.Digest)
	default:
		return ledger.Projection{}, errs.New(errs.LedgerTampered, "unknown kind of event %q about policies", e.Kind)
	}
	p.State, err = json.Marshal(state, json.Deterministic(true))
	return p, err
}

// AdoptedAt returns the digest of the policy that is adopted before event seq of the ledger,
// or "". events are the events of the chain. Of one that was changed, the error has no code.
func AdoptedAt(events iter.Seq2[ledger.Event, error], seq int64) (digest string, err error) {
	for e, err := range events {
		if err != nil || e.Seq > seq {
			return digest, err
		}
		if e.Kind != kindAdopted {
			continue
		}
		var event policyEvent
		if err := json.Unmarshal(e.Body, &event); err != nil {
			return "", fmt.Errorf("event %d of %s cannot be read: %w", e.N, Chain, textutil.JSONReason(err))
		}
		digest = event.Policy.Digest
	}
	return digest, nil
}

// policyHead is the state of the chain at one moment.
type policyHead struct {
	n       int64 // the chain's latest event
	adopted *api.Adopted
}

func readHead(ctx context.Context, l *ledger.Ledger) (policyHead, error) {
	head, err := l.Head(ctx, Chain)
	if err != nil || head.N == 0 {
		return policyHead{}, err
	}
	var state chainState
	if err := json.Unmarshal(head.State, &state); err != nil {
		return policyHead{}, errTampered("its state cannot be read: %w", err)
	}
	return policyHead{n: head.N, adopted: state.Adopted}, nil
}

func errTampered(format string, args ...any) error {
	return errs.New(errs.LedgerTampered, "the record of policies was changed: "+format, args...).With("task", Chain)
}

// ByDigest loads the policy with a digest: a built-in one, or one stored in the ledger.
//
// # Errors
//
// policy-lost, ledger-tampered, and errors of Loader.FromSources for a policy that this program
// cannot load.
func (s *Set) ByDigest(ctx context.Context, l *ledger.Ledger, digest string) (*routing.Policy, error) {
	return s.loadOnce(digest, func() (*routing.Policy, error) { return s.find(ctx, l, digest) })
}

// IsGone reports whether an error of ByDigest says that no policy of that digest can decide: it
// is lost, or this program refuses it.
func IsGone(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.PolicyLost || code == errs.PolicyInvalid
}

// loadOnce returns the policy of a name that always means the same one: a digest, or the
// reference of a released policy. It loads it the first time.
func (s *Set) loadOnce(name string, load func() (*routing.Policy, error)) (*routing.Policy, error) {
	if p, ok := s.loaded.Load(name); ok {
		return p.(*routing.Policy), nil
	}
	p, err := load()
	if err == nil {
		s.loaded.Store(name, p)
	}
	return p, err
}

func (s *Set) find(ctx context.Context, l *ledger.Ledger, digest string) (*routing.Policy, error) {
	key := keyPolicy + digest
	entries, err := l.Entries(ctx, Chain, []string{key})
	if err != nil {
		return nil, err
	}
	text, ok := entries[key]
	if !ok {
		released := routing.Loader{Released: s.opts.Loader.Released}
		for _, ref := range released.Versions() {
			p, err := released.Load(ctx, ref)
			if err != nil || p.Identity().Digest == digest {
				return p, err
			}
		}
		return nil, errs.New(errs.PolicyLost, "policy %s is neither built in nor stored in the ledger", digest).With("digest", digest)
	}
	var n int64
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, errTampered("%s cannot be read: %w", key, err)
	}
	e, err := l.Event(ctx, Chain, n)
	if err != nil {
		return nil, err
	}
	var event policyEvent
	if err := json.Unmarshal(e.Body, &event); err != nil {
		return nil, errTampered("event %d cannot be read: %w", n, err)
	}
	if routing.Digest(event.Sources) != digest {
		return nil, errTampered("event %d holds another policy than %s", n, digest)
	}
	return s.opts.Loader.FromSources(ctx, event.Ref, event.Sources)
}

// Events returns the events to record with a policy's decision: the policy itself if the
// ledger does not store it yet, and its adoption if it is the first and the command did
// not name it. The batch must follow the head at CheckAdopted, even if it has no events.
func (s *Set) Events(ctx context.Context, l *ledger.Ledger, c Selection) (ledger.Batch, error) {
	b, err := s.storeBatch(ctx, l, *c.head, c)
	if err == nil && c.head.adopted == nil && !c.named {
		err = s.addAdoption(&b, *c.head, c)
	}
	return b, err
}

// storeBatch returns the batch that stores a policy, empty if the ledger has it.
func (s *Set) storeBatch(ctx context.Context, l *ledger.Ledger, head policyHead, c Selection) (ledger.Batch, error) {
	b := ledger.Batch{Task: Chain, After: head.n}
	if head.adopted != nil && head.adopted.Policy.Digest == c.Identity().Digest {
		return b, nil // Adopted policies are always stored.
	}
	key := keyPolicy + c.Identity().Digest
	entries, err := l.Entries(ctx, Chain, []string{key})
	if err != nil || entries[key] != nil {
		return b, err
	}
	err = s.add(&b, kindStored, policyEvent{
		Ref: c.place, Policy: c.Identity(), Signer: c.Signer(), Sources: c.Sources(),
		Categories: slices.Sorted(maps.Keys(c.RouteTable())), Destinations: slices.Sorted(maps.Keys(c.Destinations())),
	})
	return b, err
}

func (s *Set) addAdoption(b *ledger.Batch, head policyHead, c Selection) error {
	event := policyEvent{Ref: c.place, Policy: c.Identity(), Signer: c.Signer()}
	if head.adopted != nil {
		event.From = head.adopted.Policy.Digest
		event.Rollback = routing.Older(c.Identity(), head.adopted.Policy)
	}
	return s.add(b, kindAdopted, event)
}

func (s *Set) add(b *ledger.Batch, kind string, event policyEvent) error {
	event.By = s.opts.By
	// A path may contain any bytes. The digest covers the texts only.
	body, err := json.Marshal(event, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	b.Events = append(b.Events, ledger.NewEvent{Kind: kind, Body: body})
	return err
}
