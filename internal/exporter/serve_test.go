package exporter_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exporter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout is how long a test waits for an event, longer than the slowest machine takes.
const timeout = time.Hour

// served is a running server.
type served struct {
	exporter.Listening
	stop  func()
	ended chan error

	mu       sync.Mutex
	warnings []string
}

// start serves on a free port of the loopback interface until the test ends or stop is
// called, and expects no error.
func start(t *testing.T, o exporter.Options) *served {
	t.Helper()
	s := &served{ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	// A busy machine can take longer than the defaults.
	o.Timeout = cmp.Or(o.Timeout, time.Hour)
	o = exporter.HeaderTime(o, time.Minute)
	o.Warn = func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.warnings = append(s.warnings, err.Error())
	}
	started := make(chan exporter.Listening, 1)
	o.Started = func(at exporter.Listening) { started <- at }
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- exporter.Run(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		select {
		case err := <-s.ended:
			if err != nil {
				t.Errorf("it ends with %v", err)
			}
		default: // The test has cancelled it.
		}
	})
	select {
	case s.Listening = <-started:
	case err := <-s.ended:
		t.Fatalf("it does not start: %v", err)
	case <-time.After(timeout):
		t.Fatal("it does not start")
	}
	return s
}

// reported returns the warnings so far.
func (s *served) reported() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

// page returns the URL of another page of the server.
func (s *served) page(path string) string { return strings.TrimSuffix(s.URL, "/metrics") + path }

func (s *served) address() string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://"), "/metrics")
}

// response is an answer with its whole body.
type response struct {
	status int
	header http.Header
	body   []byte
}

func ask(t *testing.T, method, url string, header ...string) response {
	t.Helper()
	return askBy(t, &http.Transport{DisableKeepAlives: true, DisableCompression: true}, method, url, header...)
}

func askBy(t *testing.T, by http.RoundTripper, method, url string, header ...string) response {
	t.Helper()
	got, err := tryBy(by, method, url, header...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func tryBy(by http.RoundTripper, method, url string, header ...string) (response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return response{}, err
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := by.RoundTrip(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, body}, err
}

// sample returns a counter, and a histogram with classic and native buckets and
// exemplars.
func sample() []*dto.MetricFamily {
	at := &timestamppb.Timestamp{Seconds: 1000}
	return []*dto.MetricFamily{
		{
			Name: new("switchyard_rounds_total"), Help: new("Rounds."), Type: dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{{
				Label:   []*dto.LabelPair{{Name: new("next_action"), Value: new("commit")}},
				Counter: &dto.Counter{Value: new(2.0), CreatedTimestamp: at},
			}},
		},
		{
			Name: new("switchyard_wait_seconds"), Help: new("Wait."), Type: dto.MetricType_HISTOGRAM.Enum(),
			Metric: []*dto.Metric{{Histogram: &dto.Histogram{
				SampleCount: new(uint64(1)), SampleSum: new(1.0), CreatedTimestamp: at,
				Bucket: []*dto.Bucket{{UpperBound: new(1.0), CumulativeCount: new(uint64(1)), Exemplar: &dto.Exemplar{
					Value: new(1.0), Timestamp: &timestamppb.Timestamp{Seconds: 1500},
					Label: []*dto.LabelPair{{Name: new("task"), Value: new("T-1")}, {Name: new("round"), Value: new("2")}},
				}}},
				Schema: new(int32(3)), ZeroThreshold: new(0.0), ZeroCount: new(uint64(0)),
				PositiveSpan: []*dto.BucketSpan{{Offset: new(int32(0)), Length: new(uint32(1))}}, PositiveDelta: []int64{1},
			}}},
		},
	}
}

func gathers(context.Context) ([]*dto.MetricFamily, error) { return sample(), nil }

const (
	acceptText        = "text/plain;version=0.0.4"
	acceptOpenMetrics = "application/openmetrics-text;version=1.0.0"
	acceptProto       = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	s := start(t, exporter.Options{Gather: gathers})
	if s.Open || !strings.HasPrefix(s.URL, "http://127.0.0.1:") || strings.Contains(s.URL, ":0/") {
		t.Errorf("it serves %+v", s.Listening)
	}
	t.Run("text", func(t *testing.T) {
		got := ask(t, http.MethodGet, s.URL, "Accept", acceptText)
		if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
			t.Fatalf("%d %v", got.status, got.header)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		if v := families["switchyard_rounds_total"].Metric[0].GetCounter().GetValue(); v != 2 {
			t.Errorf("%v rounds", v)
		}
		if h := families["switchyard_wait_seconds"].Metric[0].GetHistogram(); h.GetSampleCount() != 1 {
			t.Errorf("histogram %v", h)
		}
		if text := string(got.body); strings.Contains(text, "T-1") || strings.Contains(text, "_created") {
			t.Errorf("the text format has what it cannot have:\n%s", text)
		}
	})
	t.Run("nothing asked", func(t *testing.T) {
		if got := ask(t, http.MethodGet, s.URL); !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
			t.Errorf("%v", got.header)
		}
	})
	t.Run("OpenMetrics", func(t *testing.T) {
		got := ask(t, http.MethodGet, s.URL, "Accept", acceptOpenMetrics)
		text := string(got.body)
		if !strings.HasPrefix(got.header.Get("Content-Type"), "application/openmetrics-text") || !strings.HasSuffix(text, "# EOF\n") {
			t.Fatalf("%v\n%s", got.header, text)
		}
		for _, want := range []string{
			`switchyard_rounds_total{next_action="commit"} 2.0` + "\n",
			`switchyard_rounds_created{next_action="commit"} 1000`,
			`switchyard_wait_seconds_bucket{le="1.0"} 1 # {task="T-1",round="2"} 1.0 1500.0` + "\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("it lacks %q:\n%s", want, text)
			}
		}
	})
	t.Run("protocol buffers", func(t *testing.T) {
		got := ask(t, http.MethodGet, s.URL, "Accept", acceptProto+","+acceptText+";q=0.5")
		dec := expfmt.NewDecoder(bytes.NewReader(got.body), expfmt.ResponseFormat(got.header))
		for _, want := range sample() {
			var f dto.MetricFamily
			if err := dec.Decode(&f); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(&f, want) {
				t.Errorf("got %v, want %v", &f, want)
			}
		}
	})
	t.Run("gzip", func(t *testing.T) {
		got := ask(t, http.MethodGet, s.URL, "Accept-Encoding", "gzip")
		r, err := gzip.NewReader(bytes.NewReader(got.body))
		if err != nil {
			t.Fatalf("%v: %v", got.header, err)
		}
		text, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(text, ask(t, http.MethodGet, s.URL).body) {
			t.Errorf("%v: another text\n%s", err, text)
		}
	})
	if reported := s.reported(); len(reported) != 0 {
		t.Errorf("it warns: %q", reported)
	}
}

func TestWhatThereIs(t *testing.T) {
	t.Parallel()
	s := start(t, exporter.Options{Gather: gathers})
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/metrics", 200, "switchyard_rounds_total"},
		{"HEAD", "/metrics", 200, ""},
		{"GET", "/healthz", 200, "ok\n"},
		{"HEAD", "/healthz", 200, ""},
		{"GET", "/", 404, ""},
		{"GET", "/metrics/", 404, ""},
		{"GET", "/debug/pprof/", 404, ""},
		{"GET", "/index.html", 404, ""},
		{"POST", "/metrics", 405, ""},
		{"PUT", "/metrics", 405, ""},
		{"DELETE", "/healthz", 405, ""},
		{"POST", "/", 404, ""},
		{"TRACE", "/metrics", 405, ""},
	} {
		got := ask(t, c.method, s.page(c.path))
		if got.status != c.status || !strings.Contains(string(got.body), c.body) || c.method == "HEAD" && len(got.body) != 0 {
			t.Errorf("%s %s: %d\n%s", c.method, c.path, got.status, got.body)
		}
	}
}

// TestFailures checks that a failing scrape answers with a code, and that the operator is
// warned of changes and not of every failure.
func TestFailures(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var failure error
	fails := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failure = err
	}
	now := func() error {
		mu.Lock()
		defer mu.Unlock()
		return failure
	}
	s := start(t, exporter.Options{
		Gather: func(context.Context) ([]*dto.MetricFamily, error) { return sample(), now() },
	})
	both := func(status int, body string) {
		t.Helper()
		for range 3 {
			for _, path := range []string{"/metrics", "/healthz"} {
				got := ask(t, http.MethodGet, s.page(path))
				if got.status != status || !strings.Contains(string(got.body), body) || strings.Contains(string(got.body), "secret") {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
				if status != 200 && bytes.Count(got.body, []byte("\n")) != 1 {
					t.Errorf("it is not one line: %q", got.body)
				}
			}
		}
	}
	both(200, "")
	fails(errs.New("ledger-busy", "secret/ledger.db is locked"))
	both(503, "[ledger-busy]")
	fails(errs.New("ledger-corrupt", "secret/ledger.db is damaged"))
	both(503, "[ledger-corrupt]")
	fails(errors.New("secret thing"))
	both(503, "[internal]")
	fails(fmt.Errorf("open secret/ledger.db: %w", context.DeadlineExceeded)) // as if it is locked for longer
	both(503, "[timeout]")
	fails(nil)
	both(200, "")
	want := []string{"secret/ledger.db is locked", "secret/ledger.db is damaged", "secret thing", "open secret/ledger.db: context deadline exceeded", "the metrics can be read again"}
	if reported := s.reported(); !slices.Equal(reported, want) {
		t.Errorf("it tells %q, want %q", reported, want)
	}
}

// TestScrapeTimeout checks that a scrape ends before the scraper gives up.
func TestScrapeTimeout(t *testing.T) {
	t.Parallel()
	limits := make(chan time.Duration, 1)
	s := start(t, exporter.Options{Timeout: 10 * time.Second, Gather: func(ctx context.Context) ([]*dto.MetricFamily, error) {
		end, ok := ctx.Deadline()
		if !ok {
			t.Error("a scrape without an end")
		}
		limits <- time.Until(end)
		return nil, nil
	}})
	for header, want := range map[string]time.Duration{
		"":    10 * time.Second,
		"2":   1800 * time.Millisecond,
		"0.5": 450 * time.Millisecond,
		// A tiny timeout must not look like a failure of the ledger.
		"0.001":  250 * time.Millisecond,
		"1e-300": 250 * time.Millisecond,
		"3600":   10 * time.Second,
		"0":      10 * time.Second,
		"-1":     10 * time.Second,
		"NaN":    10 * time.Second,
		"x":      10 * time.Second,
	} {
		ask(t, http.MethodGet, s.URL, "X-Prometheus-Scrape-Timeout-Seconds", header)
		if got := <-limits; got > want || got < want/2 {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

// blocking gathers when the test lets it.
type blocking struct {
	begun, goOn chan struct{}
}

func newBlocking() *blocking {
	return &blocking{begun: make(chan struct{}, 100), goOn: make(chan struct{})}
}

func (b *blocking) gather(ctx context.Context) ([]*dto.MetricFamily, error) {
	b.begun <- struct{}{}
	select {
	case <-b.goOn:
		return sample(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestScrapesAtATime(t *testing.T) {
	t.Parallel()
	b := newBlocking()
	s := start(t, exporter.Options{Gather: b.gather, Scrapes: 2})
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			got, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, s.URL)
			if err != nil || got.status != 200 {
				t.Errorf("a scrape that was let in: %d %v", got.status, err)
			}
		})
	}
	for range 2 {
		<-b.begun
	}
	var rejected sync.WaitGroup
	for _, page := range []string{"/metrics", "/healthz"} {
		rejected.Go(func() {
			if got := ask(t, http.MethodGet, s.page(page)); got.status != 503 || got.header.Get("Retry-After") != "1" {
				t.Errorf("%s beside both scrapes: %d %s", page, got.status, got.body)
			}
		})
	}
	rejected.Wait()
	close(b.goOn)
	running.Wait()
	if got := ask(t, http.MethodGet, s.URL); got.status != 200 {
		t.Errorf("after the others: %d", got.status)
	}
	if reported := s.reported(); len(reported) != 0 {
		t.Errorf("it warns: %q", reported)
	}
}

// TestAScrapeThatNoneWaitsFor checks that a scrape ends when its client is gone, without
// a warning.
func TestAScrapeThatNoneWaitsFor(t *testing.T) {
	t.Parallel()
	b := newBlocking()
	left := make(chan error, 1)
	s := start(t, exporter.Options{Scrapes: 1, Gather: func(ctx context.Context) ([]*dto.MetricFamily, error) {
		families, err := b.gather(ctx)
		left <- err
		return families, err
	}})
	c, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-b.begun
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-left:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(timeout):
		t.Fatal("the scrape goes on")
	}
	close(b.goOn)
	// Its place is free again once the server has noticed.
	for end := time.Now().Add(timeout); ask(t, http.MethodGet, s.URL).status != 200; {
		if time.Now().After(end) {
			t.Fatal("its place is not free")
		}
	}
	if reported := s.reported(); len(reported) != 0 {
		t.Errorf("it warns: %q", reported)
	}
}

func TestScrapesComeToTheirEnd(t *testing.T) {
	t.Parallel()
	b := newBlocking()
	s := start(t, exporter.Options{Gather: b.gather, Grace: timeout})
	answered := make(chan response, 1)
	go func() {
		got, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, s.URL)
		if err != nil {
			t.Errorf("the scrape: %v", err)
		}
		answered <- got
	}()
	<-b.begun
	s.stop()
	// New connections are rejected while it runs.
	for end := time.Now().Add(timeout); ; {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			break
		}
		_ = c.Close()
		if time.Now().After(end) {
			t.Fatal("it still listens")
		}
	}
	select {
	case err := <-s.ended:
		t.Fatalf("it does not wait for the scrape: %v", err)
	default:
	}
	close(b.goOn)
	if got := <-answered; got.status != 200 || !strings.Contains(string(got.body), "switchyard_rounds_total") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestTheGraceIsNotEndless(t *testing.T) {
	t.Parallel()
	b := newBlocking()
	s := start(t, exporter.Options{Gather: b.gather, Grace: 50 * time.Millisecond, Timeout: time.Minute})
	answered := make(chan error, 1)
	go func() {
		_, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, s.URL)
		answered <- err
	}()
	<-b.begun
	s.stop()
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(timeout):
		t.Fatal("it waits for a scrape that hangs")
	}
	if err := <-answered; err == nil {
		t.Error("the scrape that was cut has an answer")
	}
}

// TestSlowClients checks that a slow client loses its connection, and that others are
// answered meanwhile.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const head = 2 * time.Second
	s := start(t, exporter.HeaderTime(exporter.Options{Gather: gathers}, head))
	var slow []net.Conn
	for range 20 {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	if got := ask(t, http.MethodGet, s.URL); got.status != 200 {
		t.Errorf("status %d", got.status)
	}
	for _, c := range slow {
		_ = c.SetReadDeadline(time.Now().Add(timeout))
		if _, err := io.ReadAll(c); errors.Is(err, context.DeadlineExceeded) || errorIsTimeout(err) {
			t.Fatal("a slow client still has its connection")
		}
	}
}

func errorIsTimeout(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return ok && n.Timeout()
}

func TestTooMuchHead(t *testing.T) {
	t.Parallel()
	s := start(t, exporter.Options{Gather: gathers})
	got, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, s.URL, "X-Large", strings.Repeat("x", 64<<10))
	if err == nil && got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", got.status)
	}
}

// hold opens count connections, sends text on each, and waits for an answer if it is a
// whole request.
func (s *served) hold(t *testing.T, count int, text string) []net.Conn {
	t.Helper()
	var held []net.Conn
	for range count {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(timeout))
		held = append(held, c)
	}
	return held
}

// TestConnectionsAtATime checks that no client keeps another one out, whatever it does
// with its connections.
func TestConnectionsAtATime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		answered bool
		count    int
	}{
		"idle":             {"GET /nosuch HTTP/1.1\r\nHost: localhost\r\n\r\n", true, 64},
		"silent":           {"", false, 100},
		"half a request":   {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", false, 100},
		"without reading":  {strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 20), false, 100},
		"another's health": {strings.Repeat("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 20), false, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			large := sample()
			for i := range 3_000 { // more than the buffers of a connection take
				f := proto.Clone(large[0]).(*dto.MetricFamily)
				f.Name = proto.String(fmt.Sprintf("%s_%d", large[0].GetName(), i))
				large = append(large, f)
			}
			s := start(t, exporter.Options{
				Gather: func(context.Context) ([]*dto.MetricFamily, error) { return large, nil },
				// Far longer than the test, which must not depend on a timeout.
				Timeout: time.Hour, Grace: time.Millisecond, Scrapes: 64,
			})
			held := s.hold(t, c.count, c.text)
			if c.answered {
				for _, h := range held {
					resp, err := http.ReadResponse(bufio.NewReader(h), nil)
					if err != nil || resp.StatusCode != 404 {
						t.Fatal(err)
					}
					_ = resp.Body.Close()
				}
			}
			if got := ask(t, http.MethodGet, s.URL); got.status != 200 {
				t.Errorf("status %d", got.status)
			}
		})
	}
}

// TestAScrapeKeepsItsConnection checks that a connection is not closed while its metrics
// are gathered.
func TestAScrapeKeepsItsConnection(t *testing.T) {
	t.Parallel()
	b := newBlocking()
	s := start(t, exporter.Options{Gather: b.gather})
	got := make(chan error, 1)
	go func() {
		r, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, s.URL)
		if err == nil && r.status != 200 {
			err = fmt.Errorf("status %d", r.status)
		}
		got <- err
	}()
	<-b.begun
	s.hold(t, 200, "GET /nosuch HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if status := ask(t, http.MethodGet, s.page("/nosuch")).status; status != 404 {
		t.Errorf("status %d", status)
	}
	close(b.goOn)
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := start(t, exporter.Options{Gather: gathers})
	_, port, _ := net.SplitHostPort(s.address())
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:" + port: 200, "localhost.": 200, "metrics.localhost": 200, "127.0.0.1:" + port: 200,
		"127.9.9.9": 200, "[::1]:" + port: 200, "[::1]": 200,
		"evil.example": 421, "evil.example:" + port: 421, "localhost.evil.example": 421, "10.0.0.1": 421, "127.0.0.1.evil.example": 421, "x": 421,
	} {
		if got := ask(t, http.MethodGet, s.URL, "Host", host); got.status != want {
			t.Errorf("%s: status %d, want %d", host, got.status, want)
		}
	}
	open := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "0.0.0.0:0"}})
	if got := ask(t, http.MethodGet, open.URL, "Host", "metrics.example"); got.status != 200 {
		t.Errorf("an address that is not the loopback: status %d", got.status)
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	s := start(t, exporter.Options{Gather: gathers})
	err := exporter.Run(t.Context(), exporter.Options{
		Gather:       gathers,
		ServeOptions: exporter.ServeOptions{Address: s.address(), Started: func(exporter.Listening) { t.Error("it starts") }},
	})
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.ListenFailed || f.Details["address"] != s.address() {
		t.Errorf("got %v with %+v", err, f)
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"":                "HOST:PORT",
		"9464":            "HOST:PORT",
		"localhost":       "HOST:PORT",
		"[::1":            "HOST:PORT",
		"a:b:c":           "HOST:PORT",
		"localhost:":      "not a port",
		"localhost:http":  "not a port",
		"localhost:65536": "not a port",
		"localhost:-1":    "not a port",
	} {
		if err := exporter.CheckAddress(address); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{":0", "127.0.0.1:9464", "[::1]:9464", "localhost:65535"} {
		if err := exporter.CheckAddress(address); err != nil {
			t.Errorf("%q: %v", address, err)
		}
	}
	// An address for documentation (RFC 5737), which no machine has.
	err := exporter.Run(t.Context(), exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "192.0.2.1:0"}})
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.ListenFailed || strings.Count(f.Message, "192.0.2.1") != 1 {
		t.Errorf("got %v with %+v", err, f)
	}
	if err := exporter.Run(t.Context(), exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "nonsense"}}); errs.CodeOf(err) != errs.ListenFailed {
		t.Errorf("got %v", err)
	}
}

func TestAnOpenAddressIsKnown(t *testing.T) {
	t.Parallel()
	if s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: ":0"}}); !s.Open {
		t.Errorf("%+v is for everyone", s.Listening)
	}
}

// TestCancelledBefore cancels the context before the start.
func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := exporter.Run(ctx, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "127.0.0.1:0", Started: func(exporter.Listening) {}}})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
