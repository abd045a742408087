package monitoring

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/policies"
)

// timeout is Prometheus's time limit to see a change, with a scrape each second.
const timeout = 20 * time.Second

// bench is a project with all programs that monitor it.
type bench struct {
	*project
	programs             programs
	serve, node, gateway *daemon
	prometheus           server
	// plain is a Prometheus without optional features: it scrapes metrics serve as
	// OpenMetrics.
	plain  server
	config string
}

func TestMonitoring(t *testing.T) {
	b := setUp(t)
	// Counters that were never counted are exported as 0: the project has no ledger
	// yet.
	b.arrives(t, "nothing recorded")
	b.work(t)
	b.arrives(t, "after the workload")
	t.Run("values", b.values)
	t.Run("histograms", b.histograms)
	t.Run("exemplars", b.exemplars)
	t.Run("alerts", b.alerts)
	t.Run("parallel", b.parallel)
	t.Run("killed", b.killed)
	t.Run("scrapes", b.scrapes)
	t.Run("promtool", b.promtool)
	t.Run("gone", b.gone)
}

// setUp starts all programs, in the order of their dependencies.
func setUp(t *testing.T) *bench {
	b := &bench{programs: needPrograms(t)}
	b.project = newProject(t, scenarios()...)
	b.node = start(t, "node_exporter", exec.Command(b.programs.nodeExporter, "--web.listen-address=127.0.0.1:0",
		"--collector.disable-defaults", "--collector.textfile", "--collector.textfile.directory="+b.textfiles))
	// By default, Debian's persists to a system-wide file.
	b.gateway = start(t, "pushgateway", exec.Command(b.programs.gateway, "--web.listen-address=127.0.0.1:0", "--persistence.file="))
	for name, text := range reports() {
		b.write(t, name, text)
	}
	b.write(t, "switchyard.yaml", `spawn: {timeout: 60s, retries: 0, fallback_on_error: [codex]}
plugin_paths: [puppet.wasm]
plugins: {puppet: {do: trap}}
metrics: {textfile: "`+b.textfiles+`/switchyard.prom", push: "`+b.gateway.url+`", labels: {team: review}}
`)
	puppet, err := os.ReadFile("../../plugins/testdata/hostile/puppet.wasm")
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "puppet.wasm", string(puppet))
	b.must(t, "plugin", "lock")
	serve := exec.Command(b.switchyard, "metrics", "serve", "--listen", "127.0.0.1:0")
	serve.Dir, serve.Env = b.dir, b.env
	b.serve = start(t, "switchyard metrics serve", serve)
	if health, err := b.serve.get(t.Context(), "/healthz"); err != nil {
		t.Errorf("%v: %s", err, health)
	}
	b.config = configure(t, b.serve, b.node, b.gateway)
	b.prometheus = server{start(t, "prometheus", exec.Command(b.programs.prometheus, "--config.file="+b.config,
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0", "--enable-feature=native-histograms,exemplar-storage"))}
	b.plain = server{start(t, "prometheus without features", exec.Command(b.programs.prometheus, "--config.file="+b.config,
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0"))}
	// Before the first event there is neither a file nor a push.
	b.must(t, "metrics", "textfile", b.textfiles+"/switchyard.prom")
	b.must(t, "metrics", "push", b.gateway.url)
	return b
}

// arrives waits until Prometheus has, by each exporter, the output of metrics print.
func (b *bench) arrives(t *testing.T, when string) {
	t.Helper()
	if b.late.Swap(0) > 0 {
		t.Log("a push took too long, and is made up for")
		b.must(t, "metrics", "push", b.gateway.url)
	}
	want := b.printed(t)
	for _, s := range []server{b.prometheus, b.plain} {
		for _, w := range ways() {
			await(t, timeout, func() error {
				got, err := s.metrics(t.Context(), w, want)
				if err != nil {
					return err
				}
				if differ := want.differences(got); differ != nil {
					return fmt.Errorf("%s, %s by %s: %d differences, the first: %q", when, s.name, w.name, len(differ), differ[:min(len(differ), 5)])
				}
				return nil
			})
		}
	}
	t.Logf("%s: %d samples are the same by all ways", when, len(want))
}

// values compares Prometheus with the workload and with the export.
func (b *bench) values(t *testing.T) {
	events, bodies := b.exported(t)
	want := expected()
	var tokensIn, tokensOut, cost int64
	for _, body := range bodies {
		tokensIn, tokensOut, cost = tokensIn+body.Spawn.In, tokensOut+body.Spawn.Out, cost+body.Spawn.Cost
	}
	if tokensIn == 0 || cost == 0 {
		t.Error("the export has no tokens and no cost")
	}
	want[`switchyard_ledger_events_total{WAY}`] = float64(len(events))
	want[`switchyard_spawn_tokens_total{agent="critic",direction="in",WAY}`] = float64(tokensIn)
	want[`switchyard_spawn_tokens_total{agent="critic",direction="out",WAY}`] = float64(tokensOut)
	want[`switchyard_spawn_cost_dollars_total{agent="critic",WAY}`] = float64(cost) / 1e6
	want[`switchyard_ledger_last_event_timestamp_seconds{WAY}`] = seconds(events[len(events)-1].Time())
	// The oldest stuck and waiting tasks are the only ones, S and W.
	for task, status := range map[string]string{"S": "stuck", "W": "waiting"} {
		i := slices.IndexFunc(events, func(e ledger.Event) bool { return e.Task == task })
		want[`switchyard_tasks_oldest_timestamp_seconds{status="`+status+`",WAY}`] = seconds(events[i].Time())
	}
	for expr, value := range want {
		for _, w := range ways() {
			got, err := b.prometheus.one(t.Context(), strings.ReplaceAll(expr, "WAY", w.selector))
			// Times have more digits than a number of seconds.
			if err != nil || math.Abs(got-value) > math.Abs(value)*1e-12 {
				t.Errorf("by %s, %s is %v, not %v (%v)", w.name, expr, got, value, err)
			}
		}
	}
	// All counters were 0 when the ledger was created.
	created := `{__name__=~"switchyard_[a-z_]+_created",` + served().selector + `}`
	for _, expr := range []string{"min(" + created + ")", "max(" + created + ")"} {
		got, err := b.plain.one(t.Context(), expr)
		if began := seconds(events[0].Time()); err != nil || math.Abs(got-began) > 1e-3 {
			t.Errorf("%s is %v, not %v (%v)", expr, got, began, err)
		}
	}
}

// histograms compares the counts with the workload, native and classic.
func (b *bench) histograms(t *testing.T) {
	want := expectedCounts()
	printed := b.printed(t)
	for _, w := range ways() {
		got, err := b.prometheus.metrics(t.Context(), w, printed)
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range want {
			key = strings.NewReplacer("{}", `{team="review"}`, `"}`, `",team="review"}`).Replace(key)
			if n, ok := got[key]; !ok || n != value {
				t.Errorf("by %s, %s is %v, not %v", w.name, key, n, value)
			}
		}
	}
	// Three of four tasks took two rounds, so the median is two: its native bucket is
	// at most 9 % wide.
	median, err := b.prometheus.one(t.Context(), `histogram_quantile(0.5, switchyard_task_rounds{`+served().selector+`})`)
	if err != nil || median < 1.83 || median > 2 {
		t.Errorf("the median of rounds is %v (%v)", median, err)
	}
	classic, err := b.prometheus.one(t.Context(), `histogram_quantile(0.5, switchyard_task_rounds_bucket{`+filed().selector+`})`)
	if err != nil || classic <= 1 || classic > 2 {
		t.Errorf("the median by classic buckets is %v (%v)", classic, err)
	}
}

// exemplars tests that exemplars name tasks and rounds of the ledger.
func (b *bench) exemplars(t *testing.T) {
	for selector, tasks := range map[string]string{
		"switchyard_task_rounds":            "A1 A2 B1 F2 Q2",
		"switchyard_question_wait_seconds":  "Q1",
		"switchyard_spawn_duration_seconds": "F1 F2",
	} {
		found, err := b.prometheus.exemplars(t.Context(), selector)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Errorf("%s has no exemplars", selector)
		}
		for _, e := range found {
			if name := e.Labels["task"] + e.Labels["round"]; !slices.Contains(strings.Fields(tasks), name) {
				t.Errorf("%s has an exemplar of %v, and not of one of %s", selector, e.Labels, tasks)
			}
		}
	}
}

// alerts tests that the expected alerts fire, by each exporter, and no others.
func (b *bench) alerts(t *testing.T) {
	want := []string{"SwitchyardFallbackRateHigh", "SwitchyardTasksStuckTooLong"}
	for _, w := range ways() {
		await(t, timeout, func() error {
			got, err := b.prometheus.firing(t.Context(), w)
			if err != nil {
				return err
			}
			for _, name := range want {
				if _, ok := got[name]; !ok {
					return fmt.Errorf("by %s, %s does not fire", w.name, name)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				return fmt.Errorf("by %s, there are also %v", w.name, got)
			}
			return nil
		})
		// One of three spawns used a fallback. Rules on a histogram work whether it is
		// native or not. The rules may have read some of the samples before the others.
		for _, rule := range []struct {
			name string
			ok   func(float64) bool
		}{
			{"switchyard:spawn_fallbacks_per_spawns:ratio_increase1h", near(1.0 / 3)},
			{"switchyard:task_rounds:mean_increase7d", near(7.0 / 4)},
			{"switchyard:spawn_duration_seconds:p95_increase1d", func(took float64) bool { return took > 0 && took <= 60 }},
		} {
			await(t, timeout, func() error {
				value, err := b.prometheus.one(t.Context(), rule.name+"{"+w.selector+"}")
				if err == nil && !rule.ok(value) {
					err = fmt.Errorf("by %s, %s is %v", w.name, rule.name, value)
				}
				return err
			})
		}
	}
	b.healthyRules(t)
}

// near returns a test for a value, apart from rounding.
func near(want float64) func(float64) bool {
	return func(got float64) bool { return math.Abs(got-want) < 1e-3 }
}

// healthyRules fails if Prometheus could not evaluate a rule.
func (b *bench) healthyRules(t *testing.T) {
	var data struct {
		Groups []struct {
			Rules []struct {
				Name      string `json:"name"`
				Health    string `json:"health"`
				LastError string `json:"lastError"`
			} `json:"rules"`
		} `json:"groups"`
	}
	if err := b.prometheus.call(t.Context(), "/api/v1/rules", nil, &data); err != nil {
		t.Fatal(err)
	}
	rules := 0
	for _, group := range data.Groups {
		for _, rule := range group.Rules {
			if rules++; rule.Health != "ok" {
				t.Errorf("rule %s is %s: %s", rule.Name, rule.Health, rule.LastError)
			}
		}
	}
	if rules < 20 {
		t.Errorf("there are only %d rules", rules)
	}
}

// parallel runs rounds in several processes at once. No counter may fall.
func (b *bench) parallel(t *testing.T) {
	watchers := []*watcher{watch(t, b.serve), watch(t, b.node), watch(t, b.gateway)}
	recorded, _ := crowd{name: "C", workers: 4, each: 8}.run(t, b.project)
	for _, w := range watchers {
		w.finish()
	}
	b.counted(t, recorded)
	b.arrives(t, "after rounds in parallel")
	for _, w := range ways() {
		b.noResets(t, w)
	}
}

// killed does the same with processes that are killed. A push of a killed process may
// still be on its way to the gateway and arrive after the next one, so the gateway's
// values in between are not checked.
func (b *bench) killed(t *testing.T) {
	watchers := []*watcher{watch(t, b.serve), watch(t, b.node)}
	recorded, killed := crowd{name: "K", workers: 4, each: 12, killed: true}.run(t, b.project)
	for _, w := range watchers {
		w.finish()
	}
	t.Logf("%d processes were killed", killed)
	if killed < 5 {
		t.Error("too few for a test")
	}
	b.must(t, "round", "last", "--report", "clean.json") // Its file and push have all counters.
	b.counted(t, recorded)
	b.must(t, "ledger", "verify")
	b.arrives(t, "after processes were killed")
	// The next write removes the files that killed processes left in node_exporter's directory.
	left, err := os.ReadDir(b.textfiles)
	if err != nil || len(left) != 1 || left[0].Name() != "switchyard.prom" {
		t.Errorf("the directory of text files has %v (%v)", left, err)
	}
	for _, w := range []way{served(), filed()} {
		b.noResets(t, w)
	}
}

// counted compares the number of rounds in metrics print with that in the export, which must be
// at least least.
func (b *bench) counted(t *testing.T, least int) {
	t.Helper()
	_, bodies := b.exported(t)
	decided := make(map[string]float64)
	var all float64
	for _, body := range bodies {
		if action := body.Decision.NextAction; action != "" {
			decided[action]++
			all++
		}
	}
	if int(all) < least {
		t.Errorf("the ledger has %v rounds, and %d were reported as recorded", all, least)
	}
	printed := b.printed(t)
	for action, n := range decided {
		key := keyOf("switchyard_rounds_total", map[string]string{"next_action": action, "policy_version": strings.TrimPrefix(policies.Default, "routing@"), "team": "review"})
		if printed[key] != n {
			t.Errorf("%s is %v, and the export has %v", key, printed[key], n)
		}
	}
}

// noResets fails if Prometheus saw a counter fall.
func (b *bench) noResets(t *testing.T, w way) {
	t.Helper()
	for _, f := range metrics.Families() {
		exprs := []string{f.Name}
		switch f.Kind {
		case metrics.Gauge:
			continue
		case metrics.Histogram:
			exprs = []string{f.Name + "_count", f.Name + "_bucket"}
		}
		for _, expr := range exprs {
			vector, err := b.prometheus.query(t.Context(), `resets(`+expr+`{`+w.selector+`}[1h]) > 0`)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range vector {
				t.Errorf("by %s, %s was reset: %v", w.name, expr, v.Metric)
			}
		}
	}
}

// scrapes fails if a scrape has failed.
func (b *bench) scrapes(t *testing.T) {
	for expr, want := range map[string]float64{
		`min(min_over_time(up[1h]))`: 1,
		`count(up)`:                  3,
		`max(max_over_time(node_textfile_scrape_error[1h]))`:    0,
		`max(push_failure_time_seconds{job="switchyard"})`:      0,
		`count(node_textfile_mtime_seconds{file=~".+\\.prom"})`: 1,
	} {
		if got, err := b.prometheus.one(t.Context(), expr); err != nil || got != want {
			t.Errorf("%s is %v, not %v (%v)", expr, got, want, err)
		}
	}
	if n, err := b.prometheus.one(t.Context(), `min(count_over_time(up[1h]))`); err != nil || n < 5 {
		t.Errorf("there were only %v scrapes (%v)", n, err)
	}
}

// gone tests that alerts fire for exporters that have ended, and that nothing is left
// of a deleted push.
func (b *bench) gone(t *testing.T) {
	b.must(t, "metrics", "push", b.gateway.url, "--delete")
	if err := b.serve.stop(t); err != nil {
		t.Errorf("metrics serve ended with %v", err)
	}
	await(t, timeout, func() error {
		left, err := b.prometheus.query(t.Context(), `{__name__=~"switchyard_[a-z_]+",job="switchyard"}`)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there are still %d series, as %v", len(left), left[0].Metric)
		}
		return err
	})
	text, err := b.gateway.get(t.Context(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if left, err := parse(text); err != nil || len(left) > 0 {
		t.Errorf("the gateway still shows %d samples (%v)", len(left), err)
	}
	for _, want := range []struct {
		way   way
		alert string
	}{
		{served(), "SwitchyardExporterDown"},
		{served(), "SwitchyardExporterStale"},
		{pushed(), "SwitchyardExporterStale"},
	} {
		await(t, timeout, func() error {
			got, err := b.prometheus.firing(t.Context(), want.way)
			if _, ok := got[want.alert]; err == nil && !ok {
				err = errors.New("by " + want.way.name + ", " + want.alert + " does not fire")
			}
			return err
		})
	}
	if got, err := b.prometheus.firing(t.Context(), filed()); err != nil || got["SwitchyardExporterStale"].State != "" {
		t.Errorf("the text file is there: %v (%v)", got, err)
	}
}
