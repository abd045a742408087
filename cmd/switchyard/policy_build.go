package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyBuildCmd(a *app) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [POLICY] -o FILE",
		Short: "Pack a policy into an OPA bundle, and sign it",
		Long: `Build packs a policy's Rego, without its tests, into a bundle that every command
here takes as a POLICY, and OPA's own tools read too. The same policy and flags
give the same bytes, on every machine and at any time, but for PS signatures, in
which there is chance, and for --expires, which counts from now.

--wasm adds the policy compiled to WebAssembly, for OPA's tools. The commands
here go by the Rego.

--sign-key signs the bundle as OPA defines it: with a private key in PEM, or for
HS256, HS384 and HS512 with a secret. --key-id is the name that the key has
under policy_trust in the projects that take the bundle; --scope must be theirs.
Switchyard's docs/bundles.md goes through it.

FILE is replaced all at once, if it is a regular file. With FILE - the bundle
goes to standard output, and nothing is said of it.`,
		Example: `  switchyard policy build policies/routing/1.3.0 -o routing.tar.gz
  switchyard policy build -o routing.tar.gz --sign-key policy.key --key-id release-2026
  switchyard policy build -o - | tar -tz`,
		Args:              atMostOnePolicy,
		ValidArgsFunction: policyRefs,
	}
	f.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		if err := f.check(cmd.Flags()); err != nil {
			return err
		}
		p, err := a.project()
		if err != nil {
			return err
		}
		o := routing.PackOptions{Revision: f.revision, Wasm: f.wasm}
		if o.Sign, err = f.signing(ctx, p, time.Now()); err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			policy, err := e.Policies().Load(ctx, policyArg(args), f.allowUnsigned)
			if err != nil {
				return err
			}
			packed, err := policy.Pack(ctx, o)
			if err != nil {
				return err
			}
			if f.file == api.Stdin {
				return a.printText(string(packed))
			}
			if err := writeFile(p, f.file, packed); err != nil {
				return err
			}
			b := f.built(policy.Identity(), packed, o)
			return a.print(b, func(p *render.Printer) { p.Bundle(b) })
		})
	})
	return cmd
}

// buildFlags are those of build.
type buildFlags struct {
	file, revision      string
	wasm, allowUnsigned bool
	key                 string
	id, algorithm       string
	scope               string
	expires             time.Duration
}

// signingFlags say nothing without a key.
func signingFlags() []string { return []string{"key-id", "algorithm", "scope", "expires"} }

func (f *buildFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.file, "file", "o", "", "write the bundle to `FILE`, - for standard output")
	flags.BoolVar(&f.wasm, "wasm", false, "add the policy compiled to WebAssembly")
	flags.StringVar(&f.revision, "revision", "", "call the bundle `REVISION` (default the policy's version)")
	flags.StringVar(&f.key, "sign-key", "", "sign with the private key or the secret in `FILE`")
	flags.StringVar(&f.id, "key-id", "", "the key is known as `ID` to those who verify")
	flags.StringVar(&f.algorithm, "algorithm", "ES256", "sign with `ALGORITHM`: ES256, RS256, HS256 and the like")
	flags.StringVar(&f.scope, "scope", "", "the signature is for `SCOPE`")
	flags.DurationVar(&f.expires, "expires", 0, "the signature is good for `DURATION`, as 720h (default for ever)")
	allowUnsignedFlag(flags, &f.allowUnsigned)
}

// check looks for what contradicts itself in the flags.
func (f *buildFlags) check(flags *pflag.FlagSet) error {
	for _, name := range []string{"file", "revision", "sign-key", "key-id", "algorithm", "scope"} {
		if flag := flags.Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usagef("--%s is empty", name)
		}
	}
	switch {
	case f.file == "":
		return usagef("-o FILE is missing")
	case f.key != "" && f.id == "":
		return usagef("--sign-key needs --key-id too")
	case flags.Changed("expires") && f.expires <= 0:
		return usagef("--expires %s: a signature must be good for some time", f.expires)
	case f.key != "":
		return nil
	}
	for _, name := range signingFlags() {
		if flags.Changed(name) {
			return usagef("--%s says nothing without --sign-key", name)
		}
	}
	return nil
}

// maxKey is the largest file of a key, in bytes.
const maxKey = 64 << 10

// signing reads the key, nil where none is named.
func (f *buildFlags) signing(ctx context.Context, p project.Project, now time.Time) (*bundle.Signing, error) {
	if f.key == "" {
		return nil, nil
	}
	material, err := p.Read(ctx, f.key, maxKey)
	if err != nil {
		return nil, err
	}
	s := &bundle.Signing{Key: bundle.Key{ID: f.id, Algorithm: f.algorithm, Material: string(material), Scope: f.scope}}
	if f.expires > 0 {
		s.Expires = now.Add(f.expires)
	}
	return s, nil
}

func (f *buildFlags) built(id policies.Identity, packed []byte, o routing.PackOptions) render.Bundle {
	sum := sha256.Sum256(packed)
	b := render.Bundle{
		File: f.file, Policy: id, Revision: cmp.Or(o.Revision, id.Version), Digest: "sha256:" + hex.EncodeToString(sum[:]),
		Size: int64(len(packed)), Wasm: o.Wasm,
	}
	if s := o.Sign; s != nil {
		b.Signature = &render.BundleSignature{KeyID: s.Key.ID, Algorithm: s.Key.Algorithm, Scope: s.Key.Scope}
		if !s.Expires.IsZero() {
			b.Signature.Expires = s.Expires.UTC().Format(time.RFC3339)
		}
	}
	return b
}
