package project

import (
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Reports are commands whose reports are part of every round. They are code from the
// repository.
type Reports struct {
	Commands []ReportCommand
	FileOwner
}

// ReportCommand is a command that writes a report to its standard output.
type ReportCommand struct {
	// Run is a shell command line. It is never blank.
	Run string
	// Plugin is the plugin that reads the report, "" for detection.
	Plugin string
	// ExitCodes are the exit codes besides 0 that mean success with findings.
	ExitCodes []int
	// Timeout is how long it may take.
	Timeout time.Duration
	// Paths are patterns; the command runs only if the draft changes a matching file.
	// Without patterns it always runs.
	Paths []string
}

// The limits and defaults of commands for reports.
const (
	maxReports           = 32
	maxExitCodes         = 16
	maxPatterns          = 64
	defaultReportTimeout = 5 * time.Minute
)

// reports reads the commands for reports.
func (r *reader) reports(v value) []ReportCommand {
	var all []ReportCommand
	r.list(v, maxReports, func(v value) {
		c := ReportCommand{ExitCodes: []int{1}, Timeout: defaultReportTimeout}
		before := r.problemCount()
		r.mapping(v, fields{
			"run": func(v value) { c.Run = r.command(v) },
			"plugin": func(v value) {
				c.Plugin = r.text(v)
				r.readers = append(r.readers, v)
			},
			"exit_codes": func(v value) {
				c.ExitCodes = nil
				r.list(v, maxExitCodes, func(v value) { c.ExitCodes = append(c.ExitCodes, r.integer(v, 0, 255)) })
			},
			"timeout": func(v value) { c.Timeout = r.duration(v, minVerify, maxVerify, "from 1s to 2h, such as 5m") },
			"paths": func(v value) {
				r.list(v, maxPatterns, func(v value) { c.Paths = append(c.Paths, r.pattern(v)) })
			},
		})
		if c.Run == "" && r.problemCount() == before {
			r.addProblem(v.line, "%s.run is missing", v.path)
		}
		all = append(all, c)
	})
	return all
}

// pattern reads a pattern for paths of the project.
func (r *reader) pattern(v value) string {
	pattern := r.text(v)
	// A malformed pattern matches no path, so its command would never run.
	_, malformed := path.Match(pattern, "")
	if v.isText() && (malformed != nil || !filepath.IsLocal(pattern) || strings.ContainsRune(pattern, 0)) {
		r.expected(v, "a pattern for paths in the project, such as **/*.go")
	}
	return pattern
}
