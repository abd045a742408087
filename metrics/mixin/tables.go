package mixin

import (
	"fmt"
	"strings"
)

// recordTable lists what the rules record, for docs/monitoring.md.
func recordTable(groups []Group) string {
	var b strings.Builder
	b.WriteString("| series | what it is |\n|---|---|\n")
	for _, g := range groups {
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.Record, r.Meaning)
		}
	}
	return b.String()
}

// alertTable lists the alerts, for docs/monitoring.md.
func alertTable(groups []Group) string {
	var b strings.Builder
	b.WriteString("| alert | severity | fires when | for |\n|---|---|---|---|\n")
	for _, g := range groups {
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.Alert, strings.ToLower(r.Alert), r.Labels.Severity, r.Meaning, r.For)
		}
	}
	return b.String()
}
