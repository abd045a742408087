package document_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// TestAtTheLimit reads the largest possible reports, ordinary ones and those that take the most
// memory. The peaks of separate processes, with the report, are: JSON 37 MB, lines 70 MB, the
// test report 140 MB, names 200 MB, children apart 190 MB, quotation marks 410 MB.
func TestAtTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the race detector multiplies the memory that is measured")
	}
	// The environment may have the collector wait for longer.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	const size = document.DefaultBytes
	const most = 512 << 20
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapSys) // This never shrinks, so it shows the peak.
	}
	before := heap()
	fill := func(before, unit, after string) func() []byte {
		return func() []byte {
			text := append(make([]byte, 0, size), before...)
			for len(text)+len(unit)+len(after) <= size {
				text = append(text, unit...)
			}
			return append(text, after...)
		}
	}
	type limit struct {
		name   string
		format document.Format
		text   func() []byte
		code   errs.Code
	}
	for _, c := range exhaustive.Sample([]limit{
		{"JSON", document.JSON, fill("[0", `,{"a":"b"}`, "]"), ""},
		{"lines of a digit", document.Lines, fill("", "1\n", "\n\n"), ""},
		{"lines that are cut short", document.Lines, fill("1\n", "[\n", "\n"), errs.ReportInvalidJSON},
		{"a test report", document.XML, fill("<r>", `<testcase classname="pkg.Suite" name="test 1" time="0.1"><failure message="m">at line</failure></testcase>`+"\n", "</r>"), ""},
		{"small elements", document.XML, fill("<r>", "<a/>", "</r>"), errs.ReportTooLarge},
		{"one text that grows", document.XML, fill("<r>", `"`, "</r>"), errs.ReportTooLarge},
		{"one comment that grows", document.XML, fill("<r><!--", `"`, "--></r>"), errs.ReportTooLarge},
		{"comments", document.XML, fill("<r>", "<!---->", "</r>"), ""},
		{"one name", document.XML, fill("<r", "x", "/>"), errs.ReportTooLarge},
		{"attributes", document.XML, fill("<r", " a=''", "/>"), errs.ReportTooLarge},
		{"children apart, on every level", document.XML, fill(strings.Repeat("<a><b/><c/><b/>", 61), "<x>&amp;&amp;"+strings.Repeat("y", 400)+"</x>", strings.Repeat("</a>", 61)), ""},
		{"a long namespace of many elements", document.XML, fill("<r xmlns:p='"+strings.Repeat("u", size/2)+"'>", "<a p:a='' p:b=''/>", "</r>"), errs.ReportTooLarge},
		{"a long namespace of many attributes", document.XML, fill("<r xmlns:p='"+strings.Repeat("u", size/2)+"'><a"+prefixed(9_000)+"/>", " ", "</r>"), ""},
		{"a declaration that does not end", document.XML, fill("<?xml ", " ", ""), errs.ReportInvalidXML},
		{"a quote that does not end", document.XML, fill("<r a='", "<a b=", ""), errs.ReportInvalidXML},
	}, 4) {
		t.Run(c.name, func(t *testing.T) {
			debug.FreeOSMemory()
			s, err := document.Read(c.text(), document.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.As(c.format)
			if got := errs.CodeOf(err); got != c.code {
				t.Errorf("code %q (%v), want %q", got, err, c.code)
			}
			if grown := heap() - before; grown > most {
				t.Errorf("the heap has grown by %d MB", grown>>20)
			}
		})
	}
}

// prefixed writes n attributes of one namespace.
func prefixed(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " p:a%d=''", i)
	}
	return b.String()
}
