package exporter_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exporter"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certify writes cert.pem and key.pem for the loopback address, and returns a pool that
// trusts them.
func certify(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "switchyard test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	write(t, dir, "cert.pem", string(text))
	write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

// hashed returns a password's hash for the web configuration, with the lowest cost.
func hashed(t *testing.T, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

const tlsConfig = "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n"

func TestTLSAndPasswords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trusted := certify(t, dir)
	config := write(t, dir, "web.yml", tlsConfig+"basic_auth_users: {scraper: "+hashed(t, "s3cret")+"}\n")
	s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "0.0.0.0:0", WebConfig: config}})
	if !strings.HasPrefix(s.URL, "https://") || s.Open {
		t.Fatalf("it serves %+v", s.Listening)
	}
	_, port, err := net.SplitHostPort(s.address())
	if err != nil {
		t.Fatal(err)
	}
	url := "https://127.0.0.1:" + port + "/metrics"
	client := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	// The server rejects passwords for a while after a wrong one, longer if the machine is busy.
	get := func(user, password string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			req.SetBasicAuth(user, password)
		}
		for {
			resp, err := client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.ProtoMajor != 1 {
				t.Errorf("it serves %s", resp.Proto)
			}
			if resp.StatusCode != 200 && strings.Contains(string(body), "switchyard_") {
				t.Errorf("%d shows metrics", resp.StatusCode)
			}
			if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
				return resp.StatusCode
			}
		}
	}
	for _, c := range []struct {
		user, password string
		status         int
	}{
		{"scraper", "s3cret", 200}, {"", "", 401}, {"scraper", "", 401}, {"scraper", "other", 401}, {"other", "s3cret", 401}, {"scraper", "s3cret", 200},
	} {
		if got := get(c.user, c.password); got != c.status {
			t.Errorf("%s:%s: %d, want %d", c.user, c.password, got, c.status)
		}
	}
	began := time.Now()
	// A client without TLS is rejected.
	if got, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, strings.Replace(url, "https", "http", 1)); err == nil && got.status != 400 {
		t.Errorf("without TLS: %d", got.status)
	}
	// A client that does not trust the certificate causes a warning, but not at each
	// attempt.
	for range 10 {
		if _, err := tryBy(&http.Transport{DisableKeepAlives: true}, http.MethodGet, url); err == nil {
			t.Error("a stranger's certificate is trusted")
		}
	}
	if reported := s.reported(); len(reported) > 2+int(time.Since(began)/time.Second) {
		t.Errorf("it warns %d times: %q", len(reported), reported)
	}

	// The file is read again: a changed password applies at once, and a broken file
	// rejects every client.
	write(t, dir, "web.yml", tlsConfig+"basic_auth_users: {scraper: "+hashed(t, "changed")+"}\n")
	if got := get("scraper", "s3cret"); got != 401 {
		t.Errorf("the old password: %d", got)
	}
	if got := get("scraper", "changed"); got != 200 {
		t.Errorf("the new password: %d", got)
	}
	write(t, dir, "web.yml", "nonsense: true\n")
	for range 3 {
		if got, err := tryBy(client, http.MethodGet, url); err == nil && got.status == 200 {
			t.Error("a broken file lets everyone in")
		}
	}
}

func TestWebConfigurationsThatAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certify(t, dir)
	for name, text := range map[string]string{
		"no YAML":           "a: [",
		"unknown key":       "tls: {}\n",
		"no key":            "tls_server_config: {cert_file: cert.pem}\n",
		"no such file":      "tls_server_config: {cert_file: gone.pem, key_file: key.pem}\n",
		"no certificate":    "tls_server_config: {cert_file: key.pem, key_file: key.pem}\n",
		"no hash":           "basic_auth_users: {scraper: s3cret}\n",
		"no such header":    "http_server_config: {headers: {X-Mine: a}}\n",
		"client authority":  tlsConfig[:len(tlsConfig)-2] + ", client_ca_file: gone.pem, client_auth_type: RequireAndVerifyClientCert}\n",
		"headers":           "http_server_config: {headers: {X-Frame-Options: deny}}\n",
		"old TLS":           tlsConfig[:len(tlsConfig)-2] + ", min_version: TLS10}\n",
		"unknown clients":   tlsConfig[:len(tlsConfig)-2] + ", client_auth_type: Sometimes}\n",
		"clients unchecked": tlsConfig[:len(tlsConfig)-2] + ", client_ca_file: cert.pem}\n",
		"empty authority":   tlsConfig[:len(tlsConfig)-2] + ", client_ca_file: key.pem, client_auth_type: RequireAndVerifyClientCert}\n",
		"no authority":      tlsConfig[:len(tlsConfig)-2] + ", client_auth_type: RequireAndVerifyClientCert}\n",
		"none if given":     tlsConfig[:len(tlsConfig)-2] + ", client_auth_type: VerifyClientCertIfGiven}\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, dir, strings.ReplaceAll(name, " ", "-")+".yml", text)
			err := exporter.Run(t.Context(), exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{
				Address: "127.0.0.1:0", WebConfig: path, Started: func(exporter.Listening) { t.Error("it starts") },
			}})
			f, ok := errors.AsType[*errs.Error](err)
			if !ok || f.Code != errs.WebConfigInvalid || f.Details["path"] != path {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(f.Message, "s3cret") || strings.ContainsAny(f.Message, "\n\t") {
				t.Errorf("message %q", f.Message)
			}
		})
	}
	err := exporter.Run(t.Context(), exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{Address: "127.0.0.1:0", WebConfig: filepath.Join(dir, "gone.yml")}})
	if errs.CodeOf(err) != errs.WebConfigInvalid || !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "gone.yml") != 1 {
		t.Errorf("got %v", err)
	}
}

// TestAWebConfigurationWithoutTLS uses passwords only.
func TestAWebConfigurationWithoutTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := "basic_auth_users: {scraper: " + hashed(t, "p") + "}\n"
	s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{WebConfig: write(t, dir, "web.yml", config)}})
	if !strings.HasPrefix(s.URL, "http://") {
		t.Errorf("it serves %s", s.URL)
	}
	for _, path := range []string{"/metrics", "/healthz", "/", "/gone"} {
		if got := ask(t, http.MethodGet, s.page(path)); got.status != 401 {
			t.Errorf("%s without a password: %d", path, got.status)
		}
	}
	if got := ask(t, http.MethodGet, s.URL, "Authorization", "Basic c2NyYXBlcjpw"); got.status != 200 { // scraper:p
		t.Errorf("with it: %d", got.status)
	}
	// An editor may empty the file before it writes it.
	for _, text := range []string{"", "basic_auth_users: {}\n"} {
		write(t, dir, "web.yml", text)
		if got := ask(t, http.MethodGet, s.URL); got.status != 500 {
			t.Errorf("with the configuration %q: %d", text, got.status)
		}
	}
	write(t, dir, "web.yml", config)
	if got := ask(t, http.MethodGet, s.URL, "Authorization", "Basic c2NyYXBlcjpw"); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
}

// TestPasswordsThatAreAddedLater checks that they hold from then on.
func TestPasswordsThatAreAddedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{WebConfig: write(t, dir, "web.yml", "")}})
	for _, c := range []struct {
		text   string
		status int
	}{{"", 200}, {"basic_auth_users: {scraper: " + hashed(t, "p") + "}\n", 401}, {"", 500}} {
		write(t, dir, "web.yml", c.text)
		if got := ask(t, http.MethodGet, s.URL); got.status != c.status {
			t.Errorf("with the configuration %q: %d, want %d", c.text, got.status, c.status)
		}
	}
}

// TestWrongPasswordsAtOnce checks that a scraper that was accepted before does not wait
// for password checks.
func TestWrongPasswordsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{WebConfig: write(t, dir, "web.yml", "basic_auth_users: {scraper: "+hashed(t, "p")+"}\n")}})
	ctx, stop := context.WithCancel(t.Context())
	right := func() {
		t.Helper()
		if got := ask(t, http.MethodGet, s.URL, "Authorization", "Basic c2NyYXBlcjpw"); got.status != 200 {
			t.Errorf("the right password: %d", got.status)
		}
	}
	right()
	var wrong sync.WaitGroup
	for i := range 50 {
		wrong.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.SetBasicAuth("scraper", strconv.Itoa(i))
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				return // It was not its turn yet.
			}
			_ = resp.Body.Close()
			if resp.StatusCode == 200 {
				t.Error("a wrong password is let in")
			}
		})
	}
	for range 10 {
		right()
	}
	stop()
	wrong.Wait()
}

// TestClientCertificates tests the check of client certificates.
func TestClientCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trusted := certify(t, dir)
	config := write(t, dir, "web.yml", tlsConfig[:len(tlsConfig)-2]+", client_ca_file: cert.pem, client_auth_type: RequireAndVerifyClientCert}\n")
	s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{WebConfig: config}})
	if got, err := tryBy(&http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}, http.MethodGet, s.URL); err == nil {
		t.Errorf("without a certificate: %d", got.status)
	}
}

// TestTLSThatChanges checks that requests get neither more nor less access than the web
// configuration allows at that time, also in connections from before its change.
func TestTLSThatChanges(t *testing.T) {
	t.Parallel()
	const open = tlsConfig
	clients := func(settings string) string { return tlsConfig[:len(tlsConfig)-2] + ", " + settings + "}\n" }
	verified := clients("client_ca_file: cert.pem, client_auth_type: RequireAndVerifyClientCert")
	for name, c := range map[string]struct {
		before, after string
		certificate   bool   // of the client
		warning       string // "" if the client still has access
	}{
		"no authority any more":         {verified, clients("client_auth_type: RequireAndVerifyClientCert"), true, "need each other"},
		"no client certificates":        {verified, open, false, ""},
		"no change":                     {verified, verified, true, ""},
		"another authority":             {verified, clients("client_ca_file: other/cert.pem, client_auth_type: RequireAndVerifyClientCert"), true, "TLS handshake error"},
		"verified clients from now on":  {open, verified, false, "client certificate"},
		"certified clients from now on": {open, clients("client_auth_type: RequireAnyClientCert"), false, "client certificate"},
		"TLS from now on":               {"", open, false, "TLS"},
		"no TLS any more":               {open, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			settings := &tls.Config{RootCAs: certify(t, dir)}
			if err := os.Mkdir(filepath.Join(dir, "other"), 0o700); err != nil {
				t.Fatal(err)
			}
			certify(t, filepath.Join(dir, "other"))
			if c.certificate {
				pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
				if err != nil {
					t.Fatal(err)
				}
				settings.Certificates = []tls.Certificate{pair}
			}
			s := start(t, exporter.Options{Gather: gathers, ServeOptions: exporter.ServeOptions{WebConfig: write(t, dir, "web.yml", c.before)}})
			client := &http.Transport{TLSClientConfig: settings} // It keeps its connection.
			defer client.CloseIdleConnections()
			if got, err := tryBy(client, http.MethodGet, s.URL); (err == nil && got.status == 200) != (c.certificate || c.before != verified) {
				t.Fatalf("at first: %d, %v", got.status, err)
			}
			write(t, dir, "web.yml", c.after)
			got, err := tryBy(client, http.MethodGet, s.URL)
			if c.warning == "" {
				if err != nil || got.status != 200 {
					t.Errorf("after the change: %d, %v", got.status, err)
				}
				return
			}
			if err == nil && got.status != 500 {
				t.Errorf("after the change: %d", got.status)
			}
			if warnings := strings.Join(s.reported(), "\n"); !strings.Contains(warnings, c.warning) {
				t.Errorf("the warnings are %s", warnings)
			}
		})
	}
}
