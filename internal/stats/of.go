package stats

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Of reads a ledger's counters, all as of one moment.
//
// # Errors
//
// Errors of the source, and ledger-corrupt if the counters are impossible.
func Of(ctx context.Context, source Source) (Stats, error) {
	return of(ctx, source, 0, counters.DailyRounds(), counters.Daily())
}

// SummaryStanding is the maximum number of tasks in Standing in a Summary.
const SummaryStanding = 10

// Summary is Of without Days and with only the first tasks in Standing, the two lists that
// grow with the ledger.
func Summary(ctx context.Context, source Source) (Stats, error) {
	return of(ctx, source, SummaryStanding)
}

// of reads the daily measures, and at most standings tasks into Standing, 0 for all.
func of(ctx context.Context, source Source, standings int, daily ...counters.Measure) (Stats, error) {
	s, err := read(ctx, source, standings, append(daily,
		counters.Tasks(), counters.BlockedTasks(), counters.Rounds(), counters.Forced(), counters.TaskRounds().Cells(), counters.TaskRounds().Sum(),
		counters.Findings(), counters.Deferred(), counters.Induced(), counters.Commits(), counters.Progress(), counters.Stalled(), counters.Questions(), counters.QuestionWaits().Cells(), counters.QuestionWaits().Sum(),
		counters.Spawns(), counters.Fallbacks(), counters.Retries(), counters.Tokens(), counters.MicroDollars(),
		counters.SpawnRuns().Cells(), counters.SpawnRuns().Sum(),
		counters.Policies(), counters.Adoptions(),
	)...)
	if err != nil {
		return Stats{}, err
	}
	stats := Stats{
		Ledger:   Ledger{Events: s.Events, Since: s.Since, Until: s.Until},
		Tasks:    tasks(s),
		Rounds:   Rounds{Total: s.total(counters.Rounds()), NextActions: s.by(counters.Rounds(), 0), Forced: s.total(counters.Forced())},
		Findings: findings(s),
		Standing: standing(s),
		Policies: policies(s),
	}
	if stats.Days, err = days(s); err != nil {
		return Stats{}, err
	}
	if stats.TaskRounds, err = taskRounds(s); err != nil {
		return Stats{}, err
	}
	if stats.Spawns, err = spawns(s); err != nil {
		return Stats{}, err
	}
	stats.Questions.Asked = s.total(counters.Questions())
	if stats.Questions.Wait, err = s.spread(counters.QuestionWaits()); err != nil {
		return Stats{}, err
	}
	return stats, nil
}

func tasks(s sums) Tasks {
	t := Tasks{Bars: s.by(counters.Commits(), 0)}
	byStatus := map[string]*int64{"open": &t.Open, "waiting": &t.Waiting, "stuck": &t.Stuck, "parked": &t.Parked, "merging": &t.Merging, "committed": &t.Committed}
	for _, row := range s.of(counters.Tasks()) {
		t.Total = plus(t.Total, row.Sum)
		if n := byStatus[row.Values[0]]; n != nil {
			*n = row.Sum
		}
	}
	return t
}

func findings(s sums) Findings {
	m := counters.Findings()
	return Findings{
		Total: s.total(m), Categories: s.by(m, 0), Severities: s.by(m, 1), Routes: s.by(m, 2),
		Progress: s.by(counters.Progress(), 0), Stalled: s.total(counters.Stalled()),
		Deferred: s.by(counters.Deferred(), 0), Induced: s.total(counters.Induced()),
	}
}

func standing(s sums) []Standing {
	rows := s.of(counters.BlockedTasks())
	all := make([]Standing, len(rows))
	for i, row := range rows {
		all[i] = Standing{Status: row.Values[0], Since: row.Values[1], Task: row.Values[2], Why: row.Values[3]}
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.Since, b.Since), cmp.Compare(a.Task, b.Task))
	})
	return all // "stuck" sorts before "waiting".
}

func policies(s sums) []Policy {
	adopted := make(map[[2]string]string)
	for _, row := range s.of(counters.Adoptions()) {
		adopted[[2]string(row.Values)] = row.At
	}
	rows := s.of(counters.Policies())
	all := make([]Policy, len(rows))
	for i, row := range rows {
		all[i] = Policy{
			Version: row.Values[0], Digest: row.Values[1], ADR: row.Values[2],
			Decisions: row.Sum, LastAt: row.At, AdoptedAt: adopted[[2]string(row.Values[:2])],
		}
	}
	slices.SortStableFunc(all, func(a, b Policy) int { return cmp.Compare(b.LastAt, a.LastAt) })
	return all
}

// days joins the daily measures.
func days(s sums) ([]Day, error) {
	byDay := make(map[string]*Day)
	actions := make(map[string]counter)
	for _, m := range []counters.Measure{counters.DailyRounds(), counters.Daily()} {
		for _, row := range s.of(m) {
			day := row.Values[0]
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, corrupt(m, row)
			}
			byDay[day], actions[day] = &Day{Day: day}, make(counter)
		}
	}
	for _, row := range s.of(counters.DailyRounds()) {
		actions[row.Values[0]].add(row.Values[1], row.Sum)
	}
	for _, row := range s.of(counters.Daily()) {
		d := byDay[row.Values[0]]
		what := map[string]*int64{
			counters.DaySpawns: &d.Spawns, counters.DayFallbacks: &d.Fallbacks, counters.DayMicroDollars: &d.MicroDollars,
			counters.DayCommitted: &d.Committed, counters.DayStuck: &d.Stuck,
		}
		if n := what[row.Values[1]]; n != nil {
			*n = row.Sum
		}
	}
	all := make([]Day, 0, len(byDay))
	for day, d := range byDay {
		d.NextActions = actions[day].sorted()
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Day) int { return strings.Compare(a.Day, b.Day) })
	return all, nil
}

func taskRounds(s sums) (TaskRounds, error) {
	d := counters.TaskRounds()
	cells, err := s.cells(d)
	if err != nil {
		return TaskRounds{}, err
	}
	t := TaskRounds{Spread: spreadOf(cells, float64(s.total(d.Sum())))}
	t.Histogram = make([]RoundCount, len(cells))
	for i, c := range cells {
		t.Histogram[i] = RoundCount{Rounds: int(c.upper), Tasks: c.count}
	}
	return t, nil
}

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
				agents[name], outcomes[name] = &Agent{Agent: name}, make(counter)
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
		return map[string]*int64{"in": &u.TokensIn, "out": &u.TokensOut, "cached": &u.TokensCached}[row.Values[1]]
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
