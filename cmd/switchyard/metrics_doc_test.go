package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestMetricsPage follows the page in a project with a finished task and an open one.
func TestMetricsPage(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	t.Parallel()
	run := newProject(t, "")
	if out, err := run("switchyard round M001-S001-T0001 --report trace.json && switchyard round M001-S001-T0001 --report clean.json --verify green && switchyard round B --report gosec-logrus.sarif"); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	follow(t, "docs/metrics.md", true, run)
}

// TestMetricsPageConfiguration tests that the page's switchyard.yaml is valid, and that
// the metrics have its label.
func TestMetricsPageConfiguration(t *testing.T) {
	t.Parallel()
	run := newProject(t, yamlOf(t, "metrics.md"))
	out, err := run("switchyard metrics print")
	if err != nil || !strings.Contains(out, `switchyard_tasks{project="shop",status="open"} 0`) {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestMonitoringPageConfiguration tests that the rules which the page has Prometheus
// load exist. Prometheus itself checks the rest (e2e/monitoring).
func TestMonitoringPageConfiguration(t *testing.T) {
	t.Parallel()
	var config struct {
		RuleFiles []string `yaml:"rule_files"`
		Scrapes   []any    `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(yamlOf(t, "monitoring.md")), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.RuleFiles) == 0 || len(config.Scrapes) == 0 {
		t.Errorf("the page's configuration has no rules or no jobs: %+v", config)
	}
	for _, file := range config.RuleFiles {
		if _, err := os.Stat(filepath.Join(repository, "metrics", "mixin", path.Base(file))); err != nil {
			t.Error(err)
		}
	}
}

// TestMetricsPagesNameCommands tests that the commands and flags in an alert's runbook
// exist.
func TestMetricsPagesNameCommands(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"metrics.md", "monitoring.md"} {
		named := inline().FindAllStringSubmatch(pageText(t, page), -1)
		if len(named) < 5 {
			t.Errorf("%s names only %d commands", page, len(named))
		}
		for _, m := range named {
			words := strings.Fields(m[1] + m[2])
			if problem := unknownIn(words); problem != "" {
				t.Errorf("%s: switchyard %s: %s", page, strings.Join(words, " "), problem)
			}
		}
	}
}

// unknownIn returns the word of a command line that is neither a command nor a flag of
// it, or "". Words in capitals are placeholders.
func unknownIn(words []string) string {
	cmd, rest, err := newRootCmd(&app{}, nil).Find(words)
	if err != nil {
		return err.Error()
	}
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		switch {
		case isFlag && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil:
			return "there is no flag --" + name
		case !isFlag && cmd.HasAvailableSubCommands():
			return "there is no command " + word
		}
	}
	return ""
}

// inline matches a command in prose, where a line may end within it. The exporters are
// also named without the program.
func inline() *regexp.Regexp {
	return regexp.MustCompile("`(?:switchyard\\s([^`]+)|(metrics\\s[^`]+))`")
}

// yamlOf returns the first YAML of a page.
func yamlOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(pageText(t, page), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatalf("%s shows no configuration", page)
	}
	return text
}

// pageText returns a page of docs.
func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
