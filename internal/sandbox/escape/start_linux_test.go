package escape

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

func groups() []group {
	return []group{treeGroup(), metadataGroup(), decidingGroup(), hostFilesGroup(), readGroup(), processGroup(), kernelGroup(), unixGroup(), networkGroup(), worksGroup()}
}

// start starts an agent at a level.
func start(t *testing.T, level confinement.Level, p profile, w *world, cmd *exec.Cmd) {
	t.Helper()
	cmd.Env = append(cmd.Env, w.env(t))
	spec := sandbox.Spec{
		Want:          confinement.Want{Level: level, Required: level != confinement.None},
		Read:          []string{cmd.Path},
		Write:         []string{w.Private, w.State},
		Private:       w.Run,
		FixedMetadata: p != edit,
		Listen:        func(l net.Listener, _ uint16) { _ = l.Close() },
		ProxyEnv:      func(address string) []string { return []string{proxyVar + "=" + address} },
	}
	entries, err := os.ReadDir(w.Tree)
	must(t, err)
	if p != edit {
		spec.List = []string{w.Tree}
	}
	for _, e := range entries {
		if p != edit && e.Name() != ".switchyard" {
			spec.Read = append(spec.Read, filepath.Join(w.Tree, e.Name()))
		}
	}
	switch p {
	case report:
		spec.Write = append(spec.Write, w.Reports)
	case edit:
		spec.Write = append(spec.Write, w.Tree)
		for _, name := range deciding() {
			spec.Protected = append(spec.Protected, filepath.Join(w.Tree, name))
		}
	}
	var box sandbox.Sandbox
	c, err := box.Start(cmd, spec)
	if errs.CodeOf(err) == errs.ConfineUnavailable {
		t.Skipf("skipped: %v", err)
	}
	must(t, err)
	t.Cleanup(c.Close)
	if c.Level != level {
		t.Fatalf("reached %s, want %s", c.Level, level)
	}
}
