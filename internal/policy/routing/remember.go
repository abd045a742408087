package routing

import (
	"context"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// memory holds the answers of a rule by the fields that the rule reads.
type memory struct {
	fields  []string
	answers sync.Map // from a key to remembered
}

// remembered is the result of Ask.
type remembered struct {
	decision Decision
	err      error
}

// AskOnce is Ask with a memory as old as the policy. Inputs that differ only in fields that
// the rule does not read share an answer: half of the representatives of an exhaustive check
// do, and nearly all of a check and a comparison of the same policy. It does not remember
// errors of ctx or of a policy that is too slow; the detail input of another error is of the
// first such input. The memory is not bounded.
func (p *Policy) AskOnce(ctx context.Context, rule Rule, in Input) (Decision, error) {
	m := p.memory(rule)
	seen, err := p.Read(in)
	if m == nil || err != nil {
		return p.Ask(ctx, rule, in)
	}
	key := string(seen.AppendKey(nil, m.fields))
	if found, ok := m.answers.Load(key); ok {
		a := found.(remembered)
		return a.decision, a.err
	}
	d, err := p.Ask(ctx, rule, in)
	if ctx.Err() == nil && errs.CodeOf(err) != errs.PolicyTimeout {
		m.answers.Store(key, remembered{d, err})
	}
	return d, err
}

// memory returns the memory of a rule, or nil if it is not known which fields it reads.
func (p *Policy) memory(rule Rule) *memory {
	t := p.Thresholds(rule)
	if len(t.Unknown) > 0 {
		return nil
	}
	p.lazyMu.Lock()
	defer p.lazyMu.Unlock()
	if p.memories[rule] == nil {
		fields := slices.Concat(t.Reads, []string{"finding_count", "verify"}) // the host reads these
		p.memories[rule] = &memory{fields: fields}
	}
	return p.memories[rule]
}
