package routing

import "sync"

// Remembered has answers about inputs, one for those that differ only in what no rule
// reads. That is so for half of the representatives of an exhaustive check. It is safe for
// concurrent use.
type Remembered[T any] struct {
	reads []string // nil if the policy reads fields that are not known
	mu    sync.Mutex
	made  map[string]T // by what is read; guarded by mu
}

// NewRemembered returns an empty memory of answers of a policy's rule.
func NewRemembered[T any](p *Policy, rule Rule) *Remembered[T] {
	t := p.Thresholds(rule)
	m := &Remembered[T]{made: make(map[string]T)}
	if len(t.Unknown) == 0 {
		m.reads = append(t.Reads[:len(t.Reads):len(t.Reads)], "finding_count", "verify") // The host reads these.
	}
	return m
}

// Answer returns the answer about an input, from ask the first time. An error is not
// remembered.
func (m *Remembered[T]) Answer(in Input, ask func(Input) (T, error)) (T, error) {
	if m.reads == nil {
		return ask(in)
	}
	part := string(in.AppendKey(nil, m.reads))
	m.mu.Lock()
	a, ok := m.made[part]
	m.mu.Unlock()
	if ok {
		return a, nil
	}
	a, err := ask(in)
	if err == nil {
		m.mu.Lock()
		m.made[part] = a
		m.mu.Unlock()
	}
	return a, err
}
