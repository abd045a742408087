package egress

import (
	"net/netip"
	"slices"
)

// isForbidden reports whether the proxy never connects to an address, even if the user listed
// it: link-local, multicast and unspecified addresses, and addresses of metadata services.
func isForbidden(a netip.Addr) bool {
	a = embeddedIPv4(a)
	return a.IsLinkLocalUnicast() || a.IsMulticast() || isIn(a,
		"0.0.0.0/8", "240.0.0.0/4", "::/128",
		"64:ff9b:1::/48",     // local NAT64, in which the IPv4 address can be anywhere
		"fd00:ec2::/32",      // AWS
		"fd20:ce::254/128",   // Google
		"100.100.100.200/32", // Alibaba
		"192.0.0.192/32",     // Oracle
		"168.63.129.16/32",   // Azure
	)
}

// isPrivate reports whether an address belongs to this machine or to a private network.
func isPrivate(a netip.Addr) bool {
	a = embeddedIPv4(a)
	return a.IsLoopback() || a.IsPrivate() || isIn(a, "100.64.0.0/10")
}

// embeddedIPv4 returns the IPv4 address in an IPv6 address, or otherwise the address itself,
// without its zone.
func embeddedIPv4(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("") // a prefix contains no address that has a zone
	if isIn(a, "64:ff9b::/96") {
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

func isIn(a netip.Addr, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) })
}
