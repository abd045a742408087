package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-dev/switchyard/cmd/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
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
accepts as a POLICY, and that OPA's own tools can read. The same policy and flags
give the same bytes on every machine at any time, except with --expires, which
counts from now.

--wasm adds the policy compiled to WebAssembly, for OPA's tools. Switchyard's own
commands use the Rego.

--sign-key signs the bundle as OPA defines it, with a private key in PEM. --key-id
is the name of the key under policy_trust in the projects that use the bundle;
--scope must match theirs.
Switchyard's docs/bundles.md walks through it.

FILE is replaced atomically, if it is a regular file. With FILE - the bundle goes
to standard output, and nothing else is printed.`,
		Example: `  switchyard policy build policies/routing/1.3.0 -o routing.tar.gz
  switchyard policy build -o routing.tar.gz --sign-key policy.key --key-id release-2026
  switchyard policy build -o - | tar -tz`,
		Args: onePolicy(),
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
			policy, err := e.Policies().Load(ctx, firstArg(args), f.allowUnsigned)
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
			return show(a, f.bundle(policy.Identity(), packed, o), (*render.Printer).Bundle)
		})
	})
	return cmd
}

// buildFlags are the flags of policy build.
type buildFlags struct {
	file, revision      string
	wasm, allowUnsigned bool
	key                 string
	id, algorithm       string
	scope               string
	expires             time.Duration
}

func (f *buildFlags) register(flags *pflag.FlagSet) {
	flags.VarP((*text)(&f.file), "file", "o", "write the bundle to `FILE`, - for standard output")
	flags.BoolVar(&f.wasm, "wasm", false, "add the policy compiled to WebAssembly")
	textVar(flags, &f.revision, "revision", "the `REVISION` of the bundle (default the policy's version)")
	textVar(flags, &f.key, "sign-key", "sign with the private key in `FILE`")
	textVar(flags, &f.id, "key-id", "the `ID` of the key for those who verify")
	f.algorithm = "ES256"
	textVar(flags, &f.algorithm, "algorithm", "sign with `ALGORITHM`: ES256, EdDSA or RS256")
	textVar(flags, &f.scope, "scope", "the signature is for `SCOPE`")
	flags.DurationVar(&f.expires, "expires", 0, "the signature is valid for `DURATION`, such as 720h (default permanently)")
	allowUnsignedVar(flags, &f.allowUnsigned)
}

// check rejects contradictory flags.
func (f *buildFlags) check(flags *pflag.FlagSet) error {
	switch names := given(flags, "key-id", "algorithm", "scope", "expires"); {
	case f.file == "":
		return usagef("-o FILE is missing")
	case f.key != "" && f.id == "":
		return usagef("--sign-key needs --key-id too")
	case flags.Changed("expires") && f.expires <= 0:
		return usagef("--expires %s: it must be longer than 0", f.expires)
	case f.key == "" && len(names) > 0:
		return usagef("%s needs --sign-key", names[0])
	}
	return nil
}

// maxKey is the maximum size of a key file, in bytes.
const maxKey = 64 << 10

// signing reads the key; it returns nil if the flags name none.
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

// bundle describes the written bundle.
func (f *buildFlags) bundle(id policies.Identity, packed []byte, o routing.PackOptions) render.Bundle {
	b := render.Bundle{
		File: f.file, Policy: id, Revision: cmp.Or(o.Revision, id.Version), Digest: digest.Of(packed),
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
