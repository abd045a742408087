package spawner

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

func (a *attempt) site() access.Site {
	return access.Site{
		Root: a.Root, Tree: a.Tree, State: a.State, Environ: a.Environ,
		Deciding: slices.Concat(worktree.EffectiveFiles(), a.Scope.AlwaysTracked),
	}
}

// needs lists the paths and hosts that the agent needs besides the tree. All other files in
// its private directory are ours.
func (a *attempt) needs(inv adapter.Invocation) access.Needs {
	n := access.Needs{
		Program: a.bin, Edits: a.job.Profile == profile.Edit,
		Private: a.dir.path, Cache: a.dir.join(tempFolder, "cache"), Read: []string{a.dir.join(promptFile)},
		Write:    []string{a.dir.join(tempFolder), a.dir.join(stateFolder), a.dir.join(reportFolder)},
		Checkout: inv.Checkout, State: inv.State, Protected: inv.Protected, Hosts: inv.Hosts, URLs: inv.URLs,
	}
	for _, word := range a.job.Command {
		if !filepath.IsAbs(word) {
			word = filepath.Join(a.Root, word)
		}
		if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() { // It may be a script.
			n.Read = append(n.Read, word)
		}
	}
	return n
}

const maxRefused = 20

// refused returns the hosts to which a connection was refused, and notes about limits.
func (a *attempt) refused() (hosts []string, notes []string) {
	notes, refusals := a.confined.Notes()
	for _, r := range refusals[:min(len(refusals), maxRefused)] {
		hosts = append(hosts, excerpt(r.Host)+": "+r.Reason)
	}
	return hosts, notes
}
