package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// BenchmarkTranscode reads a report of about 4 MB, which a plugin for its format waits for.
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
		ask        []document.Format
	}{
		{"json", json.String(), []document.Format{document.JSON}},
		{"lines", lines.String(), []document.Format{document.Lines}},
		{"json-then-lines", json.String(), []document.Format{document.JSON, document.Lines}},
		{"xml", xml.String(), []document.Format{document.XML}},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := []byte(c.text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := document.Read(data, document.Limits{})
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
