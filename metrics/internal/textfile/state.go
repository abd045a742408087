package textfile

import (
	"errors"
	"fmt"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// prefix begins the names of our metrics.
const prefix = "switchyard_"

// state says which ledger metrics are of, and how old they are.
type state struct {
	// since is the time of the ledger's first event, zero if it has none. It tells two
	// ledgers apart.
	since time.Time
	// events is the number of events in the ledger.
	events int64
}

func stateOf(families []*dto.MetricFamily) state {
	for _, f := range families {
		if f.GetName() == prefix+"ledger_events_total" && len(f.Metric) > 0 {
			c := f.Metric[0].GetCounter()
			s := state{events: int64(c.GetValue())}
			if c.GetCreatedTimestamp() != nil {
				s.since = c.GetCreatedTimestamp().AsTime()
			}
			return s
		}
	}
	return state{}
}

const (
	stateFormat = "# Written by switchyard. Ledger: since=%s events=%d\n"
	never       = "never"
)

// comment is the state as the first line of a file, which node_exporter skips.
func (s state) comment() string {
	since := never
	if !s.since.IsZero() {
		since = s.since.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf(stateFormat, since, s.events)
}

// parse reads the state of a file of ours, which is zero if the file does not say it.
// An empty file is ours. It fails if the file has anything but our metrics.
func parse(text string) (state, error) {
	var s state
	var since string
	ours := text == ""
	if _, err := fmt.Sscanf(text, stateFormat, &since, &s.events); err == nil {
		ours = true
		if since != never {
			if s.since, err = time.Parse(time.RFC3339Nano, since); err != nil {
				s = state{}
			}
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			words := strings.Fields(comment)
			if len(words) < 2 || words[0] != "HELP" && words[0] != "TYPE" {
				continue
			}
			line = words[1]
		}
		if line != "" && !strings.HasPrefix(line, prefix) {
			return s, fmt.Errorf("line %d is not one of our metrics: %q", n, textutil.Clip(line, 60))
		}
		ours = ours || line != ""
	}
	if !ours {
		return s, errors.New("it has no metrics of Switchyard")
	}
	return s, nil
}
