package render

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/stats"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// drawBar returns a bar of up to cells cells for part, in [0, 1]. A part above 0 is always
// visible.
func drawBar(part float64, cells int) string {
	if !(part > 0) || cells < 1 {
		return ""
	}
	eighths := max(1, int(math.Round(min(part, 1)*float64(cells*8))))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

const (
	// textWidth is the width of text that is not for a terminal, in columns.
	textWidth = 80
	// maxBarName and maxBar limit the column of names and the bars, in columns.
	maxBarName = 28
	maxBar     = 40
)

// chart prints counts as bars below a heading, each with its share of the total. A bar for
// total would fill the remaining width.
func (p *Printer) chart(title string, rows []stats.Count, total int64) {
	if len(rows) == 0 {
		return
	}
	p.title(title)
	name := func(r stats.Count) string { return Fit(textutil.Line(r.Name), maxBarName) }
	share := func(r stats.Count) string { return stats.Percent(r.Count, total) }
	var names, counts, shares int
	for _, r := range rows {
		names, counts, shares = max(names, columns(name(r))), max(counts, len(fmt.Sprint(r.Count))), max(shares, columns(share(r)))
	}
	width := cmp.Or(p.width, textWidth) - 1 // Some terminals wrap a line that is full.
	cells := max(4, min(maxBar, width-names-counts-shares-8))
	for _, r := range rows {
		fill := strings.Repeat(" ", names-columns(name(r)))
		drawn := drawBar(float64(r.Count)/float64(max(total, 1)), cells)
		line := fmt.Sprintf("  %s%s  %*d  %*s  %s", name(r), fill, counts, r.Count, shares, share(r), p.colored(cyan, drawn))
		p.Line("%s", styledText(strings.TrimRight(line, " ")))
	}
}
