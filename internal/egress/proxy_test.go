package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/egress"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// resolver answers with the addresses of a name, the first of them at the first lookup if
// there are several.
type resolver struct {
	mu      sync.Mutex
	answers map[string][]string // each is a list of addresses
	asked   []string
	ended   atomic.Bool // after a lookup that hung
}

func (r *resolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	r.asked = append(r.asked, host)
	answers := r.answers[host]
	if len(answers) > 1 {
		r.answers[host] = answers[1:]
	}
	r.mu.Unlock()
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if answers[0] == hang {
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		r.ended.Store(true)
		return nil, ctx.Err()
	}
	var list []netip.Addr
	for text := range strings.FieldsSeq(answers[0]) {
		list = append(list, netip.MustParseAddr(text))
	}
	return list, nil
}

// hang is an answer that never comes.
const hang = "hang"

func (r *resolver) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

// network is a proxy and what it can reach. Public addresses lead to the server.
type network struct {
	*egress.Proxy
	address  string // of the proxy
	server   net.Listener
	listener net.Listener
	resolver *resolver

	mu     sync.Mutex
	dialed []string
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	if addr := netip.MustParseAddrPort(address).Addr(); !addr.IsLoopback() {
		address = n.server.Addr().String()
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func portOf(l net.Listener) uint16 { return uint16(l.Addr().(*net.TCPAddr).Port) }

// start is prepare and run.
func start(t testing.TB, serve func(net.Conn), user ...string) *network {
	t.Helper()
	n := prepare(t, serve, user...)
	n.run(t)
	return n
}

// prepare makes a proxy. api.example.com is built in; user are the hosts of the user. In
// these, SERVER is the address of the server, which answers with serve, and PROXY and PORT
// are the proxy's.
func prepare(t testing.TB, serve func(net.Conn), user ...string) *network {
	t.Helper()
	n := &network{server: listen(t), listener: listen(t), resolver: &resolver{answers: map[string][]string{
		"api.example.com": {"203.0.113.1"}, "localhost": {"127.0.0.1"},
	}}}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := n.server.Accept()
			if err != nil {
				return
			}
			group.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c)
			})
		}
	})
	n.address = n.listener.Addr().String()
	replace := strings.NewReplacer("SERVER", n.server.Addr().String(), "PROXY", n.address, "PORT", strconv.Itoa(n.listener.Addr().(*net.TCPAddr).Port)).Replace
	for i := range user {
		user[i] = replace(user[i])
	}
	n.Proxy = egress.New(egress.Options{Allow: parse(t, []string{"api.example.com"}, user), Resolver: n.resolver})
	n.Dial(n.dial)
	t.Cleanup(func() {
		n.Close()
		_ = n.server.Close()
		group.Wait()
	})
	return n
}

func (n *network) run(t testing.TB) {
	ended := make(chan error)
	go func() { ended <- n.Serve(t.Context(), n.listener) }()
	t.Cleanup(func() {
		n.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func echo(c net.Conn) { _, _ = io.Copy(c, c) }

// send opens a connection, on which nothing takes longer than a minute, and writes text.
func (n *network) send(t testing.TB, text string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// tunnel opens a tunnel to api.example.com.
func (n *network) tunnel(t testing.TB) *net.TCPConn {
	t.Helper()
	c := n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
	if got, want := readN(t, c, len(established)), established; got != want {
		t.Fatalf("got %q", got)
	}
	return c
}

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

func readN(t testing.TB, r io.Reader, n int) string {
	t.Helper()
	text := make([]byte, n)
	if n, err := io.ReadFull(r, text); err != nil {
		t.Fatalf("read %q: %v", text[:n], err)
	}
	return string(text)
}

// answer reads a response of the proxy.
func answer(t testing.TB, c net.Conn) (status int, body string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestTunnel(t *testing.T) {
	n := start(t, func(c net.Conn) {
		// The server answers once the client has ended its side.
		text, err := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "%d bytes, %v", len(text), err)
	})
	for _, target := range []string{"api.example.com:443", "API.Example.COM:443", "api.example.com.:443"} {
		c := n.send(t, "CONNECT "+target+" HTTP/1.1\r\nHost: evil.example\r\n\r\nearly")
		if _, err := io.WriteString(c, "late"); err != nil {
			t.Fatal(err)
		}
		_ = c.CloseWrite()
		text, err := io.ReadAll(c)
		if want := established + "9 bytes, <nil>"; string(text) != want || err != nil {
			t.Errorf("%s: got %q, %v", target, text, err)
		}
	}
	if want := []string{"203.0.113.1:443", "203.0.113.1:443", "203.0.113.1:443"}; !slices.Equal(n.dialed, want) {
		t.Errorf("dialed %v", n.dialed)
	}
	if got := n.Refused(); len(got) > 0 {
		t.Errorf("refused %v", got)
	}
}

func TestTunnelEndsWithTheServer(t *testing.T) {
	n := start(t, func(c net.Conn) { _, _ = io.WriteString(c, "bye") })
	text, err := io.ReadAll(n.tunnel(t))
	if string(text) != "bye" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestTunnelPassesEveryByte(t *testing.T) {
	n := start(t, echo)
	text := make([]byte, 8<<20)
	_, _ = rand.Read(text)
	c := n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n"+string(text[:3000]))
	go func() {
		_, _ = c.Write(text[3000:])
		_ = c.CloseWrite()
	}()
	if got := readN(t, c, len(established)); got != established {
		t.Fatalf("got %q", got)
	}
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d of %d bytes came back changed: %v", len(got), len(text), err)
	}
}

func TestUnixListener(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs half-closed unix sockets")
	}
	n := start(t, echo)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	defer group.Wait()
	defer n.Close()
	group.Go(func() { _ = n.Serve(t.Context(), l) })
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\nhello")
	_ = c.(*net.UnixConn).CloseWrite()
	if text, err := io.ReadAll(c); string(text) != established+"hello" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestRefusals sends requests that must not connect to anything.
func TestRefusals(t *testing.T) {
	const notListed = "the host and port are not on the list"
	const notForProxy = "the request is not for a proxy"
	for name, test := range map[string]struct {
		request string
		status  int
		host    string // as it is recorded; "" if the server refuses by itself
		reason  string
	}{
		"another host":          {"CONNECT evil.example:443 HTTP/1.1\r\n\r\n", 403, "evil.example:443", notListed},
		"another port":          {"CONNECT api.example.com:22 HTTP/1.1\r\n\r\n", 403, "api.example.com:22", notListed},
		"no port":               {"CONNECT api.example.com HTTP/1.1\r\n\r\n", 400, "api.example.com", "the port is not"},
		"port 0":                {"CONNECT api.example.com:0 HTTP/1.1\r\n\r\n", 400, "api.example.com:0", "the port is not"},
		"other spelling of 443": {"CONNECT api.example.com:00443 HTTP/1.1\r\n\r\n", 400, "api.example.com:00443", "the port is not"},
		"port out of range":     {"CONNECT api.example.com:65979 HTTP/1.1\r\n\r\n", 400, "api.example.com:65979", "the port is not"},
		"port by name":          {"CONNECT api.example.com:https HTTP/1.1\r\n\r\n", 400, "", ""},
		"metadata address":      {"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n", 403, "169.254.169.254:80", notListed},
		"metadata name":         {"CONNECT metadata.google.internal:80 HTTP/1.1\r\n\r\n", 403, "metadata.google.internal:80", notListed},
		"metadata, listed":      {"CONNECT metadata.user.example:80 HTTP/1.1\r\n\r\n", 403, "metadata.user.example:80", "the address is link-local"},
		"mapped, listed":        {"CONNECT mapped.user.example:80 HTTP/1.1\r\n\r\n", 403, "mapped.user.example:80", "the address is link-local"},
		"NAT64, listed":         {"CONNECT nat64.user.example:80 HTTP/1.1\r\n\r\n", 403, "nat64.user.example:80", "the address is link-local"},
		"zone, listed":          {"CONNECT zone.user.example:80 HTTP/1.1\r\n\r\n", 403, "zone.user.example:80", "the address is link-local"},
		"public address":        {"CONNECT 203.0.113.1:443 HTTP/1.1\r\n\r\n", 403, "203.0.113.1:443", notListed},
		"decimal address":       {"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", 400, "2130706433:443", "four decimal numbers"},
		"hexadecimal address":   {"CONNECT 0x7f000001:443 HTTP/1.1\r\n\r\n", 400, "0x7f000001:443", "four decimal numbers"},
		"short address":         {"CONNECT 127.1:443 HTTP/1.1\r\n\r\n", 400, "127.1:443", "four decimal numbers"},
		"mapped address":        {"CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\n\r\n", 403, "169.254.169.254:80", notListed},
		"address with a zone":   {"CONNECT [fe80::1%25eth0]:80 HTTP/1.1\r\n\r\n", 400, "[fe80::1%25eth0]:80", "brackets"},
		"homograph":             {"CONNECT \u0430pi.example.com:443 HTTP/1.1\r\n\r\n", 400, "\u0430pi.example.com:443", "punycode"},
		"hidden character":      {"CONNECT api\u202e.example.com:443 HTTP/1.1\r\n\r\n", 400, "api<U+202E>.example.com:443", "punycode"},
		"user":                  {"CONNECT api.example.com:443@evil.example:443 HTTP/1.1\r\n\r\n", 400, "api.example.com:443@evil.example:443", "a user"},
		"user before":           {"CONNECT evil.example@api.example.com:443 HTTP/1.1\r\n\r\n", 400, "evil.example@api.example.com:443", "a user"},
		"path":                  {"CONNECT api.example.com:443/x HTTP/1.1\r\n\r\n", 400, "api.example.com:443/x", "a path"},
		"path alone":            {"CONNECT / HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", 400, "/", "a path"},
		"URL":                   {"CONNECT http://api.example.com:443/ HTTP/1.1\r\n\r\n", 400, "http://api.example.com:443/", "a scheme"},
		"percent":               {"CONNECT %61pi.example.com:443 HTTP/1.1\r\n\r\n", 400, "", ""},
		"CR in the target":      {"CONNECT api.example.com:443\rx HTTP/1.1\r\n\r\n", 400, "", ""},
		"LF in the target":      {"CONNECT api.example.com:443\nx HTTP/1.1\r\n\r\n", 400, "", ""},
		"null in the target":    {"CONNECT api.example.com:443\x00 HTTP/1.1\r\n\r\n", 400, "", ""},
		"content":               {"CONNECT api.example.com:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /", 400, "api.example.com:443", "has no content"},
		"chunked content":       {"CONNECT api.example.com:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "api.example.com:443", "has no content"},
		"two lengths":           {"POST http://SERVER/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nGET /", 400, "", ""},
		"length with a sign":    {"POST http://SERVER/ HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nGET /", 400, "", ""},
		"unknown encoding":      {"POST http://SERVER/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 501, "", ""},
		"space before a colon":  {"GET http://SERVER/ HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n", 400, "", ""},
		"two Host fields":       {"CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com\r\nHost: evil.example\r\n\r\n", 400, "", ""},
		"Host of the list":      {"CONNECT evil.example:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n", 403, "evil.example:443", notListed},
		"header too long":       {"CONNECT api.example.com:443 HTTP/1.1\r\nA: " + strings.Repeat("a", 33<<10) + "\r\n\r\n", 431, "", ""},
		"origin form":           {"GET / HTTP/1.1\r\nHost: SERVER\r\n\r\n", 400, "SERVER", notForProxy},
		"asterisk":              {"OPTIONS * HTTP/1.1\r\nHost: SERVER\r\n\r\n", 400, "SERVER", notForProxy},
		"HTTP/2":                {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, "", ""},
		"TLS":                   {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "", ""},
		"https in a GET":        {"GET https://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n", 400, "api.example.com", notForProxy},
		"ftp":                   {"GET ftp://SERVER/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, "SERVER", notForProxy},
		"user in a URL":         {"GET http://u:p@SERVER/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, "SERVER", notForProxy},
		"no host in a URL":      {"GET http:///x HTTP/1.1\r\nHost: SERVER\r\n\r\n", 400, "SERVER", "it is empty"},
		"TRACE":                 {"TRACE http://SERVER/ HTTP/1.1\r\nHost: x\r\n\r\n", 405, "SERVER", "the method"},
		"unknown method":        {"BREW http://SERVER/ HTTP/1.1\r\nHost: x\r\n\r\n", 405, "SERVER", "the method"},
		"GET of another host":   {"GET http://evil.example/ HTTP/1.1\r\nHost: SERVER\r\n\r\n", 403, "evil.example:80", notListed},
		"GET of built-in host":  {"GET http://api.example.com:443/ HTTP/1.1\r\nHost: x\r\n\r\n", 403, "api.example.com:443", "the user did not list the host"},
		"GET without the port":  {"GET http://localhost/ HTTP/1.1\r\nHost: x\r\n\r\n", 403, "localhost:80", notListed},
		"body that never ends":  {"POST http://evil.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", 403, "evil.example:80", notListed},
	} {
		t.Run(name, func(t *testing.T) {
			n := prepare(t, echo, "SERVER", "*.user.example:80")
			n.resolver.answers["metadata.user.example"] = []string{"169.254.169.254"}
			n.resolver.answers["mapped.user.example"] = []string{"::ffff:169.254.169.254"}
			n.resolver.answers["nat64.user.example"] = []string{"64:ff9b::a9fe:a9fe"}
			n.resolver.answers["zone.user.example"] = []string{"fe80::1%eth0 fd00:ec2::254%eth0"}
			n.run(t)
			replace := strings.NewReplacer("SERVER", n.server.Addr().String()).Replace
			c := n.send(t, replace(test.request))
			if test.status == 0 {
				if text, _ := io.ReadAll(c); strings.HasPrefix(string(text), "HTTP/1.1 2") {
					t.Errorf("got %q", text)
				}
			} else if status, body := answer(t, c); status != test.status || !strings.Contains(body, test.reason) || len(body) > 200 {
				t.Errorf("got %d %q", status, body)
			}
			if n.Close(); len(n.dialed) > 0 {
				t.Errorf("dialed %v", n.dialed)
			}
			refused := n.Refused()
			if test.host == "" && len(refused) == 0 {
				return
			}
			if len(refused) != 1 || refused[0].Host != replace(test.host) || !strings.Contains(refused[0].Reason, test.reason) || refused[0].Count != 1 {
				t.Errorf("recorded %+v, want %s", refused, test.host)
			}
		})
	}
}

func TestPrivateAddressesOfBuiltinHosts(t *testing.T) {
	for _, answer := range []string{"127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "fd12::1", "100.64.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254", "0.0.0.0", "224.0.0.1"} {
		n := prepare(t, echo)
		n.resolver.answers["api.example.com"] = []string{answer}
		n.run(t)
		c := n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")
		text, _ := bufio.NewReader(c).ReadString('\n')
		if refused := n.Refused(); !strings.Contains(text, " 403 ") || len(n.dialed) > 0 || len(refused) != 1 || !strings.HasPrefix(refused[0].Reason, "the address is ") {
			t.Errorf("%s: got %q, dialed %v, refused %v", answer, text, n.dialed, refused)
		}
	}
}

// A name with a public and a private address is reached at the public one.
func TestMixedAddresses(t *testing.T) {
	n := prepare(t, echo)
	n.resolver.answers["api.example.com"] = []string{"127.0.0.1 203.0.113.7 10.0.0.1"}
	n.run(t)
	n.tunnel(t)
	if want := []string{"203.0.113.7:443"}; !slices.Equal(n.dialed, want) {
		t.Errorf("dialed %v", n.dialed)
	}
}

func TestRebinding(t *testing.T) {
	n := prepare(t, echo)
	n.resolver.answers["api.example.com"] = []string{"203.0.113.7", "127.0.0.1"}
	n.run(t)
	n.tunnel(t)
	if len(n.resolver.names()) != 1 || !slices.Equal(n.dialed, []string{"203.0.113.7:443"}) {
		t.Errorf("asked for %v and dialed %v", n.resolver.names(), n.dialed)
	}
	if status, _ := answer(t, n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")); status != 403 || len(n.dialed) != 1 {
		t.Errorf("the second answer: got %d, dialed %v", status, n.dialed)
	}
}

func TestOnlyListedNamesAreResolved(t *testing.T) {
	n := start(t, echo)
	if status, _ := answer(t, n.send(t, "CONNECT secret.evil.example:443 HTTP/1.1\r\n\r\n")); status != 403 || len(n.resolver.names()) > 0 {
		t.Errorf("got %d, asked for %v", status, n.resolver.names())
	}
}

func TestHangingResolver(t *testing.T) {
	n := prepare(t, echo)
	n.resolver.answers["api.example.com"] = []string{hang}
	n.Hurry(time.Second, 50*time.Millisecond, time.Minute)
	n.run(t)
	status, body := answer(t, n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n"))
	if want := "failed to connect to api.example.com:443: context deadline exceeded\n"; status != 502 || body != want {
		t.Errorf("got %d %q", status, body)
	}
}

func TestCloseEndsLookups(t *testing.T) {
	n := prepare(t, echo)
	n.resolver.answers["api.example.com"] = []string{hang}
	n.Hurry(time.Second, time.Hour, time.Minute)
	n.run(t)
	c := n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\n")
	for len(n.resolver.names()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if n.Close(); !n.resolver.ended.Load() {
		t.Error("Close does not wait")
	}
	if text, err := io.ReadAll(c); strings.Contains(string(text), " 200 ") || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestUnknownName(t *testing.T) {
	n := start(t, echo, "nowhere.example")
	status, body := answer(t, n.send(t, "CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n"))
	if status != 502 || !strings.Contains(body, "no such host") || len(n.Refused()) > 0 {
		t.Errorf("got %d %q, refused %v", status, body, n.Refused())
	}
}

// An address that does not answer leaves time for the next.
func TestAddressesInOrder(t *testing.T) {
	n := prepare(t, echo)
	n.resolver.answers["api.example.com"] = []string{"203.0.113.1 203.0.113.2 203.0.113.3"}
	n.Hurry(time.Second, 1500*time.Millisecond, time.Minute)
	var dialed []string
	n.Dial(func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed = append(dialed, address)
		switch address {
		case "203.0.113.1:443":
			<-ctx.Done()
			return nil, ctx.Err()
		case "203.0.113.2:443":
			return nil, errors.New("refused")
		}
		return n.dial(ctx, network, address)
	})
	n.run(t)
	n.tunnel(t)
	if want := []string{"203.0.113.1:443", "203.0.113.2:443", "203.0.113.3:443"}; !slices.Equal(dialed, want) {
		t.Errorf("dialed %v", dialed)
	}
}

func TestPlainHTTP(t *testing.T) {
	got := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- string(text)
		w.Header().Set("X-Answer", "yes")
		_, _ = io.WriteString(w, "hello")
	}))
	defer backend.Close()
	address := backend.Listener.Addr().String()
	n := start(t, echo, address)
	for name, test := range map[string]struct{ head, body, want string }{
		"length":                       {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.1\r\nContent-Length: 4\r\n", "text", "text"},
		"chunked":                      {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "4\r\ntext\r\n0\r\n\r\n", "text"},
		"length that Connection names": {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.1\r\nContent-Length: 4\r\nConnection: content-length\r\n", "text", "text"},
		"empty":                        {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.1\r\nContent-Length: 0\r\n", "", ""},
		"HTTP/1.0":                     {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.0\r\nContent-Length: 4\r\n", "text", "text"},
		"expectation":                  {"POST http://ADDRESS/v1/chat?a=b;c&d=%2F HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n", "text", "text"},
	} {
		t.Run(name, func(t *testing.T) {
			c := n.send(t, strings.ReplaceAll(test.head, "ADDRESS", address)+"Host: evil.example\r\nConnection: x-hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"+
				"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nTE: trailers\r\nUpgrade: websocket\r\nAuthorization: Bearer z\r\n\r\n"+test.body)
			reader := bufio.NewReader(c)
			r, err := http.ReadResponse(reader, nil)
			if err == nil && r.StatusCode == http.StatusContinue {
				r, err = http.ReadResponse(reader, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(r.Body)
			if r.StatusCode != 200 || string(text) != "hello" || r.Header.Get("X-Answer") != "yes" || !r.Close {
				t.Errorf("got %v %q", r, text)
			}
			if _, err := reader.ReadByte(); err != io.EOF {
				t.Errorf("the connection goes on: %v", err)
			}
			seen := <-got
			if body := <-bodies; body != test.want {
				t.Errorf("the body is %q", body)
			}
			if seen.Host != address || seen.RequestURI != "/v1/chat?a=b;c&d=%2F" || seen.Header.Get("Authorization") != "Bearer z" {
				t.Errorf("the server got %s %s %v", seen.Host, seen.RequestURI, seen.Header)
			}
			for _, field := range []string{"X-Hop", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Upgrade"} {
				if value, ok := seen.Header[field]; ok {
					t.Errorf("the server got %s: %v", field, value)
				}
			}
		})
	}
	if got := n.Refused(); len(got) > 0 {
		t.Errorf("refused %v", got)
	}
}

// What follows a request reaches the same host, whatever it says.
func TestPipelinedRequest(t *testing.T) {
	n := start(t, echo, "SERVER")
	server := n.server.Addr().String()
	c := n.send(t, "GET http://"+server+"/ HTTP/1.1\r\nHost: x\r\n\r\nGET http://api.example.com:443/ HTTP/1.1\r\nHost: x\r\n\r\n")
	_ = c.CloseWrite()
	text, err := io.ReadAll(c)
	if want := "GET / HTTP/1.1\r\nHost: " + server + "\r\nConnection: close\r\n\r\nGET http://api.example.com:443/ HTTP/1.1\r\nHost: x\r\n\r\n"; string(text) != want || err != nil {
		t.Errorf("the server got %q, %v", text, err)
	}
	if !slices.Equal(n.dialed, []string{server}) {
		t.Errorf("dialed %v", n.dialed)
	}
}

// A CONNECT within a tunnel is bytes of the tunnel.
func TestConnectWithinTunnel(t *testing.T) {
	n := start(t, echo)
	c := n.tunnel(t)
	const inner = "CONNECT evil.example:443 HTTP/1.1\r\n\r\n"
	_, _ = io.WriteString(c, inner)
	if got := readN(t, c, len(inner)); got != inner || len(n.dialed) != 1 || len(n.Refused()) > 0 {
		t.Errorf("got %q, dialed %v, refused %v", got, n.dialed, n.Refused())
	}
}

func TestLongestHeader(t *testing.T) {
	n := start(t, echo)
	c := n.send(t, "CONNECT api.example.com:443 HTTP/1.1\r\nA: "+strings.Repeat("a", 32<<10-60)+"\r\n\r\n")
	if got := readN(t, c, len(established)); got != established {
		t.Errorf("got %q", got)
	}
}

func TestGoClient(t *testing.T) {
	var count atomic.Int64
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%d", count.Add(1))
	}))
	defer backend.Close()
	n := start(t, echo, backend.Listener.Addr().String())
	client := http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (r *url.URL, err error) { return url.Parse("http://" + n.address) }}}
	for i := range 3 {
		r, err := client.Get(backend.URL)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if string(text) != fmt.Sprint(i+1) {
			t.Errorf("got %q", text)
		}
	}
}

// At most 256 connections are open, and all others wait for them.
func TestManyConnections(t *testing.T) {
	var open, most atomic.Int64
	n := start(t, func(c net.Conn) {
		if now := open.Add(1); now > most.Load() {
			most.Store(now)
		}
		_, _ = io.ReadAll(c)
		time.Sleep(10 * time.Millisecond)
		open.Add(-1)
		_, _ = io.WriteString(c, "bye")
	})
	var group sync.WaitGroup
	for range 1000 {
		group.Go(func() {
			c, err := net.Dial("tcp", n.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, _ = io.WriteString(c, "CONNECT api.example.com:443 HTTP/1.1\r\n\r\nhello")
			_ = c.(*net.TCPConn).CloseWrite()
			if text, err := io.ReadAll(c); string(text) != established+"bye" || err != nil {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	group.Wait()
	if got := most.Load(); got > 256 || got < 2 {
		t.Errorf("%d connections were open at a time", got)
	}
}

// A client that sends its header a byte at a time is cut off, and its place is free.
func TestSlowHeader(t *testing.T) {
	n := prepare(t, echo)
	n.Hurry(100*time.Millisecond, time.Second, time.Minute)
	n.run(t)
	c := n.send(t, "CONNECT api.exa")
	begun := time.Now()
	for err := error(nil); err == nil; time.Sleep(10 * time.Millisecond) {
		if _, err = io.WriteString(c, "m"); err == nil && time.Since(begun) > time.Minute {
			t.Fatal("the client stays connected")
		}
	}
	silent := n.send(t, "")
	if _, err := io.ReadAll(silent); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a silent client stays connected")
	}
}

func TestIdle(t *testing.T) {
	t.Run("silence", func(t *testing.T) {
		n := prepare(t, echo)
		n.Hurry(time.Second, time.Second, 200*time.Millisecond)
		n.run(t)
		c := n.tunnel(t)
		begun := time.Now()
		if text, err := io.ReadAll(c); len(text) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %q, %v", text, err)
		}
		if took := time.Since(begun); took < 150*time.Millisecond {
			t.Errorf("the tunnel ended after %s", took)
		}
	})
	t.Run("bytes in one direction", func(t *testing.T) {
		n := prepare(t, func(c net.Conn) {
			for range 30 {
				_, _ = io.WriteString(c, ".")
				time.Sleep(100 * time.Millisecond)
			}
		})
		n.Hurry(time.Second, time.Second, 2*time.Second)
		n.run(t)
		if text, err := io.ReadAll(n.tunnel(t)); len(text) != 30 || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
	t.Run("client that reads too late", func(t *testing.T) {
		text := make([]byte, 16<<20) // more than all buffers take
		_, _ = rand.Read(text)
		n := prepare(t, func(c net.Conn) { _, _ = c.Write(text) })
		n.Hurry(time.Second, time.Second, time.Second)
		n.run(t)
		c := n.tunnel(t)
		_ = c.SetReadBuffer(64 << 10)
		time.Sleep(1500 * time.Millisecond)
		if got, _ := io.ReadAll(c); len(got) == len(text) || !bytes.HasPrefix(text, got) {
			t.Errorf("got %d of %d bytes, or bytes are missing between others", len(got), len(text))
		}
	})
	t.Run("client that reads late", func(t *testing.T) {
		text := make([]byte, 16<<20) // more than all buffers take
		_, _ = rand.Read(text)
		n := prepare(t, func(c net.Conn) { _, _ = c.Write(text) })
		n.Hurry(time.Second, time.Second, 12*time.Second)
		n.run(t)
		c := n.tunnel(t)
		_ = c.SetReadBuffer(64 << 10)
		time.Sleep(2 * time.Second) // longer than a read waits
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d of %d bytes came: %v", len(got), len(text), err)
		}
	})
	t.Run("refused clients that do not send their content", func(t *testing.T) {
		n := prepare(t, echo)
		n.Hurry(2*time.Second, 200*time.Millisecond, time.Minute)
		n.run(t)
		for range 256 {
			n.send(t, "POST http://evil.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
		}
		n.tunnel(t)
	})
}

func TestOwnAddressIsRefused(t *testing.T) {
	n := start(t, echo, "PROXY", "localhost:PORT")
	_, port, _ := net.SplitHostPort(n.address)
	for _, target := range []string{n.address, "localhost:" + port, "[::ffff:127.0.0.1]:" + port} {
		status, body := answer(t, n.send(t, "CONNECT "+target+" HTTP/1.1\r\n\r\n"))
		if status != 403 || !strings.Contains(body, "the proxy's own") || len(n.dialed) > 0 {
			t.Errorf("%s: got %d %q, dialed %v", target, status, body, n.dialed)
		}
	}
}

func TestForward(t *testing.T) {
	n := start(t, func(c net.Conn) {
		text, _ := io.ReadAll(c)
		_, _ = fmt.Fprintf(c, "got %s", text)
	}, "SERVER", "localhost:9")
	for _, port := range []uint16{1, 443} { // Another host has the second one.
		if err := n.Forward(t.Context(), listen(t), port); errs.CodeOf(err) != errs.ConfineHostInvalid {
			t.Errorf("%d: got %v", port, err)
		}
	}
	l, closed := listen(t), listen(t)
	var group sync.WaitGroup
	group.Go(func() {
		if err := n.Forward(t.Context(), l, portOf(n.server)); err != nil {
			t.Error(err)
		}
	})
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "raw")
	_ = c.(*net.TCPConn).CloseWrite()
	if text, err := io.ReadAll(c); string(text) != "got raw" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	_ = c.Close()

	// A host that does not answer ends the client's connection.
	group.Go(func() { _ = n.Forward(t.Context(), closed, 9) })
	c, err = net.Dial("tcp", closed.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if text, err := io.ReadAll(c); len(text) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v", text, err)
	}
	_ = c.Close()
	n.Close()
	group.Wait()
	if want := []string{n.server.Addr().String(), "127.0.0.1:9", "[::1]:9"}; !slices.Equal(n.dialed, want) {
		t.Errorf("dialed %q, want %q", n.dialed, want)
	}
}

// Whatever goes on ends with the proxy, and Close waits for it.
func TestEnd(t *testing.T) {
	for _, byContext := range []bool{true, false} {
		n := start(t, echo, "SERVER")
		ctx, cancel := context.WithCancel(t.Context())
		l, forwarded := listen(t), listen(t)
		ended := make(chan error, 2)
		go func() { ended <- n.Serve(ctx, l) }()
		go func() { ended <- n.Forward(ctx, forwarded, portOf(n.server)) }()

		tunnel := n.tunnel(t)
		_, _ = io.WriteString(tunnel, "ping")
		readN(t, tunnel, 4)
		idle := n.send(t, "")
		raw, err := net.Dial("tcp", forwarded.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(raw, "ping")
		readN(t, raw, 4)
		begun := time.Now()
		if byContext {
			cancel()
		} else {
			n.Close()
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("the end took %s", took)
		}
		for name, c := range map[string]net.Conn{"tunnel": tunnel, "idle": idle, "forwarded": raw} {
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			if text, err := io.ReadAll(c); len(text) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: got %q, %v", name, text, err)
			}
			_ = c.Close()
		}
		if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
			t.Error("the proxy still listens")
		}
		n.Close()
		cancel()
		if err := n.Serve(t.Context(), listen(t)); err != nil {
			t.Errorf("a closed proxy: %v", err)
		}
	}
}

func TestCloseEndsBlockedWrites(t *testing.T) {
	closed := make(chan struct{})
	n := start(t, func(net.Conn) { <-closed })
	defer close(closed)
	c := n.tunnel(t)
	_ = c.SetWriteDeadline(time.Now().Add(500 * time.Millisecond))
	if _, err := io.Copy(c, rand.Reader); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	begun := time.Now()
	n.Close()
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestServeReturnsErrorsOfTheListener(t *testing.T) {
	n := start(t, echo)
	l := listen(t)
	_ = l.Close()
	if err := n.Serve(t.Context(), l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	n := start(t, echo)
	for i := range 300 {
		if status, _ := answer(t, n.send(t, fmt.Sprintf("GET http://%03d%s.example/ HTTP/1.1\r\nHost: x\r\n\r\n", i%150, strings.Repeat("a", 500)))); status != 400 {
			t.Fatalf("got %d", status)
		}
	}
	refused := n.Refused()
	total := 0
	for _, r := range refused {
		total += r.Count
		if len(r.Host) > 300 || len(r.Reason) > 200 {
			t.Errorf("%+v is too long", r)
		}
	}
	if len(refused) != 100 || total != 300 {
		t.Errorf("%d entries count %d refusals", len(refused), total)
	}
}
