package findingformat

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

var githubCommands = words{"error", "warning", "notice"}

// Carriage returns need no escape, because textutil replaces them.
var (
	githubData     = strings.NewReplacer("%", "%25", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github writes workflow commands, which annotate a commit's files.
func github(w io.Writer, r Review) error {
	if r.isMissing() {
		_, err := fmt.Fprintf(w, "::warning title=%s::%s has no review\n", tool, r.TaskID)
		return err
	}
	for _, f := range r.Findings {
		properties := "title=" + githubProperty.Replace(textutil.Line(f.Category))
		if isInFile(f) {
			if f.Line != nil {
				properties = fmt.Sprintf("line=%d,%s", *f.Line, properties)
			}
			properties = "file=" + githubProperty.Replace(textutil.Line(*f.File)) + "," + properties
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", githubCommands.of(f.Severity), properties, githubData.Replace(textutil.Lines(message(f)))); err != nil {
			return err
		}
	}
	return nil
}

// isInFile reports whether a finding is in a file. The File of a promoted criterion is "-".
func isInFile(f finding.Finding) bool { return f.File != nil && *f.File != "-" }
