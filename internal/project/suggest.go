package project

import (
	"bufio"
	"bytes"
	"context"
	"strings"
)

// Suggestion is what a new switchyard.yaml proposes, as comments.
type Suggestion struct {
	// Verify is a command that verifies a draft, "" for an example.
	Verify string
	// Reports are commands for reports, none for an example.
	Reports []ReportCommand
}

// Suggest looks at what the folder holds: a file that its build tool or its package
// manager reads says what there is to verify and to report with. What cannot be read
// is not there.
func (p Project) Suggest(ctx context.Context) Suggestion {
	in := Project{Root: p.Dir, Dir: p.Dir}
	var s Suggestion
	for _, tool := range []struct {
		file, verify string
		report       ReportCommand
	}{
		{"go.mod", "go test ./...", ReportCommand{Run: "staticcheck -f sarif ./...", Plugin: "sarif", Paths: []string{"**/*.go"}}},
		{"package.json", "npm test", ReportCommand{Run: "npx eslint -f json .", Plugin: "eslint", Paths: []string{"**/*.js", "**/*.ts"}}},
		{"pyproject.toml", "python -m pytest", ReportCommand{Run: "ruff check --output-format sarif .", Plugin: "sarif", Paths: []string{"**/*.py"}}},
		{"Cargo.toml", "cargo test", ReportCommand{}},
	} {
		if !in.Exists(tool.file) {
			continue
		}
		if s.Verify == "" {
			s.Verify = tool.verify
		}
		if tool.report.Run != "" {
			s.Reports = append(s.Reports, tool.report)
		}
	}
	// A Makefile that tests says best how.
	if data, err := in.Read(ctx, "Makefile", maxConfig); err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "test:") {
				s.Verify = "make test"
			}
		}
	}
	return s
}

// lines are those of the commands for reports in a new switchyard.yaml.
func (s Suggestion) lines() []line {
	reports := s.Reports
	if len(reports) == 0 {
		reports = []ReportCommand{{Run: "staticcheck -f sarif ./...", Plugin: "sarif", Paths: []string{"**/*.go"}}}
	}
	var all []line
	for _, r := range reports {
		patterns := "['" + strings.Join(r.Paths, "', '") + "']"
		all = append(all,
			line{"  - run: " + r.Run, "a line for the shell that writes a report to standard output", false},
			line{"    plugin: " + r.Plugin, "that reads it (default auto: the one that recognises it)", false},
			line{"    exit_codes: [1]", "besides 0, those that mean findings (default 1); any other is a failure", false},
			line{"    timeout: 5m", "1s to 2h (default 5m)", false},
			line{"    paths: " + patterns, "run only if the draft changes a file like these (default: always)", false},
		)
	}
	return all
}
