package monitoring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// readyTime is the time limit until a program listens, and endTime until it has
	// ended after it was asked to.
	readyTime = 20 * time.Second
	endTime   = 10 * time.Second
)

// daemon is a program that listens on a port of its choice.
type daemon struct {
	name string
	// url is its base URL.
	url  string
	cmd  *exec.Cmd
	said *reported
	// ended is closed when it has ended, with err.
	ended chan struct{}
	err   error
}

// start starts a program that listens on port 0 and prints the real port to standard
// error. It ends with the test at the latest.
func start(t *testing.T, name string, cmd *exec.Cmd) *daemon {
	t.Helper()
	d := &daemon{name: name, cmd: cmd, said: &reported{address: make(chan string, 1)}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = io.Discard, d.said
	cmd.WaitDelay = endTime
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s does not start: %v", name, err)
	}
	go func() {
		d.err = cmd.Wait()
		close(d.ended)
	}()
	t.Cleanup(func() {
		d.stop(t)
		if t.Failed() {
			t.Logf("%s said:\n%s", name, d.said.problems())
		}
	})
	select {
	case address := <-d.said.address:
		d.url = "http://" + address
	case <-d.ended:
		t.Fatalf("%s ended instead of listening: %v", name, d.err)
	case <-time.After(readyTime):
		t.Fatalf("%s does not listen", name)
	}
	return d
}

// stop asks the program to end, waits for it, and returns its result.
func (d *daemon) stop(t *testing.T) error {
	t.Helper()
	select {
	case <-d.ended:
		return d.err
	default:
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("%s cannot be asked to end: %v", d.name, err)
	}
	select {
	case <-d.ended:
	case <-time.After(endTime):
		t.Errorf("%s does not end when it is asked to", d.name)
		if err := d.cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-d.ended
	}
	return d.err
}

// get reads a path.
func (d *daemon) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", d.name, path, res.Status, body)
	}
	return body, err
}

// await polls until so returns nil. If time runs out, it reports the last error.
func await(t *testing.T, timeout time.Duration, so func() error) {
	t.Helper()
	deadline := time.Now().Add(timeout)
	for {
		err := so()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", timeout, err)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(errors.Join(err, t.Context().Err()))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// reported collects a program's standard error, and finds its address in it.
type reported struct {
	mu      sync.Mutex
	text    bytes.Buffer
	found   bool
	address chan string
}

// maxReported limits the collected output, in bytes.
const maxReported = 64 << 10

// Write implements io.Writer.
func (w *reported) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() < maxReported {
		w.text.Write(p)
	}
	if !w.found {
		// Prometheus first repeats the port 0 of its command line.
		at := regexp.MustCompile(`(?:listening on"? address=|http://)(127\.0\.0\.1:[1-9][0-9]*)\b`)
		if found := at.FindStringSubmatch(strings.ToLower(w.text.String())); found != nil {
			w.found = true
			w.address <- found[1]
		}
	}
	return len(p), nil
}

// problems returns the output without informational messages.
func (w *reported) problems() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for line := range strings.Lines(w.text.String()) {
		if !strings.Contains(line, "level=info") {
			b.WriteString(line)
		}
	}
	return b.String()
}
