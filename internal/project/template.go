package project

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
)

// Settings are the values that a new switchyard.yaml sets. A zero field leaves the
// default.
type Settings struct {
	MaxRounds int
	// Researchers is research.agents.
	Researchers int
	// VerifyRuns is verify.runs. It stays a comment, because it has no meaning without a
	// command, which the user must add.
	VerifyRuns int
	// Phases is phases; nil leaves the default, which an empty list does not.
	Phases []string
	// Suggestion stays a comment.
	Suggestion
}

// String returns the settings as in a switchyard.yaml.
func (s Settings) String() string {
	var set []string
	if s.MaxRounds != 0 {
		set = append(set, fmt.Sprintf("max_rounds: %d", s.MaxRounds))
	}
	if s.Researchers != 0 {
		set = append(set, fmt.Sprintf("research: {agents: %d}", s.Researchers))
	}
	if s.VerifyRuns != 0 {
		set = append(set, fmt.Sprintf("verify: {runs: %d}", s.VerifyRuns))
	}
	if s.Phases != nil {
		set = append(set, "phases: ["+strings.Join(s.Phases, ", ")+"]")
	}
	return strings.Join(set, ", ")
}

// configTemplate is the template of a new switchyard.yaml, in which every line that the
// settings do not set is a comment. Without comment signs it is the example of
// docs/configuration.md. The header has two signs, so that it stays a comment if the user
// removes one from each line.
//
//go:embed template.yaml
var configTemplate string

func (s Settings) template() (string, error) {
	setPhases := s.Phases != nil
	if !setPhases {
		s.Phases = defaults().Phases
	}
	if len(s.Reports) == 0 { // An example, which cannot be run as it is.
		s.Reports = []ReportCommand{{Run: "your-linter --sarif", Plugin: "sarif"}}
	}
	t, err := template.New("switchyard.yaml").Funcs(template.FuncMap{
		"join": strings.Join,
		"pad":  func(format string, arg any) string { return fmt.Sprintf("%-30s", fmt.Sprintf(format, arg)) },
	}).Parse(configTemplate)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = t.Execute(&text, struct {
		Settings
		SetPhases bool
	}{s, setPhases})
	return text.String(), err
}

// Suggestion has the commands that a new switchyard.yaml proposes in comments.
type Suggestion struct {
	// Verify is a verification command, "" for an example.
	Verify string
	// Reports are commands for reports, empty for an example.
	Reports []ReportCommand
}

// Suggest proposes commands for the build tools and package managers that have files in
// the directory. It ignores unreadable files.
func (p Project) Suggest(ctx context.Context) Suggestion {
	in := Project{Root: p.Dir, Dir: p.Dir}
	var s Suggestion
	npmTest := "npm test"
	// Worktrees lack node_modules, which git ignores. The command is for sh.
	if runtime.GOOS != "windows" && in.Exists("package-lock.json") {
		npmTest = "test -d node_modules || npm ci; npm test"
	}
	for _, tool := range []struct {
		file, verify string
		report       ReportCommand
	}{
		{"go.mod", "go test ./...", ReportCommand{Run: "staticcheck -f sarif ./...", Plugin: "sarif"}},
		{"package.json", npmTest, ReportCommand{Run: "npx --no-install eslint -f json .", Plugin: "eslint"}},
		{"pyproject.toml", "python -m pytest", ReportCommand{Run: "ruff check --output-format sarif .", Plugin: "sarif"}},
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
	if data, err := in.Read(ctx, "Makefile", maxConfig); err == nil && strings.Contains("\n"+string(data), "\ntest:") {
		s.Verify = "make test"
	}
	return s
}
