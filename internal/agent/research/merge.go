package research

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Merge merges the answers, which it does not modify. Two texts are the same if they
// differ only in case and white space; two sources, if their addresses are the same.
//
//   - A decision is accepted if at least half of the researchers asked made it. Failed
//     ones count as asked: otherwise the only one of three that did not fail would be a
//     majority.
//   - A pattern is accepted if at least two saw it, or the only one asked.
//   - Risks, questions and sources are united, with the highest level of any.
//
// Wording and confidence are those of the answer with the lowest index. A decision or
// pattern is verified if one answer verified it; agreement verifies nothing. Entries are
// ordered by descending agreement, then by text.
func Merge(answers []Answer) Consensus {
	answers = slices.SortedFunc(slices.Values(answers), func(a, b Answer) int { return cmp.Compare(a.Index, b.Index) })
	k := len(answers)
	c := Consensus{Meta: Meta{K: k}}
	for _, v := range answers {
		if v.Output == nil {
			c.Silent = append(c.Silent, Silence{Index: v.Index, Failure: v.Failure})
		}
	}
	c.decide(answers, (k+1)/2)
	c.unite(answers)
	c.intersect(answers, min(2, k))
	return c
}

// decide splits the decisions by whether a majority made them.
func (c *Consensus) decide(answers []Answer, majority int) {
	sum, all := 0, gather(answers, func(o *Output) []Decision { return o.Decisions })
	for _, m := range all {
		d := AgreedDecision{Decision: m.item, Agreement: len(m.seenBy), SeenBy: m.seenBy}
		sum += d.Agreement
		if d.Agreement >= majority {
			c.Decisions = append(c.Decisions, d)
		} else {
			c.Flagged = append(c.Flagged, d)
		}
	}
	c.Meta.FlaggedCount = len(c.Flagged)
	if len(all) > 0 {
		c.Meta.AgreementScore = math.Round(1000*float64(sum)/float64(len(all)*c.Meta.K)) / 1000
	}
}

// unite adds the entries that need no agreement.
func (c *Consensus) unite(answers []Answer) {
	for _, m := range gather(answers, func(o *Output) []Risk { return o.Risks }) {
		c.Risks = append(c.Risks, SeenRisk{m.item, m.seenBy})
	}
	for _, m := range gather(answers, func(o *Output) []Question { return o.Questions }) {
		c.Questions = append(c.Questions, SeenQuestion{m.item, m.seenBy})
	}
	for _, m := range gather(answers, func(o *Output) []Source { return o.Sources }) {
		c.Sources = append(c.Sources, SeenSource{m.item, m.seenBy})
	}
}

// intersect splits the patterns by whether enough answers have them.
func (c *Consensus) intersect(answers []Answer, enough int) {
	for _, m := range gather(answers, func(o *Output) []Pattern { return o.Patterns }) {
		p := SeenPattern{m.item, m.seenBy}
		if len(p.SeenBy) >= enough {
			c.Patterns = append(c.Patterns, p)
			continue
		}
		p.Provenance = Assumed
		c.Demoted = append(c.Demoted, p)
	}
}

// entry is an entry of a list.
type entry[T any] interface {
	// key is what the same entries have in common.
	key() string
	// join merges an entry with the same key.
	join(other T) T
}

func (d Decision) key() string { return d.Text }
func (r Risk) key() string     { return r.Text }
func (q Question) key() string { return q.Text }
func (s Source) key() string   { return s.URL }
func (p Pattern) key() string  { return p.Text }

func (d Decision) join(other Decision) Decision {
	d.Provenance = verify(d.Provenance, other.Provenance)
	return d
}

func (r Risk) join(other Risk) Risk {
	r.Severity = higher(r.Severity, other.Severity)
	return r
}

func (q Question) join(Question) Question { return q }

func (s Source) join(other Source) Source {
	s.Credibility, s.Title = higher(s.Credibility, other.Credibility), cmp.Or(s.Title, other.Title)
	return s
}

func (p Pattern) join(other Pattern) Pattern {
	p.Provenance = verify(p.Provenance, other.Provenance)
	return p
}

// merged is an entry with the researchers that have it.
type merged[T any] struct {
	item   T
	seenBy []int
}

// gather merges one list of all answers, which are sorted by index. A duplicate within an
// answer counts once.
func gather[T entry[T]](answers []Answer, list func(*Output) []T) []*merged[T] {
	var all []*merged[T]
	known := make(map[string]*merged[T])
	for _, v := range answers {
		if v.Output == nil {
			continue
		}
		for _, item := range list(v.Output) {
			key := norm(item.key())
			m := known[key]
			if m == nil {
				m = &merged[T]{item: item}
				known[key] = m
				all = append(all, m)
			} else {
				m.item = m.item.join(item)
			}
			if !slices.Contains(m.seenBy, v.Index) {
				m.seenBy = append(m.seenBy, v.Index)
			}
		}
	}
	slices.SortFunc(all, func(a, b *merged[T]) int {
		return cmp.Or(cmp.Compare(len(b.seenBy), len(a.seenBy)), strings.Compare(a.item.key(), b.item.key()))
	})
	return all
}

// norm returns the part of a text that is compared.
func norm(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

func higher(a, b Level) Level {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// verify changes a provenance only to Verified.
func verify(first, other Provenance) Provenance {
	if other == Verified {
		return Verified
	}
	return first
}
