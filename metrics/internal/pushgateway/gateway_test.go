package pushgateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/metrics/internal/pushgateway"
)

// startGateway starts Debian's Pushgateway on a free port of the loopback, and
// returns its URL.
func startGateway(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a real Pushgateway is not started in short mode")
	}
	var program string
	for _, name := range []string{"prometheus-pushgateway", "pushgateway"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Pushgateway is installed: neither prometheus-pushgateway nor pushgateway is in the PATH")
	}
	cmd := exec.Command(program, "--web.listen-address=127.0.0.1:0", "--persistence.file="+filepath.Join(t.TempDir(), "kept"))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		listening := regexp.MustCompile(`address=(127\.0\.0\.1:[1-9][0-9]*)`)
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case address <- m[1]:
				default:
				}
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case a := <-address:
		return "http://" + a
	case <-ended:
		t.Skip("the Pushgateway ends at once, or does not say where it listens")
	}
	return ""
}

// shown returns the metrics of a family that a gateway shows in a format.
func shown(t *testing.T, gateway, accept, family string) []*dto.Metric {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gateway+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", accept)
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	dec := expfmt.NewDecoder(resp.Body, expfmt.ResponseFormat(resp.Header))
	for {
		var f dto.MetricFamily
		if err := dec.Decode(&f); err == io.EOF {
			return nil
		} else if err != nil {
			t.Fatal(err)
		}
		if f.GetName() == family {
			return f.GetMetric()
		}
	}
}

// labels returns the non-empty labels of a metric.
func labels(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			all[l.GetName()] = l.GetValue()
		}
	}
	return all
}

const (
	acceptText  = "text/plain;version=0.0.4"
	acceptProto = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
)

// TestRealGateway pushes to a real Pushgateway, replaces the metrics, and deletes them.
func TestRealGateway(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	const rounds, wait = "switchyard_rounds_total", "switchyard_wait_seconds"
	to := func(project string) pushgateway.Target {
		to, err := pushgateway.Parse(gateway, "switchyard", map[string]string{"project": project})
		if err != nil {
			t.Fatal(err)
		}
		return to
	}
	put := func(project string, families []*dto.MetricFamily) {
		t.Helper()
		_, err := pushgateway.Push(t.Context(), to(project), func(context.Context) ([]*dto.MetricFamily, error) { return families, nil }, pushgateway.Options{})
		if err != nil {
			t.Fatal(err)
		}
	}
	const strange = "a/b c+ä"
	put("one", sample())
	put(strange, sample())

	byProject := map[string]float64{}
	for _, m := range shown(t, gateway, acceptText, rounds) {
		l := labels(m)
		if l["job"] != "switchyard" {
			t.Errorf("labels %v", l)
		}
		byProject[l["project"]+" "+l["next_action"]] = m.GetCounter().GetValue()
	}
	if len(byProject) != 4 || byProject["one commit"] != 2 || byProject[strange+" commit"] != 2 {
		t.Errorf("the gateway shows %v", byProject)
	}
	histograms := shown(t, gateway, acceptProto, wait)
	if len(histograms) != 2 {
		t.Fatalf("%d histograms", len(histograms))
	}
	for _, m := range histograms {
		h := m.GetHistogram()
		if h.GetSampleCount() != 1 || len(h.GetBucket()) == 0 || h.GetBucket()[0].GetCumulativeCount() != 1 {
			t.Errorf("the classic histogram is %v", h)
		}
		if h.GetSchema() != 3 || len(h.GetPositiveSpan()) != 1 || len(h.GetPositiveDelta()) != 1 {
			t.Errorf("the native histogram is %v", h)
		}
		if len(h.GetExemplars()) != 0 || h.GetBucket()[0].GetExemplar() != nil || m.TimestampMs != nil {
			t.Errorf("there is an exemplar or a time in %v", m)
		}
	}

	// The group is replaced as a whole: series that are not pushed again are gone.
	next := sample()[:1]
	next[0].Metric = next[0].Metric[:1]
	next[0].Metric[0].Counter.Value = new(3.0)
	put("one", next)
	var left []string
	for _, m := range shown(t, gateway, acceptText, rounds) {
		if l := labels(m); l["project"] == "one" {
			left = append(left, l["next_action"])
			if m.GetCounter().GetValue() != 3 {
				t.Errorf("it shows %v", m)
			}
		}
	}
	if strings.Join(left, ",") != "commit" || len(shown(t, gateway, acceptText, wait)) != 1 {
		t.Errorf("after the second push it shows %v", left)
	}

	// A metric that contradicts another group's is refused, with the gateway's reason.
	wrong := sample()[:1]
	wrong[0].Type = dto.MetricType_GAUGE.Enum()
	for _, m := range wrong[0].Metric {
		m.Gauge, m.Counter = &dto.Gauge{Value: new(1.0)}, nil
	}
	_, err := pushgateway.Push(t.Context(), to("two"), func(context.Context) ([]*dto.MetricFamily, error) { return wrong, nil }, pushgateway.Options{})
	if errs.CodeOf(err) != errs.PushRefused || !strings.Contains(err.Error(), "400") {
		t.Errorf("a metric of two types: %v", err)
	}

	for _, project := range []string{"one", strange, "one"} { // The third is not there any more.
		if _, err := pushgateway.Delete(t.Context(), to(project), pushgateway.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if all := shown(t, gateway, acceptText, rounds); len(all) != 0 {
		t.Errorf("after the deletion it shows %v", all)
	}
}
