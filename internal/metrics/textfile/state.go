package textfile

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/metrics"
)

// state says how far a file's metrics are, by which two are compared.
type state struct {
	// since is the time of the ledger's first event, zero for none: it tells two
	// ledgers apart.
	since time.Time
	// events is how many the ledger has.
	events int64
}

// stateOf is how far metrics are.
func stateOf(families []*dto.MetricFamily) state {
	for _, f := range families {
		if f.GetName() != metrics.Prefix+"ledger_events_total" || len(f.Metric) == 0 {
			continue
		}
		c := f.Metric[0].GetCounter()
		s := state{events: int64(c.GetValue())}
		if c.GetCreatedTimestamp() != nil {
			s.since = c.GetCreatedTimestamp().AsTime()
		}
		return s
	}
	return state{}
}

// head begins the first line of a file of ours: a comment, that node_exporter skips.
const head = "# Written by switchyard. Ledger: "

// write writes the first line.
func (s state) write(w io.Writer) {
	since := "never"
	if !s.since.IsZero() {
		since = s.since.Format(time.RFC3339Nano)
	}
	fmt.Fprintf(w, "%ssince=%s events=%d\n", head, since, s.events) // into memory
}

// parse reads a first line, or reports false for what is none.
func parse(line string) (state, bool) {
	text, ok := strings.CutPrefix(line, head+"since=")
	since, events, found := strings.Cut(text, " events=")
	if !ok || !found {
		return state{}, false
	}
	n, err := strconv.ParseInt(events, 10, 64)
	if err != nil {
		return state{}, false
	}
	s := state{events: n}
	if since != "never" {
		if s.since, err = time.Parse(time.RFC3339Nano, since); err != nil {
			return state{}, false
		}
	}
	return s, true
}
