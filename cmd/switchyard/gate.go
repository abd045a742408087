package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/render"
)

const gateStatus = `
Exit status:
  0   these files were reviewed, and the decision was to commit them
  1   a fault; the error on standard error says which
  2   the command line is wrong
  10  executor      12  askuser         14  stuck
  11  researcher    13  plan-checker    15  any other decision about these files
  17  not reviewed
  18  refused: the evidence does not count
`

func newGateCmd(a *app) *cobra.Command {
	var req api.GateRequest
	var span, proof, key string
	cmd := &cobra.Command{
		Use:   "gate",
		Short: "Pass only what was reviewed and approved",
		Long: `Gate passes only on evidence in the ledger that a review saw exactly these files,
and everything that changed, and that the adopted policy decided to commit them:

  not reviewed  no such review is recorded
  refused       the decision was forced, its policy was not the adopted one, or
                the record was changed
  otherwise     the decision was another one, such as executor

--commit compares a commit with its first parent, --tree the files of the checkout
with HEAD, and --range compares B with its merge base with A. --proof reads the
evidence from the output of switchyard ledger prove instead of the ledger, on any
machine that has the commit; --key names the public key that must have signed it.
docs/gate.md has the rules.`,
		Example: `  switchyard gate --commit HEAD
  switchyard gate --range origin/main..HEAD
  switchyard gate --commit HEAD --proof proof.json --key review.pub`,
		Args: cli.NoArgs,
	}
	flags := cmd.Flags()
	var allowUnsigned bool
	cli.TextVar(flags, &req.Commit, "commit", "check the commit `REV`")
	flags.BoolVar(&req.Tree, "tree", false, "check the files of the checkout")
	cli.TextVar(flags, &span, "range", "check the range `A..B`")
	cli.TextVar(flags, &proof, "proof", "read the evidence from `FILE`, - for standard input")
	cli.TextVar(flags, &key, "key", "require a signature by the private key of the public key in `FILE`")
	cli.TextVar(flags, &req.Algorithm, "algorithm", "the key is for `ALGORITHM`: ES256, EdDSA or RS256 (default ES256)")
	flags.BoolVar(&allowUnsigned, "allow-unsigned", false, "accept a proof without checking who made it")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, _ []string) error {
		var ok bool
		switch names := cli.Given(flags, "commit", "tree", "range"); {
		case len(names) != 1:
			return cli.Usagef("name one of --commit REV, --tree and --range A..B")
		case span != "":
			if req.From, req.To, ok = strings.Cut(span, ".."); !ok || req.From == "" || req.To == "" || strings.HasPrefix(req.To, ".") {
				return cli.Usagef("--range must be A..B, with two dots")
			}
		}
		switch names := cli.Given(flags, "key", "algorithm", "allow-unsigned"); {
		case proof == "" && len(names) > 0:
			return cli.Usagef("%s needs --proof", names[0])
		case proof != "" && (key == "") != allowUnsigned:
			return cli.Usagef("--proof needs either --key FILE or --allow-unsigned")
		case key == "" && req.Algorithm != "":
			return cli.Usagef("--algorithm needs --key")
		}
		if proof != "" {
			if err := a.readProof(ctx, &req, proof, key); err != nil {
				return err
			}
		}
		result, err := e.Gate(ctx, req)
		if err == nil {
			a.Exit = cli.ExitOf(result.Outcome)
		}
		return cli.Show(&a.Program, result, err, (*render.Printer).Gate)
	})
	return cmd
}

// readProof reads a proof, and the key that must have signed it unless its file is "".
func (a *app) readProof(ctx context.Context, req *api.GateRequest, proof, key string) (err error) {
	if req.Proof, err = a.readInput(ctx, proof, evidence.MaxProof); err != nil || key == "" {
		return err
	}
	text, err := a.project.Read(ctx, key, maxKey)
	req.Key, req.KeyFile, req.Algorithm = string(text), key, cmp.Or(req.Algorithm, defaultAlgorithm)
	return err
}

// defaultAlgorithm is the algorithm of a key without --algorithm.
const defaultAlgorithm = "ES256"

func newLedgerProveCmd(a *app) *cobra.Command {
	var keyFile, algorithm string
	cmd := &cobra.Command{
		Use:   "prove TASK",
		Short: "Print a task's events as a proof for gate",
		Long: `Prove prints the events of a task, and of the policies that decided it, for
switchyard gate --proof on another machine. A proof contains the critics' reports.
Without --sign-key it is unsigned, and does not show who made it.`,
		Example: `  switchyard ledger prove TASK-1 --sign-key review.key > proof.json`,
		Args:    cli.OneTask,
	}
	flags := cmd.Flags()
	cli.TextVar(flags, &keyFile, "sign-key", "sign with the private key in `FILE`")
	cli.TextVar(flags, &algorithm, "algorithm", "sign with `ALGORITHM`: ES256, EdDSA or RS256 (default ES256)")
	cmd.RunE = a.runE(func(ctx context.Context, e *host.Engine, args []string) error {
		var key *bundle.Key
		switch {
		case keyFile == "" && algorithm != "":
			return cli.Usagef("--algorithm needs --sign-key")
		case keyFile != "":
			text, err := a.project.Read(ctx, keyFile, maxKey)
			if err != nil {
				return err
			}
			k := evidence.Key(cmp.Or(algorithm, defaultAlgorithm), string(text), keyFile)
			key = &k
		}
		return a.Write(func(w io.Writer) error { return e.Prove(ctx, args[0], key, w) })
	})
	return cmd
}
