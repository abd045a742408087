package routing

import (
	"slices"
	"sync"
)

// Remember returns ask with a cache. Inputs that differ only in fields that the rule does
// not read share an answer, as half of the representatives of an exhaustive check do.
// Errors are not cached. The result is safe for concurrent use if ask is.
func Remember[T any](p *Policy, rule Rule, ask func(Input) (T, error)) func(Input) (T, error) {
	t := p.Thresholds(rule)
	if len(t.Unknown) > 0 {
		return ask // it is not known which fields the rule reads
	}
	fields := slices.Concat(t.Reads, []string{"finding_count", "verify"}) // the host reads these
	var mu sync.Mutex
	answers := make(map[string]T)
	return func(in Input) (T, error) {
		key := string(in.AppendKey(nil, fields))
		mu.Lock()
		a, ok := answers[key]
		mu.Unlock()
		if ok {
			return a, nil
		}
		a, err := ask(in)
		if err == nil {
			mu.Lock()
			answers[key] = a
			mu.Unlock()
		}
		return a, err
	}
}
