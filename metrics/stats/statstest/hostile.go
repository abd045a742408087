package statstest

import (
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/tally"
)

// Hostiles are names that try to get out of where they stand: of text, attributes,
// elements, style sheets and scripts, of the line and of the reading order.
func Hostiles() []string {
	return []string{
		`</script><script>alert(1)</script>`, `</title></svg></style><img src=x onerror=alert(2)>`, `" onload="alert(3)`, `' x='`,
		`]]><!-- --><x>`, `{{.Style}}`, `url(http://192.0.2.1/x)`, `@import "http://192.0.2.1/x"`, "a\u202eb\u2066c\u200f", "line\nbreak\ttab",
		"nul\x00esc\x1b[31m", "&lt;&#x3c;&quot;", "\ufeff\ufffe\uffff", "", strings.Repeat("x", 10_000), strings.Repeat("שלום ", 2_000),
	}
}

// Hostile is a ledger whose every free name is one of Hostiles, with sums as large as
// they can be.
func Hostile() *Ledger {
	l := &Ledger{}
	at := Start().Format(ledger.TimeFormat)
	day := Start().Format("2006-01-02")
	for i, name := range Hostiles() {
		huge := tally.MaxSum - int64(i)
		l.Record(Start(),
			add(tally.Rounds(), huge, name, name), add(tally.DailyRounds(), huge, day, name), add(tally.Policies(), huge, name, name, name),
			one(tally.Adoptions(), name, name), add(tally.Findings(), huge, name, name, name), one(tally.Progress(), name),
			one(tally.Tasks(), "stuck"), one(tally.Standing(), "stuck", at, name, name), one(tally.Standing(), "waiting", name, name, name),
			add(tally.Spawns(), huge, name, name, name), add(tally.Fallbacks(), huge, name, name), add(tally.Tokens(), huge, name, "in"),
			add(tally.MicroDollars(), huge, name), one(tally.Daily(), day, name), add(tally.Daily(), huge, day, tally.DayMicroDollars),
			add(tally.Daily(), huge, day, tally.DaySpawns), one(tally.Daily(), day, tally.DayFallbacks),
			add(tally.TaskRounds().Cells(), huge, strconv.Itoa(1+100*i)), add(tally.TaskRounds().Sum(), huge),
			add(tally.Waits().Cells(), huge, strconv.Itoa(i*10)), add(tally.Questions(), huge),
		)
	}
	return l
}
