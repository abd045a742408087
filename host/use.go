package host

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/policies"
)

// MaxUses is how many policies of a task are listed: of more, those that decided
// last.
const MaxUses = 16

// used notes that a policy decided a round.
func (k *kept) used(p policies.Identity, round int) {
	same := func(u PolicyUse) bool { return u.Policy.Digest == p.Digest }
	uses := slices.Clone(k.Policies) // The state before is not ours to change.
	i := slices.IndexFunc(uses, same)
	if i < 0 {
		if len(uses) == MaxUses {
			oldest := slices.MinFunc(uses, func(a, b PolicyUse) int { return cmp.Compare(a.LastRound, b.LastRound) })
			uses = slices.DeleteFunc(uses, func(u PolicyUse) bool { return u.Policy.Digest == oldest.Policy.Digest })
		}
		i = len(uses)
		uses = append(uses, PolicyUse{Policy: p, FirstRound: round})
	}
	uses[i].Decisions++
	uses[i].LastRound = round
	k.Policies = uses
}
