package stats

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShown limits a name on the page, in code points. Task ids are shorter.
const maxShown = 160

// label returns a name of the ledger without hidden characters, and clipped.
// html/template escapes markup.
func label(s string) string {
	return cmp.Or(textutil.Fit(textutil.Line(s), maxShown), "(none)")
}

// grouped formats a number with commas between the thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted formats a number with its noun.
func counted(n int64, noun string) string { return countedAs(n, noun, noun+"s") }

// countedAs is counted for a noun with an irregular plural.
func countedAs(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// Percent formats a part of a whole, with one decimal.
func Percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part > 0 && p < 0.1:
		return "< 0.1 %"
	case part < whole && p > 99.9:
		return "> 99.9 %"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
}

// decimal formats a number with at most that many decimals.
func decimal(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Dollars formats an amount in millionths of a dollar, rounded to cents unless it is less
// than one cent.
func Dollars(micro int64) string {
	if micro > 0 && micro < 10_000 {
		return "$" + decimal(float64(micro)/1e6, 6)
	}
	cents := micro / 10_000
	if micro%10_000 >= 5_000 {
		cents++
	}
	return fmt.Sprintf("$%s.%02d", grouped(cents/100), cents%100)
}

// formatDuration formats a duration in seconds with its largest unit, and the next
// smaller one if the number is small.
func formatDuration(seconds float64) string {
	if ms := math.Round(seconds * 1000); ms < 1000 {
		return decimal(ms, 0) + " ms"
	}
	if seconds < 10 {
		return decimal(seconds, 1) + " s"
	}
	s := int64(math.Round(math.Min(seconds, 1e15)))
	units := []struct {
		name string
		size int64
	}{{"d", 24 * 60 * 60}, {"h", 60 * 60}, {"min", 60}, {"s", 1}}
	for i, u := range units {
		if s < u.size {
			continue
		}
		text := grouped(s/u.size) + " " + u.name
		if rest := s % u.size; i+1 < len(units) && rest >= units[i+1].size && s/u.size < 10 {
			text += " " + strconv.FormatInt(rest/units[i+1].size, 10) + " " + units[i+1].name
		}
		return text
	}
	return "0 s"
}

func timeOf(at string) (time.Time, bool) {
	t, err := time.Parse(ledger.TimeFormat, at)
	return t, err == nil
}

// minute formats a time of the ledger for people, in UTC.
func minute(at string) string {
	if t, ok := timeOf(at); ok {
		return t.Format("2 Jan 2006 15:04")
	}
	return label(at)
}

func date(t time.Time) string { return t.Format("2 Jan 2006") }
