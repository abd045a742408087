package metrics_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/fleet/internal/metrics"
)

// monitoring is where the alerts and the dashboard are.
const monitoring = "../../deploy/prometheus"

type alert struct {
	Alert, Expr string
	Annotations struct{ Runbook string }
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(monitoring, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alert } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// queries returns the queries of the alerts and of the dashboard.
func queries(t *testing.T) (all []string) {
	t.Helper()
	for _, a := range alerts(t) {
		all = append(all, a.Expr)
	}
	text, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMonitoringNames requires that alerts and dashboard use metrics and labels that there
// are, and all of our own, which docs/fleet.md lists.
func TestMonitoringNames(t *testing.T) {
	labels := map[string]string{"up": "job"}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		metrics.Registry(metrics.New("")).Describe(descriptions)
		close(descriptions)
	}()
	for d := range descriptions {
		m := regexp.MustCompile(`fqName: "(\w+)", help: "([^"]*)".* constLabels: \{(.*)\}, variableLabels: \{(.*)\}`).FindStringSubmatch(d.String())
		labels[m[1]] = "job instance le " + m[3] + " " + m[4]
		row := regexp.MustCompile("\n\\| `" + m[1] + "` .*" + regexp.QuoteMeta(" | "+m[2]+" |\n"))
		if strings.HasPrefix(m[1], "switchyard_") && !row.MatchString(page(t)) {
			t.Errorf("%s is not documented", m[1])
		}
	}
	used := make(map[string]bool)
	for _, query := range queries(t) {
		for _, m := range regexp.MustCompile(`\b((?:switchyard|temporal)_\w+|up)\{([^}]*)\}`).FindAllStringSubmatch(query, -1) {
			name := strings.TrimSuffix(m[1], "_bucket")
			used[name] = true
			if labels[name] == "" {
				t.Errorf("there is no metric %s", name)
			}
			for _, label := range regexp.MustCompile(`(\w+)\s*[=!]~?"`).FindAllStringSubmatch(m[2], -1) {
				if !regexp.MustCompile(`\b` + label[1] + `\b`).MatchString(labels[name]) {
					t.Errorf("%s has no label %s", name, label[1])
				}
			}
		}
	}
	for name := range labels {
		if strings.HasPrefix(name, "switchyard_") && !used[name] {
			t.Errorf("%s is not used", name)
		}
	}
}

// TestMonitoringRules runs promtool over the alerts, their tests and the dashboard's
// queries.
func TestMonitoringRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("skipped: promtool of the Debian package prometheus is not installed")
	}
	var rules strings.Builder
	rules.WriteString("groups: [{name: queries, rules: [\n")
	for i, query := range queries(t) {
		fmt.Fprintf(&rules, "{record: query_%d, expr: %q},\n", i, strings.ReplaceAll(query, "$__rate_interval", "5m"))
	}
	rules.WriteString("]}]\n")
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml", file}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = monitoring
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// TestAlertsHaveTestsAndRunbooks looks for both by the name of the alert.
func TestAlertsHaveTestsAndRunbooks(t *testing.T) {
	tests, err := os.ReadFile(filepath.Join(monitoring, "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := alerts(t)
	for _, a := range all {
		if !strings.Contains(string(tests), "alertname: "+a.Alert+"\n") {
			t.Errorf("%s has no test", a.Alert)
		}
		if !strings.Contains(page(t), "\n### "+a.Alert+"\n") || a.Annotations.Runbook != "docs/fleet.md#"+strings.ToLower(a.Alert) {
			t.Errorf("%s has no runbook", a.Alert)
		}
	}
	if len(all) == 0 {
		t.Error("there are no alerts")
	}
}
