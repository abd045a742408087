// Package textfile writes metrics to a file for node_exporter's textfile collector.
//
// The file is replaced atomically, so that readers never see a part of it. Writers have a
// lock while they gather and write, and do not replace newer metrics of the same ledger with
// older ones, so that counters in the file do not fall. A file that is not ours is never
// replaced.
package textfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const (
	suffix = ".prom" // of files that node_exporter reads
	// mode lets node_exporter read the file as another user. The metrics are not secret: the
	// text format does not have exemplars, which name tasks.
	mode fs.FileMode = 0o644
	// lockTimeout limits how long a writer waits for another one.
	lockTimeout = 5 * time.Second
)

// Result is the result of Write.
type Result struct {
	File string `json:"file"`
	// Written is false if the file already has newer metrics of the same ledger.
	Written bool `json:"written"`
	Metrics int  `json:"metrics"`
}

// Write replaces the file at path with gathered metrics in the text format, unless the file
// has newer metrics of the same ledger. The directory must exist. If another process writes
// the file, Write waits for at most five seconds.
//
// # Errors
//
// textfile-unwritable, textfile-refused, and the errors of gather. On an error the file is
// unchanged. If ctx is done, the error wraps its cause.
func Write(ctx context.Context, path string, gather func(context.Context) ([]*dto.MetricFamily, error)) (Result, error) {
	result := Result{File: path}
	name := filepath.Base(path)
	if !strings.HasSuffix(name, suffix) || name == suffix {
		return result, errRefused(path, "node_exporter reads files whose names end in "+suffix)
	}
	// With the dot, the system requires a directory: opening a pipe would block.
	root, err := os.OpenRoot(filepath.Dir(path) + string(filepath.Separator) + ".")
	if err != nil {
		return result, errUnwritable(path, err)
	}
	defer root.Close()
	if _, err := readExisting(ctx, root, path, name); err != nil { // Before a lock file is created next to it.
		return result, err
	}
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	lock, err := safefile.WaitLock(waiting, root, "."+name+".lock")
	if errors.Is(err, context.DeadlineExceeded) {
		return result, errUnwritable(path, errors.New("another process is writing it")).Because(err)
	}
	if err != nil {
		return result, errUnwritable(path, err)
	}
	defer lock.Release()
	families, err := gather(ctx)
	if err != nil {
		return result, err
	}
	result.Metrics = len(families)
	ours := stateOf(families)
	theirs, err := readExisting(ctx, root, path, name)
	switch {
	case err != nil:
		return result, err
	case theirs.since.After(ours.since):
		return result, errRefused(path, "it has the metrics of a younger ledger")
	case theirs.since.Equal(ours.since) && theirs.events > ours.events:
		return result, nil
	}
	text := bytes.NewBufferString(ours.comment())
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(text, family); err != nil {
			return result, err
		}
	}
	if err := safefile.ReplaceWith(root, name, text, safefile.Options{Mode: mode, Exact: true, Temp: "." + name + ".draft"}); err != nil {
		return result, errUnwritable(path, err)
	}
	result.Written = true
	return result, nil
}

func errUnwritable(path string, err error) *errs.Error {
	return errs.New(errs.TextfileUnwritable, "failed to write %s: %w", path, safefile.Reason(err)).With("path", path)
}

func errRefused(path, reason string) error {
	return errs.New(errs.TextfileRefused, "%s is not written: %s", path, reason).With("path", path)
}

// readExisting returns the state of the existing file, or the zero state. It fails if the
// file must not be replaced.
func readExisting(ctx context.Context, root *os.Root, path, name string) (state, error) {
	var f *os.File
	var err error
	// Another process may replace the file at any time.
	for range (retry.Backoff{First: time.Millisecond, Max: 8 * time.Millisecond, Limit: 20}).Attempts(ctx) {
		if f, err = safefile.OpenFile(root, name, os.O_RDONLY); !errors.Is(err, safefile.ErrReplaced) {
			break
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state{}, nil
	case err != nil && safefile.Unsafe(err):
		return state{}, errRefused(path, "it is "+safefile.Reason(err).Error())
	case err != nil:
		return state{}, errUnwritable(path, err)
	}
	defer f.Close()
	const maxSize = 16 << 20 // Our files have a few hundred kilobytes.
	data, err := safefile.ReadAll(f, maxSize)
	if _, ok := errors.AsType[safefile.TooLargeError](err); ok {
		return state{}, errRefused(path, "it is too large to have been written by Switchyard")
	}
	if err != nil {
		return state{}, errUnwritable(path, err)
	}
	s, err := parse(string(data))
	if err != nil {
		return state{}, errRefused(path, err.Error())
	}
	return s, nil
}
