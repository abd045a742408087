package orderstore_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestManyFiles has a result that lists one large file many times: the store keeps it
// once, in a few kilobytes, but a reader of the result needs memory for each mention.
func TestManyFiles(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	large, err := s.Put(t.Context(), make([]byte, store.MaxSize))
	if err != nil {
		t.Fatal(err)
	}
	list := func(n int) string {
		text := `{"Files": [{"Path": "a", "Digest": "` + large + `"}`
		for range n - 1 {
			text += `, {"Path": "a", "Digest": "` + large + `"}`
		}
		sum, err := s.Put(t.Context(), []byte(text+"]}"))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if r, err := orderstore.Get[host.OrderResult](t.Context(), s, list(2)); err != nil || len(r.Files) != 2 {
		t.Errorf("a result with two files: %d files, %v", len(r.Files), err)
	}
	if _, err := orderstore.Get[host.OrderResult](t.Context(), s, list(3)); errs.CodeOf(err) != errs.FleetBlobTooLarge {
		t.Errorf("a result with three files: %v", err)
	}
	data := make([]byte, store.MaxSize)
	r := host.OrderResult{Files: []host.StateFile{{Data: data}, {Data: data}, {Data: data}}}
	if _, err := orderstore.Put(t.Context(), s, r); errs.CodeOf(err) != errs.FleetBlobTooLarge {
		t.Errorf("three files are kept: %v", err)
	}
}
