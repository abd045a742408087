package pushgateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

const (
	maxShown     = 512      // bytes of an answer's body in an error
	maxBody      = 16 << 10 // bytes that are read of it, so that the connection can be reused
	maxHeader    = 16 << 10
	maxRedirects = 3
)

// client is the push.HTTPDoer that sends the requests of a push.Pusher to a target. It
// returns coded errors for failing answers.
type client struct {
	ctx     context.Context // of all attempts; Pusher.Delete does not take one
	to      Target
	agent   string
	timeout time.Duration // of a request
	http    *http.Client
	sent    int // bytes of the last request's body
	// failed is the error of the last request that failed otherwise than by its time.
	failed error
}

func newClient(ctx context.Context, to Target, o Options) *client {
	transport := o.transport
	if transport == nil {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeader}
	}
	return &client{
		ctx: ctx, to: to, agent: o.UserAgent, timeout: o.Timeout / 2,
		http: &http.Client{Transport: transport, CheckRedirect: checkRedirect},
	}
}

// checkRedirect follows a redirection only if it repeats the request at the same host. Others
// are answers: a redirection to GET would look like a success, and another host must not get
// the password.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	downgrade := first.URL.Scheme == "https" && next.URL.Scheme != "https"
	if len(before) > maxRedirects || next.Method != first.Method || next.URL.Host != first.URL.Host || downgrade {
		return http.ErrUseLastResponse
	}
	return nil
}

// Do sends a request to the target's group. It returns a response only for a success.
func (c *client) Do(r *http.Request) (*http.Response, error) {
	r.URL = c.to.group() // Pusher orders labels randomly and escapes fewer characters.
	c.sent = int(max(r.ContentLength, 0))
	if c.agent != "" {
		r.Header.Set("User-Agent", c.agent)
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout)
	defer cancel()
	resp, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		failed := c.requestError(err)
		if !errors.Is(err, context.DeadlineExceeded) {
			c.failed = failed
		}
		return nil, failed
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody)) // It is needed only for the message.
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		c.failed = c.answerError(resp, oneLine(c.redact(body)))
		return nil, c.failed
	}
	resp.StatusCode, resp.Body = http.StatusAccepted, http.NoBody // Pusher.Delete accepts no other status.
	return resp, nil
}

// redact returns the body of an answer, or nil if the body contains the password: some servers
// echo a request's headers.
func (c *client) redact(body []byte) []byte {
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

// answerError returns the error of an answer that is not a success: push-unavailable if another
// attempt may succeed, else push-refused.
func (c *client) answerError(resp *http.Response, body string) error {
	code, reason := errs.PushRefused, ""
	if body != "" {
		reason = ": " + body
	}
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusRequestTimeout {
		code = errs.PushUnavailable
	}
	if resp.StatusCode/100 == 3 {
		reason = ", a redirection that is not followed"
	}
	status := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	return errs.New(code, "the Pushgateway at %s answers %s%s", c.to, status, reason).
		With("url", c.to.String()).With("status", resp.StatusCode).With("body", body)
}

// requestError returns the error of a request without an answer.
func (c *client) requestError(err error) error {
	for u, ok := errors.AsType[*url.Error](err); ok; u, ok = errors.AsType[*url.Error](err) {
		err = u.Err // The URL may contain the password.
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return errs.New(errs.PushRefused, "the certificate of the Pushgateway at %s is not trusted: %s", c.to, oneLine([]byte(err.Error()))).
			Because(err).With("url", c.to.String())
	}
	reason := oneLine([]byte(err.Error()))
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		reason = "it takes too long"
	}
	return errs.New(errs.PushUnavailable, "the Pushgateway at %s cannot be reached: %s", c.to, reason).
		Because(err).With("url", c.to.String())
}

// oneLine returns the beginning of an external text as one line.
func oneLine(text []byte) string {
	s := textutil.Line(string(text[:min(len(text), maxShown)]))
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}
