package finding

import (
	"cmp"
	"slices"
)

// Merge merges findings with the same identity and returns them in routing order. It does
// not modify its argument, nor share a slice with it.
//
// The first occurrence gives a finding its fields. A duplicate adds its critics and
// sources, each once, and raises Severity if its own is higher. Audit findings come after
// those of critics; one that a critic reported too is merged without counting as a
// confirmation, because the audit is not a second opinion.
//
// Merge is idempotent and takes n log n time.
func Merge(findings []Finding) []Finding {
	m := merger{
		index: make(map[identity]int, len(findings)), merged: make([]Finding, 0, len(findings)),
		confirmed: make(map[confirmation]bool), sourced: make(map[origin]bool),
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
	merged []Finding
	index  map[identity]int // in merged
	// confirmed and sourced index the lists of the merged findings.
	confirmed map[confirmation]bool
	sourced   map[origin]bool
}

// confirmation is a critic of the merged finding with an index, and origin a source.
type (
	confirmation struct {
		finding int
		critic  string
	}
	origin struct {
		finding                     int
		critic, plugin, report, ref string
	}
)

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
	to := &m.merged[at]
	if f.Severity.Rank() < to.Severity.Rank() {
		to.Severity = f.Severity
	}
	if f.Critic != AuditCritic || to.Critic == AuditCritic {
		for _, critic := range f.ConfirmedBy {
			if key := (confirmation{at, critic}); !m.confirmed[key] {
				m.confirmed[key] = true
				to.ConfirmedBy = append(to.ConfirmedBy, critic)
			}
		}
	}
	for _, s := range f.Sources {
		if key := (origin{at, s.Critic, s.Plugin, s.Report, s.Ref}); !m.sourced[key] {
			m.sourced[key] = true
			to.Sources = append(to.Sources, s)
		}
	}
}

// ordered returns the merged findings in routing order: by confirmations, severity,
// category and first appearance. It sorts indexes because findings are large.
func (m *merger) ordered() []Finding {
	order := make([]int, len(m.merged))
	for i := range order {
		order[i] = i
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
