package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/plugins/report"
)

// BenchmarkTranscode is a report of about 4 MB, read anew each time: what a
// plugin for that format waits for.
func BenchmarkTranscode(b *testing.B) {
	var xml, lines, json strings.Builder
	xml.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"all\">\n")
	json.WriteString("[")
	for i := range 20_000 {
		fmt.Fprintf(&xml, "  <testcase classname=\"pkg.Suite%d\" name=\"test %d\" time=\"0.%d\">\n"+
			"    <failure message=\"expected &lt;3&gt;\" type=\"E\">at line %d\n  of a file</failure>\n  </testcase>\n", i%50, i, i, i)
		line := fmt.Sprintf(`{"Time":"2026-11-21T14:00:00.%05dZ","Action":"output","Package":"example.com/p%d","Test":"TestX/case_%d","Output":"    x_test.go:%d: got \"a\", want \"b\"\n","Elapsed":0.01}`, i, i%50, i, i)
		lines.WriteString(line + "\n")
		if i > 0 {
			json.WriteString(",")
		}
		json.WriteString(line)
	}
	xml.WriteString("</testsuite>\n")
	json.WriteString("]")
	for _, c := range []struct {
		name, text string
		ask        []report.Format
	}{
		{"json", json.String(), []report.Format{report.JSON}},
		{"lines", lines.String(), []report.Format{report.Lines}},
		{"json-then-lines", json.String(), []report.Format{report.JSON, report.Lines}},
		{"xml", xml.String(), []report.Format{report.XML}},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := []byte(c.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := report.Read(data, report.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range c.ask {
					if _, err := s.As(f); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
