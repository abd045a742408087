package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// place is where a store keeps its files, as somebody else sees it.
type place struct {
	location string
	replace  func(t *testing.T, name string, data []byte)
	remove   func(t *testing.T, name string)
	// lose makes the place go away.
	lose func(t *testing.T)
}

func directoryPlace(t *testing.T) place {
	path := filepath.Join(t.TempDir(), "shared", "store")
	file := func(name string) string { return filepath.Join(path, filepath.FromSlash(name)) }
	return place{path,
		func(t *testing.T, name string, data []byte) { must(t, os.WriteFile(file(name), data, 0o600)) },
		func(t *testing.T, name string) { must(t, os.Remove(file(name))) },
		func(t *testing.T) { must(t, os.RemoveAll(path)) },
	}
}

func bucketPlace(t *testing.T) place {
	const bucket, prefix = "evidence", "a/fleet"
	backend := s3mem.New()
	must(t, backend.CreateBucket(bucket))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return place{"s3://" + bucket + "/" + prefix,
		func(t *testing.T, name string, data []byte) {
			_, err := backend.PutObject(bucket, prefix+"/"+name, map[string]string{}, bytes.NewReader(data), int64(len(data)), nil)
			must(t, err)
		},
		func(t *testing.T, name string) {
			_, err := backend.DeleteObject(bucket, prefix+"/"+name)
			must(t, err)
		},
		func(t *testing.T) { server.Close() },
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, location string) store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), location)
	must(t, err)
	return s
}

func put(t testing.TB, s store.Store, data []byte) string {
	t.Helper()
	sum, err := s.Put(t.Context(), data)
	if err != nil || sum != digest.Of(data) {
		t.Fatalf("%q, %v", sum, err)
	}
	return sum
}

func nameOf(sum string) string { return digest.Bare(sum)[:2] + "/" + digest.Bare(sum) + ".gz" }

func compressed(t *testing.T, data []byte) []byte {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := w.Write(data)
	must(t, errors.Join(err, w.Close()))
	return file.Bytes()
}

func TestStore(t *testing.T) {
	for name, make := range map[string]func(*testing.T) place{"directory": directoryPlace, "S3": bucketPlace} {
		t.Run(name, func(t *testing.T) {
			p := make(t)
			s := open(t, p.location)
			t.Run("what is put is got", func(t *testing.T) { testContents(t, s) })
			t.Run("a changed blob", func(t *testing.T) { testChanged(t, s, p) })
			t.Run("a missing blob", func(t *testing.T) { testMissing(t, s, p) })
			t.Run("at the same time", func(t *testing.T) { testConcurrent(t, p.location) })
			t.Run("a done context", func(t *testing.T) { testDone(t, s) })
			t.Run("out of reach", func(t *testing.T) {
				sum := put(t, s, []byte("kept"))
				p.lose(t)
				_, putErr := s.Put(t.Context(), []byte("kept"))
				_, getErr := s.Get(t.Context(), sum)
				if errs.CodeOf(putErr) != errs.FleetStoreUnreachable || errs.CodeOf(getErr) != errs.FleetStoreUnreachable {
					t.Errorf("%v, %v", putErr, getErr)
				}
			})
		})
	}
}

func testContents(t *testing.T, s store.Store) {
	size := store.MaxSize
	if testing.Short() { // Under the race detector the largest blobs take a minute.
		size /= 64
	}
	noise := make([]byte, size)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, data := range map[string][]byte{
		"nothing": {}, "a text": []byte("Review this.\n"), "the largest": noise, "repetition": make([]byte, 1<<20),
	} {
		sum := put(t, s, data)
		put(t, s, data)
		if got, err := s.Get(t.Context(), sum); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if _, err := s.Put(t.Context(), make([]byte, store.MaxSize+1)); errs.CodeOf(err) != errs.FleetBlobTooLarge {
		t.Error(err)
	}
}

func testChanged(t *testing.T, s store.Store, p place) {
	sum := put(t, s, []byte(strings.Repeat("what was said\n", 1000)))
	whole := compressed(t, []byte(strings.Repeat("what was said\n", 1000)))
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	damages := map[string][]byte{
		"empty":            nil,
		"not compressed":   []byte("what was said"),
		"cut":              whole[:len(whole)-9],
		"a bit":            flipped,
		"another text":     compressed(t, []byte("something else")),
		"more text":        append(bytes.Clone(whole), compressed(t, []byte("and more"))...),
		"another blob's":   compressed(t, []byte("what was said\n")),
		"trailing garbage": append(bytes.Clone(whole), 'x'),
	}
	if !testing.Short() {
		damages["too large"] = make([]byte, store.MaxSize+store.MaxSize/100+1)
		damages["too large when it is read"] = compressed(t, make([]byte, store.MaxSize+1))
	}
	for name, data := range damages {
		p.replace(t, nameOf(sum), data)
		if _, err := s.Get(t.Context(), sum); errs.CodeOf(err) != errs.FleetBlobChanged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testMissing(t *testing.T, s store.Store, p place) {
	sum := put(t, s, []byte("removed later"))
	p.remove(t, nameOf(sum))
	for _, sum := range []string{sum, digest.Of("never put"), "", "sha256:../x", strings.Repeat("x", 1<<20)} {
		if _, err := s.Get(t.Context(), sum); errs.CodeOf(err) != errs.FleetBlobMissing || len(err.Error()) > 300 {
			t.Errorf("%.80q: %.300v", sum, err)
		}
	}
	put(t, s, []byte("removed later"))
	if got, err := s.Get(t.Context(), sum); err != nil || string(got) != "removed later" {
		t.Errorf("put again: %q, %v", got, err)
	}
}

func testConcurrent(t *testing.T, location string) {
	data := bytes.Repeat([]byte("the same report\n"), 1<<14)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			s, err := store.Open(t.Context(), location)
			if err != nil {
				t.Error(err)
				return
			}
			sum, err := s.Put(t.Context(), data)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.Get(t.Context(), sum); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	group.Wait()
}

func testDone(t *testing.T, s store.Store) {
	stopped := errors.New("the activity was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := s.Put(ctx, []byte("too late")); !errors.Is(err, stopped) {
		t.Error(err)
	}
	if _, err := s.Get(ctx, digest.Of("too late")); !errors.Is(err, stopped) {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	p := bucketPlace(t)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for location, want := range map[string]errs.Code{
		"":               errs.FleetStoreInvalid,
		"gs://bucket":    errs.FleetStoreInvalid,
		"s3://":          errs.FleetStoreInvalid,
		"s3:///prefix":   errs.FleetStoreInvalid,
		"s3://no-bucket": errs.FleetStoreUnreachable,
		file:             errs.FleetStoreUnreachable,
	} {
		if _, err := store.Open(t.Context(), location); errs.CodeOf(err) != want {
			t.Errorf("%q: %v", location, err)
		}
	}
	for _, endpoint := range []string{"no-url", "http://", "ftp://host", "http://host/path", "http://a b"} {
		t.Setenv("AWS_ENDPOINT_URL", endpoint)
		if _, err := store.Open(t.Context(), p.location); errs.CodeOf(err) != errs.FleetStoreInvalid {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}

func TestDirectoryIsForItsOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: Windows has no modes")
	}
	p := directoryPlace(t)
	sum := put(t, open(t, p.location), []byte("confidential"))
	for name, want := range map[string]os.FileMode{"": 0o700, filepath.Dir(nameOf(sum)): 0o700, nameOf(sum): 0o600} {
		if info, err := os.Stat(filepath.Join(p.location, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
