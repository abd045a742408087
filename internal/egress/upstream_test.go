package egress_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/egress"
)

// upstream is the proxy of the user's machine. It records the requests, and answers a tunnel
// with a greeting.
func upstream(t *testing.T, status int) (address string, requests func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	seen := make(chan string, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				seen <- r.Method + " " + r.RequestURI + " " + r.Header.Get("Proxy-Authorization")
				fmt.Fprintf(c, "HTTP/1.1 %d x\r\n\r\nhello", status)
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr().String(), func() (all []string) {
		for len(seen) > 0 {
			all = append(all, <-seen)
		}
		return all
	}
}

// TestUpstream tests that a machine's own proxy is used for a host that it is for, with its
// password, and that the agent gets what comes through it.
func TestUpstream(t *testing.T) {
	for status, want := range map[int]string{200: "HTTP/1.1 200", 407: "HTTP/1.1 502"} {
		address, requests := upstream(t, status)
		allow, err := egress.ParseHosts([]string{"api.example.com"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := egress.New(egress.Options{Allow: allow, Upstream: func(u *url.URL) (*url.URL, error) {
			if u.String() != "https://api.example.com:443" {
				t.Errorf("asked for the proxy of %s", u)
			}
			return url.Parse("http://ann:secret@" + address)
		}})
		t.Cleanup(p.Close)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go p.Serve(t.Context(), l)
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n")
		answer := make([]byte, 12)
		if _, err := io.ReadFull(c, answer); err != nil || string(answer) != want {
			t.Errorf("status %d: %q, %v", status, answer, err)
		}
		if status == 200 {
			rest := bufio.NewReader(c)
			for line := ""; line != "\r\n"; {
				if line, err = rest.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			hello := make([]byte, 5)
			if _, err := io.ReadFull(rest, hello); err != nil || string(hello) != "hello" {
				t.Errorf("%q, %v", hello, err)
			}
		}
		if got := strings.Join(requests(), "; "); got != "CONNECT api.example.com:443 Basic YW5uOnNlY3JldA==" {
			t.Errorf("the upstream proxy got %s", got)
		}
	}
}

// TestCloseEndsTunnelRequests: Close does not wait for an upstream proxy that does not answer.
func TestCloseEndsTunnelRequests(t *testing.T) {
	silent := listen(t)
	t.Cleanup(func() { silent.Close() })
	allow, err := egress.ParseHosts([]string{"api.example.com"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"http", "https"} {
		p := egress.New(egress.Options{Allow: allow, Upstream: func(*url.URL) (*url.URL, error) {
			return url.Parse(scheme + "://" + silent.Addr().String())
		}})
		p.Hurry(time.Second, time.Minute, time.Minute)
		l := listen(t)
		go p.Serve(t.Context(), l)
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprint(c, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n")
		asked, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { asked.Close() })
		if _, err := asked.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if p.Close(); time.Since(began) > 30*time.Second {
			t.Errorf("%s: Close took %s", scheme, time.Since(began))
		}
	}
}
