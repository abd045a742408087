package egress

import (
	"net/netip"
	"slices"
)

// Loopback returns the ports of this machine's loopback interface that the user listed, in
// ascending order.
func (a Allow) Loopback() (ports []uint16) {
	for _, e := range a.entries {
		if e.user && !e.wildcard && isLoopback(e.host) {
			ports = append(ports, e.port)
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
