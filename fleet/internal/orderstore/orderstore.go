// Package orderstore stores orders, their results and the requests of users as blobs.
package orderstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Order is an order of a task's home.
type Order struct {
	host.Order
	// Remote is the URL of the project's repository, and Draft the commit at the ref of the
	// task's draft.
	Remote, Draft string
	// Key identifies the order in its project.
	Key string
}

// content is a type of blob. The files of an order and of a result are separate blobs.
type content interface {
	Order | host.OrderResult | api.RunRequest
}

// maxFiles limits the total size of the files of an order or a result, in bytes. A file can be
// listed many times, and needs memory each time.
const maxFiles = 2 * store.MaxSize

// Put stores v and returns its digest. It sets the digests of the files of v.
//
// # Errors
//
// The errors of the store, and fleet-blob-too-large if the files of v are too large together.
func Put[T content](ctx context.Context, s store.Store, v T) (string, error) {
	files, size := filesOf(&v), 0
	for i, f := range files {
		if size += len(f.Data); size > maxFiles {
			return "", errTooLarge()
		}
		var err error
		if files[i].Digest, err = s.Put(ctx, f.Data); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write an order, result or request: %w", err)
	}
	return s.Put(ctx, data)
}

// Get returns the value that Put stored under a digest.
//
// # Errors
//
// The errors of Put, and order-stale for a blob of another type.
func Get[T content](ctx context.Context, s store.Store, digest string) (v T, err error) {
	data, err := s.Get(ctx, digest)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, errs.New(errs.OrderStale, "the blob %s is not an order, result or request of this version: %w", digest, err).With("blob", digest)
	}
	files, size := filesOf(&v), 0
	for i, f := range files {
		if files[i].Data, err = s.Get(ctx, f.Digest); err != nil {
			return v, err
		}
		if size += len(files[i].Data); size > maxFiles {
			return v, errTooLarge()
		}
	}
	return v, nil
}

func errTooLarge() error {
	return errs.New(errs.FleetBlobTooLarge, "the files of an order or a result have more than %d bytes", maxFiles)
}

// filesOf returns the files of a content, given as a pointer.
func filesOf(v any) []host.StateFile {
	switch v := v.(type) {
	case *Order:
		return v.Files
	case *host.OrderResult:
		return v.Files
	default: // A request does not have files.
		return nil
	}
}
