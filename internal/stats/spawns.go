package stats

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// spawns joins the measures of runs, by agent and in total.
func spawns(s sums) (Spawns, error) {
	agents := make(map[string]*Agent)
	outcomes := make(map[string]counter)
	var all Spawns
	// each adds the rows of a measure to their agents' numbers and to the total.
	each := func(m counters.Measure, number func(*Usage, ledger.Counter) *int64) {
		for _, row := range s.of(m) {
			name := row.Values[0]
			if agents[name] == nil {
				agents[name], outcomes[name] = &Agent{Agent: name}, newCounter()
			}
			for _, u := range []*Usage{&agents[name].Usage, &all.Usage} {
				if n := number(u, row); n != nil {
					*n = plus(*n, row.Sum)
				}
			}
		}
	}
	each(counters.Spawns(), func(u *Usage, _ ledger.Counter) *int64 { return &u.Spawns })
	each(counters.Fallbacks(), func(u *Usage, _ ledger.Counter) *int64 { return &u.Fallbacks })
	each(counters.Retries(), func(u *Usage, _ ledger.Counter) *int64 { return &u.Retries })
	each(counters.MicroDollars(), func(u *Usage, _ ledger.Counter) *int64 { return &u.MicroDollars })
	each(counters.Tokens(), func(u *Usage, row ledger.Counter) *int64 {
		switch row.Values[1] {
		case "in":
			return &u.TokensIn
		case "out":
			return &u.TokensOut
		case "cached":
			return &u.TokensCached
		}
		return nil
	})
	for _, row := range s.of(counters.Spawns()) {
		outcomes[row.Values[0]].add(row.Values[2], row.Sum)
	}
	all.Agents = make([]Agent, 0, len(agents))
	for name, a := range agents {
		a.Outcomes = outcomes[name].sorted()
		a.rate()
		all.Agents = append(all.Agents, *a)
	}
	all.rate()
	slices.SortFunc(all.Agents, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.MicroDollars, a.MicroDollars), cmp.Compare(b.Spawns, a.Spawns), cmp.Compare(a.Agent, b.Agent))
	})
	var err error
	all.Run, err = s.spread(counters.SpawnRuns())
	return all, err
}

func (u *Usage) rate() {
	if u.Spawns > 0 {
		u.FallbackRate = float64(u.Fallbacks) / float64(u.Spawns)
	}
}
