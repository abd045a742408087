package exporter

import (
	"net"
	"net/http"
	"strings"
)

// names rejects requests for other host names. A server on the loopback interface answers
// only to loopback names, so that a web page cannot read the metrics through its visitor's
// browser by DNS rebinding.
type names struct {
	any  bool
	host string // as in Options.Address
	next http.Handler
}

func newNames(address string, ip net.IP, next http.Handler) names {
	host, _, _ := net.SplitHostPort(address)
	return names{any: !ip.IsLoopback(), host: strings.ToLower(host), next: next}
}

func (n names) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !n.any && !n.has(r.Host) {
		http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
		return
	}
	n.next.ServeHTTP(w, r)
}

// has reports whether the Host of a request is one of the names. Browsers always send a
// Host.
func (n names) has(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "" || host == n.host || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}
