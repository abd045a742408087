package host

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// shelve is what has to be recorded of a policy together with what it decides: the
// policy itself, where the ledger does not keep it yet, and its adoption, where it
// is the first and nobody named it. It is as of the moment when the policy was
// admitted: a batch without drafts says that nothing may come before.
func (e *Engine) shelve(ctx context.Context, l *ledger.Ledger, c chosenPolicy) (ledger.Batch, error) {
	shelf := *c.admitted
	b, err := e.kept(ctx, l, shelf, c)
	if err == nil && shelf.adopted == nil && !c.named {
		err = b.adopt(shelf, c)
	}
	return b.Batch, err
}

// again admits a policy anew, where others have recorded something of policies since.
func (e *Engine) again(ctx context.Context, l *ledger.Ledger, c chosenPolicy) (chosenPolicy, error) {
	admitted, err := e.admit(ctx, l, c)
	if err == nil && admitted.Identity().Digest != c.Identity().Digest {
		err = errs.New(errs.PolicyChanged, "the project adopted policy %s meanwhile", admitted).
			With("adopted", admitted.Identity()).With("policy", c.Identity())
	}
	return admitted, err
}

// policyBatch is what is to be recorded of policies.
type policyBatch struct {
	ledger.Batch
	by string
}

// kept is the batch that keeps a policy, unless the ledger does already.
func (e *Engine) kept(ctx context.Context, l *ledger.Ledger, shelf policyShelf, c chosenPolicy) (policyBatch, error) {
	b := policyBatch{Batch: ledger.Batch{Task: policiesChain, After: shelf.n}, by: e.by}
	if shelf.adopted != nil && shelf.adopted.Policy.Digest == c.Identity().Digest {
		return b, nil // Only what is kept is ever adopted.
	}
	key := keyPolicy + c.Identity().Digest
	entries, err := l.Entries(ctx, policiesChain, []string{key})
	if err != nil || entries[key] != nil {
		return b, err
	}
	return b, b.add(kindKept, policyEvent{
		Ref: c.place, Policy: c.Identity(), Signer: c.Signer(), Sources: c.Sources(),
		Categories: slices.Sorted(maps.Keys(c.RouteTable())), Destinations: slices.Sorted(maps.Keys(c.Destinations())),
	})
}

func (b *policyBatch) adopt(shelf policyShelf, c chosenPolicy) error {
	event := policyEvent{Ref: c.place, Policy: c.Identity(), Signer: c.Signer()}
	if shelf.adopted != nil {
		event.From = shelf.adopted.Policy.Digest
		event.Rollback = routing.Older(c.Identity(), shelf.adopted.Policy)
	}
	return b.add(kindAdopted, event)
}

func (b *policyBatch) add(kind string, event policyEvent) error {
	event.By = b.by
	// A path may hold any bytes. The digest is over the texts alone.
	body, err := json.Marshal(event, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	b.Events = append(b.Events, ledger.NewEvent{Kind: kind, Body: body})
	return err
}
