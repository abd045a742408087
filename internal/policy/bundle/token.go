package bundle

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// header is the protected header of a token (RFC 7515, 4.1).
type header struct {
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid,omitzero"`
	Type      string `json:"typ,omitzero"`
	// Critical lists extensions that must be understood. We know none.
	Critical jsontext.Value `json:"crit,omitzero"`
}

// claims is what a token says, in OPA's terms and those of RFC 7519, 4.1.
type claims struct {
	Files []bundle.FileInfo `json:"files"`
	// KeyID is where older versions of OPA named the key.
	KeyID string `json:"keyid,omitzero"`
	Scope string `json:"scope,omitzero"`
	// IssuedAt, NotBefore and Expires are seconds since 1970.
	IssuedAt  *float64 `json:"iat,omitzero"`
	NotBefore *float64 `json:"nbf,omitzero"`
	Expires   *float64 `json:"exp,omitzero"`
}

// signatures is the file .signatures.json.
type signatures struct {
	Tokens []string `json:"signatures"`
	Plugin string   `json:"plugin,omitzero"`
}

// readToken takes a token apart. Nothing that it says is true before its signature
// was verified.
func readToken(token string) (header, claims, error) {
	var h header
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return h, c, badSignature("its token has %d parts and not 3", len(parts))
	}
	for i, part := range []struct {
		name string
		into any
	}{{"header", &h}, {"payload", &c}} {
		text, err := base64.RawURLEncoding.Strict().DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(text, part.into) // refuses a name that is there twice
		}
		if err != nil {
			return h, c, badSignature("the %s of its token cannot be read", part.name)
		}
	}
	if h.Critical != nil {
		return h, c, badSignature("its token asks for extensions that are not known here")
	}
	return h, c, nil
}

// keyID is the key that a token names, as OPA looks it up, or "".
func keyID(h header, c claims) string {
	if h.KeyID != "" {
		return h.KeyID
	}
	return c.KeyID
}

// leeway is how far the clock of whoever signed may be ahead of ours. The end of a
// signature gets none.
const leeway = time.Minute

// checkTime says whether a token's time has begun and is not over. OPA does not ask.
func (c claims) checkTime(now time.Time) error {
	seconds := float64(now.Unix()) + float64(now.Nanosecond())/1e9
	if c.Expires != nil && seconds >= *c.Expires {
		return errs.New(errs.PolicySignatureExpired, "the bundle's signature was good until %s", instant(*c.Expires)).
			With("expires", instant(*c.Expires))
	}
	for _, begin := range []*float64{c.IssuedAt, c.NotBefore} {
		if begin != nil && seconds < *begin-leeway.Seconds() {
			return errs.New(errs.PolicySignatureExpired, "the bundle's signature is not good before %s", instant(*begin)).
				With("not_before", instant(*begin))
		}
	}
	return nil
}

// lastSecond is the last one of the last year that RFC 3339 can write.
const lastSecond = 253402300799

// instant shows a number of seconds since 1970, which a token may choose freely.
func instant(seconds float64) string {
	if math.Abs(seconds) > lastSecond {
		return strconv.FormatFloat(seconds, 'g', -1, 64)
	}
	return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
}

// badSignature says what is wrong with a bundle's signature.
func badSignature(format string, args ...any) *errs.Error {
	return errs.New(errs.PolicySignatureInvalid, "the bundle's signature is not valid: "+format, args...)
}
