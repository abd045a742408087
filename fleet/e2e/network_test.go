package e2e_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// network is a connection to a server that can be cut.
type network struct {
	address, server string

	mu   sync.Mutex
	down bool
	open map[net.Conn]bool
}

// newNetwork forwards connections to a server, until the test ends.
func newNetwork(t testing.TB, server string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{address: l.Addr().String(), server: server, open: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		n.cut()
		running.Wait()
	})
	running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { n.forward(from) })
		}
	})
	return n
}

// forward copies both ways until one side closes or the network is cut.
func (n *network) forward(from net.Conn) {
	to, err := net.Dial("tcp", n.server)
	if err != nil {
		from.Close()
		return
	}
	if n.add(from, to) {
		var copied sync.WaitGroup
		for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
			copied.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // Either side may close.
				from.Close()
				to.Close()
			})
		}
		copied.Wait()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, from)
	delete(n.open, to)
}

// add keeps both sides of a connection. It closes them if the network is cut.
func (n *network) add(sides ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range sides {
		n.open[c] = true
		if n.down {
			c.Close()
		}
	}
	return !n.down
}

// cut closes all connections, and new ones at once.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = true
	for c := range n.open {
		c.Close()
	}
}

// restore lets new connections through.
func (n *network) restore() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = false
}
