package pushgateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/metrics/internal/pushgateway"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is a request that a gateway received.
type request struct {
	method, path, format, user, password, agent string
	families                                    map[string]*dto.MetricFamily
}

// gateway answers each request with the next answer, and all further ones with the last.
type gateway struct {
	*httptest.Server
	mu   sync.Mutex
	got  []request
	next []http.HandlerFunc
}

func newGateway(t *testing.T, answers ...http.HandlerFunc) *gateway {
	t.Helper()
	g := &gateway{next: answers}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := request{method: r.Method, path: r.URL.Path, format: r.Header.Get("Content-Type"), agent: r.UserAgent()}
	got.user, got.password, _ = r.BasicAuth()
	got.families = map[string]*dto.MetricFamily{}
	dec := expfmt.NewDecoder(r.Body, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for {
		var f dto.MetricFamily
		if dec.Decode(&f) != nil {
			break
		}
		got.families[f.GetName()] = &f
	}
	g.mu.Lock()
	g.got = append(g.got, got)
	answer := g.next[0]
	if len(g.next) > 1 {
		g.next = g.next[1:]
	}
	g.mu.Unlock()
	answer(w, r)
}

func (g *gateway) requests() []request {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// sample returns a counter and a histogram with classic and native buckets.
func sample() []*dto.MetricFamily {
	return []*dto.MetricFamily{
		{
			Name: new("switchyard_rounds_total"), Help: new("Rounds."), Type: dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{
				{Label: []*dto.LabelPair{{Name: new("next_action"), Value: new("commit")}}, Counter: &dto.Counter{Value: new(2.0)}},
				{Label: []*dto.LabelPair{{Name: new("next_action"), Value: new("stuck")}}, Counter: &dto.Counter{Value: new(0.0)}},
			},
		},
		{
			Name: new("switchyard_wait_seconds"), Help: new("Wait."), Type: dto.MetricType_HISTOGRAM.Enum(),
			Metric: []*dto.Metric{{Histogram: &dto.Histogram{
				SampleCount: new(uint64(1)), SampleSum: new(1.0),
				Bucket:        []*dto.Bucket{{UpperBound: new(1.0), CumulativeCount: new(uint64(1))}},
				Schema:        new(int32(3)),
				ZeroThreshold: new(0.0), ZeroCount: new(uint64(0)),
				PositiveSpan: []*dto.BucketSpan{{Offset: new(int32(0)), Length: new(uint32(1))}}, PositiveDelta: []int64{1},
			}}},
		},
	}
}

func gathers(context.Context) ([]*dto.MetricFamily, error) { return sample(), nil }

func target(t *testing.T, rawURL string) pushgateway.Target {
	t.Helper()
	to, err := pushgateway.Parse(rawURL, "switchyard", map[string]string{"project": "p"})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestPushReplacesTheGroup(t *testing.T) {
	t.Parallel()
	g := newGateway(t, answer(200, ""))
	mine := sample()
	got, err := pushgateway.Push(t.Context(), target(t, strings.Replace(g.URL, "://", "://me:s3cret@", 1)+"/prefix"),
		func(context.Context) ([]*dto.MetricFamily, error) { return mine, nil }, pushgateway.Options{UserAgent: "switchyard/test"})
	if err != nil {
		t.Fatal(err)
	}
	if got.URL != g.URL+"/prefix" || got.Attempts != 1 || got.Families != 2 || got.Series != 3 || got.Bytes == 0 || got.Deleted {
		t.Errorf("receipt %+v", got)
	}
	if fmt.Sprint(got.Grouping) != "map[job:switchyard project:p]" {
		t.Errorf("grouping %v", got.Grouping)
	}
	all := g.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests", len(all))
	}
	r := all[0]
	if r.method != http.MethodPut || r.path != "/prefix/metrics/job/switchyard/project/p" || r.user != "me" || r.password != "s3cret" || r.agent != "switchyard/test" {
		t.Errorf("request %+v", r)
	}
	want := map[string]*dto.MetricFamily{}
	for _, f := range sample() {
		want[f.GetName()] = f
	}
	for name, f := range want {
		if !proto.Equal(r.families[name], f) {
			t.Errorf("received %v, want %v", r.families[name], f)
		}
	}
	for i, f := range sample() {
		if !proto.Equal(mine[i], f) {
			t.Errorf("the push has changed %v", mine[i])
		}
	}
}

func TestDeleteRemovesTheGroup(t *testing.T) {
	t.Parallel()
	g := newGateway(t, answer(202, ""))
	got, err := pushgateway.Delete(t.Context(), target(t, g.URL), pushgateway.Options{})
	if err != nil || !got.Deleted || got.Attempts != 1 || got.Bytes != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if all := g.requests(); len(all) != 1 || all[0].method != http.MethodDelete || all[0].path != "/metrics/job/switchyard/project/p" {
		t.Errorf("requests %+v", all)
	}
}

// TestTheProgramHasItsOwnTransport pushes from a program that has replaced the default transport,
// as tracing does.
func TestTheProgramHasItsOwnTransport(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	http.DefaultTransport = carrier(func(*http.Request) (*http.Response, error) { return nil, errors.New("not for pushes") })
	g := newGateway(t, answer(202, ""))
	if _, err := pushgateway.Delete(t.Context(), target(t, g.URL), pushgateway.Options{}); err != nil {
		t.Error(err)
	}
}

func TestWhatIsRefusedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		body   string
	}{
		"bad request": {answer(400, "pushed metrics are invalid\n\x1b[31m or\tinconsistent.\n"), 400, "pushed metrics are invalid <U+001B>[31m or inconsistent"},
		"forbidden":   {answer(403, ""), 403, ""},
		"not found":   {answer(404, strings.Repeat("x", 100_000)), 404, strings.Repeat("x", 512)},
		// A GET would succeed and push nothing.
		"redirection to a GET":  {answer(302, "", "Location", "/elsewhere"), 302, ""},
		"redirection elsewhere": {answer(307, "", "Location", "http://127.0.0.2:1/"), 307, ""},
		"redirection for ever": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusPermanentRedirect)
		}, 308, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, c.answer)
			got, err := pushgateway.Push(t.Context(), target(t, strings.Replace(g.URL, "://", "://me:s3cret@", 1)), gathers, pushgateway.Options{})
			f, ok := errors.AsType[*errs.Error](err)
			if !ok || f.Code != errs.PushRefused {
				t.Fatalf("got %v, want %s", err, errs.PushRefused)
			}
			if f.Details["status"] != c.status || f.Details["body"] != c.body || f.Details["attempts"] != 1 || f.Details["url"] != g.URL {
				t.Errorf("details %v", f.Details)
			}
			if got.Attempts != 1 || strings.ContainsAny(f.Message, "\n\t\x1b") || strings.Contains(fmt.Sprint(f.Message, f.Details), "s3cret") {
				t.Errorf("%+v: %q", got, f.Message)
			}
		})
	}
}

func TestARedirectionAtTheSameHostIsFollowed(t *testing.T) {
	t.Parallel()
	g := newGateway(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusPermanentRedirect)
	}, answer(200, ""))
	if _, err := pushgateway.Push(t.Context(), target(t, strings.Replace(g.URL, "://", "://me:s3cret@", 1)), gathers, pushgateway.Options{}); err != nil {
		t.Fatal(err)
	}
	all := g.requests()
	if len(all) != 2 || all[1].method != http.MethodPut || all[1].path != "/moved/metrics/job/switchyard/project/p" ||
		len(all[1].families) != 2 || all[1].password != "s3cret" {
		t.Errorf("requests %+v", all)
	}
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	s.Config.ErrorLog = discard()
	s.StartTLS()
	defer s.Close()
	got, err := pushgateway.Push(t.Context(), target(t, s.URL), gathers, pushgateway.Options{})
	if errs.CodeOf(err) != errs.PushRefused || got.Attempts != 1 || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("after %d attempts: %v", got.Attempts, err)
	}
}

func TestNoneListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := pushgateway.Push(t.Context(), target(t, "http://me:s3cret@"+address), gathers, pushgateway.Options{Timeout: time.Second})
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.PushUnavailable || f.Details["url"] != "http://"+address || f.Details["attempts"] != got.Attempts {
		t.Fatalf("got %v with %+v", err, f)
	}
	if !strings.Contains(f.Message, "connection refused") || strings.Contains(f.Message, "s3cret") {
		t.Errorf("message %q", f.Message)
	}
}

// TestTimeEndsDuringALaterAttempt checks that the error says what the gateway did, not how the time
// ended.
func TestTimeEndsDuringALaterAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url, want string
	}{
		"no gateway":   {"http://127.0.0.1:1", "connection refused"},
		"busy gateway": {newGateway(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }).URL, "answers 503"},
	} {
		attempts := 0
		gather := func(ctx context.Context) ([]*dto.MetricFamily, error) {
			if attempts++; attempts == 1 {
				return gathers(ctx)
			}
			<-ctx.Done()
			return nil, errs.New(errs.LedgerBusy, "read the ledger: %w", ctx.Err())
		}
		_, err := pushgateway.Push(t.Context(), target(t, c.url), gather, pushgateway.Options{Timeout: 4 * time.Second})
		if attempts < 2 || errs.CodeOf(err) != errs.PushUnavailable || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: after %d attempts: %v", name, attempts, err)
		}
	}
}

// TestAGatewayThatHangs checks that the push ends at its timeout.
func TestAGatewayThatHangs(t *testing.T) {
	t.Parallel()
	g := newGateway(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	got, err := pushgateway.Push(t.Context(), target(t, g.URL), gathers, pushgateway.Options{Timeout: 400 * time.Millisecond})
	if errs.CodeOf(err) != errs.PushUnavailable || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("after %d attempts: %v", got.Attempts, err)
	}
}

func TestAnAnswerWithoutEnd(t *testing.T) {
	t.Parallel()
	chunk := bytes.Repeat([]byte("x"), 1<<10)
	g := newGateway(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	_, err := pushgateway.Push(t.Context(), target(t, g.URL), gathers, pushgateway.Options{})
	if errs.CodeOf(err) != errs.PushRefused || len(err.Error()) > 700 {
		t.Errorf("got %v", err)
	}
}

func TestACancelledPush(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g := newGateway(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	got, err := pushgateway.Push(ctx, target(t, g.URL), gathers, pushgateway.Options{})
	if !errors.Is(err, context.Canceled) || got.Attempts != 1 {
		t.Errorf("after %d attempts: %v", got.Attempts, err)
	}
}

func TestAGroupThatAMetricHasALabelOf(t *testing.T) {
	t.Parallel()
	g := newGateway(t, answer(200, ""))
	for _, label := range []string{"next_action"} {
		to, err := pushgateway.Parse(g.URL, "switchyard", map[string]string{label: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pushgateway.Push(t.Context(), to, gathers, pushgateway.Options{}); errs.CodeOf(err) != errs.PushTargetInvalid {
			t.Errorf("%s: got %v", label, err)
		}
	}
	if all := g.requests(); len(all) != 0 {
		t.Errorf("%d requests", len(all))
	}
}

func TestWhatCannotBeGathered(t *testing.T) {
	t.Parallel()
	g := newGateway(t, answer(200, ""))
	broken := errs.New("ledger-corrupt", "the ledger is damaged")
	_, err := pushgateway.Push(t.Context(), target(t, g.URL), func(context.Context) ([]*dto.MetricFamily, error) { return nil, broken }, pushgateway.Options{})
	if !errors.Is(err, broken) || len(g.requests()) != 0 {
		t.Errorf("got %v after %d requests", err, len(g.requests()))
	}
}

// TestLock checks that a push gathers after the previous one was answered, so that older
// metrics never follow newer ones, whatever fails in between.
func TestLock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var counted, shown float64
	gather := func(context.Context) ([]*dto.MetricFamily, error) {
		mu.Lock()
		defer mu.Unlock()
		counted++
		return []*dto.MetricFamily{{
			Name: new("switchyard_rounds_total"), Type: dto.MetricType_COUNTER.Enum(),
			Metric: []*dto.Metric{{Counter: &dto.Counter{Value: new(counted)}}},
		}}, nil
	}
	fails := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var f dto.MetricFamily
		if err := expfmt.NewDecoder(r.Body, expfmt.NewFormat(expfmt.TypeProtoDelim)).Decode(&f); err != nil {
			t.Errorf("decode: %v", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if fails++; fails%3 == 0 {
			w.WriteHeader(503)
			return
		}
		if now := f.Metric[0].Counter.GetValue(); now < shown {
			t.Errorf("%v after %v", now, shown)
		} else {
			shown = now
		}
	}))
	defer s.Close()
	turn := make(chan struct{}, 1)
	o := pushgateway.Options{Lock: func(ctx context.Context) (func(), error) {
		select {
		case turn <- struct{}{}:
			return func() { <-turn }, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	to := target(t, s.URL)
	var pushes sync.WaitGroup
	for range 8 {
		pushes.Go(func() {
			if _, err := pushgateway.Push(t.Context(), to, gather, o); err != nil {
				t.Errorf("push: %v", err)
			}
		})
	}
	pushes.Wait()
	if shown < 8 {
		t.Errorf("the gateway shows %v of 8 pushes", shown)
	}
}

func TestLockTimeout(t *testing.T) {
	t.Parallel()
	g := newGateway(t, answer(200, ""))
	never := func(ctx context.Context) (func(), error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := pushgateway.Push(t.Context(), target(t, g.URL), gathers, pushgateway.Options{Timeout: 50 * time.Millisecond, Lock: never})
	if errs.CodeOf(err) != errs.PushUnavailable || len(g.requests()) != 0 {
		t.Errorf("got %v after %d requests", err, len(g.requests()))
	}
	broken := errs.New("state-unwritable", "no")
	_, err = pushgateway.Push(t.Context(), target(t, g.URL), gathers, pushgateway.Options{Lock: func(context.Context) (func(), error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestNoErrorShowsThePassword tests every kind of failure: a transport's error contains
// the URL.
func TestNoErrorShowsThePassword(t *testing.T) {
	t.Parallel()
	to := target(t, "http://me:s3cret@gate.example")
	fails := func(r *http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "Put", URL: r.URL.String(), Err: os.ErrDeadlineExceeded}
	}
	_, err := pushgateway.Push(t.Context(), to, gathers, pushgateway.Through(pushgateway.Options{Timeout: 50 * time.Millisecond}, carrier(fails)))
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.PushUnavailable || strings.Contains(fmt.Sprint(f.Message, f.Details), "s3cret") {
		t.Errorf("got %v", err)
	}
}

// TestAGatewayThatRepeatsThePassword checks that an error shows the status but not the
// body of an answer that echoes the password, and hides nothing without a password.
func TestAGatewayThatRepeatsThePassword(t *testing.T) {
	t.Parallel()
	says := func(user, body string) string {
		t.Helper()
		g := newGateway(t, answer(400, body))
		to := target(t, strings.Replace(g.URL, "//", "//"+user, 1))
		_, err := pushgateway.Push(t.Context(), to, gathers, pushgateway.Options{})
		f, ok := errors.AsType[*errs.Error](err)
		if !ok || f.Code != errs.PushRefused || f.Details["status"] != 400 {
			t.Fatalf("got %v", err)
		}
		return fmt.Sprint(f.Message, f.Details)
	}
	filler := strings.Repeat("x", 500) + " " // so that the shown text ends in the secret
	for _, body := range []string{"Authorization: Basic bWU6czNjcmV0", "me may not use s3cret", filler + "Basic bWU6czNjcmV0"} {
		if got := says("me:s3cret@", body); strings.Contains(got, "bWU6cz") || strings.Contains(got, "s3cret") {
			t.Errorf("shown: %s", got)
		}
	}
	for _, user := range []string{"", "me@", "me:@"} {
		if got := says(user, "bad metrics of me"); !strings.Contains(got, "bad metrics of me") {
			t.Errorf("with %q the answer is not shown: %s", user, got)
		}
	}
}
