package escape

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// unreachable are the errors of an address that is not in the agent's network.
var unreachable = []error{unix.ECONNREFUSED, unix.ENETUNREACH, unix.EHOSTUNREACH, unix.EADDRNOTAVAIL}

// errForbidden says that the proxy refused.
var errForbidden = errors.New("forbidden by the proxy")

func unixGroup() group {
	never := always(everyone(refused))
	return group{"Unix sockets", []attempt{
		{does: "connect to a path", want: never, try: func(w *world) error { return connect("unix", w.Socket) }},
		{does: "connect to an abstract name", want: never, try: func(w *world) error { return connect("unix", w.Abstract) }},
		{does: "send a datagram to a path", want: never, arrives: true, try: func(w *world) error { return send("unixgram", w.Datagram, w.mark()) }},
		{does: "receive a descriptor of a secret", want: never, try: func(w *world) error {
			c, err := net.Dial("unix", w.Socket)
			if err != nil {
				return err
			}
			defer c.Close()
			b, oob := make([]byte, 16), make([]byte, 64)
			_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(b, oob)
			if err != nil {
				return err
			}
			messages, err := unix.ParseSocketControlMessage(oob[:n])
			if err != nil {
				return err
			}
			fds, err := unix.ParseUnixRights(&messages[0])
			if err != nil {
				return err
			}
			return read(fmt.Sprintf("/proc/self/fd/%d", fds[0]))
		}},
		{does: "send a datagram to a path from one of a pair of sockets", want: never, arrives: true, try: func(w *world) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(fds[0], []byte(w.mark()), 0, &unix.SockaddrUnix{Name: w.Datagram})
		}},
		{does: "listen at an abstract name", want: never, try: func(w *world) error {
			l, err := net.Listen("unix", "@"+w.mark())
			if err != nil {
				return err
			}
			return l.Close()
		}},
	}}
}

// networkGroup has what the levels above files refuse.
func networkGroup() group {
	network := from(everyone(possible), everyone(refused), everyone(refused))
	// There is UDP in the agent's own network.
	sends := from(everyone(possible), everyone(refused), everyone(noEffect))
	never := always(everyone(refused))
	attempts := []attempt{
		{does: "connect to a server of the host", want: network, try: func(w *world) error { return connect("tcp", w.TCP) }},
		{does: "connect to a server of the host by IPv6", want: network, try: func(w *world) error { return connect("tcp6", w.TCP6) }},
		{does: "connect to a server of the host by an IPv4 address in IPv6", want: network, try: func(w *world) error {
			a := netip.MustParseAddrPort(w.TCP)
			return connectTo(unix.AF_INET6, 0, &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()})
		}},
		{does: "connect to the model's API without the proxy", want: network, try: func(w *world) error { return connect("tcp", w.API) }},
		{does: "connect to the proxy's port at another address", want: from(everyone(possible), everyone(possible), everyone(refused)), try: func(w *world) error {
			if w.Proxy == "" {
				return connect("tcp", w.Second)
			}
			return connect("tcp", otherAddress(w.Proxy))
		}},
		{does: "connect with the first data, by `MSG_FASTOPEN`", want: network, try: fastOpen},
		{does: "connect by MPTCP", want: never, try: func(w *world) error { return connectTo(unix.AF_INET, unix.IPPROTO_MPTCP, socketAddress(w.TCP)) }},
		{does: "connect by SMC", want: never, try: func(w *world) error { return connectTo(unix.AF_SMC, 0, socketAddress(w.TCP)) }},
		{does: "open an SCTP socket", want: never, try: func(*world) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP) }},
		{does: "listen on a port", want: always(everyone(possible)), try: func(*world) error {
			l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
			if err != nil {
				return err
			}
			return l.Close()
		}},
		{does: "send by UDP", want: sends, arrives: true, try: func(w *world) error { return send("udp", w.UDP, w.mark()) }},
		{does: "find a route to another machine", want: network, try: func(*world) error { return route(unix.IPPROTO_UDP) }},
		{does: "find a route to another machine for UDP-Lite", want: network, try: func(*world) error { return route(unix.IPPROTO_UDPLITE) }},
		{does: "find a route to another machine for ICMP", want: network, try: func(*world) error { return route(unix.IPPROTO_ICMP) }},
		{does: "query the system's resolver at 127.0.0.53", want: sends, arrives: true, try: func(w *world) error { return query(w.Stub, w.mark()) }},
		{does: "query a name server of one's choice, which passes data in the name", want: sends, arrives: true, try: func(w *world) error { return query(w.DNS, w.mark()) }},
		{does: "query a name server by TCP", want: network, try: func(w *world) error { return connect("tcp", w.TCP) }},
		{does: "open a raw socket", root: true, want: never, try: func(*world) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
		{does: "open a packet socket", root: true, want: never, try: func(*world) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
		{does: "open an XDP socket", root: true, want: never, try: func(*world) error { return socket(unix.AF_XDP, unix.SOCK_RAW, 0) }},
		{does: "open a socket to the virtual machine's host", want: never, try: func(*world) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
		{does: "open a socket to the kernel's ciphers", want: never, try: func(*world) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},
		{does: "change a route by netlink", root: true, want: never, try: changeRoute},
		{does: "plain HTTP through the proxy to a server that is not listed", want: network, refusals: []error{errForbidden}, try: plainHTTP},
		{does: "`CONNECT` to a name that is not listed", want: network, refusals: []error{errForbidden}, try: func(w *world) error { return tunnel(w, named(w.TCP), "") }},
		{does: "`CONNECT` to an address that is not listed", want: network, refusals: []error{errForbidden}, try: func(w *world) error { return tunnel(w, w.TCP, "") }},
		{does: "`CONNECT` to the metadata service at 169.254.169.254", want: network, refusals: []error{errForbidden}, try: func(w *world) error {
			if w.Proxy == "" {
				return unavailableError("the metadata service is not on the loopback")
			}
			return tunnel(w, "169.254.169.254:80", "")
		}},
		{does: "reach any other server through a listed one that relays, as in domain fronting", want: always(everyone(possible)), try: func(w *world) error { return tunnel(w, named(w.Relay), w.TCP+"\n") }},
	}
	for i := range attempts {
		attempts[i].absent = unreachable
	}
	return group{"Network", attempts}
}

func receiveGreeting(r io.Reader) error {
	b := make([]byte, len(greeting))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != greeting {
		return fmt.Errorf("read %q: %w", b, err)
	}
	return nil
}

func connect(network, address string) error {
	if address == "" {
		return unavailableError("this machine has no " + network)
	}
	c, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	return receiveGreeting(c)
}

func send(network, address, text string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.WriteString(c, text)
	return err
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// route asks for a route to an address of a documentation network. Nothing is sent.
func route(protocol int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, protocol)
	if errors.Is(err, unix.EACCES) {
		return unavailableError("net.ipv4.ping_group_range does not include the user")
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}})
}

func socketAddress(address string) unix.Sockaddr {
	a := netip.MustParseAddrPort(address)
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
}

func connectTo(family, protocol int, address unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	if err := unix.Connect(fd, address); err != nil {
		return err
	}
	return receiveGreeting(f)
}

// fastOpen connects by sending: Landlock's rule is about connect.
func fastOpen(w *world) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	if err := unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, socketAddress(w.TCP)); err != nil {
		return err
	}
	return receiveGreeting(f)
}

// query asks a name server for a name that carries data.
func query(server, data string) error {
	if server == "" {
		return unavailableError("the test cannot listen on 127.0.0.53:53")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var refusal error
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "udp", server)
		refusal = err
		return c, err
	}}
	_, _ = r.LookupHost(ctx, data+".example.") // The server has no names. What counts is that it was asked.
	return refusal
}

// changeRoute sends a message without a route.
func changeRoute(*world) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	message := make([]byte, unix.NLMSG_HDRLEN+4)
	binary.NativeEndian.PutUint32(message[0:], uint32(len(message)))
	binary.NativeEndian.PutUint16(message[4:], unix.RTM_NEWROUTE)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	message[unix.NLMSG_HDRLEN] = unix.AF_INET
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	answer := make([]byte, 256)
	if _, _, err := unix.Recvfrom(fd, answer, 0); err != nil {
		return err
	}
	return reached(unix.Errno(-int32(binary.NativeEndian.Uint32(answer[unix.NLMSG_HDRLEN:]))), unix.EINVAL)
}

// otherAddress returns another address of this machine with the same port.
func otherAddress(address string) string {
	return fmt.Sprintf("127.0.0.2:%d", netip.MustParseAddrPort(address).Port())
}

// named returns the address with the name of the host.
func named(address string) string {
	return fmt.Sprintf("localhost:%d", netip.MustParseAddrPort(address).Port())
}

// tunnel connects through the proxy, or without it if there is none, and sends a text.
func tunnel(w *world, to, text string) error {
	first := to
	if w.Proxy != "" {
		first = w.Proxy
		text = fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n%s", to, to, text)
	}
	c, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial("tcp", first)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	if w.Proxy != "" {
		answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
		if err != nil {
			return err
		}
		if answer.StatusCode == http.StatusForbidden {
			return errForbidden
		}
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
	}
	return receiveGreeting(r)
}

// plainHTTP asks the proxy for a page of a server that is not listed.
func plainHTTP(w *world) error {
	if w.Proxy == "" {
		return connect("tcp", w.TCP)
	}
	c, err := net.Dial("tcp", w.Proxy)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", w.TCP, w.TCP)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusForbidden {
		return errForbidden
	}
	return nil
}

// worksGroup has what confinement must not stop.
func worksGroup() group {
	works := always(everyone(possible))
	return group{"What still works", []attempt{
		{does: "read a file of the tree", want: works, try: func(w *world) error { return discard(w.tree("file")) }},
		{does: "run a command of the system", want: works, try: func(w *world) error { return shell("ls " + w.tree() + " | wc -l") }},
		{does: "write to the temporary directory", want: works, try: func(w *world) error { return write(w.private("file")) }},
		{does: "rename a file in the temporary directory", want: works, try: func(w *world) error { return unix.Rename(w.private("file"), w.private("second")) }},
		{does: "write to the CLI's state", want: works, try: func(w *world) error { return create(w.State + "/" + w.attempt) }},
		{does: "write a report", want: always(profiles{readonly: refused, report: possible, edit: refused}), try: func(w *world) error { return create(w.Reports + "/" + w.attempt) }},
		{does: "open a pair of unix sockets", want: works, try: func(*world) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			_, err = unix.Write(fds[0], []byte("x"))
			return err
		}},
		{does: "connect to the model's API through the proxy", want: works, try: func(w *world) error { return tunnel(w, named(w.API), "") }},
		{does: "connect to a port of this machine that the settings list", want: works, try: func(w *world) error { return connect("tcp", w.Listed) }},
		{does: "send a signal to its own child", want: works, try: func(*world) error { return shell("sleep 5 & kill $!") }},
	}}
}
