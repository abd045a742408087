package store_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/smalldisk"
)

// TestFullDisk puts a blob with room for no page, one, and so on until it is enough.
func TestFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "2m")
	s := open(t, disk)
	data := make([]byte, 3*smalldisk.PageSize)
	rand.Read(data)
	for pages := 0; ; pages++ {
		filler := filepath.Join(disk, "filler")
		smalldisk.Fill(t, filler, pages)
		sum, err := s.Put(t.Context(), data)
		must(t, os.Remove(filler))
		wantSound(t, disk)
		if err == nil {
			if pages < 3 {
				t.Errorf("%d pages were enough", pages)
			}
			if _, err := s.Get(t.Context(), sum); err != nil {
				t.Error(err)
			}
			return
		}
		if errs.CodeOf(err) != errs.FleetStoreUnreachable || pages > 20 {
			t.Fatalf("with room for %d pages: %v", pages, err)
		}
	}
}
