package project

import (
	"bufio"
	"bytes"
	"context"
	"strings"
)

// Suggestion is what a new switchyard.yaml proposes in comments.
type Suggestion struct {
	// Verify is a verification command, "" for an example.
	Verify string
	// Reports are commands for reports; if there are none, an example is shown.
	Reports []ReportCommand
}

// Suggest proposes commands for the build tools and package managers whose files are in
// the folder. Unreadable files are ignored.
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
	// A test target in a Makefile takes precedence.
	if data, err := in.Read(ctx, "Makefile", maxConfig); err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "test:") {
				s.Verify = "make test"
			}
		}
	}
	return s
}

// lines returns the lines for report commands in a new switchyard.yaml.
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
