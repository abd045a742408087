package findingformat

import (
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

var xmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\n", "&#10;", "\t", "&#9;")

func xmlLines(s string) string { return xmlText.Replace(textutil.Lines(s)) }

// junit writes a test case for each finding, which fails unless the finding is a nit. A
// review without findings is one test case that passes; a missing one fails.
func junit(w io.Writer, r Review) error {
	var cases strings.Builder
	tests, failures, skipped := len(r.Findings), 0, 0
	for _, f := range r.Findings {
		text := xmlLines(message(f))
		var result string
		switch {
		case r.Deferred:
			skipped++
			result = `<skipped message="` + xmlLines(r.deferral()) + ": " + text + `"/>`
		case f.Severity == finding.Nit:
			result = "<system-out>" + text + "</system-out>"
		default:
			failures++
			result = `<failure type="` + xmlLines(string(f.Severity)) + `" message="` + text + `"/>`
		}
		at := ""
		if isInFile(f) {
			at = ` file="` + xmlLines(*f.File) + `"`
			if f.Line != nil {
				at += fmt.Sprintf(` line="%d"`, *f.Line)
			}
		}
		name := xmlLines(f.Location() + " " + f.Fingerprint)
		fmt.Fprintf(&cases, "<testcase classname=\"%s\" name=\"%s\"%s>%s</testcase>\n", xmlLines(f.Category), name, at, result)
	}
	if tests == 0 {
		tests = 1
		result := ""
		if r.isMissing() {
			failures = 1
			result = `<failure type="no-review" message="there is no review"/>`
		}
		fmt.Fprintf(&cases, "<testcase classname=\"%s\" name=\"review\">%s</testcase>\n", tool, result)
	}
	const frame = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n%s</testsuite>\n</testsuites>\n"
	_, err := fmt.Fprintf(w, frame, tool, tests, failures, skipped, &cases)
	return err
}
