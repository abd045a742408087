package exporter

import (
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// guard is the outermost handler, before the password check of the web configuration.
type guard struct {
	next  http.Handler
	names names
	// trial has an element while a password that is not known to be right is checked,
	// which keeps a core busy however wrong the password is.
	trial chan struct{}

	mu    sync.Mutex
	right map[[sha256.Size]byte]bool // digests of the Authorization headers that were accepted
}

func newGuard(next http.Handler, n names) *guard {
	return &guard{next: next, names: n, trial: make(chan struct{}, 1), right: make(map[[sha256.Size]byte]bool)}
}

// maxRight limits the remembered passwords.
const maxRight = 1000

// trialWait is how long a password waits to be checked.
const trialWait = 5 * time.Second

// trialPause is the pause after a wrong password, in multiples of the time its check
// took, so that checks use at most a fifth of a core.
const trialPause = 4

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.names.has(r.Host) {
		http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		return
	}
	header := r.Header.Get("Authorization")
	digest := sha256.Sum256([]byte(header))
	if header == "" || g.wasRight(digest) {
		g.next.ServeHTTP(w, r)
		return
	}
	select {
	case g.trial <- struct{}{}:
	case <-r.Context().Done():
		return
	case <-time.After(trialWait):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "another password is being checked", http.StatusServiceUnavailable)
		return
	}
	began, answer := time.Now(), &statusWriter{ResponseWriter: w}
	g.next.ServeHTTP(answer, r)
	if answer.status == http.StatusUnauthorized {
		time.AfterFunc(trialPause*time.Since(began), func() { <-g.trial })
		return
	}
	g.remember(digest)
	<-g.trial
}

func (g *guard) wasRight(digest [sha256.Size]byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.right[digest]
}

func (g *guard) remember(digest [sha256.Size]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.right) == maxRight {
		clear(g.right)
	}
	g.right[digest] = true
}

// statusWriter records the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// names are the host names that a server answers to. A server on the loopback interface
// answers only to loopback names, so that a web page cannot read the metrics through its
// visitor's browser by DNS rebinding.
type names struct {
	any  bool
	host string // as in Options.Address
}

func namesOf(address string, ip net.IP) names {
	host, _, _ := net.SplitHostPort(address)
	return names{any: !ip.IsLoopback(), host: host}
}

// has reports whether the Host of a request is one of the names. Browsers always send a
// Host.
func (n names) has(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return n.any || host == "" || host == strings.ToLower(n.host) ||
		host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}
