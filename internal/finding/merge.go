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
		merged: make([]entry, 0, len(findings)),
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
	merged []entry
}

// entry is a merged finding. The sets index its lists if the lists are long.
type entry struct {
	finding   Finding
	confirmed map[string]struct{}
	sourced   map[origin]struct{}
}

type origin struct{ critic, plugin, report, ref string }

// maxUnindexed is the length up to which a list is searched without an index.
const maxUnindexed = 16

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
		m.merged = append(m.merged, entry{finding: first})
	}
	e := &m.merged[at]
	e.finding.Severity = gravest(e.finding.Severity, f.Severity)
	e.finding.Undoes = cmp.Or(e.finding.Undoes, f.Undoes)
	if f.Critic != AuditCritic || e.finding.Critic == AuditCritic {
		for _, critic := range f.ConfirmedBy {
			addOnce(&e.finding.ConfirmedBy, &e.confirmed, critic, func(c string) string { return c })
		}
	}
	for _, source := range f.Sources {
		addOnce(&e.finding.Sources, &e.sourced, source, Source.origin)
	}
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

func (s Source) origin() origin { return origin{s.Critic, s.Plugin, s.Report, s.Ref} }

// addOnce appends an item to list unless its key is there already. It maintains set once
// the list is long.
func addOnce[T any, K comparable](list *[]T, set *map[K]struct{}, item T, keyOf func(T) K) {
	key := keyOf(item)
	if len(*list) < maxUnindexed {
		if slices.ContainsFunc(*list, func(t T) bool { return keyOf(t) == key }) {
			return
		}
	} else {
		if *set == nil {
			*set = make(map[K]struct{}, 2*len(*list))
			for _, t := range *list {
				(*set)[keyOf(t)] = struct{}{}
			}
		}
		if _, ok := (*set)[key]; ok {
			return
		}
		(*set)[key] = struct{}{}
	}
	*list = append(*list, item)
}

// ordered returns the merged findings in routing order: by confirmations, severity,
// category and first appearance. It sorts indexes because findings are large.
func (m *merger) ordered() []Finding {
	order := make([]int, len(m.merged))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := &m.merged[i].finding, &m.merged[j].finding
		return cmp.Or(
			cmp.Compare(len(b.ConfirmedBy), len(a.ConfirmedBy)),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(a.Category, b.Category),
			cmp.Compare(i, j),
		)
	})
	findings := make([]Finding, len(order))
	for to, from := range order {
		findings[to] = m.merged[from].finding
	}
	return findings
}
