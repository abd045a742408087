package host

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// PolicyInventory is every policy that a project has to do with.
type PolicyInventory struct {
	// Policies are the versions that are built in or in the project's tree, oldest
	// first; then what the project configures and adopted, where that is another.
	Policies []KnownPolicy `json:"policies"`
	// Configured is the policy that the configuration names, "" for none.
	Configured string `json:"configured"`
	// Adopted is the one that the project goes by, nil before its first decision.
	Adopted *Adopted `json:"adopted"`
}

// KnownPolicy is a policy of an inventory.
type KnownPolicy struct {
	// Ref is what --policy takes: a built-in version, or a path from the project's
	// root.
	Ref string `json:"ref"`
	// Policy is nil where its files cannot be loaded.
	Policy *policies.Identity `json:"policy"`
	Title  string             `json:"title,omitzero"`
	// State says how far a version is; "" for what is no version of the tree.
	State release.State `json:"state,omitzero"`
	// ADRStatus is that of its decision record, "" where the project has none.
	ADRStatus adr.Status `json:"adr_status,omitzero"`
	BuiltIn   bool       `json:"built_in"`
	// Kept says that the project goes by the copy in its ledger, whatever the files
	// that Ref names hold by now.
	Kept bool `json:"kept"`
	// Folder is where the tree has it, relative to the project's root; "" for
	// nowhere.
	Folder string `json:"folder,omitzero"`
	// Default, Configured and Adopted say what it is to the project.
	Default    bool `json:"default"`
	Configured bool `json:"configured"`
	Adopted    bool `json:"adopted"`
	// Problem says why it cannot be loaded, or not by the commands that decide.
	Problem string `json:"problem,omitzero"`
}

// Policies lists the policies of the project. One that cannot be loaded is listed
// with the reason.
//
// # Errors
//
// Those of the tree, the configuration and the ledger.
func (t PolicyTree) Policies(ctx context.Context) (PolicyInventory, error) {
	e := t.engine
	config, err := e.Config(ctx)
	if err != nil {
		return PolicyInventory{}, err
	}
	all := PolicyInventory{Configured: config.Policy}
	if all.Adopted, err = e.Adopted(ctx); err != nil {
		return PolicyInventory{}, err
	}
	if all.Policies, err = t.known(ctx); err != nil {
		return PolicyInventory{}, err
	}
	if config.Policy != "" {
		c, err := e.policy(ctx, "", config)
		k := KnownPolicy{Ref: config.Policy}
		k.loaded(c.Policy, err)
		all.mark(k, func(k *KnownPolicy) { k.Configured = true })
	}
	if all.Adopted != nil {
		all.mark(KnownPolicy{Ref: all.Adopted.Ref, Policy: &all.Adopted.Policy}, func(k *KnownPolicy) { k.Adopted = true })
		k := &all.Policies[len(all.Policies)-1]
		k.Kept = k.Adopted && !k.Configured && !k.BuiltIn && k.Folder == ""
	}
	return all, nil
}

// loaded notes what loading the policy came to.
func (k *KnownPolicy) loaded(p *policies.Policy, err error) {
	if err != nil {
		k.Problem = err.Error()
		return
	}
	id := p.Identity()
	k.Policy, k.Title = &id, p.Title()
}

// mark marks the policies that are the same as k, and adds k where none is.
func (all *PolicyInventory) mark(k KnownPolicy, as func(*KnownPolicy)) {
	found := false
	for i := range all.Policies {
		known := &all.Policies[i]
		if !known.is(k) {
			continue
		}
		as(known)
		found = true
		if k.Problem != "" {
			known.Problem = k.Problem // The project's keys may refuse what its authors can read.
		}
	}
	if !found {
		as(&k)
		all.Policies = append(all.Policies, k)
	}
}

// is says that both are one policy: by digest, or by name where one of them cannot be
// loaded.
func (k KnownPolicy) is(other KnownPolicy) bool {
	if k.Policy == nil || other.Policy == nil {
		return k.Ref == other.Ref
	}
	return k.Policy.Digest == other.Policy.Digest
}

// known lists the versions that are built in or in the tree, oldest first.
func (t PolicyTree) known(ctx context.Context) ([]KnownPolicy, error) {
	versions, err := t.tree.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var all []KnownPolicy
	for _, ref := range policies.Versions() {
		p, err := policies.Load(ctx, ref)
		if err != nil {
			return nil, err
		}
		k := KnownPolicy{Ref: ref, State: release.StateReleased, BuiltIn: true, Default: ref == policies.Default}
		k.loaded(p, nil)
		all = append(all, k)
	}
	for _, v := range versions {
		k := KnownPolicy{Ref: v.Folder, State: v.State, ADRStatus: v.ADRStatus, Folder: v.Folder}
		k.loaded(v.Policy, v.Err)
		// What is built in may lie in the tree too, as it does in ours.
		same := func(b KnownPolicy) bool { return b.BuiltIn && k.Policy != nil && b.Policy.Digest == k.Policy.Digest }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Folder, all[i].ADRStatus = k.Folder, k.ADRStatus
			continue
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, byAge)
	return all, nil
}

// byAge puts older policies first, and those that cannot be loaded last.
func byAge(a, b KnownPolicy) int {
	switch {
	case a.Policy == nil && b.Policy == nil:
		return 0
	case a.Policy == nil:
		return 1
	case b.Policy == nil:
		return -1
	case routing.Older(*a.Policy, *b.Policy):
		return -1
	case routing.Older(*b.Policy, *a.Policy):
		return 1
	}
	return 0
}
