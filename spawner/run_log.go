package spawner

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// RunLogFile is the name of the file in the state folder that has a line of JSON
// for every attempt that became a process.
const RunLogFile = "spawns.jsonl"

// runLog appends to the file of records.
type runLog struct{ state string }

// append makes a record durable and returns the digest of its line.
func (t runLog) append(r Record) (digest string, err error) {
	line, err := lineOf(r)
	if err == nil {
		err = t.write(line)
	}
	if err != nil {
		return "", errs.New(errs.SpawnTrailFailed, "the record of run %s cannot be kept: %w", r.RunID, safefile.Reason(err)).With("path", RunLogFile)
	}
	return Digest(line), nil
}

func (t runLog) write(line []byte) (err error) {
	root, err := safefile.OpenState(t.state)
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
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	return f.Sync()
}

// torn reports whether the last line was cut off, as by a full disk: then ours
// must not be joined to it.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// digestPrefix begins a digest that stands alone.
const digestPrefix = "sha256:"

// Digest is the digest of a text, in the form that reports' digests have.
func Digest(text []byte) string { return digestPrefix + sum(text) }

// sum is a digest in hex digits.
func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// bare is a digest without what says of which kind it is.
func bare(digest string) string { return strings.TrimPrefix(digest, digestPrefix) }
