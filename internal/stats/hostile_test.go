package stats_test

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// hostileNames are names that try to break out of their context: text, attributes,
// elements, style sheets, scripts, lines, and text direction.
func hostileNames() []string {
	return []string{
		`</script><script>alert(1)</script>`, `</title></svg></style><img src=x onerror=alert(2)>`, `" onload="alert(3)`, `' x='`,
		`]]><!-- --><x>`, `{{.Style}}`, `url(http://192.0.2.1/x)`, `@import "http://192.0.2.1/x"`, "a\u202eb\u2066c\u200f", "line\nbreak\ttab",
		"nul\x00esc\x1b[31m", "&lt;&#x3c;&quot;", "\ufeff\ufffe\uffff", "", strings.Repeat("x", 10_000), strings.Repeat("שלום ", 2_000),
	}
}

// newHostile returns a ledger with hostile names in every label, and with the largest
// possible sums.
func newHostile(names []string) *memLedger {
	l := &memLedger{}
	at := sampleStart().Format(ledger.TimeFormat)
	day := sampleStart().Format("2006-01-02")
	for i, name := range names {
		huge := counters.MaxSum - int64(i)
		l.Record(sampleStart(),
			add(counters.Rounds(), huge, name, name), add(counters.DailyRounds(), huge, day, name), add(counters.Policies(), huge, name, name, name),
			one(counters.Adoptions(), name, name), add(counters.Findings(), huge, name, name, name), one(counters.Progress(), name), add(counters.Deferred(), huge, name), one(counters.Commits(), name),
			one(counters.Tasks(), "stuck"), one(counters.BlockedTasks(), "stuck", at, name, name), one(counters.BlockedTasks(), "waiting", name, name, name),
			add(counters.Spawns(), huge, name, name, name), add(counters.Fallbacks(), huge, name, name), add(counters.Tokens(), huge, name, "in"),
			add(counters.MicroDollars(), huge, name), one(counters.Daily(), day, name), add(counters.Daily(), huge, day, counters.DayMicroDollars),
			add(counters.Daily(), huge, day, counters.DaySpawns), one(counters.Daily(), day, counters.DayFallbacks),
			add(counters.TaskRounds().Cells(), huge, strconv.Itoa(1+60*i)), add(counters.TaskRounds().Sum(), huge),
			add(counters.QuestionWaits().Cells(), huge, strconv.Itoa(i*10)), add(counters.Questions(), huge),
		)
	}
	return l
}
