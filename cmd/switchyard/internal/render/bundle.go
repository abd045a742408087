package render

import (
	"github.com/switchyard-dev/switchyard/policies"
)

// Bundle is what build prints as JSON.
type Bundle struct {
	File   string            `json:"file"`
	Policy policies.Identity `json:"policy"`
	// Revision is what the bundle's manifest calls it.
	Revision string `json:"revision"`
	// Digest is that of the file, and Size its bytes.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	Wasm   bool   `json:"wasm"`
	// Signature says how it is signed, nil where it is not.
	Signature *BundleSignature `json:"signature"`
}

type BundleSignature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`
	Scope     string `json:"scope,omitzero"`
	// Expires is when it ends to be good, RFC 3339 in UTC; "" for never.
	Expires string `json:"expires,omitzero"`
}

// Bundle shows a bundle.
func (p *Printer) Bundle(b Bundle) {
	p.Line("%s  %s, %s", p.Paint(Green, "built"), b.File, Size(b.Size))
	p.Line("  policy    %s  %s", policyName(b.Policy), b.Policy.Digest)
	p.Line("  revision  %s", b.Revision)
	p.Line("  bundle    %s", b.Digest)
	if b.Wasm {
		p.Line("  wasm      policy.wasm is in it, for OPA's tools")
	}
	s := b.Signature
	if s == nil {
		p.Line("  unsigned")
		return
	}
	words := "by " + s.KeyID + " with " + s.Algorithm
	if s.Scope != "" {
		words += ", for " + s.Scope
	}
	if s.Expires != "" {
		words += ", until " + s.Expires
	}
	p.Line("  signed    %s", words)
}
