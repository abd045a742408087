package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
)

func newPolicyListCmd(a *app) *cobra.Command {
	var tree treeFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the versions of the policy, and which one is in use",
		Long: `List shows the versions that are built in and those in the project's folder
policies/routing, oldest first, with their decision records. A version is
  released  its digest is that of policies/versions.lock, or it is built in
  draft     the lock does not have it yet
  edited    the lock has another digest: a released version was changed

Behind them come the policy that switchyard.yaml names and the one that the
project adopted, where they are others; of an adopted one the ledger has a copy,
by which the project goes. A policy that cannot be loaded is listed with the
reason.`,
		Example: `  switchyard policy list
  switchyard policy list --output json | jq -r '.policies[] | select(.adopted).ref'`,
		Args: noArgs,
	}
	tree.register(cmd.Flags())
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		at, err := a.inTree(tree, cmd.Flags(), "")
		if err != nil {
			return err
		}
		return a.with(ctx, func(e *host.Engine) error {
			all, err := at.of(e).Policies(ctx)
			if err != nil {
				return err
			}
			return a.print(all, func(p *page) { p.policies(all) })
		})
	})
	return cmd
}

// policies shows the policies that a project has to do with.
func (p *page) policies(all host.PolicyInventory) {
	rows := make([][]cell, len(all.Policies))
	for i, k := range all.Policies {
		name, digest, record := "-", "-", "-"
		if k.Policy != nil {
			name, digest, record = policyRef(*k.Policy), shortDigest(k.Policy.Digest), k.Policy.ADR
		}
		if k.ADRStatus != "" {
			record += " " + string(k.ADRStatus)
		}
		rows[i] = []cell{
			{name, plain}, {digest, dim}, {record, plain}, {cmp.Or(string(k.State), "-"), stateColor(k.State)},
			{whereFrom(k), plain}, {inUse(k), plain},
		}
	}
	p.table([]string{"VERSION", "DIGEST", "RECORD", "STATE", "FROM", "IN USE"}, rows)
	for _, k := range all.Policies {
		if k.Problem != "" {
			p.line("%s  %s: %s", p.paint(red, "broken"), k.Ref, k.Problem)
		}
	}
	if all.Adopted != nil {
		p.line("")
		p.line("%s was adopted %s by %s", policyShort(all.Adopted.Policy), when(all.Adopted.At), all.Adopted.By)
	}
}

func stateColor(s release.State) string {
	switch s {
	case release.StateEdited:
		return red
	case release.StateDraft:
		return yellow
	default:
		return plain
	}
}

// whereFrom says where a policy's files are.
func whereFrom(k host.KnownPolicy) string {
	switch {
	case k.BuiltIn && k.Folder != "":
		return "built in, " + k.Folder
	case k.BuiltIn:
		return "built in"
	case k.Kept:
		return "ledger"
	default:
		return k.Ref
	}
}

// inUse says what a policy is to the project.
func inUse(k host.KnownPolicy) string {
	var uses []string
	for _, use := range []struct {
		word string
		is   bool
	}{{"adopted", k.Adopted}, {"configured", k.Configured}, {"default", k.Default}} {
		if use.is {
			uses = append(uses, use.word)
		}
	}
	return strings.Join(uses, ", ")
}
