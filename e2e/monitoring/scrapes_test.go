package monitoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/metrics/mixin"
)

// way is one of those by which metrics come to Prometheus.
type way struct {
	name string
	// selector selects its series, and owns does the same for labels.
	selector string
	owns     func(labels map[string]string) bool
}

// served is the scrape of metrics serve, filed that of node_exporter with the text
// file, and pushed that of the Pushgateway, whose series have the job that they were
// pushed as and no instance.
func served() way {
	return way{"serve", `job="switchyard",instance!=""`, func(l map[string]string) bool { return l["job"] == "switchyard" && l["instance"] != "" }}
}

func filed() way {
	return way{"textfile", `job="node"`, func(l map[string]string) bool { return l["job"] == "node" }}
}

func pushed() way {
	return way{"push", `job="switchyard",instance=""`, func(l map[string]string) bool { return l["job"] == "switchyard" && l["instance"] == "" }}
}

func ways() []way { return []way{served(), filed(), pushed()} }

// thresholds are those of the mixin, except where an alert would take hours: for how
// long a condition must hold, when a stuck task has stood for too long, and how many
// spawns make a rate. A waiting task keeps its day, so that its alert must not fire.
func thresholds() mixin.Thresholds {
	t := mixin.Default()
	t.For = 2 * time.Second
	t.Stuck = 3 * time.Second
	t.FallbackHour, t.SpawnsHour = 0.25, 3
	return t
}

// ruleFile writes rules that are evaluated each second, and not each minute.
func ruleFile(t *testing.T, dir, name string, groups []mixin.Group) {
	t.Helper()
	for i := range groups {
		groups[i].Interval = "1s"
	}
	text, err := yaml.Marshal(map[string]any{"groups": groups})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// configure writes the configuration of a Prometheus that scrapes all three ways each
// second, with the rules of the mixin, and returns its path.
func configure(t *testing.T, serve, node, gateway *daemon) string {
	t.Helper()
	dir := t.TempDir()
	ruleFile(t, dir, "rules.yaml", mixin.RecordingRules(metrics.Families(), thresholds()))
	ruleFile(t, dir, "alerts.yaml", mixin.Alerts(thresholds()))
	host := func(d *daemon) string { return strings.TrimPrefix(d.url, "http://") }
	path := filepath.Join(dir, "prometheus.yml")
	text := `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml, alerts.yaml]
scrape_configs:
  - job_name: switchyard
    static_configs: [{targets: ["` + host(serve) + `"]}]
  - job_name: node
    static_configs: [{targets: ["` + host(node) + `"]}]
  - job_name: pushgateway
    honor_labels: true
    static_configs: [{targets: ["` + host(gateway) + `"]}]
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
