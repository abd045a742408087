// Package textfile writes metrics to a file for node_exporter's textfile collector.
//
// The file is replaced whole, by a rename: a reader never sees half of it. Processes
// that write the same file take turns, and what is older never replaces what is newer,
// in whichever order they come: a counter in the file does not fall. What is in the
// file's place and is not ours stays as it is.
package textfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/metrics"
)

// suffix is that of the files that node_exporter reads.
const suffix = ".prom"

// mode lets node_exporter read the file, which runs as another user. Metrics are no
// secret: they hold no text of findings, and tasks only in exemplars, which the text
// format has not.
const mode fs.FileMode = 0o644

// Write replaces the file at path by metrics as a Collector gathers them, in the text
// format. It reports false where the file has newer ones of the same ledger already,
// and leaves it alone.
//
// The path's folder must be there. While another process writes the file it waits,
// until ctx ends and at most for five seconds.
//
// # Errors
//
// textfile-unwritable and textfile-refused; then the file is as it was. Where ctx ends first,
// the error wraps its cause.
func Write(ctx context.Context, path string, families []*dto.MetricFamily) (written bool, err error) {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, suffix) || name == suffix {
		return false, refused(path, "node_exporter reads files whose names end in "+suffix)
	}
	ours := stateOf(families)
	var text bytes.Buffer
	ours.write(&text)
	if err := metrics.Write(&text, families, metrics.Text); err != nil {
		return false, err
	}
	// The dot makes the system look for a folder: a pipe in its place would wait for
	// somebody to write to it.
	root, err := os.OpenRoot(filepath.Dir(path) + string(filepath.Separator) + ".")
	if err != nil {
		return false, unwritable(path, err)
	}
	defer root.Close()
	// What is refused is refused before anything is made beside it.
	if _, err := look(root, path, name, ours); err != nil {
		return false, err
	}
	d, err := take(ctx, root, path, "."+name+".draft")
	if err != nil {
		return false, err
	}
	stale, err := look(root, path, name, ours)
	if err != nil || stale {
		return false, errors.Join(err, d.drop())
	}
	if err := d.become(name, text.Bytes()); err != nil {
		return false, unwritable(path, err)
	}
	return true, nil
}

func unwritable(path string, err error) error {
	return errs.New(errs.TextfileUnwritable, "%s cannot be written: %w", path, reason(err)).With("path", path)
}

func refused(path, why string) error {
	return errs.New(errs.TextfileRefused, "%s is not written: %s", path, why).With("path", path)
}

// reason is what the file system has to say, without the path that it says it of.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
