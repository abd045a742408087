package pushgateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The limits of what is read of an answer.
const (
	maxShown  = 512      // bytes of the body that an error shows
	maxDrain  = 16 << 10 // bytes of the body that are read, so that the connection can be used again
	maxHeader = 16 << 10
)

// maxRedirects is how often a push follows a redirection.
const maxRedirects = 3

// courier carries requests to a target, one at a time.
type courier struct {
	to     Target
	agent  string
	each   time.Duration // how long a request may take
	client *http.Client
	close  func()
}

func newCourier(to Target, o Options) *courier {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           1,
		MaxResponseHeaderBytes: maxHeader,
	}
	c := &courier{
		to:     to,
		agent:  o.UserAgent,
		each:   o.Timeout / 2,
		client: &http.Client{Transport: transport, CheckRedirect: follow},
		close:  transport.CloseIdleConnections,
	}
	if o.transport != nil {
		c.client.Transport = o.transport
	}
	return c
}

// follow follows a redirection that asks for the same request at the same host.
// Others are answers: one that turns it into a GET would look like a success, and
// another host must not get the password.
func follow(next *http.Request, before []*http.Request) error {
	first := before[0]
	downgrade := first.URL.Scheme == "https" && next.URL.Scheme != "https"
	if len(before) > maxRedirects || next.Method != first.Method || next.URL.Host != first.URL.Host || downgrade {
		return http.ErrUseLastResponse
	}
	return nil
}

// put replaces the group by what the body has.
func (c *courier) put(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, c.to.group().String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", string(format()))
	return c.send(req)
}

// remove deletes the group.
func (c *courier) remove(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.to.group().String(), nil)
	if err != nil {
		return err
	}
	return c.send(req)
}

func (c *courier) send(req *http.Request) error {
	if c.agent != "" {
		req.Header.Set("User-Agent", c.agent)
	}
	if c.to.user != nil {
		password, _ := c.to.user.Password()
		req.SetBasicAuth(c.to.user.Username(), password)
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.each)
	defer cancel()
	resp, err := c.client.Do(req.WithContext(ctx))
	if err != nil {
		return c.unanswered(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxDrain)) // It is for the message alone.
	if resp.StatusCode/100 == 2 {
		return nil
	}
	return c.answered(resp, line(c.withoutSecret(body)))
}

// withoutSecret is the body of an answer, or nothing where it repeats the password,
// as servers that show a request's headers do.
func (c *courier) withoutSecret(body []byte) []byte {
	password, ok := c.to.user.Password()
	if !ok || password == "" {
		return body
	}
	sent := base64.StdEncoding.EncodeToString([]byte(c.to.user.Username() + ":" + password))
	if bytes.Contains(body, []byte(sent)) || bytes.Contains(body, []byte(password)) {
		return nil
	}
	return body
}

// answered is the failure that an answer means.
func (c *courier) answered(resp *http.Response, body string) error {
	text := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	code, more := errs.PushRefused, ""
	if body != "" {
		more = ": " + body
	}
	later := resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout
	if later {
		code = errs.PushUnavailable
	}
	if resp.StatusCode/100 == 3 {
		more = ", a redirection that is not followed"
	}
	f := errs.New(code, "the Pushgateway at %s answers %s%s", c.to, text, more).
		With("url", c.to.String()).With("status", resp.StatusCode).With("body", body)
	if later {
		return passing{f, retryAfter(resp.Header.Get("Retry-After"), time.Now())}
	}
	return f
}

// unanswered is the failure that no answer means.
func (c *courier) unanswered(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // Without the URL, which the message has already.
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	if untrusted || other {
		return errs.New(errs.PushRefused, "the Pushgateway at %s has a certificate that is not to be trusted: %s", c.to, line([]byte(err.Error()))).
			Because(err).With("url", c.to.String())
	}
	why := line([]byte(err.Error()))
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		why = "it takes too long"
	}
	return passing{failure: errs.New(errs.PushUnavailable, "the Pushgateway at %s cannot be reached: %s", c.to, why).
		Because(err).With("url", c.to.String())}
}

// retryAfter reads how long to wait by the header of that name: seconds, or a
// time. It is 0 where it says nothing.
func retryAfter(header string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// line makes one line of the beginning of a text from outside.
func line(text []byte) string {
	s := strings.ToValidUTF8(string(text[:min(len(text), maxShown)]), "\ufffd")
	s = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return r
		}
		return ' '
	}, s)
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}
