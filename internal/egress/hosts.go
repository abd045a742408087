package egress

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Allow is a list of hosts with their ports. The zero value allows no host.
type Allow struct{ entries []entry }

type entry struct {
	target
	wildcard bool // the names below target.host, and not that name itself
	user     bool // the user named the host
}

// target is a host and a port in normal form, so that targets can be compared.
type target struct {
	host string // a name in lower case without its final dot, or an address
	port uint16
}

func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// ParseHosts parses the built-in hosts of adapters and the hosts that the user named. A host
// is a name or an address, with an optional port, 443 by default. *.example.com is every name
// below example.com.
//
// Built-in hosts must have public addresses. Hosts of the user can have private ones.
//
// # Errors
//
// confine-host-invalid, for the first invalid host.
func ParseHosts(builtin, user []string) (Allow, error) {
	var a Allow
	for i, text := range slices.Concat(builtin, user) {
		e, err := parseEntry(text)
		if err != nil {
			text = textutil.Clip(text, maxHost)
			return Allow{}, errs.New(errs.ConfineHostInvalid, "the host %q cannot be allowed: %w", text, err).With("host", text)
		}
		e.user = i >= len(builtin)
		a.entries = append(a.entries, e)
	}
	return a, nil
}

func parseEntry(text string) (entry, error) {
	text, wildcard := strings.CutPrefix(text, "*.")
	t, err := parseTarget(text, 443)
	if err != nil {
		return entry{}, err
	}
	addr, err := netip.ParseAddr(t.host)
	isAddress := err == nil
	switch {
	case isAddress && wildcard:
		return entry{}, errors.New("an address has no names below it")
	case isAddress && isForbidden(addr):
		return entry{}, errors.New("it is a link-local, multicast, unspecified or metadata address")
	case wildcard && isPublicSuffix(t.host):
		return entry{}, errors.New("anyone can register a name below it")
	}
	return entry{target: t, wildcard: wildcard}, nil
}

// isPublicSuffix reports whether anyone can get a name directly below a name, or one level
// deeper, as below kawasaki.jp: from a registry, or from a service such as github.io.
func isPublicSuffix(name string) bool {
	suffix, _ := publicsuffix.PublicSuffix("x." + name)
	return len(suffix) >= len(name)
}

// permits reports whether t is on the list, and whether the user listed it.
func (a Allow) permits(t target) (user, ok bool) {
	for _, e := range a.entries {
		if e.port == t.port && (!e.wildcard && e.host == t.host || e.wildcard && strings.HasSuffix(t.host, "."+e.host)) {
			user, ok = user || e.user, true
		}
	}
	return user, ok
}

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

// loopback returns the addresses of the loopback interface that the user listed with a port.
func (a Allow) loopback(port uint16) (targets []target) {
	for _, e := range a.entries {
		if !e.user || e.wildcard || e.port != port || !isLoopback(e.host) {
			continue
		}
		if e.host == "localhost" { // Not every resolver knows both addresses.
			targets = append(targets, target{"127.0.0.1", port}, target{"::1", port})
			continue
		}
		targets = append(targets, e.target)
	}
	return targets
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// maxHost is the length of the longest host name.
const maxHost = 253

// parseTarget parses HOST, HOST:PORT, ADDRESS:PORT or [ADDRESS]:PORT. The port is optional
// unless defaultPort is 0.
func parseTarget(text string, defaultPort uint16) (target, error) {
	if strings.ContainsAny(text, "/@") {
		return target{}, errors.New("it has a scheme, a path or a user")
	}
	host, port := text, strconv.Itoa(int(defaultPort))
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	// Other spellings of a number, such as 0443, are refused, because another program could
	// parse them differently.
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return target{}, errors.New("the port is not a number from 1 to 65535")
	}
	if host, err = parseHost(host); err != nil {
		return target{}, err
	}
	return target{host, uint16(n)}, nil
}

func parseHost(host string) (string, error) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errors.New("brackets are for an IPv6 address without a zone")
		}
		return addr.Unmap().String(), nil
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" {
		return "", errors.New("it is empty")
	}
	if len(host) > maxHost {
		return "", errors.New("it is longer than 253 bytes")
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		return "", errors.New("a name outside of ASCII is written in punycode, as in xn--bcher-kva.example")
	}
	host = strings.ToLower(host)
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return "", errors.New("it is not a name or an address with an optional port, such as api.example.com, *.example.com:8443, 10.0.0.5:443 or [::1]:8080")
		}
		last = label
	}
	// If the last label is a number, the host is an address: resolvers take 127.1, 0x7f.1 and
	// 2130706433 for 127.0.0.1.
	digits, isHex := strings.CutPrefix(last, "0x")
	if strings.Trim(digits, "0123456789") == "" || isHex && strings.Trim(digits, "0123456789abcdef") == "" {
		if _, err := netip.ParseAddr(host); err != nil {
			return "", errors.New("an IPv4 address is written as four decimal numbers")
		}
	}
	return host, nil
}

func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
