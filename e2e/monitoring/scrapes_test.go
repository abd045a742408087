package monitoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// way is an exporter by which metrics come to Prometheus.
type way struct {
	name string
	// selector selects its series, and owns does the same for labels.
	selector string
	owns     func(labels map[string]string) bool
}

// served is the scrape of metrics serve, filed that of node_exporter with the text
// file, and pushed that of the Pushgateway, whose series have the job of the push and
// no instance.
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

// ruleFile copies a file of the mixin to dir, with intervals of a second instead of
// minutes. Alerts that would take hours get shorter times and fewer spawns.
func ruleFile(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "metrics", "mixin", name))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(
		"interval: 1m", "interval: 1s", "interval: 5m", "interval: 1s",
		"for: 15m", "for: 2s",
		`{status="stuck"} > 172800`, `{status="stuck"} > 3`,
		"ratio_increase1h > 0.4", "ratio_increase1h > 0.25",
		"increase(switchyard:spawns:sum[1h]) >= 5", "increase(switchyard:spawns:sum[1h]) >= 3",
	).Replace(string(text))
	if err := os.WriteFile(filepath.Join(dir, name), []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
}

// configure writes the configuration of a Prometheus that scrapes all three exporters
// each second, with the rules of the mixin, and returns its path.
func configure(t *testing.T, serve, node, gateway *daemon) string {
	t.Helper()
	dir := t.TempDir()
	ruleFile(t, dir, "rules.yaml")
	ruleFile(t, dir, "alerts.yaml")
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
