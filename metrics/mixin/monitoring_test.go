package mixin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/metrics"
)

const docs = "../../docs"

func TestMonitoringPageListsTheRules(t *testing.T) {
	doccheck.Table(t, docs, "monitoring.md", "records", recordTable(RecordingRules(metrics.Families(), Default())))
	doccheck.Table(t, docs, "monitoring.md", "alerts", alertTable(Alerts(Default())))
}

// TestEveryAlertHasARunbook: in the order of the alerts, and there is none for an alert
// that there is not.
func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(docs, "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, found := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllSubmatch(page, -1) {
		got = append(got, string(found[1]))
	}
	for _, g := range Alerts(Default()) {
		for _, r := range g.Rules {
			want = append(want, r.Alert)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("runbooks are for\n%v\nand alerts are\n%v", got, want)
	}
}

// TestRunbooksNamePanels: what a runbook calls a panel is one.
func TestRunbooksNamePanels(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(docs, "monitoring.md"))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, r := range Overview().Rows {
		for _, p := range r.Panels {
			titles = append(titles, p.Title)
		}
	}
	named := regexp.MustCompile(`[^*]\*([A-Z][^*]+)\*[^*]`).FindAllSubmatch(page, -1)
	if len(named) < 5 {
		t.Errorf("only %d panels are named", len(named))
	}
	for _, found := range named {
		if !slices.Contains(titles, string(found[1])) {
			t.Errorf("there is no panel %q", found[1])
		}
	}
}
