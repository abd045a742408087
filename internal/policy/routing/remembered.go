package routing

import "sync"

// Remembered caches answers about inputs. Inputs that differ only in fields that the rule
// does not read share an answer, such as half of the representatives of an exhaustive
// check. It is safe for concurrent use.
type Remembered[T any] struct {
	reads []string // the fields of a key; nil if they are unknown
	mu    sync.Mutex
	made  map[string]T // by key; guarded by mu
}

// NewRemembered returns an empty cache for a policy's rule.
func NewRemembered[T any](p *Policy, rule Rule) *Remembered[T] {
	t := p.Thresholds(rule)
	m := &Remembered[T]{made: make(map[string]T)}
	if len(t.Unknown) == 0 {
		m.reads = append(t.Reads[:len(t.Reads):len(t.Reads)], "finding_count", "verify") // the host reads these
	}
	return m
}

// Answer returns the cached answer about an input, or asks for it. It does not cache an
// error.
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
