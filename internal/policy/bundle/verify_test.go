package bundle_test

import (
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

func TestASignatureNamesItsKeyInOneOfThreeWays(t *testing.T) {
	other := seededPublic("other", "other")
	both := &bundle.Trust{Keys: append([]bundle.Key{other}, shared().Keys...), Now: now}
	for name, archive := range map[string][]byte{
		"in the header":             signed(t, goodHeader, ""),
		"in the payload":            signed(t, `{"alg":"EdDSA"}`, `,"keyid":"shared"`),
		"in both, the header first": signed(t, goodHeader, `,"keyid":"other"`),
		"not at all, as opa sign":   signed(t, `{"alg":"EdDSA","typ":"JWT"}`, ""),
	} {
		for _, trust := range []*bundle.Trust{shared(), both} {
			if got, err := bundle.Read(archive, limits(), trust); err != nil || got.Signer != "shared" {
				t.Errorf("%s: signer is %q, %v", name, got.Signer, err)
			}
		}
	}
}

func TestSignaturesThatDoNotVerify(t *testing.T) {
	ec := newPair("ES256", ecKey(t, elliptic.P256()))
	trust := shared()
	scoped := seededPublic("shared", "scoped")
	scoped.Scope = "switchyard"
	trust.Keys = append(trust.Keys, ec.public, scoped, seededPublic("else", "else"))

	// confused is a token that uses the public key as an HMAC secret.
	mac := hmac.New(sha256.New, []byte(ec.public.Material))
	input := encode(`{"alg":"HS256","kid":"ES256-1"}`) + "." + encode("{"+listed("p.rego", rego)+`,"scope":"switchyard"}`)
	mac.Write([]byte(input))
	confused := input + "." + encode(string(mac.Sum(nil)))

	with := func(file string) []byte { return packed(t, "p.rego", rego, ".signatures.json", file) }
	by := func(token string) []byte { return with(signatures(token)) }
	good := token(goodHeader, "{"+listed("p.rego", rego)+"}")
	parts := strings.Split(good, ".")
	at := func(d time.Duration) string { return fmt.Sprint(now().Add(d).Unix()) }
	weak := md5.Sum([]byte(rego))

	for name, tc := range map[string]struct {
		archive []byte
		code    errs.Code
		want    string
	}{
		"no signature": {packed(t, "p.rego", rego), errs.PolicyUnsigned, "not signed"},

		"empty file":         {with(""), errs.PolicySignatureInvalid, "cannot be read"},
		"not JSON":           {with("signature"), errs.PolicySignatureInvalid, "cannot be read"},
		"a list":             {with("[]"), errs.PolicySignatureInvalid, "cannot be read"},
		"null":               {with("null"), errs.PolicySignatureInvalid, "0 tokens"},
		"empty object":       {with("{}"), errs.PolicySignatureInvalid, "0 tokens"},
		"no tokens":          {with(`{"signatures":[]}`), errs.PolicySignatureInvalid, "0 tokens"},
		"two tokens":         {with(signatures(good, good)), errs.PolicySignatureInvalid, "2 tokens"},
		"tokens twice":       {with(`{"signatures":[],"signatures":["` + good + `"]}`), errs.PolicySignatureInvalid, "cannot be read"},
		"token is no text":   {with(`{"signatures":[1]}`), errs.PolicySignatureInvalid, "cannot be read"},
		"more behind":        {with(signatures(good) + "{}"), errs.PolicySignatureInvalid, "cannot be read"},
		"a plugin":           {with(`{"signatures":["` + good + `"],"plugin":"mine"}`), errs.PolicySignatureInvalid, `plugin "mine"`},
		"empty token":        {by(""), errs.PolicySignatureInvalid, "1 parts"},
		"two parts":          {by(parts[0] + "." + parts[1]), errs.PolicySignatureInvalid, "2 parts"},
		"four parts":         {by(good + "."), errs.PolicySignatureInvalid, "4 parts"},
		"header is no text":  {by("*." + parts[1] + "." + parts[2]), errs.PolicySignatureInvalid, "header"},
		"padding":            {by(parts[0] + "=." + parts[1] + "." + parts[2]), errs.PolicySignatureInvalid, "header"},
		"header is a list":   {by(token("[]", "{}")), errs.PolicySignatureInvalid, "header"},
		"key twice":          {by(token(`{"alg":"EdDSA","kid":"else","kid":"shared"}`, "{"+listed("p.rego", rego)+"}")), errs.PolicySignatureInvalid, "header"},
		"payload is no JSON": {by(token(goodHeader, "files")), errs.PolicySignatureInvalid, "payload"},
		"extension":          {signed(t, `{"alg":"EdDSA","kid":"shared","crit":["b64"],"b64":false}`, ""), errs.PolicySignatureInvalid, "extensions"},

		"no algorithm":             {by(token(`{"kid":"shared"}`, "{"+listed("p.rego", rego)+"}")), errs.PolicySignatureInvalid, `made by ""`},
		"none":                     {by(encode(`{"alg":"none","kid":"shared"}`) + "." + parts[1] + "."), errs.PolicySignatureInvalid, `made by "none"`},
		"none and no key":          {by(encode(`{"alg":"none"}`) + "." + parts[1] + "."), errs.PolicySignatureInvalid, "does not name its key"},
		"no signature in it":       {by(parts[0] + "." + parts[1] + "."), errs.PolicySignatureInvalid, `not made by the key "shared"`},
		"other algorithm":          {by(token(`{"alg":"HS384","kid":"shared"}`, "{"+listed("p.rego", rego)+"}")), errs.PolicySignatureInvalid, `made by "HS384"`},
		"a public key as a secret": {by(confused), errs.PolicySignatureInvalid, `made by "HS256"`},
		"wrong key":                {signed(t, `{"alg":"EdDSA","kid":"else"}`, ""), errs.PolicySignatureInvalid, `not made by the key "else"`},
		"changed header":           {by(encode(goodHeader+" ") + "." + parts[1] + "." + parts[2]), errs.PolicySignatureInvalid, "not made by"},
		"changed payload":          {by(parts[0] + "." + encode("{"+listed("p.rego", rego+"#")+"}") + "." + parts[2]), errs.PolicySignatureInvalid, "not made by"},
		"changed signature":        {by(parts[0] + "." + parts[1] + "." + encode(strings.Repeat("s", 32))), errs.PolicySignatureInvalid, "not made by"},

		"unknown key":            {signed(t, `{"alg":"EdDSA","kid":"nobody"}`, ""), errs.PolicyKeyUnknown, `"nobody"`},
		"unknown key in payload": {signed(t, `{"alg":"EdDSA"}`, `,"keyid":"nobody"`), errs.PolicyKeyUnknown, `"nobody"`},
		"known key by case":      {signed(t, `{"alg":"EdDSA","kid":"Shared"}`, ""), errs.PolicyKeyUnknown, `"Shared"`},

		"a scope of its own": {signed(t, goodHeader, `,"scope":"switchyard"`), errs.PolicyScopeMismatch, `"switchyard"`},
		"no scope":           {signed(t, `{"alg":"EdDSA","kid":"scoped"}`, ""), errs.PolicyScopeMismatch, `"switchyard"`},
		"another scope":      {signed(t, `{"alg":"EdDSA","kid":"scoped"}`, `,"scope":"switch"`), errs.PolicyScopeMismatch, `"switch"`},

		"over":              {signed(t, goodHeader, `,"exp":`+at(-time.Second)), errs.PolicySignatureExpired, "expired at 2026-11-21T11:59:59Z"},
		"over this instant": {signed(t, goodHeader, `,"exp":`+at(0)), errs.PolicySignatureExpired, "expired at"},
		"over by a bit":     {signed(t, goodHeader, `,"exp":`+at(-time.Second)+`.9`), errs.PolicySignatureExpired, "expired at"},
		"over for ages":     {signed(t, goodHeader, `,"exp":-1e300`), errs.PolicySignatureExpired, "expired at -1e+300"},
		"not yet":           {signed(t, goodHeader, `,"nbf":`+at(61*time.Second)), errs.PolicySignatureExpired, "not valid before"},
		"made tomorrow":     {signed(t, goodHeader, `,"iat":`+at(24*time.Hour)), errs.PolicySignatureExpired, "not valid before"},
		"time is text":      {signed(t, goodHeader, `,"exp":"tomorrow"`), errs.PolicySignatureInvalid, "payload"},
		"time is endless":   {signed(t, goodHeader, `,"exp":1e999`), errs.PolicySignatureInvalid, "payload"},
		"time twice":        {signed(t, goodHeader, `,"exp":1,"exp":`+at(time.Hour)), errs.PolicySignatureInvalid, "payload"},

		"file was changed":    {by(token(goodHeader, "{"+listed("p.rego", rego+"#")+"}")), errs.PolicySignatureInvalid, "p.rego: the file is not as it was signed"},
		"file was added":      {by(token(goodHeader, "{"+listed()+"}")), errs.PolicySignatureInvalid, "p.rego: it is not over this file"},
		"no files at all":     {by(token(goodHeader, "{}")), errs.PolicySignatureInvalid, "p.rego: it is not over this file"},
		"file was taken away": {by(token(goodHeader, "{"+listed("p.rego", rego, "z.rego", rego, "q.rego", rego)+"}")), errs.PolicySignatureInvalid, "q.rego: the file was signed and is not there"},
		"file was renamed":    {by(token(goodHeader, "{"+listed("q.rego", rego)+"}")), errs.PolicySignatureInvalid, "p.rego: it is not over this file"},
		"file is named twice": {by(token(goodHeader, "{"+listed("p.rego", rego+"#", "p.rego", rego)+"}")), errs.PolicySignatureInvalid, "names the file twice"},
		"weak digest": {by(token(goodHeader, `{"files":[{"name":"p.rego","hash":"`+hex.EncodeToString(weak[:])+`","algorithm":"MD5"}]}`)),
			errs.PolicySignatureInvalid, "can be forged"},
		"no digest":         {by(token(goodHeader, `{"files":[{"name":"p.rego"}]}`)), errs.PolicySignatureInvalid, "not as it was signed"},
		"unknown digest":    {by(token(goodHeader, `{"files":[{"name":"p.rego","hash":"00","algorithm":"CRC"}]}`)), errs.PolicySignatureInvalid, "not as it was signed"},
		"digest is no hex":  {by(token(goodHeader, `{"files":[{"name":"p.rego","hash":"?","algorithm":"SHA-256"}]}`)), errs.PolicySignatureInvalid, "not as it was signed"},
		"files is a object": {by(token(goodHeader, `{"files":{}}`)), errs.PolicySignatureInvalid, "payload"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := bundle.Read(tc.archive, limits(), trust)
			e := wantCode(t, err, tc.code)
			if !strings.Contains(e.Message, tc.want) {
				t.Errorf("the message does not mention %q: %s", tc.want, e.Message)
			}
			if len(got.Files) > 0 || got.Signer != "" {
				t.Errorf("contents came with the error: %+v", got)
			}
			if _, err := bundle.Read(tc.archive, limits(), nil); err != nil {
				t.Errorf("without trust the signature was looked at: %v", err)
			}
		})
	}
}

func TestSignersSignedForgivesOurClockAMinute(t *testing.T) {
	at := func(d time.Duration) string { return fmt.Sprint(now().Add(d).Unix()) }
	for _, more := range []string{
		`,"exp":` + at(time.Second), `,"exp":1e300`, `,"nbf":` + at(60*time.Second), `,"iat":` + at(60*time.Second), `,"iat":0,"nbf":0`,
		`,"nbf":` + at(-time.Hour) + `,"iat":` + at(-time.Hour) + `,"exp":` + at(time.Hour) + `.5`, `,"iss":"somebody"`,
	} {
		if _, err := bundle.Read(signed(t, goodHeader, more), limits(), shared()); err != nil {
			t.Errorf("%s: %v", more, err)
		}
	}
}

// A token without a key ID may be signed by any trusted key, and by no other.
func TestATokenWithoutAKeysNameIsByATrustedOneOrNone(t *testing.T) {
	archive := signed(t, `{"alg":"EdDSA"}`, "")
	foreign := &bundle.Trust{Now: now, Keys: []bundle.Key{
		seededPublic("a", "a"),
		newPair("ES256", ecKey(t, elliptic.P256())).public,
	}}
	_, err := bundle.Read(archive, limits(), foreign)
	wantCode(t, err, errs.PolicySignatureInvalid)
}

func TestDetailsSayWhatWasAskedFor(t *testing.T) {
	_, err := bundle.Read(signed(t, `{"alg":"EdDSA","kid":"nobody"}`, ""), limits(), shared())
	e := wantCode(t, err, errs.PolicyKeyUnknown)
	if known, _ := e.Details["known"].([]string); e.Details["key_id"] != "nobody" || !slices.Equal(known, []string{"shared"}) {
		t.Errorf("details are %v", e.Details)
	}
	_, err = bundle.Read(signed(t, goodHeader, `,"scope":"more"`), limits(), shared())
	if e := wantCode(t, err, errs.PolicyScopeMismatch); e.Details["want"] != "" || e.Details["got"] != "more" {
		t.Errorf("details are %v", e.Details)
	}
	_, err = bundle.Read(signed(t, goodHeader, `,"exp":0`), limits(), shared())
	if e := wantCode(t, err, errs.PolicySignatureExpired); e.Details["expires"] != "1970-01-01T00:00:00Z" {
		t.Errorf("details are %v", e.Details)
	}
	_, err = bundle.Read(signed(t, goodHeader, `,"nbf":2e9`), limits(), shared())
	if e := wantCode(t, err, errs.PolicySignatureExpired); e.Details["not_before"] != "2033-05-18T03:33:20Z" {
		t.Errorf("details are %v", e.Details)
	}
}

// OPA signs the meaning of a document, not its bytes.
func TestTheManifestIsSignedByItsMeaning(t *testing.T) {
	original, err := draft(seededPrivate()).Pack()
	if err != nil {
		t.Fatal(err)
	}
	files := untarred(t, original)
	rewritten := strings.NewReplacer(",", " ,\n", ":", " : ").Replace(files[".manifest"])
	if rewritten == files[".manifest"] {
		t.Fatal("the manifest was not rewritten")
	}
	repack := func(manifest string) []byte {
		return packed(t, "p.rego", rego, ".manifest", manifest, ".signatures.json", files[".signatures.json"])
	}
	if got, err := bundle.Read(repack(rewritten), limits(), shared()); err != nil || got.Revision != "7" {
		t.Errorf("revision is %q, %v", got.Revision, err)
	}
	_, err = bundle.Read(repack(strings.Replace(files[".manifest"], `"7"`, `"6"`, 1)), limits(), shared())
	if e := wantCode(t, err, errs.PolicySignatureInvalid); e.Details["file"] != ".manifest" {
		t.Errorf("details are %v", e.Details)
	}
}
