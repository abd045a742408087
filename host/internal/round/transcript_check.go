package round

import (
	"context"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// Verified is what Verify found.
type Verified struct {
	ledger.Report
	Transcripts api.TranscriptCheck
}

// Verify checks every chain of the ledger, and the transcripts that its events name. A
// transcript that is gone is no problem: old ones are removed.
func (e *Engine) Verify(ctx context.Context) (Verified, error) {
	var c transcriptCheck
	l, err := ledger.Open(ctx, e.project.State(), func(before *ledger.View, e ledger.Event) (ledger.Projection, error) {
		c.collect(e) // Verify folds each event once, so that none is read twice.
		return Fold(before, e)
	})
	if err != nil {
		return Verified{}, err
	}
	defer l.Close()
	if _, err := l.Last(ctx); err != nil { // The first use may fold events to upgrade the ledger.
		return Verified{}, err
	}
	dir, err := e.openTranscripts()
	if err != nil {
		return Verified{}, err
	}
	if dir != nil {
		defer dir.Close()
	}
	c = transcriptCheck{dir: dir, found: make(map[string]bool)}
	var v Verified
	if v.Report, err = l.Verify(ctx); err != nil {
		return Verified{}, err
	}
	v.Transcripts, err = c.finish(ctx)
	return v, err
}

// transcriptCheck collects the transcripts that events name.
type transcriptCheck struct {
	dir     *os.Root // nil if there are no transcripts
	found   map[string]bool
	present []api.TranscriptRef // one for each digest
	result  api.TranscriptCheck
}

func (c *transcriptCheck) collect(e ledger.Event) {
	if c.found == nil || e.Kind != string(task.KindSpawnEnded) {
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
	ref := api.TranscriptRef{Task: e.Task, Run: body.Spawn.Run, Digest: body.Spawn.Transcript}
	switch {
	case c.found[ref.Digest]:
	case c.dir == nil || !transcript.Exists(c.dir, ref.Digest):
		c.gone(ref)
	default:
		c.found[ref.Digest] = true
		c.present = append(c.present, ref)
	}
}

func (c *transcriptCheck) gone(ref api.TranscriptRef) {
	if c.result.Gone++; len(c.result.GoneRuns) < maxGone {
		c.result.GoneRuns = append(c.result.GoneRuns, ref)
	}
}

// maxGone is the number of runs that a check lists whose transcripts are gone.
const maxGone = 1000

// finish reads the transcripts.
func (c *transcriptCheck) finish(ctx context.Context) (api.TranscriptCheck, error) {
	for _, ref := range c.present {
		if ctx.Err() != nil {
			return c.result, context.Cause(ctx)
		}
		switch err := transcript.Check(c.dir, ref.Digest); errs.CodeOf(err) {
		case errs.TranscriptGone: // It was removed meanwhile.
			c.gone(ref)
		case errs.TranscriptAltered:
			c.result.Altered = append(c.result.Altered, ref)
		default:
			if err != nil {
				return c.result, err
			}
			c.result.Sound++
		}
	}
	return c.result, nil
}
