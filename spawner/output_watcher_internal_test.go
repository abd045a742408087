package spawner

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
)

// TestACheckIsShort: a check reads a part of a large output, and the next ones the rest.
func TestACheckIsShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "stdout")
	output := bytes.Repeat([]byte("{}\n"), 1<<18)
	if err := os.WriteFile(path, output, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := adapter.NewCatalog().Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	w := &outputWatcher{stdout: f, reader: a.NewReader(), now: time.Now, progress: func(adapter.Progress) {}}
	checks := 0
	for ; w.offset < int64(len(output)) && checks < 1000; checks++ {
		if end := w.check(); end != "" {
			t.Fatal(end)
		}
	}
	if checks < 2 || checks == 1000 {
		t.Errorf("%d checks read %d of %d bytes", checks, w.offset, len(output))
	}
}
