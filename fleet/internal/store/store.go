// Package store keeps the data that the parts of a fleet exchange: orders, results, prompts,
// reports and transcripts. Histories have only digests. The name of a blob is the digest of
// its content, so that a change is detected.
package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// MaxSize is the maximum size of a blob, in bytes.
const MaxSize = 64 << 20

// Store keeps blobs, as compressed files. It is safe for concurrent use, also by many machines.
// If ctx is done, the error of a method is its cause. Of other errors, only
// fleet-store-unreachable is transient.
type Store struct {
	files files
	// writers has idle *gzip.Writer, since each needs a megabyte of memory.
	writers *sync.Pool
}

// Open opens the store at a location: the path of a directory, or s3://BUCKET/PREFIX with
// endpoint, region and credentials from the AWS_* variables. It creates a missing
// directory, but not a missing bucket.
//
// # Errors
//
// fleet-store-invalid for another location, and fleet-store-unreachable.
func Open(ctx context.Context, location string) (Store, error) {
	place, err := open(ctx, location)
	if err != nil {
		return Store{}, errUnreachable(ctx, err)
	}
	// For transcripts, this level is twice as fast as the default. Files are a fifth larger.
	return Store{place, &sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // It fails only for an unknown level.
		return w
	}}}, nil
}

func open(ctx context.Context, location string) (files, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	switch {
	case scheme == "s3" && ok:
		return openBucket(ctx, rest)
	case ok || location == "":
		return nil, errs.New(errs.FleetStoreInvalid, "%q is neither a directory nor s3://BUCKET/PREFIX", location)
	}
	return openDirectory(location)
}

// files stores files.
type files interface {
	// write writes a file. It may keep the content of an existing file.
	write(ctx context.Context, name string, data []byte) error
	// read returns a file. It fails with errMissing, with a safefile.TooLargeError if the file
	// has more than limit bytes, or with another error.
	read(ctx context.Context, name string, limit int64) ([]byte, error)
}

var errMissing = errors.New("blob not found")

// fileOf returns the name of a blob's file. Subdirectories keep directories small, because
// large ones are slow on some file systems.
func fileOf(sum string) string {
	name := digest.Bare(sum)
	return name[:2] + "/" + name + ".gz"
}

// Put stores a blob durably and returns its digest. It renews the time of an existing blob, so
// that blobs in use are not removed by age.
//
// # Errors
//
// fleet-store-unreachable, fleet-blob-too-large.
func (s Store) Put(ctx context.Context, data []byte) (string, error) {
	if len(data) > MaxSize {
		return "", errs.New(errs.FleetBlobTooLarge, "a blob has %d bytes, and %d are allowed", len(data), MaxSize)
	}
	var file bytes.Buffer
	w := s.writers.Get().(*gzip.Writer)
	defer s.writers.Put(w)
	w.Reset(&file)
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	sum := digest.Of(data)
	if err := s.files.write(ctx, fileOf(sum), file.Bytes()); err != nil {
		return "", errUnreachable(ctx, err)
	}
	return sum, nil
}

// Get returns a blob. The caller owns it.
//
// # Errors
//
// fleet-store-unreachable, fleet-blob-missing, fleet-blob-changed.
func (s Store) Get(ctx context.Context, sum string) ([]byte, error) {
	if !digest.Valid(sum) {
		return nil, errs.New(errs.FleetBlobMissing, "there is no blob %.80q, which is not a digest", sum)
	}
	// Compressed random data is larger than the original, by less than a hundredth.
	file, err := s.files.read(ctx, fileOf(sum), MaxSize+MaxSize/100)
	switch {
	case errors.Is(err, errMissing):
		return nil, errs.New(errs.FleetBlobMissing, "the store has no blob %s", sum).With("blob", sum)
	case errors.As(err, new(safefile.TooLargeError)):
		return nil, errChanged(sum, err)
	case err != nil:
		return nil, errUnreachable(ctx, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, errChanged(sum, err)
	}
	data, err := safefile.ReadAll(r, MaxSize)
	if err == nil && digest.Of(data) != sum {
		err = errors.New("it has another digest")
	}
	if err != nil {
		return nil, errChanged(sum, err)
	}
	return data, nil
}

func errChanged(sum string, why error) error {
	return errs.New(errs.FleetBlobChanged, "the blob %s was changed: %w", sum, why).With("blob", sum)
}

// errUnreachable converts an error of files to one with a code.
func errUnreachable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errs.CodeOf(err) != "":
		return err
	}
	return errs.New(errs.FleetStoreUnreachable, "the store cannot be used: %w", err)
}
