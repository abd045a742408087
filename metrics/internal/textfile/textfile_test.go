package textfile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/metrics/internal/textfile"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerVariable); path != "" {
		os.Exit(writeOn(path))
	}
	goleak.VerifyTestMain(m)
}

// ledgerOf is a ledger with that many events; since is the first event's time in seconds.
type ledgerOf struct{ since, events int64 }

func (l ledgerOf) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t := ledger.Counters{Events: l.events, Rows: make([][]ledger.Counter, len(queries))}
	if l.events > 0 {
		t.Since = time.Unix(l.since, 7).UTC().Format(ledger.TimeFormat)
		t.Until = t.Since
	}
	return t, nil
}

func metricsOf(since, events int64) []*dto.MetricFamily {
	c, err := metrics.New(ledgerOf{since, events}, metrics.Options{})
	if err != nil {
		panic(err)
	}
	families, err := c.Gather(context.Background())
	if err != nil {
		panic(err)
	}
	return families
}

// eventsIn reads a file as node_exporter does, and returns its number of events.
func eventsIn(t *testing.T, path string) int64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(data)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	f := families["switchyard_ledger_events_total"]
	if f == nil || len(families) != len(metricsOf(1, 1)) && len(families) != len(metricsOf(1, 0)) {
		t.Fatalf("there are %d metrics", len(families))
	}
	return int64(f.Metric[0].Counter.GetValue())
}

// alone checks that the file is the only one in its directory.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s was left", e.Name())
		}
	}
}

func writeMetrics(ctx context.Context, path string, families []*dto.MetricFamily) (bool, error) {
	result, err := textfile.Write(ctx, path, func(context.Context) ([]*dto.MetricFamily, error) { return families, nil })
	return result.Written, err
}

// write writes the metrics of a ledger, and checks whether the file was replaced.
func write(t *testing.T, path string, since, events int64, want bool) {
	t.Helper()
	written, err := writeMetrics(t.Context(), path, metricsOf(since, events))
	if err != nil || written != want {
		t.Fatalf("written: %t, %v; want %t", written, err, want)
	}
}

func TestOlderNeverReplacesNewer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	for _, step := range []struct {
		since, events int64
		written       bool
		then          int64
	}{
		{0, 0, true, 0}, // of a project without a ledger
		{5, 3, true, 3},
		{5, 2, false, 3},
		{5, 3, true, 3}, // for example, with other labels
		{5, 4, true, 4},
		{6, 1, true, 1}, // the ledger was removed and created again
	} {
		write(t, path, step.since, step.events, step.written)
		if n := eventsIn(t, path); n != step.then {
			t.Fatalf("after %v there are %d events", step, n)
		}
		alone(t, path)
	}
	for _, older := range []ledgerOf{{5, 9}, {0, 0}} {
		_, err := writeMetrics(t.Context(), path, metricsOf(older.since, older.events))
		if errs.CodeOf(err) != errs.TextfileRefused || eventsIn(t, path) != 1 {
			t.Errorf("an older ledger over a younger one: %v", err)
		}
	}
	alone(t, path)
}

func TestWhatIsNotOursStays(t *testing.T) {
	t.Parallel()
	ours := "# HELP switchyard_x X.\n# TYPE switchyard_x gauge\nswitchyard_x 1\n"
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"empty":                {"", true},
		"ours":                 {ours, true},
		"ours without comment": {"\n  switchyard_x{a=\"b\"} 1\n", true},
		"ours in other words":  {"# Written by switchyard. Ledger: since=never events=x\n" + ours, true},
		"another's metric":     {ours + "node_x 1\n", false},
		"another's help":       {ours + "# HELP node_x X.\n", false},
		"another's type":       {"# TYPE node_x gauge\n" + ours, false},
		"a name alike":         {"switchyardx 1\n", false},
		"comments":             {"# My notes.\n", false},
		"white space":          {"\n\n", false},
		"bytes":                {"\x00\x01\xff", false},
		"too large":            {strings.Repeat("switchyard_x 1\n", 1_200_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.prom")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			written, err := writeMetrics(t.Context(), path, metricsOf(5, 3))
			if c.ok {
				if err != nil || !written || eventsIn(t, path) != 3 {
					t.Errorf("written: %t, %v", written, err)
				}
				return
			}
			if errs.CodeOf(err) != errs.TextfileRefused || written {
				t.Errorf("written: %t, %v", written, err)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != c.text {
				t.Error("the file was changed")
			}
			alone(t, path)
		})
	}
}

func TestPlacesThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target.prom")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link, broken, folder := filepath.Join(dir, "link.prom"), filepath.Join(dir, "broken.prom"), filepath.Join(dir, "folder.prom")
	if err := errors.Join(os.Symlink(target, link), os.Symlink(filepath.Join(dir, "nowhere"), broken), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]errs.Code{
		filepath.Join(dir, "x.txt"):          errs.TextfileRefused,
		filepath.Join(dir, "x.prom.tmp"):     errs.TextfileRefused,
		filepath.Join(dir, ".prom"):          errs.TextfileRefused,
		link:                                 errs.TextfileRefused,
		broken:                               errs.TextfileRefused,
		folder:                               errs.TextfileRefused,
		filepath.Join(dir, "none", "x.prom"): errs.TextfileUnwritable,
		filepath.Join(target, "x.prom"):      errs.TextfileUnwritable,
		filepath.Join(dir, strings.Repeat("x", 251)+".prom"):      errs.TextfileUnwritable,
		filepath.Join(dir, strings.Repeat("x", 5000)+"/a/b.prom"): errs.TextfileUnwritable,
	} {
		written, err := writeMetrics(t.Context(), path, metricsOf(5, 3))
		f, ok := errors.AsType[*errs.Error](err)
		if written || !ok || f.Code != want || f.Details["path"] != path {
			t.Errorf("%.80s: %t, %v", path, written, err)
		}
	}
	if data, err := os.ReadFile(target); err != nil || len(data) > 0 {
		t.Error("a link was followed")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("something was left: %v, %v", entries, err)
	}
}

// TestWritersTakeTurns runs many writers at once, which write in another order than they
// gathered, and a reader that must see whole files whose counters do not fall.
func TestWritersTakeTurns(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	write(t, path, 5, 1, true)
	const events = 60
	order := rand.Perm(events)
	var writers sync.WaitGroup
	for i := range 6 {
		writers.Go(func() {
			for j := i; j < events; j += 6 {
				if _, err := writeMetrics(t.Context(), path, metricsOf(5, int64(order[j]+2))); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	last := int64(0)
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		now := eventsIn(t, path)
		if now < last {
			t.Errorf("the events fell from %d to %d", last, now)
		}
		last = now
	}
	if last != events+1 {
		t.Errorf("at the end there are %d events", last)
	}
	alone(t, path)
}

// TestReplacedWhileOpened tests that a file which other processes replace all the time is
// not refused.
func TestReplacedWhileOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	write(t, path, 1, 1, true)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var replacing sync.WaitGroup
	replacing.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			err := os.WriteFile(path+".next", text, 0o644)
			if err == nil {
				err = os.Rename(path+".next", path)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range int64(300) {
		if _, err := writeMetrics(t.Context(), path, metricsOf(1, n+2)); err != nil {
			t.Errorf("write %d: %v", n, err)
		}
	}
	close(done)
	replacing.Wait()
}

// TestDraftsOfTheDead checks that an unlocked draft of a killed process is replaced.
func TestDraftsOfTheDead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	draft := draftOf(path)
	if err := os.WriteFile(draft, []byte("half of a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, path, 5, 3, true)
	alone(t, path)
}

func lockOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
}

func draftOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".draft")
}

// TestHiddenLocks checks that a foreign file in the place of the lock is not written to.
func TestHiddenLocks(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(draft, target string) error{
		"a link":      func(draft, target string) error { return os.Symlink(target, draft) },
		"a hard link": func(draft, target string) error { return os.Link(target, draft) },
		"a directory": func(draft, _ string) error { return os.Mkdir(draft, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, target := filepath.Join(t.TempDir(), "switchyard.prom"), filepath.Join(t.TempDir(), "secret")
			if err := errors.Join(os.WriteFile(target, []byte("kept"), 0o600), plant(lockOf(path), target)); err != nil {
				t.Fatal(err)
			}
			_, err := writeMetrics(t.Context(), path, metricsOf(5, 3))
			if name == "a hard link" { // Its name is removed, as that of any stale lock.
				if err != nil {
					t.Error(err)
				}
			} else if errs.CodeOf(err) != errs.TextfileUnwritable {
				t.Errorf("it is written all the same: %v", err)
			}
			data, err := os.ReadFile(target)
			info, err2 := os.Stat(target)
			if err := errors.Join(err, err2); err != nil || string(data) != "kept" || info.Mode().Perm() != 0o600 {
				t.Errorf("the file behind it was changed: %q, %v", data, err)
			}
		})
	}
}

func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	release := hold(t, lockOf(path))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	written, err := writeMetrics(ctx, path, metricsOf(5, 3))
	if written || !errors.Is(err, context.DeadlineExceeded) || errs.CodeOf(err) != errs.TextfileUnwritable {
		t.Errorf("written: %t, %v", written, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	// Once the other lock is released, writing works.
	release()
	write(t, path, 5, 3, true)
	alone(t, path)
}

// writerVariable makes a test binary write a file again and again.
const writerVariable = "SWITCHYARD_TEST_TEXTFILE"

// writeOn writes ever newer metrics until the process is killed.
func writeOn(path string) int {
	for n := int64(1); n < 1_000_000; n++ {
		if _, err := writeMetrics(context.Background(), path, metricsOf(5, n)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}
