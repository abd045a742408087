package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// openTranscripts opens the directory of transcripts, nil if it does not exist.
func (q *Reader) openTranscripts() (*os.Root, error) {
	path := filepath.Join(q.project.State(), transcript.Folder)
	dir, err := safefile.OpenDir(path)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return dir, nil
	case safefile.Unsafe(err):
		return nil, errs.New(errs.StateUnsafe, "%s cannot be used: %w", path, err).With("path", path)
	default:
		return nil, errs.New(errs.FileUnreadable, "%s cannot be read: %w", path, safefile.Reason(err)).With("path", path)
	}
}

// transcripts returns the latest runs of a task whose transcripts can be shown. If the
// directory cannot be opened, there are none: Transcript and Verify say why, and a decision
// can be explained without them.
func (q *Reader) transcripts(ctx context.Context, r *record.Task) ([]api.TranscriptEntry, error) {
	dir, err := q.openTranscripts()
	if err != nil || dir == nil {
		return nil, nil
	}
	defer dir.Close()
	return r.Transcripts(ctx, func(digest string) bool { return transcript.Exists(dir, digest) })
}

// Transcript is the output of an agent in one run. The caller must close it.
type Transcript struct {
	api.TranscriptEntry
	// ReadCloser yields the CLI's output as it was, without secrets.
	io.ReadCloser
	adapter *adapter.Adapter
}

// EachPart calls show for each part of the output, in order. It reads the Transcript.
func (t Transcript) EachPart(show func(adapter.Part)) error { return t.adapter.ReadTranscript(t, show) }

// Transcript opens the transcript of a task's run, and checks it. run is the run's id, a
// prefix of it, or a role or agent, which means its latest run that has ended.
//
// # Errors
//
// run-unknown, transcript-none, transcript-gone, transcript-altered, file-unreadable,
// state-unsafe, task-not-found, and the codes of the ledger and of Config. A broken file of an adapter
// is only a warning.
func (q *Reader) Transcript(ctx context.Context, id, run string) (Transcript, error) {
	r, err := q.project.ReadTask(ctx, id)
	if err != nil {
		return Transcript{}, err
	}
	defer r.Close()
	config, err := q.project.Config(ctx)
	if err != nil {
		return Transcript{}, err
	}
	entry, err := r.Run(ctx, run)
	if err != nil {
		return Transcript{}, err
	}
	t := Transcript{TranscriptEntry: entry}
	if entry.Digest == "" {
		return t, errNoTranscript(entry, config.Transcripts)
	}
	dir, err := q.openTranscripts()
	if err != nil {
		return t, err
	}
	if dir == nil {
		return t, q.errGone(entry, config.Transcripts)
	}
	defer dir.Close()
	if err = transcript.Check(dir, entry.Digest); err == nil { // Before any of it is shown.
		t.ReadCloser, err = transcript.Open(dir, entry.Digest)
	}
	if errs.CodeOf(err) == errs.TranscriptGone {
		err = q.errGone(entry, config.Transcripts)
	}
	if err != nil {
		return t, err
	}
	catalog, err := agents.Catalog(ctx, q.project, config)
	if err != nil {
		q.project.Warn(err) // The file of an adapter is broken, possibly of another one.
		catalog = adapter.NewCatalog()
	}
	if t.adapter, err = catalog.Get(entry.Adapter); err != nil { // The project no longer defines it.
		t.adapter, err = catalog.Get(project.AdapterExec)
	}
	return t, err
}

// errNoTranscript returns the error of a run without a transcript, with the reason.
func errNoTranscript(r api.TranscriptEntry, limits transcript.Limits) error {
	why := "the agent printed nothing, or it could not be kept"
	switch {
	case r.EndedAt == "":
		why = "it is still running, or was lost with its host"
	case limits == (transcript.Limits{}):
		why = "transcripts are off in " + project.ConfigFile
	}
	return errs.New(errs.TranscriptNone, "run %s has no transcript: %s", r.Run, why).With("run", r.Run)
}

// errGone returns the error of a transcript that was removed, with the likely reason.
func (q *Reader) errGone(r api.TranscriptEntry, limits transcript.Limits) error {
	days := int(limits.Age.Hours() / 24)
	why := fmt.Sprintf("transcripts are kept for %d days, so it was removed to save space, or by hand", days)
	ended, err := time.Parse(time.RFC3339, r.EndedAt)
	switch due := ended.Add(limits.Age); {
	case limits == (transcript.Limits{}):
		why = "transcripts are off in " + project.ConfigFile
	case err == nil && q.project.Now().After(due):
		why = fmt.Sprintf("transcripts are kept for %d days, so it was due to be removed on %s", days, due.Format(time.DateOnly))
	}
	return errs.New(errs.TranscriptGone, "the transcript of run %s, which ended at %s, is gone: %s", r.Run, r.EndedAt, why).
		With("run", r.Run).With("transcript", r.Digest).With("ended_at", r.EndedAt).With("keep_days", days).With("size", limits.Size)
}
