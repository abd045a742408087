package inputspace

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// facts is a class of routing.Facts, without the rounds left: they belong to the setting.
type facts struct {
	firstTime, sinceLow, blocking, deferred span
	induced, inducedRounds                  span
	known                                   known
	mayExtend                               bool
	confinement                             confinement.Level
}

// known is whether the number of induced findings is known.
type known int

const (
	either known = iota // no policy reads it
	yes
	no
)

// factScales holds the facts of an input, each divided into spans that no rule
// distinguishes.
type factScales struct {
	deferred, blocking, inducedRounds, firstTime, sinceLow []span
	induced                                                []span // nil if no policy reads it
	// confinement and mayExtend are set if a policy reads the fact.
	confinement, mayExtend bool
}

func newFactScales(u uses) *factScales {
	count := func(field string) []span { return counts.split(u.thresholds[field]) }
	s := &factScales{
		deferred: count("deferred_count"), blocking: count("blocking_count"), inducedRounds: count("induced_rounds"),
		firstTime: count("first_time_count"), sinceLow: count("reviews_since_low"),
		confinement: slices.Contains(u.reads, "confinement"), mayExtend: slices.Contains(u.reads, "may_extend"),
	}
	if u.bar {
		s.deferred = []span{zero}
	}
	if slices.Contains(u.reads, "induced_count") {
		s.induced = count("induced_count")
	}
	return s
}

// all lists every class of facts that the policies distinguish. Some contradict some
// reviews.
func (s *factScales) all() []facts {
	if s == nil {
		return nil
	}
	confinements, induced := []confinement.Level{confinement.None}, []facts{{known: either, induced: counts}}
	if s.confinement {
		confinements = confinement.Levels()
	}
	if s.induced != nil {
		induced = []facts{{known: no}}
		for _, s := range s.induced {
			induced = append(induced, facts{known: yes, induced: s})
		}
	}
	extensions := []bool{false}
	if s.mayExtend {
		extensions = []bool{false, true}
	}
	var all []facts
	for c := range combinations([][]span{s.deferred, s.blocking, s.inducedRounds, s.firstTime, s.sinceLow}) {
		for _, f := range induced {
			for _, level := range confinements {
				for _, extends := range extensions {
					f.deferred, f.blocking, f.inducedRounds, f.firstTime, f.sinceLow = c[0], c[1], c[2], c[3], c[4]
					f.confinement, f.mayExtend = level, extends
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// withFacts lists the classes of r with each of the facts that it can have, or only r if
// no policy sees facts.
func (r review) withFacts(all []facts) []review {
	if all == nil {
		return []review{r}
	}
	var with []review
	for _, f := range all {
		if f.inducedRounds.lo > 0 {
			f.blocking = f.blocking.and(span{1, unbounded})
			f.induced = f.induced.and(span{f.blocking.lo, unbounded})
		}
		if f.sinceLow.lo > 0 {
			f.firstTime = f.firstTime.and(span{1, unbounded})
		}
		least := max(f.blocking.lo, f.firstTime.lo-f.deferred.hi, f.induced.lo-f.deferred.hi)
		can := r
		can.facts = f
		can.findings = r.findings.and(span{least, unbounded})
		if f.mayExtend {
			can.resolved = r.resolved.and(span{1, unbounded})
			can.kinds[repeat], can.kinds[reopened] = r.kinds[repeat].and(zero), r.kinds[reopened].and(zero)
			can.findings = can.findings.and(sum(can.kinds[:]))
		}
		if f.blocking.empty() || f.induced.empty() || f.firstTime.empty() || can.findings.empty() || can.resolved.empty() ||
			can.kinds[repeat].empty() || can.kinds[reopened].empty() ||
			f.inducedRounds.lo > 0 && f.known == no {
			continue
		}
		with = append(with, can)
	}
	return with
}

// write writes the facts that choose selects to in, which has its counts.
func (f facts) write(in *routing.Input, choose chooser) {
	to := in.Facts
	to.DeferredCount = choose.number(f.deferred.and(span{max(f.firstTime.lo, f.induced.lo) - in.FindingCount, unbounded}))
	findings := in.FindingCount + to.DeferredCount
	to.FirstTimeCount = choose.number(f.firstTime.and(span{0, findings}))
	if to.ReviewsSinceLow = choose.number(f.sinceLow); to.FirstTimeCount == 0 {
		to.ReviewsSinceLow = f.sinceLow.lo
	}
	most := in.FindingCount
	if f.inducedRounds.lo > 0 {
		most = min(most, f.induced.hi)
	}
	to.BlockingCount = choose.number(f.blocking.and(span{0, most}))
	to.InducedRounds = choose.number(f.inducedRounds)
	induced := f.induced.and(span{to.BlockingCount, findings})
	if to.BlockingCount == 0 || induced.empty() || f.known == no {
		to.InducedRounds, induced = f.inducedRounds.lo, f.induced.and(span{0, findings})
	}
	if f.known == yes || to.InducedRounds > 0 || f.known == either && !choose.absent() {
		to.InducedCount = new(choose.number(induced))
	}
	to.MayExtend, to.Confinement = f.mayExtend, f.confinement
}
