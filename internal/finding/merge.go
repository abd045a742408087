package finding

import (
	"cmp"
	"slices"
)

// Merge merges findings with the same identity and returns them in routing order. It does
// not modify its argument, nor share a slice with it.
//
// A finding has the fields of its first occurrence. A duplicate adds its critics and
// sources, each once, and raises Severity if its own is graver: fail is the gravest, and an
// unknown one is graver than risk and nit, because no bar defers it. Findings of the audit
// come after the findings of critics. If a critic reported one too, the audit does not
// confirm it, because it is not a second opinion.
//
// Merge is idempotent and takes n log n time.
func Merge(findings []Finding) []Finding {
	m := merger{
		index:  make(map[identity]int, len(findings)),
		merged: make([]Finding, 0, len(findings)),
	}
	for _, audits := range []bool{false, true} {
		for i := range findings {
			if (findings[i].Critic == AuditCritic) == audits {
				m.add(&findings[i])
			}
		}
	}
	return m.ordered()
}

type merger struct {
	index  map[identity]int
	merged []Finding
}

func (m *merger) add(f *Finding) {
	id := identify(f.Category, f.File, f.Line, f.Remediation)
	at, seen := m.index[id]
	if !seen {
		at = len(m.merged)
		m.index[id] = at
		first := *f
		first.Fingerprint = id.fingerprint()
		first.ConfirmedBy = make([]string, 0, len(f.ConfirmedBy))
		first.Sources = make([]Source, 0, len(f.Sources))
		m.merged = append(m.merged, first)
	}
	merged := &m.merged[at]
	merged.Severity = gravest(merged.Severity, f.Severity)
	merged.Undoes = cmp.Or(merged.Undoes, f.Undoes)
	if f.Critic != AuditCritic || merged.Critic == AuditCritic {
		merged.ConfirmedBy = append(merged.ConfirmedBy, f.ConfirmedBy...)
	}
	merged.Sources = append(merged.Sources, f.Sources...)
}

// gravest chooses a severity, whatever their order. Of two unknown ones it is the
// first in the alphabet.
func gravest(a, b Severity) Severity {
	if cmp.Or(cmp.Compare(gravity(a), gravity(b)), cmp.Compare(b, a)) < 0 {
		return b
	}
	return a
}

func gravity(s Severity) int {
	switch s {
	case Fail:
		return 3
	case Risk:
		return 1
	case Nit:
		return 0
	default:
		return 2
	}
}

// unique removes the items of a list whose key an earlier item has.
func unique[T any, K comparable](list []T, keyOf func(T) K) []T {
	if len(list) < 2 {
		return list
	}
	seen := make(map[K]bool, len(list))
	return slices.DeleteFunc(list, func(item T) bool {
		key := keyOf(item)
		twice := seen[key]
		seen[key] = true
		return twice
	})
}

type origin struct{ critic, plugin, report, ref string }

// ordered returns the merged findings in routing order: by confirmations, severity,
// category and first appearance. It sorts indexes because findings are large.
func (m *merger) ordered() []Finding {
	order := make([]int, len(m.merged))
	for i := range order {
		order[i] = i
		f := &m.merged[i]
		f.ConfirmedBy = unique(f.ConfirmedBy, func(critic string) string { return critic })
		f.Sources = unique(f.Sources, func(s Source) origin { return origin{s.Critic, s.Plugin, s.Report, s.Ref} })
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &m.merged[i], &m.merged[j]
		return cmp.Or(
			cmp.Compare(len(b.ConfirmedBy), len(a.ConfirmedBy)),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(a.Category, b.Category),
			cmp.Compare(i, j),
		)
	})
	findings := make([]Finding, len(order))
	for to, from := range order {
		findings[to] = m.merged[from]
	}
	return findings
}
