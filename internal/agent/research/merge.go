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
	sum, all := 0, gather(answers, decisionRule())
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
	for _, m := range gather(answers, riskRule()) {
		c.Risks = append(c.Risks, SeenRisk{m.item, m.seenBy})
	}
	for _, m := range gather(answers, questionRule()) {
		c.Questions = append(c.Questions, SeenQuestion{m.item, m.seenBy})
	}
	for _, m := range gather(answers, sourceRule()) {
		c.Sources = append(c.Sources, SeenSource{m.item, m.seenBy})
	}
}

// intersect splits the patterns by whether enough answers have them.
func (c *Consensus) intersect(answers []Answer, enough int) {
	for _, m := range gather(answers, patternRule()) {
		p := SeenPattern{m.item, m.seenBy}
		if len(p.SeenBy) >= enough {
			c.Patterns = append(c.Patterns, p)
			continue
		}
		p.Provenance = Assumed
		c.Demoted = append(c.Demoted, p)
	}
}

// rule describes how to merge the entries of one list.
type rule[T any] struct {
	list func(*Output) []T
	text func(T) string
	// join merges another entry with the same text into the first.
	join func(first *T, other T)
}

func decisionRule() rule[Decision] {
	return rule[Decision]{
		list: func(o *Output) []Decision { return o.Decisions },
		text: func(d Decision) string { return d.Text },
		join: func(first *Decision, other Decision) { first.Provenance = verify(first.Provenance, other.Provenance) },
	}
}

func riskRule() rule[Risk] {
	return rule[Risk]{
		list: func(o *Output) []Risk { return o.Risks },
		text: func(r Risk) string { return r.Text },
		join: func(first *Risk, other Risk) { first.Severity = higher(first.Severity, other.Severity) },
	}
}

func questionRule() rule[Question] {
	return rule[Question]{
		list: func(o *Output) []Question { return o.Questions },
		text: func(q Question) string { return q.Text },
		join: func(*Question, Question) {},
	}
}

func sourceRule() rule[Source] {
	return rule[Source]{
		list: func(o *Output) []Source { return o.Sources },
		text: func(s Source) string { return s.URL },
		join: func(first *Source, other Source) {
			first.Credibility = higher(first.Credibility, other.Credibility)
			first.Title = cmp.Or(first.Title, other.Title)
		},
	}
}

func patternRule() rule[Pattern] {
	return rule[Pattern]{
		list: func(o *Output) []Pattern { return o.Patterns },
		text: func(p Pattern) string { return p.Text },
		join: func(first *Pattern, other Pattern) { first.Provenance = verify(first.Provenance, other.Provenance) },
	}
}

// merged is an entry with the researchers that have it.
type merged[T any] struct {
	item   T
	seenBy []int
}

// gather merges one list of all answers, which are sorted by index. A duplicate within an
// answer counts once.
func gather[T any](answers []Answer, r rule[T]) []*merged[T] {
	var all []*merged[T]
	known := make(map[string]*merged[T])
	for _, v := range answers {
		if v.Output == nil {
			continue
		}
		for _, item := range r.list(v.Output) {
			key := norm(r.text(item))
			m := known[key]
			if m == nil {
				m = &merged[T]{item: item}
				known[key] = m
				all = append(all, m)
			} else {
				r.join(&m.item, item)
			}
			if !slices.Contains(m.seenBy, v.Index) {
				m.seenBy = append(m.seenBy, v.Index)
			}
		}
	}
	slices.SortFunc(all, func(a, b *merged[T]) int {
		return cmp.Or(cmp.Compare(len(b.seenBy), len(a.seenBy)), strings.Compare(r.text(a.item), r.text(b.item)))
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
