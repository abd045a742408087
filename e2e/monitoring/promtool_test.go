package monitoring

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// promtool tests that promtool accepts all output, rules and configuration files. The
// mixin's tests check the results of the rules with it.
func (b *bench) promtool(t *testing.T) {
	for _, check := range []struct {
		stdin []byte
		args  []string
	}{
		{b.must(t, "metrics", "print"), []string{"check", "metrics"}},
		{nil, []string{"check", "config", b.config}},
		{nil, append([]string{"check", "rules"}, mixinFiles(t)...)},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, b.programs.promtool, check.args...)
		cmd.Stdin = bytes.NewReader(check.stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", check.args, err, out)
		}
		cancel()
	}
}

// mixinFiles returns the rule files as users load them.
func mixinFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../metrics/mixin/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("the mixin has only the files %q (%v)", files, err)
	}
	return files
}
