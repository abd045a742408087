package spawner

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
)

// TestAResultEndsTheWatchOfTokens: an agent that has finished has nothing left to save, and
// whether it has also exited by then is a matter of chance.
func TestAResultEndsTheWatchOfTokens(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, []byte(`{"type":"result","is_error":false,"result":"done","usage":{"input_tokens":5000,"output_tokens":100}}`+"\n"))
	w.maxTokens = 4000
	if end := w.check(); end != "" || w.reported.Tokens != 5100 {
		t.Errorf("%q after %+v", end, w.reported)
	}
}

// newWatcher returns a watcher of an output of claude.
func newWatcher(t *testing.T, output []byte) *outputWatcher {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	if err := os.WriteFile(path, output, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	a, err := adapter.NewCatalog().Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	return &outputWatcher{stdout: f, reader: a.NewReader(), now: time.Now, progress: func(adapter.Progress) {}}
}

// TestACheckIsShort: a check reads a part of a large output, and the next ones the rest.
func TestACheckIsShort(t *testing.T) {
	t.Parallel()
	output := bytes.Repeat([]byte("{}\n"), 1<<18)
	w := newWatcher(t, output)
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

// TestUnreadableOutput: the rest of an output that cannot be read is not its end.
func TestUnreadableOutput(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, []byte(`{"type":"result","is_error":false,"result":"done"}`+"\n"))
	w.check()
	w.stdout.Close()
	if w.drain(func() bool { return false }); w.err == nil {
		t.Error("no error")
	}
}
