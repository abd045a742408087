package exporter

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// webConfig has the supported keys of the web configuration of Prometheus' exporters. Their
// own package makes the program 4 MB larger: it imports, by way of golang.org/x/net/trace,
// templates that can call every method (ADR-0029).
type webConfig struct {
	TLS   tlsConfig         `yaml:"tls_server_config"`
	Users map[string]string `yaml:"basic_auth_users"` // bcrypt hashes, by name
}

type tlsConfig struct {
	Cert       string `yaml:"cert_file"`
	Key        string `yaml:"key_file"`
	ClientCAs  string `yaml:"client_ca_file"`
	ClientAuth string `yaml:"client_auth_type"`
	MinVersion string `yaml:"min_version"`
}

// readWebConfig reads and checks a file and the files that it names. The TLS configuration is
// nil if the file does not configure TLS.
func readWebConfig(path string) (c webConfig, secure *tls.Config, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil && err != io.EOF {
		return c, nil, err
	}
	for name, hash := range c.Users {
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return c, nil, fmt.Errorf("the password of %s is not a bcrypt hash: %w", name, err)
		}
	}
	secure, err = c.TLS.load(filepath.Dir(path))
	return c, secure, err
}

func (t tlsConfig) load(dir string) (*tls.Config, error) {
	if t.Cert+t.Key+t.ClientCAs+t.ClientAuth+t.MinVersion == "" {
		return nil, nil
	}
	from := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	if t.Cert == "" || t.Key == "" {
		return nil, errors.New("tls_server_config needs cert_file and key_file")
	}
	pair, err := tls.LoadX509KeyPair(from(t.Cert), from(t.Key))
	if err != nil {
		return nil, err
	}
	version, ok := map[string]uint16{"": tls.VersionTLS12, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}[t.MinVersion]
	if !ok {
		return nil, fmt.Errorf("min_version must be TLS12 or TLS13, not %s", t.MinVersion)
	}
	auth, ok := map[string]tls.ClientAuthType{
		"": tls.NoClientCert, "NoClientCert": tls.NoClientCert, "RequestClientCert": tls.RequestClientCert,
		"RequireAnyClientCert": tls.RequireAnyClientCert, "VerifyClientCertIfGiven": tls.VerifyClientCertIfGiven,
		"RequireAndVerifyClientCert": tls.RequireAndVerifyClientCert,
	}[t.ClientAuth]
	if !ok {
		return nil, fmt.Errorf("client_auth_type %s is not known", t.ClientAuth)
	}
	// HTTP/2 would let a client keep hundreds of answers in memory with one connection.
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: version, ClientAuth: auth, NextProtos: []string{"http/1.1"}}
	if (t.ClientCAs != "") != (auth >= tls.VerifyClientCertIfGiven) {
		return nil, errors.New("client_ca_file and a client_auth_type that verifies client certificates need each other")
	}
	if t.ClientCAs != "" {
		pem, err := os.ReadFile(from(t.ClientCAs))
		if err != nil {
			return nil, err
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("client_ca_file %s has no certificate", t.ClientCAs)
		}
	}
	return config, nil
}

// checkWebConfig checks a web configuration file and the files it names before anything
// is served, and reports whether it has TLS, and users.
func checkWebConfig(path string) (secure, closed bool, err error) {
	if path == "" {
		return false, false, nil
	}
	c, config, err := readWebConfig(path)
	if err == nil {
		return config != nil, len(c.Users) > 0, nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == path {
		err = p.Err // The message already has the path.
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	return false, false, errs.New(errs.WebConfigInvalid, "web configuration %s: %s", path, text).Because(err).With("path", path)
}

// unknownUserHash is the hash of a random password. It is compared with the passwords of
// unknown users, so that the time of the answer does not reveal which users exist.
const unknownUserHash = "$2a$10$Sc8j3kzWuT9MCZJ.6qZEZOk2.Sccnkg9iQISxWUUnREkY3fzSX.0K"

// The limits on guessing passwords: the time that a password waits to be checked, and the
// pause after a wrong one, in multiples of the time of its check, so that checks use at most
// a fifth of a core.
const (
	trialWait  = 5 * time.Second
	trialPause = 4
)

// passwords admits the users of a web configuration, which it reads for each request.
type passwords struct {
	path string
	next http.Handler
	log  *log.Logger
	// right has digests of correct users, hashes and passwords.
	right sync.Map
	// trial has an element while a password is checked. A check keeps a core busy even if
	// the password is wrong.
	trial chan struct{}
	// closed is set once the configuration had users: an editor may empty the file before it
	// writes it.
	closed atomic.Bool
}

func (p *passwords) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, secure, err := readWebConfig(p.path)
	if len(c.Users) > 0 {
		p.closed.Store(true)
	} else if err == nil && p.closed.Load() {
		err = errors.New("it has no users any more")
	}
	if err == nil && secure != nil {
		err = checkConnection(r.TLS, secure.ClientAuth)
	}
	if err != nil || secure != nil && secure.ClientAuth != tls.NoClientCert {
		w.Header().Set("Connection", "close") // The next request has its certificate checked again.
	}
	if err != nil {
		p.log.Printf("web configuration %s: %v", p.path, err)
		http.Error(w, "the web configuration is invalid", http.StatusInternalServerError)
		return
	}
	if len(c.Users) == 0 || p.admits(c.Users, w, r) {
		p.next.ServeHTTP(w, r)
	}
}

// checkConnection fails if a connection from before a change of the configuration lacks what
// the configuration demands now.
func checkConnection(state *tls.ConnectionState, clients tls.ClientAuthType) error {
	switch {
	case state == nil:
		return errors.New("it has TLS now, but did not when the server was started: start it again")
	case clients == tls.RequireAnyClientCert && len(state.PeerCertificates) == 0,
		clients == tls.RequireAndVerifyClientCert && len(state.VerifiedChains) == 0:
		return errors.New("it requires a client certificate now, and a connection from before has none")
	}
	return nil
}

// admits reports whether a request has the password of a user. It answers other requests.
func (p *passwords) admits(users map[string]string, w http.ResponseWriter, r *http.Request) bool {
	if user, password, ok := r.BasicAuth(); ok {
		hash, known := users[user]
		if !known {
			hash = unknownUserHash
		}
		digest := sha256.Sum256(fmt.Appendf(nil, "%q%q%q", user, hash, password))
		if _, ok := p.right.Load(digest); ok {
			return true
		}
		select {
		case p.trial <- struct{}{}:
		case <-r.Context().Done():
			return false
		case <-time.After(trialWait):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "another password is being checked", http.StatusServiceUnavailable)
			return false
		}
		began := time.Now()
		if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && known {
			p.right.Store(digest, nil)
			<-p.trial
			return true
		}
		time.AfterFunc(trialPause*time.Since(began), func() { <-p.trial })
	}
	w.Header().Set("WWW-Authenticate", "Basic")
	http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
	return false
}
