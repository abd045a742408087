package host_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/metrics"
)

// TestMetricsOfSpawns: what a critic's runs came to is shown as the decision says it.
// That a recount of the events says the same is compared after every test of a site.
func TestMetricsOfSpawns(t *testing.T) {
	t.Parallel()
	s := newSite(t, "spawn: {retries: 1}\nbudget: {spawn: {tokens: 50000}, task: {tokens: 200000, rounds: 4}}\n", fakeagent.CannotWrite(), fakeagent.Clean())
	d, err := s.round(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Spawns) != 2 || d.Spawns[0].Outcome != "critic-error" || d.Spawns[1].Outcome != "clean" || d.Spawns[1].TokensIn == nil {
		t.Fatalf("the attempts are %+v", d.Spawns)
	}
	e := s.engine(t, time.Now)
	c, err := metrics.New(e, metrics.Options{})
	if err != nil {
		t.Fatal(err)
	}
	families, err := c.Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	if err := metrics.Write(&shown, families, metrics.Text); err != nil {
		t.Fatal(err)
	}
	in := int64(0)
	for _, run := range d.Spawns {
		if run.TokensIn != nil {
			in += *run.TokensIn
		}
	}
	for _, want := range []string{
		`switchyard_spawns_total{adapter="claude",agent="critic",outcome="critic-error"} 1`,
		`switchyard_spawns_total{adapter="claude",agent="critic",outcome="clean"} 1`,
		fmt.Sprintf(`switchyard_spawn_retries_total{agent="critic",reason=%q} 1`, d.Spawns[0].Class),
		fmt.Sprintf(`switchyard_spawn_tokens_total{agent="critic",direction="in"} %d`, in),
		`switchyard_spawn_duration_seconds_count 2`,
		`switchyard_tasks{status="committed"} 1`,
		`switchyard_task_rounds_bucket{le="1"} 1`,
	} {
		if !strings.Contains(shown.String(), want+"\n") {
			t.Errorf("%s is not among\n%s", want, shown.String())
		}
	}
}
