// Package transcript stores the transcripts of agents: the standard output of their CLIs,
// without secrets, compressed, and named by its digest. The digest is in the ledger, so
// that an altered transcript is detected. Old transcripts are removed.
package transcript

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Folder is the directory of transcripts in the state directory.
const Folder = "transcripts"

const (
	suffix = ".gz"
	// maxSize limits the text of a transcript, in bytes: an altered file may expand to any
	// size. An output has at most 128 MiB.
	maxSize = 1 << 30
)

// MinSize is the size in bytes that a small file counts as, and so the minimum of
// Limits.Size: with less, nothing would be kept. It is about the size that a file takes on
// disk, and limits the number of files.
const MinSize = 4 << 10

// Limits say how long transcripts are stored.
type Limits struct {
	// Age is the maximum age of a transcript, and Size the maximum size of all files in
	// bytes.
	Age  time.Duration
	Size int64
}

// Save stores the text of r, without secrets, and returns its digest. It then removes
// transcripts beyond the limits, oldest first. It needs constant memory. Several processes
// may save in one directory.
//
// The file is not synced: that would make a run wait for the disk, and the digest in the
// ledger shows damage by a power loss.
//
// # Errors
//
// Errors of r and of the file system. An error with a digest means that the transcript is
// stored, and older ones could not be removed.
func Save(ctx context.Context, dir *os.Root, r io.Reader, limits Limits) (string, error) {
	sum := ""
	err := safefile.ReplaceNamed(dir, safefile.Options{Mode: 0o600, NoSync: true}, func(w io.Writer) (string, error) {
		// BestSpeed is twice as fast as the default, for files that are a fifth larger.
		packed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		err = errors.Join(redact.Copy(io.MultiWriter(h, packed), r), packed.Close())
		sum = digest.OfHash(h)
		return fileOf(sum), err
	})
	if err != nil {
		return "", err
	}
	return sum, prune(ctx, dir, limits)
}

func fileOf(sum string) string { return digest.Bare(sum) + suffix }

// Open opens a transcript. Its reader yields the text, and fails at the end if the text
// does not have the digest.
//
// # Errors
//
// transcript-gone, transcript-altered and file-unreadable, also from the reader.
func Open(dir *os.Root, sum string) (io.ReadCloser, error) {
	if !digest.Valid(sum) {
		return nil, errAltered(sum, errors.New("it is not a digest"))
	}
	f, err := safefile.OpenFile(dir, fileOf(sum), os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errs.New(errs.TranscriptGone, "the transcript %.19s is gone", sum).With("transcript", sum)
	case err != nil:
		return nil, errRead(sum, err)
	}
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, errors.Join(errRead(sum, err), f.Close())
	}
	return &reader{file: f, text: io.LimitReader(packed, maxSize), sum: sum, hash: sha256.New()}, nil
}

// Exists reports whether the file of a transcript exists. It does not read it.
func Exists(dir *os.Root, sum string) bool {
	_, err := dir.Lstat(fileOf(sum))
	return err == nil
}

// Check reads a transcript and fails as Open and its reader do.
func Check(dir *os.Root, sum string) error {
	r, err := Open(dir, sum)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

type reader struct {
	file *os.File
	text io.Reader
	sum  string
	hash hash.Hash
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.text.Read(p)
	r.hash.Write(p[:n])
	switch {
	case err == io.EOF && digest.OfHash(r.hash) != r.sum:
		err = errAltered(r.sum, errors.New("its content has another digest"))
	case err != nil && err != io.EOF:
		err = errRead(r.sum, err)
	}
	return n, err
}

func (r *reader) Close() error { return r.file.Close() }

// errRead distinguishes a file that cannot be read from a damaged one.
func errRead(sum string, err error) error {
	if _, failed := errors.AsType[*fs.PathError](err); failed {
		return errs.New(errs.FileUnreadable, "the transcript %.19s cannot be read: %w", sum, safefile.Reason(err)).With("transcript", sum)
	}
	return errAltered(sum, err)
}

func errAltered(sum string, why error) error {
	return errs.New(errs.TranscriptAltered, "the transcript %.19s was altered: %w", strings.ToValidUTF8(sum, "?"), why).With("transcript", sum)
}
