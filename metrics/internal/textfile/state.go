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

// state identifies the ledger of metrics and their age.
type state struct {
	// since is the time of the ledger's first event, or zero. It distinguishes ledgers.
	since  time.Time
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

// comment returns the state as the first line of a file, which node_exporter skips.
func (s state) comment() string {
	since := never
	if !s.since.IsZero() {
		since = s.since.Format(time.RFC3339Nano)
	}
	return fmt.Sprintf(stateFormat, since, s.events)
}

// parse reads the state in a file of ours, or returns the zero state. It fails if the file
// contains anything but our metrics. An empty file counts as ours.
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
