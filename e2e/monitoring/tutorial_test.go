package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// TestTutorial starts a Prometheus with the configuration of docs/tutorial.md, with shorter
// intervals and another port, and sends it the queries of the tutorial.
func TestTutorial(t *testing.T) {
	installed := needPrograms(t)
	page, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "`prometheus.yml` collects them:\n\n```yaml\n")
	config, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the tutorial has no configuration of Prometheus")
	}
	p := newProject(t, fakeagent.Clean())
	cmd := exec.Command(p.switchyard, "metrics", "serve", "--listen", "127.0.0.1:0")
	cmd.Dir, cmd.Env = p.dir, p.env
	serve := start(t, "switchyard metrics serve", cmd)
	for old, with := range map[string]string{"127.0.0.1:9464": strings.TrimPrefix(serve.url, "http://"), "scrape_interval: 15s": "scrape_interval: 1s"} {
		if !strings.Contains(config, old) {
			t.Fatalf("the tutorial's configuration has no %q", old)
		}
		config = strings.Replace(config, old, with, 1)
	}
	p.write(t, "prometheus.yml", config)
	prometheus := server{start(t, "prometheus", exec.Command(installed.prometheus, "--config.file="+p.dir+"/prometheus.yml",
		"--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0"))}
	await(t, timeout, func() error {
		tasks, err := prometheus.query(t.Context(), "switchyard_tasks")
		if err == nil && len(tasks) == 0 {
			err = fmt.Errorf("prometheus has no switchyard_tasks yet")
		}
		return err
	})
}
