package home

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestLargestPosition tests that a position whose texts are as long as they can be, and all
// escaped, fits into a payload.
func TestLargestPosition(t *testing.T) {
	text := func(n int) string { return strings.Repeat("<", n) }
	q := task.Question{Fingerprint: text(64), Text: text(2000), Default: text(200)}
	for range 20 {
		q.Choices = append(q.Choices, text(200))
	}
	for name, at := range map[string]host.Position{
		"question": {RunResult: api.RunResult{Reason: text(2000), Questions: []task.Question{q, q}}},
		"failure":  {RunResult: api.RunResult{Reason: text(2000), Error: errs.New(errs.Internal, "%s", text(5000))}},
	} {
		data, err := json.Marshal(positionOf(at))
		if err != nil || len(data) >= 32<<10 {
			t.Errorf("%s: the position has %d bytes, %v", name, len(data), err)
		}
	}
}
