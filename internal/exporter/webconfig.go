package exporter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// checkWebConfig checks a web configuration file and the files it names before anything
// is served, and returns the URL scheme.
func checkWebConfig(path string) (scheme string, err error) {
	if path == "" {
		return "http", nil
	}
	wrong := func(err error) error {
		if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == path {
			err = p.Err // The message already has the path.
		}
		text := strings.Join(strings.Fields(err.Error()), " ")
		return errs.New(errs.WebConfigInvalid, "web configuration %s: %s", path, text).Because(err).With("path", path)
	}
	if err := web.Validate(path); err != nil {
		return "", wrong(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", wrong(err)
	}
	var c struct {
		TLS web.TLSConfig `yaml:"tls_server_config"`
	}
	// The toolkit has read it strictly; only the scheme is needed here.
	if err := yaml.Unmarshal(text, &c); err != nil {
		return "", wrong(err)
	}
	switch c.TLS.ClientAuth {
	case "VerifyClientCertIfGiven", "RequireAndVerifyClientCert":
		if c.TLS.ClientCAs == "" && c.TLS.ClientCAsText == "" {
			return "", wrong(fmt.Errorf("client_auth_type %s needs client_ca_file, the authority that signed the certificates of the clients", c.TLS.ClientAuth))
		}
	}
	if c.TLS.IsEnabled() {
		return "https", nil
	}
	return "http", nil
}
