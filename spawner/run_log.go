package spawner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RunLogFile is the file in the state directory with a line of JSON for every attempt that
// started a process.
const RunLogFile = "spawns.jsonl"

// maxLine bounds a line of the run log, in bytes: it is appended in one write, so that
// lines of several processes do not mix.
const maxLine = 16 << 10

// AppendRunLog makes a record durable in the run log of a state directory, and returns the
// digest of its line. ctx bounds the wait for another process that writes a line.
func AppendRunLog(ctx context.Context, state string, r Record) (string, error) {
	line, err := runLogLine(r)
	if err == nil {
		err = appendLine(ctx, state, line)
	}
	if err != nil {
		return "", errs.New(errs.SpawnTrailFailed, "the record of run %s cannot be written: %w", r.RunID, safefile.Reason(err)).With("path", RunLogFile)
	}
	return digest.Of(line), nil
}

func appendLine(ctx context.Context, state string, line []byte) (err error) {
	root, err := safefile.OpenState(state)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(RunLogFile, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		f, err = safefile.OpenFile(root, RunLogFile, os.O_RDWR|os.O_APPEND)
	case err == nil:
		err = safefile.SyncDir(root, ".")
	}
	if f == nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err != nil {
		return err
	}
	// Without the lock, a line that another process is writing would look cut off.
	lock, err := safefile.WaitLock(ctx, root, RunLogFile)
	if err != nil {
		return err
	}
	if isTorn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(line)
	if err = errors.Join(err, lock.File.Close()); err != nil { // Release would remove the file.
		return err
	}
	return f.Sync()
}

// isTorn reports whether the last line of a file was cut off, for example by a full disk.
func isTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// runLogLine returns the record as a line of the run log. If it is too long, lists and
// excerpts are shortened.
func runLogLine(r Record) ([]byte, error) {
	for _, shorten := range []func(){
		func() {},
		func() { r.Summary = textutil.Clip(r.Summary, maxText) },
		func() { r.Notes = nil },
		func() { r.Changed, r.Denials = firstOf(r.Changed), firstOf(r.Denials) },
		func() { r.StderrExcerpt = "" },
		func() { r.Changed, r.Denials = nil, nil },
	} {
		shorten()
		text, err := json.Marshal(r, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		if text = textutil.JSON(text); len(text) < maxLine {
			return append(text, '\n'), nil
		}
	}
	return nil, fmt.Errorf("the record has more than %d bytes", maxLine)
}

// maxListed bounds the lists of a record that is too long.
const maxListed = 20

func firstOf(list []string) []string {
	if len(list) <= maxListed {
		return list
	}
	return append(list[:maxListed:maxListed], fmt.Sprintf("and %d more", len(list)-maxListed))
}
