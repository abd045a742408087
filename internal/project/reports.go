package project

import (
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Reports are commands that write a report for every round. They are code from the
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
	Timeout   time.Duration
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

func (r *configReader) readReports(v value) []ReportCommand {
	var all []ReportCommand
	v.list(maxReports, func(v value) {
		c := ReportCommand{ExitCodes: []int{1}, Timeout: defaultReportTimeout}
		ok := v.mapping(fields{
			"run": func(v value) { c.Run = readCommand(v) },
			"plugin": func(v value) {
				c.Plugin = v.text()
				r.reportPlugins = append(r.reportPlugins, v)
			},
			"exit_codes": func(v value) {
				c.ExitCodes = nil
				v.list(maxExitCodes, func(v value) { c.ExitCodes = append(c.ExitCodes, v.integer(0, 255)) })
			},
			"timeout": func(v value) { c.Timeout = v.duration(minVerify, maxVerify, "from 1s to 2h, such as 5m") },
			"paths": func(v value) {
				v.list(maxPatterns, func(v value) { c.Paths = append(c.Paths, readPattern(v)) })
			},
		})
		if ok && c.Run == "" {
			v.fail(".run is missing")
		}
		all = append(all, c)
	})
	return all
}

func readPattern(v value) string {
	pattern := v.text()
	// With a pattern that matches no path, the command would never run.
	_, malformed := path.Match(pattern, "")
	switch {
	case !v.isText():
	case malformed != nil || !filepath.IsLocal(pattern):
		v.expected("a pattern for paths in the project, such as **/*.go")
	case strings.HasPrefix(pattern, "!"):
		v.expected("a pattern without a leading !, because a pattern cannot exclude paths")
	}
	return pattern
}
