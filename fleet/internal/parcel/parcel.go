// Package parcel keeps orders and their results in the content store.
package parcel

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
	// Remote is the URL of the project's repository, and Draft the commit that the ref of
	// the task's draft is at.
	Remote, Draft string
	// Key names the order: no two orders of a project have the same.
	Key string
	// Files are those of host.Order, as blobs.
	Files []file
}

// Result is the result of an order.
type Result struct {
	host.OrderResult
	// Files are those of host.OrderResult, as blobs.
	Files []file
}

// file is a file of the state folder.
type file struct{ Path, Digest string }

// PutRequest keeps what a person asks of a task, and returns its digest. The errors are
// those of the store.
func PutRequest(ctx context.Context, s store.Store, r api.RunRequest) (string, error) {
	return put(ctx, s, r)
}

// GetRequest returns the request of a digest. The errors are those of the store, and
// order-stale for a blob of another kind.
func GetRequest(ctx context.Context, s store.Store, digest string) (r api.RunRequest, err error) {
	err = get(ctx, s, digest, &r)
	return r, err
}

// PutOrder keeps an order and returns its digest. The errors are those of the store.
func PutOrder(ctx context.Context, s store.Store, o Order) (string, error) {
	var err error
	if o.Files, err = putFiles(ctx, s, o.Order.Files); err != nil {
		return "", err
	}
	o.Order.Files = nil
	return put(ctx, s, o)
}

// GetOrder returns the order of a digest. The errors are those of GetRequest.
func GetOrder(ctx context.Context, s store.Store, digest string) (o Order, err error) {
	if err := get(ctx, s, digest, &o); err != nil {
		return o, err
	}
	o.Order.Files, err = getFiles(ctx, s, o.Files)
	return o, err
}

// PutResult keeps a result and returns its digest. The errors are those of the store.
func PutResult(ctx context.Context, s store.Store, r host.OrderResult) (string, error) {
	files, err := putFiles(ctx, s, r.Files)
	if err != nil {
		return "", err
	}
	r.Files = nil
	return put(ctx, s, Result{OrderResult: r, Files: files})
}

// GetResult returns the result of a digest. The errors are those of GetRequest.
func GetResult(ctx context.Context, s store.Store, digest string) (host.OrderResult, error) {
	var r Result
	err := get(ctx, s, digest, &r)
	if err == nil {
		r.OrderResult.Files, err = getFiles(ctx, s, r.Files)
	}
	return r.OrderResult, err
}

func putFiles(ctx context.Context, s store.Store, files []host.StateFile) ([]file, error) {
	var stored []file
	for _, f := range files {
		sum, err := s.Put(ctx, f.Data)
		if err != nil {
			return nil, err
		}
		stored = append(stored, file{f.Path, sum})
	}
	return stored, nil
}

func getFiles(ctx context.Context, s store.Store, stored []file) ([]host.StateFile, error) {
	var files []host.StateFile
	for _, f := range stored {
		data, err := s.Get(ctx, f.Digest)
		if err != nil {
			return nil, err
		}
		files = append(files, host.StateFile{Path: f.Path, Data: data})
	}
	return files, nil
}

func put(ctx context.Context, s store.Store, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write a parcel: %w", err)
	}
	return s.Put(ctx, data)
}

func get(ctx context.Context, s store.Store, digest string, into any) error {
	data, err := s.Get(ctx, digest)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return errs.New(errs.OrderStale, "the blob %s is no order, result or request of this version: %w", digest, err).With("blob", digest)
	}
	return nil
}
