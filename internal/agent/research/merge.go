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
//     researchers count as asked: otherwise one successful researcher of three would be a
//     majority.
//   - A pattern is accepted if at least two researchers saw it, or the only one asked.
//   - Risks, questions and sources are united, each with its highest level.
//
// Wording and confidence are taken from the answer with the lowest index. A decision or
// pattern is verified if one answer verified it; agreement does not verify it. Entries are
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
	c.Risks = gather(answers, func(o *Output) []Risk { return o.Risks })
	c.Questions = gather(answers, func(o *Output) []Question { return o.Questions })
	c.Sources = gather(answers, func(o *Output) []Source { return o.Sources })
	for _, p := range gather(answers, func(o *Output) []Pattern { return o.Patterns }) {
		if len(p.SeenBy) >= min(2, k) {
			c.Patterns = append(c.Patterns, p)
		} else {
			p.Provenance = Assumed
			c.Demoted = append(c.Demoted, p)
		}
	}
	return c
}

// decide splits the decisions by whether a majority made them.
func (c *Consensus) decide(answers []Answer, majority int) {
	sum, all := 0, gather(answers, func(o *Output) []Decision { return o.Decisions })
	for _, d := range all {
		d.Agreement = len(d.SeenBy)
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

// entry points to an entry of a list.
type entry[T any] interface {
	*T
	// key returns the text by which entries are recognized as the same.
	key() string
	// join merges an entry with the same key into this one.
	join(other T)
	seen() *Seen
}

func (d *Decision) key() string { return d.Text }
func (r *Risk) key() string     { return r.Text }
func (q *Question) key() string { return q.Text }
func (s *Source) key() string   { return s.URL }
func (p *Pattern) key() string  { return p.Text }

func (d *Decision) join(other Decision) { d.Provenance = verify(d.Provenance, other.Provenance) }
func (r *Risk) join(other Risk)         { r.Severity = higher(r.Severity, other.Severity) }
func (q *Question) join(Question)       {}
func (s *Source) join(other Source) {
	s.Credibility, s.Title = higher(s.Credibility, other.Credibility), cmp.Or(s.Title, other.Title)
}
func (p *Pattern) join(other Pattern) { p.Provenance = verify(p.Provenance, other.Provenance) }

// gather merges one list of all answers, which are sorted by index. A duplicate within an
// answer counts once.
func gather[T any, P entry[T]](answers []Answer, list func(*Output) []T) []T {
	var all []T
	known := make(map[string]int)
	for _, v := range answers {
		if v.Output == nil {
			continue
		}
		for _, item := range list(v.Output) {
			key := norm(P(&item).key())
			at, ok := known[key]
			if ok {
				P(&all[at]).join(item)
			} else {
				at, known[key] = len(all), len(all)
				P(&item).seen().SeenBy = nil // A value in the answer does not count.
				all = append(all, item)
			}
			if s := P(&all[at]).seen(); !slices.Contains(s.SeenBy, v.Index) {
				s.SeenBy = append(s.SeenBy, v.Index)
			}
		}
	}
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(len(P(&b).seen().SeenBy), len(P(&a).seen().SeenBy)), strings.Compare(P(&a).key(), P(&b).key()))
	})
	return all
}

// norm returns the text in the form that is compared.
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
