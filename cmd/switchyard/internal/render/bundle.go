package render

import (
	"github.com/switchyard-dev/switchyard/policies"
)

// Bundle is the JSON output of policy build.
type Bundle struct {
	File   string            `json:"file"`
	Policy policies.Identity `json:"policy"`
	// Revision is the revision in the bundle's manifest.
	Revision string `json:"revision"`
	// Digest is the file's digest, and Size its size in bytes.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	Wasm   bool   `json:"wasm"`
	// Signature describes the signature, nil for an unsigned bundle.
	Signature *BundleSignature `json:"signature"`
}

type BundleSignature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`
	Scope     string `json:"scope,omitzero"`
	// Expires is when the signature expires, RFC 3339 in UTC; "" for never.
	Expires string `json:"expires,omitzero"`
}

// Bundle prints a bundle.
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
