package metrics

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestLockPush checks that only one process at a time pushes the metrics of a project.
func TestLockPush(t *testing.T) {
	t.Parallel()
	p := Project{State: filepath.Join(t.TempDir(), ".switchyard")}
	unlock, err := p.lockPush(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(p.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a push has created the state directory: %v", err)
	}
	if err := os.Mkdir(p.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if unlock, err = p.lockPush(t.Context()); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := p.lockPush(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second push is not locked out: %v", err)
	}
	next := make(chan error, 1)
	go func() {
		unlock, err := p.lockPush(t.Context())
		if err == nil {
			unlock()
		}
		next <- err
	}()
	unlock()
	if err := <-next; err != nil {
		t.Errorf("the lock is not released: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(p.State, "run")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// lockedEngine has a ledger that another process locks.
type lockedEngine struct{}

func (lockedEngine) UncheckedConfig(context.Context) (project.Config, error) {
	return project.Config{}, nil
}

func (lockedEngine) Counters(ctx context.Context, _ ...ledger.CounterQuery) (ledger.Counters, error) {
	<-ctx.Done()
	return ledger.Counters{}, fmt.Errorf("read the ledger: %w", context.Cause(ctx))
}

// TestPushOfALockedLedger checks that the timeout of a push limits the reading of the ledger.
func TestPushOfALockedLedger(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(context.Context) (*policies.Policy, error){
		"before the policy": func(ctx context.Context) (*policies.Policy, error) {
			_, err := lockedEngine{}.Counters(ctx)
			return nil, err
		},
		"after the policy": func(ctx context.Context) (*policies.Policy, error) { return policies.Load(ctx, policies.Default) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			p := Project{Engine: lockedEngine{}, Policy: policy, Root: t.TempDir(), State: filepath.Join(t.TempDir(), ".switchyard")}
			_, err := p.Push(ctx, PushRequest{URL: "http://127.0.0.1:1", Timeout: 50 * time.Millisecond})
			if errs.CodeOf(err) != errs.LedgerBusy || ctx.Err() != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// publishingEngine has an empty ledger, and exports its metrics.
type publishingEngine struct{ to project.Metrics }

func (e publishingEngine) UncheckedConfig(context.Context) (project.Config, error) {
	return project.Config{Metrics: e.to}, nil
}

func (publishingEngine) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	return ledger.Counters{Rows: make([][]ledger.Counter, len(queries))}, nil
}

// TestPublishWithALockedFile checks that metrics are pushed while another process writes the
// file.
func TestPublishWithALockedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := safefile.TryLock(root, ".shop.prom.lock")
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", lock, err)
	}
	defer lock.Release()
	var pushes atomic.Int32
	gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { pushes.Add(1) }))
	defer gateway.Close()
	p := Project{
		Engine: publishingEngine{project.Metrics{Textfile: "shop.prom", Push: gateway.URL}},
		Policy: func(ctx context.Context) (*policies.Policy, error) { return policies.Load(ctx, policies.Default) },
		Root:   dir, State: filepath.Join(dir, ".switchyard"),
	}
	if err := p.Publish(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "another process is writing it") || pushes.Load() != 1 {
		t.Errorf("%d pushes, and the error is %v", pushes.Load(), err)
	}
}

func TestProjectName(t *testing.T) {
	t.Parallel()
	one := projectName("/srv/my app")
	if !strings.HasPrefix(one, "my_app-") || len(one) != len("my_app-")+8 || projectName("/srv/my app") != one || projectName("/srv/other/my app") == one {
		t.Errorf("got %q", one)
	}
	if long := projectName("/" + strings.Repeat("ä", 300)); len(long) != 40+9 {
		t.Errorf("%q has %d bytes", long, len(long))
	}
}

// TestRefreshed checks that scrapes share a collector, which stays while the
// configuration is broken.
func TestRefreshed(t *testing.T) {
	t.Parallel()
	calls := 0
	var failure error
	s := &refresher{fresh: func(context.Context) (*Collector, error) {
		calls++
		if failure != nil {
			return nil, failure
		}
		return new(Collector), nil
	}}
	failure = os.ErrInvalid
	if _, err := s.collector(t.Context()); err == nil || calls != 1 {
		t.Fatalf("after %d calls: %v", calls, err)
	}
	failure = nil
	first, err := s.collector(t.Context())
	if err != nil || calls != 2 {
		t.Fatalf("after %d calls: %v", calls, err)
	}
	if again, err := s.collector(t.Context()); err != nil || again != first || calls != 2 {
		t.Errorf("after %d calls: %v", calls, err)
	}
	failure, s.until = os.ErrInvalid, time.Time{}
	for range 2 {
		if again, err := s.collector(t.Context()); err != nil || again != first || calls != 3 {
			t.Errorf("after %d calls: %v", calls, err)
		}
	}
	failure, s.until = nil, time.Time{}
	if other, err := s.collector(t.Context()); err != nil || other == first || calls != 4 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}
