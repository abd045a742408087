package oracle

import (
	"math/big"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// sample is one number of an exposition.
type sample struct {
	// metric is the whole name of the sample: for a histogram, of its buckets, count or
	// sum. A native histogram's cells are named like buckets, with a label cell.
	metric string
	labels map[string]string
	value  float64
}

// cell reports whether the sample is a cell of a native histogram.
func (s sample) cell() bool { return s.labels["cell"] != "" }

// samples maps keys to samples.
type samples map[string]sample

// put adds a sample and reports whether its key is new.
func (s samples) put(metric string, labels map[string]string, value float64) bool {
	key := seriesOf(metric, labels)
	_, known := s[key]
	s[key] = sample{metric, labels, value}
	return !known
}

// labelled returns the labels of a metric with their values.
func labelled(names, values []string, more ...string) map[string]string {
	labels := make(map[string]string)
	for i, name := range names {
		labels[name] = values[i]
	}
	for i := 0; i < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return labels
}

// samples returns the expected exposition of the events so far.
func (r *Recount) samples() samples {
	all := make(samples)
	show := func(name string, n int64, values ...string) {
		m := r.metrics[name]
		all.put(prefix+name, labelled(m.labels, values), per(n, m.perUnit))
	}
	for _, s := range r.sums {
		switch s.metric {
		case "policy_info":
			show(s.metric, 1, s.values...)
			continue
		case "policy_adoptions_total":
			show("policy_adopted_timestamp_seconds", millis(s.at), s.values...)
		}
		show(s.metric, s.n, s.values...)
	}
	for _, h := range r.histograms {
		h.samples(all)
	}
	show("ledger_events_total", r.events)
	if r.until != "" {
		show("ledger_last_event_timestamp_seconds", millis(r.until))
	}
	for agent, ran := range r.levels {
		if ran == "" {
			ran = "none"
		}
		show("spawn_confinement", 1, agent, ran)
	}
	r.tasks(show)
	return all
}

// tasks shows the status of the tasks.
func (r *Recount) tasks(show func(name string, n int64, values ...string)) {
	number := make(map[string]int64)
	oldest := make(map[string]string)
	most := make(map[string]int64)
	for _, c := range r.chains {
		if !c.isTask || c.status == "" {
			continue
		}
		number[c.status]++
		if since, ok := oldest[c.status]; (c.status == "waiting" || c.status == "stuck") && (!ok || c.since < since) {
			oldest[c.status] = c.since
		}
		if c.status == "committed" || c.status == "merging" {
			continue
		}
		for _, budget := range []struct {
			name                 string
			spent, limit, raised int64
		}{
			{"task-time", c.spent.Millis, c.limits.Task.Millis, c.raised.Task.Millis},
			{"task-tokens", c.spent.Tokens, c.limits.Task.Tokens, c.raised.Task.Tokens},
			{"task-dollars", c.spent.MicroDollars, c.limits.Task.MicroDollars, c.raised.Task.MicroDollars},
			{"task-rounds", c.rounds(), c.limits.Rounds, c.raised.Rounds},
		} {
			if budget.limit > 0 {
				limit := amount{Millis: budget.limit}
				limit.add(amount{Millis: budget.raised})
				most[budget.name] = max(most[budget.name], thousandths(budget.spent, limit.Millis))
			}
		}
	}
	for status, n := range number {
		show("tasks", n, status)
	}
	for status, since := range oldest {
		show("tasks_oldest_timestamp_seconds", millis(since), status)
	}
	for budget, n := range most {
		show("budget_used_ratio_max", n, budget)
	}
}

func (h *histogram) samples(all samples) {
	name := prefix + h.metric.name
	of := func(more ...string) map[string]string { return labelled(h.metric.labels, h.values, more...) }
	for i, b := range h.metric.borders {
		all.put(name+"_bucket", of("le", float(b.float())), float64(h.buckets[i]))
	}
	all.put(name+"_bucket", of("le", "+Inf"), float64(h.count))
	all.put(name+"_count", of(), float64(h.count))
	all.put(name+"_sum", of(), per(h.sum, h.metric.perUnit))
	for i, n := range h.cells {
		all.put(name+"_bucket", of("cell", strconv.Itoa(i)), float64(n))
	}
	all.put(name+"_bucket", of("cell", "zero"), float64(h.zero))
}

// float formats a number as in the text format.
func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// per returns the float64 nearest to n/perUnit.
func per(n, perUnit int64) float64 {
	x, _ := big.NewRat(n, perUnit).Float64()
	return x
}

func timeOf(at string) time.Time { return ledger.Event{At: at}.Time() }

// millis returns an event's time in milliseconds since 1970, the resolution of metrics.
func millis(at string) int64 { return timeOf(at).UnixMilli() }

// thousandths returns part/whole in thousandths, at most 999999.
func thousandths(part, whole int64) int64 {
	n := new(big.Int).Mul(big.NewInt(part), big.NewInt(1000))
	n.Quo(n, big.NewInt(whole))
	if most := big.NewInt(999_999); n.Cmp(most) > 0 {
		n = most
	}
	return n.Int64()
}
