package plugintest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// cases creates a directory of n cases for the puppet with the given behaviour.
func cases(t *testing.T, dir string, n int, do string) string {
	t.Helper()
	for i := range n {
		text := `{"name":"case","config":{"do":"` + do + `"},"report":{"puppet":"@"},"want_counts":{"findings":0,"skipped":0}}`
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func last(r plugintest.Report) plugintest.Check { return r.Checks[len(r.Checks)-1] }

func TestGivesUpOnASlowPlugin(t *testing.T) {
	r := run(t, hostile(t, "puppet"), plugintest.Options{
		Corpus: cases(t, t.TempDir(), 1000, "loop"), Limits: abi.Limits{Time: 50 * time.Millisecond},
	})
	if c := last(r); r.OK() || c.Status != plugintest.Fail || !strings.Contains(c.Detail, "5 times; the remaining checks") {
		t.Errorf("the last check is %+v", c)
	}
}

func TestEndsInTime(t *testing.T) {
	r := run(t, hostile(t, "puppet"), plugintest.Options{Corpus: cases(t, t.TempDir(), 1, "loop"), Time: 50 * time.Millisecond})
	if c := last(r); r.OK() || c.Status != plugintest.Fail || !strings.Contains(c.Detail, "longer than 50ms") {
		t.Errorf("the last check is %+v", c)
	}
}

func TestIsInterrupted(t *testing.T) {
	stop := errors.New("stop")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, stop)
	defer cancel()
	r, err := plugintest.Run(ctx, hostile(t, "puppet"), plugintest.Options{Corpus: cases(t, t.TempDir(), 10, "loop")})
	if !errors.Is(err, stop) {
		t.Errorf("got %v, %+v", err, r)
	}
}

func TestCorpusOfAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "corpus[1]*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range failed(run(t, hostile(t, "puppet"), plugintest.Options{Corpus: cases(t, dir, 2, "trap")})) {
		if strings.Contains(f, "golden cases") {
			t.Error(f)
		}
	}
}

func TestConfigurationOfACaseIsAnObject(t *testing.T) {
	dir := corpus(t, `{"name":"x","config":[1],"report":{},"want_error":{"code":"x"}}`)
	if all := failed(run(t, hostile(t, "puppet"), plugintest.Options{Corpus: dir})); !strings.Contains(all[0], "config is an object") {
		t.Errorf("fails: %q", all)
	}
}

func TestRefusalOfACaseHasACode(t *testing.T) {
	dir := corpus(t, `{"name":"x","report":{},"want_error":{"message":"no"}}`)
	if all := failed(run(t, hostile(t, "puppet"), plugintest.Options{Corpus: dir})); !strings.Contains(all[0], "want_error needs a code") {
		t.Errorf("fails: %q", all)
	}
}

func TestCorpusIsReadAsReportedAndWithinLimits(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"huge.json":   "",
		"report.json": `{"name":"x","report_file":"../far","want_counts":{"findings":0,"skipped":0}}`,
		"wordy.json":  `{"name":"x","report":{},"want_error":{"code":"` + strings.Repeat("x", 100_000) + `"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "huge.json"), 1<<40); err != nil {
		t.Fatal(err)
	}
	r := run(t, hostile(t, "puppet"), plugintest.Options{Corpus: dir})
	if all := failed(r); !strings.Contains(all[0], "huge: ") || !strings.Contains(all[0], "larger than") {
		t.Errorf("fails: %.300q", all)
	}
	for _, c := range r.Checks {
		if len(c.Detail) > 10_000 {
			t.Errorf("%s: %d bytes of detail", c.Name, len(c.Detail))
		}
	}
	var asked []string
	r = run(t, hostile(t, "puppet"), plugintest.Options{Corpus: dir, Read: func(_ context.Context, path string, limit int64) ([]byte, error) {
		asked = append(asked, path)
		if !strings.HasSuffix(path, "report.json") {
			return nil, errors.New("not this one")
		}
		return os.ReadFile(path)
	}})
	if want := filepath.Join(filepath.Dir(dir), "far"); len(asked) != 4 || asked[2] != want {
		t.Errorf("asked for %q, want %s among them", asked, want)
	}
	if all := failed(r); !strings.HasSuffix(all[0], "not this one") {
		t.Errorf("fails: %q", all)
	}
}
