package pluginset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// The limits of an engine are for what the project does not limit itself.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		config string
		want   errs.Code
	}{
		{"{}", errs.PluginOutputTooLarge},
		{"plugin_limits: {time: 20s}", errs.PluginOutputTooLarge},
		{"plugin_limits: {output: 1MiB}", ""},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, project.ConfigFile), []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		o := host.Options{Now: hosttest.Noon, Plugins: plugins.Config{Limits: plugins.Limits{Output: 8}}}
		_, err := hosttest.Engine(t, root, o).Round(t.Context(), "T", hosttest.Request(hosttest.Issues))
		if got := errs.CodeOf(err); got != c.want {
			t.Errorf("%s: got %v, want %q", c.config, err, c.want)
		}
	}
}
