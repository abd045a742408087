package access

import (
	"cmp"
	"context"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/net/http/httpproxy"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
)

// Process starts confined processes with the same access, one after the other. It is not safe
// for concurrent use.
type Process struct {
	plan     plan
	proxy    *egress.Proxy
	confined *sandbox.Confined // of no process before Start
	serving  sync.WaitGroup
}

// New prepares a process. The caller must close it when the process has ended.
//
// # Errors
//
// confine-path-invalid, confine-host-invalid, and confine-unavailable if the level is required
// and the system does not offer it.
func New(s Settings, site Site, n Needs) (*Process, error) {
	p := &Process{plan: plan{spec: sandbox.Spec{Want: s.Want}}, confined: &sandbox.Confined{Level: confinement.None}}
	if s.Required {
		if err := sandbox.Available(s.Level); err != nil {
			return nil, err
		}
	}
	if s.Level.AtLeast(confinement.Files) {
		var err error
		if p.plan, err = planOf(s, site, n); err != nil {
			return nil, err
		}
	}
	upstream := httpproxy.Config{
		HTTPSProxy: cmp.Or(childenv.Value(site.Environ, "HTTPS_PROXY"), childenv.Value(site.Environ, "https_proxy")),
		NoProxy:    cmp.Or(childenv.Value(site.Environ, "NO_PROXY"), childenv.Value(site.Environ, "no_proxy")),
	}
	p.proxy = egress.New(egress.Options{Allow: p.plan.hosts, Resolver: net.DefaultResolver, Upstream: upstream.ProxyFunc()})
	p.plan.spec.Forward = p.plan.hosts.Loopback()
	p.plan.spec.ProxyEnv = proxyEnv
	return p, nil
}

// Confines reports whether the process will be confined at all. Only then may its CLI run
// without its own sandbox.
func Confines(w confinement.Want) bool {
	return w.Level.AtLeast(confinement.Files) && sandbox.Available(confinement.Files) == nil
}

// Start starts the process; see sandbox.Start.
func (p *Process) Start(ctx context.Context, cmd *exec.Cmd) (err error) {
	spec := p.plan.spec
	spec.Listen = func(l net.Listener, forward uint16) {
		p.serving.Go(func() {
			if forward == 0 {
				_ = p.proxy.Serve(ctx, l)
				return
			}
			_ = p.proxy.Forward(ctx, l, forward)
		})
	}
	if p.plan.cache != "" && Confines(spec.Want) {
		cmd.Env = append(cmd.Environ(), "XDG_CACHE_HOME="+p.plan.cache)
	}
	p.confined.Close()
	p.confined, err = sandbox.Start(cmd, spec)
	return err
}

// Signal returns the signal that ended the process, or 0. See sandbox.Confined.Signal.
func (p *Process) Signal() syscall.Signal { return p.confined.Signal() }

// Level returns the level that was reached, or None before Start.
func (p *Process) Level() confinement.Level { return p.confined.Level }

// LeavesTree reports whether the process cannot have changed anything in the working tree or
// in the project, neither contents nor metadata. It is false before Start, at the level files,
// where the process could ask a service of this machine to do so, and on macOS, where
// confinement was never tried.
func (p *Process) LeavesTree() bool {
	return runtime.GOOS == "linux" && p.Level().AtLeast(confinement.Ports) && p.plan.leavesTree
}

// Notes returns the limits that are not enforced, and the hosts that were refused.
func (p *Process) Notes() (limits []string, refused []egress.Refusal) {
	return p.confined.Notes, p.proxy.Refused()
}

// Close closes the proxy, and waits for its end.
func (p *Process) Close() {
	p.confined.Close()
	p.proxy.Close()
	p.serving.Wait()
}

// proxyEnv returns the environment variables for a proxy. Ports of the loopback interface are
// reached directly.
func proxyEnv(addr string) []string {
	const direct = "localhost,127.0.0.1,::1"
	proxy := "http://" + addr
	return []string{
		"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "ALL_PROXY=" + proxy, "NO_PROXY=" + direct,
		"http_proxy=" + proxy, "https_proxy=" + proxy, "all_proxy=" + proxy, "no_proxy=" + direct,
		"NODE_USE_ENV_PROXY=1",
	}
}
