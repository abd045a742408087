package query

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// Verified is the result of Verify.
type Verified struct {
	ledger.Report
	Transcripts api.TranscriptCheck
}

// Verify checks every chain of the ledger, and the transcripts that its events name. It
// accepts that a transcript is gone: old ones are removed.
func (q *Reader) Verify(ctx context.Context) (Verified, error) {
	var c transcriptCheck
	l, err := ledger.Open(ctx, q.project.State(), func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		c.collect(e) // Verify folds each event once, so a second pass is not needed.
		return record.Fold(before, e)
	})
	if err != nil {
		return Verified{}, err
	}
	defer l.Close()
	if _, err := l.Last(ctx); err != nil { // The first use may fold events to upgrade the ledger.
		return Verified{}, err
	}
	dir, err := q.openTranscripts()
	if err != nil {
		return Verified{}, err
	}
	if dir != nil {
		defer dir.Close()
	}
	c.start(dir)
	var v Verified
	if v.Report, err = l.Verify(ctx); err != nil {
		return Verified{}, err
	}
	v.Transcripts, err = c.finish(ctx)
	return v, err
}

// transcriptCheck collects the transcripts that events name. Events come in any order.
type transcriptCheck struct {
	mu      sync.Mutex
	dir     *os.Root                   // nil if the project has no transcripts
	present map[string]namedTranscript // by digest, nil before the start
	gone    []namedTranscript          // some more than are listed
	result  api.TranscriptCheck
}

type namedTranscript struct {
	api.TranscriptRef
	n int64
}

func (a namedTranscript) compare(b namedTranscript) int {
	return cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.n, b.n))
}

func (c *transcriptCheck) start(dir *os.Root) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir, c.present = dir, make(map[string]namedTranscript)
}

func (c *transcriptCheck) collect(e ledger.Event) {
	if e.Kind != string(task.KindSpawnEnded) {
		return
	}
	var body struct {
		Spawn struct {
			Run        string `json:"run_id"`
			Transcript string `json:"transcript"`
		} `json:"spawn"`
	}
	// An event that cannot be read is a problem of its chain.
	if err := json.Unmarshal(e.Body, &body); err != nil || body.Spawn.Transcript == "" {
		return
	}
	t := namedTranscript{api.TranscriptRef{Task: e.Task, Run: body.Spawn.Run, Digest: body.Spawn.Transcript}, e.N}
	c.mu.Lock()
	defer c.mu.Unlock()
	first, found := c.present[t.Digest]
	switch {
	case c.present == nil: // The ledger is upgraded.
	case found && first.compare(t) < 0:
	case found || c.dir != nil && transcript.Exists(c.dir, t.Digest):
		c.present[t.Digest] = t
	default:
		c.addGone(t)
	}
}

func (c *transcriptCheck) addGone(t namedTranscript) {
	c.result.Gone++
	if c.gone = append(c.gone, t); len(c.gone) >= 2*maxGone {
		c.limitGone()
	}
}

// limitGone keeps only the first maxGone.
func (c *transcriptCheck) limitGone() {
	slices.SortFunc(c.gone, namedTranscript.compare)
	c.gone = c.gone[:min(len(c.gone), maxGone)]
}

// maxGone is the maximum number of runs without their transcripts that a check lists.
const maxGone = 1000

// finish checks the transcripts that exist.
func (c *transcriptCheck) finish(ctx context.Context) (api.TranscriptCheck, error) {
	for _, t := range slices.SortedFunc(maps.Values(c.present), namedTranscript.compare) {
		if ctx.Err() != nil {
			return c.result, context.Cause(ctx)
		}
		switch err := transcript.Check(c.dir, t.Digest); errs.CodeOf(err) {
		case errs.TranscriptGone: // It was removed meanwhile.
			c.addGone(t)
		case errs.TranscriptAltered:
			c.result.Altered = append(c.result.Altered, t.TranscriptRef)
		default:
			if err != nil {
				return c.result, err
			}
			c.result.Sound++
		}
	}
	c.limitGone()
	for _, t := range c.gone {
		c.result.GoneRuns = append(c.result.GoneRuns, t.TranscriptRef)
	}
	return c.result, nil
}
