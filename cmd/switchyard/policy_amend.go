package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

func newPolicyNewCmd(a *app) *cobra.Command {
	var o release.NewOptions
	var major, patch bool
	cmd := &cobra.Command{
		Use:   `new --adr "TITLE"`,
		Short: "Start the next version, with its tests and its decision record",
		Long: `New copies a version's Rego and its tests to a directory for the next one, below
policies/routing, and starts the decision record that argues for the amendment,
in docs/adr. If policies/versions.lock does not exist, it creates it with the
built-in versions. It replaces no file: it creates all of them, or none.

The next version is a minor one, unless --major or --patch is given; policy diff
shows which step an amendment needs. While one version is a draft, no other one
can be started.

It prints the next steps; Switchyard's docs/amending.md walks through them.`,
		Example: `  switchyard policy new --adr "Accessibility findings go to the executor"
  switchyard policy new --from routing@1.1.0 --major --adr "Ask the planner first"`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &o.From, "from", "start from `VERSION`, such as "+policies.Default+" or 1.2.0 (default the latest)")
	cli.TextVar(flags, &o.Title, "adr", "the `TITLE` of the decision record")
	flags.BoolVar(&major, "major", false, "the next major version: something is routed differently than before")
	flags.BoolVar(&patch, "patch", false, "the next patch: nothing changes in meaning")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		if err := cli.CheckRequired(flags, "adr"); err != nil {
			return cli.Usagef("%w: the title of the decision record", err)
		}
		if err := cli.CheckExclusive(flags, "major", "patch"); err != nil {
			return err
		}
		o.Step = diff.Minor
		switch {
		case major:
			o.Step = diff.Major
		case patch:
			o.Step = diff.None
		}
		o.From = asVersion(o.From)
		created, err := e.Policies().Workspace().New(ctx, o)
		return cli.Show(&a.Program, created, err, (*render.Printer).NewVersion)
	})
	return cmd
}

func newPolicyReleaseCmd(a *app) *cobra.Command {
	var accept bool
	var file string
	cmd := &cobra.Command{
		Use:   "release [VERSION]",
		Short: "Lock a version, and write its check results into its record",
		Long: `Release checks a version against the rules of policy lint, and refuses it if it
breaks one. Otherwise it writes what the version changes, and the result of
replaying the ledger, into the decision record, and adds the version's digest to
policies/versions.lock. From then on the version never changes.

VERSION is written as routing@1.3.0 or 1.3.0. The default is the draft, or the
latest version if there is no draft. The status of its decision record must be
accepted; --accept sets it. Repeating a release that was interrupted completes it.`,
		Example: `  switchyard policy release 1.3.0 --accept
  switchyard policy release routing@1.3.0 --ledger recorded.jsonl`,
		Args: cli.OrNothing(cli.Exactly("the VERSION")),
	}
	flags := cmd.Flags()
	flags.BoolVar(&accept, "accept", false, "set the decision record's status to accepted")
	cli.TextVar(flags, &file, "ledger", "replay the ledger or the export in `FILE` (default the project's ledger)")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		version := asVersion(cli.FirstArg(args))
		done := a.showWork("checking " + cmp.Or(version, "the latest version"))
		released, err := e.Policies().Workspace().Release(ctx, version, accept, file)
		done()
		// With --output json the findings are part of the error.
		if f, ok := errors.AsType[*errs.Error](err); ok && a.Output != cli.OutputJSON {
			if findings, ok := f.Details["findings"].([]release.Finding); ok {
				return showCheck(a, findings, err, (*render.Printer).LintFindings)
			}
		}
		return cli.Show(&a.Program, released, err, (*render.Printer).Release)
	})
	return cmd
}

func newPolicyLintCmd(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Check all versions and their decision records against the rules",
		Long: `Lint checks every version in the project's directory policies/routing,
policies/versions.lock and the decision records in docs/adr: a version loads, is
formatted, tested and verified; its record is accepted, and says correctly what the
version changes; and no released version was changed, removed or skipped.
docs/amending.md has the rules.

Each finding is FILE:ROW:COL: RULE: MESSAGE, with files relative to the project's
root. --ledger decides the rounds of a ledger or an export again, to check the
replays in the records against them; without it they are only checked against the
version's digest.`,
		Example: `  switchyard policy lint
  switchyard policy lint --ledger recorded.jsonl --output json`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &file, "ledger", "check replays by the ledger or the export in `FILE`")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		done := a.showWork("checking all versions")
		report, err := e.Policies().Workspace().Lint(ctx, file)
		done()
		if err != nil {
			return err
		}
		var failure error
		if n := len(report.Findings); n > 0 {
			failure = errs.New(errs.PolicyLintFailed, "%s in %s", textutil.Count(n, "finding"), textutil.Count(len(report.Versions), "version")).
				With("findings", report.Findings).With("versions", report.Versions)
		}
		return showCheck(a, report, failure, (*render.Printer).Lint)
	})
	return cmd
}

func newPolicyBuildCmd(a *app) *cobra.Command {
	var file, keyFile string
	var o routing.PackOptions
	var allowUnsigned bool
	var expires time.Duration
	sign := bundle.Signing{Key: bundle.Key{Algorithm: defaultAlgorithm}}
	cmd := &cobra.Command{
		Use:   "build [POLICY] -o FILE",
		Short: "Pack a policy into an OPA bundle, and sign it",
		Long: `Build packs a policy's Rego, without its tests, into a bundle that every command
accepts as a POLICY, and that OPA's own tools can read. The same policy and flags
give the same bytes on every machine, except with --expires, which counts from now.
--wasm adds the policy compiled to WebAssembly, for OPA's tools.

--sign-key signs the bundle with a private key in PEM. --key-id is the name of the
key under policy_trust in the projects that use the bundle, and --scope must match
theirs. docs/bundles.md walks through it.`,
		Example: `  switchyard policy build routing@1.3.0 -o routing.tar.gz
  switchyard policy build -o routing.tar.gz --sign-key ~/policy.key --key-id release-2026
  switchyard policy build -o - | tar -tz`,
		Args: onePolicy(),
	}
	flags := cmd.Flags()
	flags.VarP((*cli.Text)(&file), "file", "o", "write the bundle to `FILE`, - for standard output")
	flags.BoolVar(&o.Wasm, "wasm", false, "add the policy compiled to WebAssembly")
	cli.TextVar(flags, &o.Revision, "revision", "the `REVISION` of the bundle (default the policy's version)")
	cli.TextVar(flags, &keyFile, "sign-key", "sign with the private key in `FILE`")
	cli.TextVar(flags, &sign.Key.ID, "key-id", "the `ID` of the key, for verification")
	cli.TextVar(flags, &sign.Key.Algorithm, "algorithm", "sign with `ALGORITHM`: ES256, EdDSA or RS256")
	cli.TextVar(flags, &sign.Key.Scope, "scope", "the signature is for `SCOPE`")
	cli.DurationVar(flags, &expires, "expires", "the signature is valid for `DURATION`, such as 720h (default permanently)")
	allowUnsignedVar(flags, &allowUnsigned)
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		switch names := cli.Given(flags, "key-id", "algorithm", "scope", "expires"); {
		case file == "":
			return cli.Usagef("-o FILE is missing")
		case keyFile != "" && sign.Key.ID == "":
			return cli.Usagef("--sign-key needs --key-id too")
		case keyFile == "" && len(names) > 0:
			return cli.Usagef("%s needs --sign-key", names[0])
		case keyFile != "":
			key, err := a.project.Read(ctx, keyFile, maxKey)
			if err != nil {
				return err
			}
			sign.Key.Material, sign.Key.File = string(key), keyFile
			if expires > 0 {
				sign.Expires = time.Now().Add(expires)
			}
			o.Sign = &sign
		}
		policy, err := e.Policies().Load(ctx, cli.FirstArg(args), allowUnsigned)
		if err != nil {
			return err
		}
		packed, err := policy.Pack(ctx, o)
		switch {
		case err != nil:
			return err
		case file == api.Stdin:
			return a.PrintText(string(packed))
		}
		if start, err := startOf(a.project, file, len(gzipStart)); err == nil && start != "" && start != gzipStart {
			return errs.New(errs.FileUnwritable, "%s exists already and is not a bundle", file).With("path", file).WithHint("name another file, or remove it")
		}
		return cli.Show(&a.Program, bundleOf(file, policy.Identity(), packed, o), writeFile(a.project, file, packed), (*render.Printer).Bundle)
	})
	return cmd
}

// gzipStart begins every bundle.
const gzipStart = "\x1f\x8b"

// maxKey is the maximum size of a key file, in bytes.
const maxKey = 64 << 10

func bundleOf(file string, id policies.Identity, packed []byte, o routing.PackOptions) render.Bundle {
	b := render.Bundle{
		File: file, Policy: id, Revision: cmp.Or(o.Revision, id.Version), Digest: digest.Of(packed), Size: int64(len(packed)), Wasm: o.Wasm,
	}
	if s := o.Sign; s != nil {
		b.Signature = &render.BundleSignature{KeyID: s.Key.ID, Algorithm: s.Key.Algorithm, Scope: s.Key.Scope}
		if !s.Expires.IsZero() {
			b.Signature.Expires = s.Expires.UTC().Format(time.RFC3339)
		}
	}
	return b
}
