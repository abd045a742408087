package escape

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

func groups() []group {
	return []group{treeGroup(), metadataGroup(), decidingGroup(), hostFilesGroup(), readGroup(), processGroup(), kernelGroup(), unixGroup(), networkGroup(), worksGroup()}
}

// serveProxy serves a proxy that lets only the listed servers through.
func (w *world) serveProxy(t *testing.T, l net.Listener, forward uint16) {
	allow, err := egress.ParseHosts(nil, []string{named(w.API), named(w.Relay), w.Listed})
	must(t, err)
	proxy := egress.New(egress.Options{Allow: allow, Resolver: net.DefaultResolver})
	t.Cleanup(proxy.Close)
	if forward != 0 {
		go func() { _ = proxy.Forward(t.Context(), l, forward) }()
		return
	}
	go func() { _ = proxy.Serve(t.Context(), l) }()
	// A server with the number of the proxy's port can be at another address.
	serve(t, "tcp", otherAddress(l.Addr().String()), greet)
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
		Protected:     []string{filepath.Join(w.State, "settings"), filepath.Join(w.State, "hooks")},
		FixedMetadata: p != edit,
		Forward:       []uint16{netip.MustParseAddrPort(w.Listed).Port()},
		Listen:        func(l net.Listener, forward uint16) { w.serveProxy(t, l, forward) },
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
	c, err := sandbox.Start(cmd, spec)
	if errs.CodeOf(err) == errs.ConfineUnavailable {
		t.Skipf("skipped: %v", err)
	}
	must(t, err)
	t.Cleanup(c.Close)
	if c.Level != level {
		t.Fatalf("reached %s, want %s", c.Level, level)
	}
}
