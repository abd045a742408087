package inputspace

import (
	"cmp"
	"encoding/binary"
	"strconv"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// AppendKey appends a key of an input's class to b: two inputs have the same key if and
// only if they are in the same class. in must be an input as the policies see it
// (routing.Policy.Read), without findings for destinations that are not of the domain.
func (d *Domain) AppendKey(b []byte, in routing.Input) []byte {
	s := &d.scales
	number := func(scale []span, n int) {
		if len(scale) == 1 {
			return
		}
		i := 0
		for i < len(scale) && scale[i].hi < n {
			i++
		}
		b = binary.AppendUvarint(b, uint64(i))
	}
	for i, name := range d.destinations {
		number(s.routes[i], in.Routes[name])
	}
	for k, n := range kindsOf(in) {
		number(s.kinds[k], n)
	}
	number(s.findings, in.FindingCount)
	number(s.resolved, in.ResolvedCount)
	number(s.stalled, in.StalledRounds)
	number(s.round, in.Round)
	number(s.maxRounds, in.MaxRounds)
	b = append(b, byte(cmp.Compare(in.Round, in.MaxRounds)))
	if len(s.verify) > 1 {
		b = append(b, in.Verify[0])
	}
	if s.facts == nil {
		return b
	}
	left := in.RoundsLeft
	if in.Round > in.HardCap {
		left = -1
	}
	number(s.left, left)
	number(s.facts.deferred, in.DeferredCount)
	number(s.facts.blocking, in.BlockingCount)
	number(s.facts.inducedRounds, in.InducedRounds)
	number(s.facts.firstTime, in.FirstTimeCount)
	number(s.facts.sinceLow, in.ReviewsSinceLow)
	if s.facts.induced != nil {
		known := in.InducedCount != nil
		b = strconv.AppendBool(b, known)
		if known {
			number(s.facts.induced, *in.InducedCount)
		}
	}
	if s.facts.mayExtend {
		b = strconv.AppendBool(b, in.MayExtend)
	}
	if s.facts.confinement {
		b = append(b, in.Confinement...)
	}
	return b
}
