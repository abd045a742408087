package policyset

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Workspace has the directories in which a project writes versions of a policy with their
// decision records. It holds sources for their authors, so signatures are not required. It
// is safe for concurrent use.
type Workspace struct {
	set  *Set
	tree release.Tree
}

// Workspace returns the project's workspace.
func (s *Set) Workspace() Workspace {
	return Workspace{s, release.Tree{BuiltIn: s.opts.Loader.Released, Root: s.opts.Project.Root}}
}

// List lists the policies of the project. A policy that cannot be loaded is listed with
// the reason.
func (w Workspace) List(ctx context.Context) (api.PolicyInventory, error) {
	config, err := w.set.opts.Config(ctx)
	if err != nil {
		return api.PolicyInventory{}, err
	}
	all := api.PolicyInventory{Configured: config.Policy}
	if all.Adopted, err = w.set.Adopted(ctx); err != nil {
		return api.PolicyInventory{}, err
	}
	versions, err := w.versions(ctx)
	if err != nil {
		return api.PolicyInventory{}, err
	}
	for _, v := range versions {
		all.Policies = append(all.Policies, v.KnownPolicy)
	}
	if config.Policy != "" {
		c, err := w.set.Select(ctx, "", config)
		k := withLoaded(api.KnownPolicy{Ref: config.Policy}, c.Policy, err)
		mark(&all, k, func(k *api.KnownPolicy) { k.Configured = true })
	}
	if all.Adopted != nil {
		mark(&all, api.KnownPolicy{Ref: all.Adopted.Ref, Policy: &all.Adopted.Policy}, func(k *api.KnownPolicy) { k.Adopted = true })
		k := &all.Policies[len(all.Policies)-1]
		k.Stored = k.Adopted && !k.Configured && !k.BuiltIn && k.Folder == ""
	}
	return all, nil
}

// version is a version of the workspace, or a built-in one.
type version struct {
	api.KnownPolicy
	loaded *routing.Policy // nil if it cannot be loaded
}

func (v version) hasDigestOf(id routing.Identity) bool {
	return v.Policy != nil && v.Policy.Digest == id.Digest
}

// withLoaded adds the result of loading a policy.
func withLoaded(k api.KnownPolicy, p *routing.Policy, err error) api.KnownPolicy {
	if err != nil {
		k.Problem = err.Error()
		return k
	}
	id := p.Identity()
	k.Policy, k.Title = &id, p.Title()
	return k
}

// mark calls set for the policies that are the same as k. If there is no such policy, it adds
// k.
func mark(all *api.PolicyInventory, k api.KnownPolicy, set func(*api.KnownPolicy)) {
	found := false
	for i := range all.Policies {
		p := &all.Policies[i]
		if !isSame(*p, k) {
			continue
		}
		set(p)
		found = true
		if k.Problem != "" {
			p.Problem = k.Problem // The project's keys may reject a policy that its authors can read.
		}
	}
	if !found {
		set(&k)
		all.Policies = append(all.Policies, k)
	}
}

// isSame reports whether both are the same policy: by digest, or by name if one of them
// cannot be loaded.
func isSame(a, b api.KnownPolicy) bool {
	if a.Policy == nil || b.Policy == nil {
		return a.Ref == b.Ref
	}
	return a.Policy.Digest == b.Policy.Digest
}

// versions loads the versions that are built in or in the workspace, oldest first.
func (w Workspace) versions(ctx context.Context) ([]version, error) {
	inTree, err := w.tree.Versions(ctx)
	if err != nil {
		return nil, err
	}
	var all []version
	released := routing.Loader{Released: w.set.opts.Loader.Released}
	for _, ref := range released.Versions() {
		p, err := released.Load(ctx, ref)
		if err != nil {
			return nil, err
		}
		k := api.KnownPolicy{Ref: ref, State: release.StateReleased, BuiltIn: true, Default: ref == policies.Default}
		all = append(all, version{withLoaded(k, p, nil), p})
	}
	for _, v := range inTree {
		k := withLoaded(api.KnownPolicy{Ref: v.Folder, State: v.State, ADRStatus: v.ADRStatus, Folder: v.Folder}, v.Policy, v.Err)
		// A workspace may contain a built-in version, as Switchyard's does.
		isBuiltIn := func(b version) bool { return b.BuiltIn && k.Policy != nil && b.hasDigestOf(*k.Policy) }
		if i := slices.IndexFunc(all, isBuiltIn); i >= 0 {
			all[i].Folder, all[i].ADRStatus = k.Folder, k.ADRStatus
			continue
		}
		all = append(all, version{k, v.Policy})
	}
	slices.SortStableFunc(all, byAge)
	return all, nil
}

// byAge sorts older policies first, and policies that cannot be loaded last.
func byAge(a, b version) int {
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

// state returns the state of the version with an identity, "" if there is no such version.
// Unrelated files in the workspace's directories must not prevent an adoption.
func (w Workspace) state(ctx context.Context, id routing.Identity) release.State {
	all, err := w.versions(ctx)
	if err != nil {
		return ""
	}
	for _, v := range all {
		if v.hasDigestOf(id) {
			return v.State
		}
	}
	return ""
}

// Check checks policies against every invariant that their decision records do not waive. It
// compares the categories that agents raise only with the newest version: current agents were
// not written for older versions.
// Violations are in the reports.
func (w Workspace) Check(ctx context.Context, req api.CheckRequest) (checks api.PolicyChecks, err error) {
	config, err := w.set.opts.Config(ctx)
	if err != nil {
		return checks, err
	}
	all, err := w.versions(ctx)
	if err != nil {
		return checks, err
	}
	refs := req.Policies
	loaded := make(map[string]*routing.Policy)
	if req.All {
		// Versions are loaded without keys and for the default engine.
		reusable := (len(config.TrustKeys) == 0 || req.AllowUnsigned) && (w.set.opts.Loader.Engine == "" || w.set.opts.Loader.Engine == routing.EngineRego)
		for _, v := range all {
			ref := filepath.FromSlash(v.Ref)
			refs = append(refs, ref)
			if reusable {
				loaded[ref] = v.loaded
			}
		}
	}
	if len(refs) == 0 {
		refs = []string{""}
	}
	checks.Proven = true
	for _, ref := range refs {
		p := loaded[ref]
		if p == nil {
			if p, err = w.set.Load(ctx, ref, req.AllowUnsigned); err != nil {
				return checks, err
			}
		}
		report, err := w.check(ctx, p, all, req.Observe)
		if err != nil {
			return checks, err
		}
		checks.Reports = append(checks.Reports, report)
		if report.Passes() {
			continue
		}
		checks.Proven = false
		if v, invariant := report.Simplest(); v != nil && checks.Counterexample == nil {
			checks.Counterexample = &api.Counterexample{Policy: ref, Invariant: invariant, Input: *v.Input}
		}
	}
	return checks, nil
}

func (w Workspace) check(
	ctx context.Context, p *routing.Policy, all []version, observe func(routing.Identity) (func(done, total int), func()),
) (check.Report, error) {
	id := p.Identity()
	waivers, err := w.tree.Waivers(id)
	if err != nil {
		return check.Report{}, err
	}
	o := check.Options{Waivers: waivers}
	i := slices.IndexFunc(all, func(v version) bool { return v.hasDigestOf(id) })
	if i < 0 || newest(all).Digest == id.Digest {
		if o.Raised, err = w.categorySources(ctx, i >= 0 && all[i].BuiltIn); err != nil {
			return check.Report{}, err
		}
	}
	if observe != nil {
		var end func()
		o.Progress, end = observe(id)
		defer end()
	}
	return check.Verify(ctx, p, o)
}

// newest returns the version that the project's agents are for: the latest version of the
// workspace, or the latest built-in one if the workspace is empty. A later program may have
// newer built-in versions, which do not know the workspace's categories.
func newest(all []version) routing.Identity {
	var id routing.Identity
	own := slices.ContainsFunc(all, func(v version) bool { return v.Policy != nil && v.Folder != "" })
	for _, v := range all {
		if v.Policy != nil && (v.Folder != "") == own {
			id = *v.Policy // They are sorted oldest first.
		}
	}
	return id
}

// Lint checks every version of the workspace against every rule. If ledger is not "", its
// decisions are replayed to check the decision records.
// Findings are in the report.
func (w Workspace) Lint(ctx context.Context, ledger string) (release.LintReport, error) {
	raised, err := w.categorySources(ctx, false)
	if err != nil {
		return release.LintReport{}, err
	}
	o := release.LintOptions{Raised: raised}
	if ledger != "" {
		o.Replay = w.set.replayer(ledger)
	}
	return w.tree.Lint(ctx, o)
}

// New creates the files of the next version. Its record has the current date, in UTC.
func (w Workspace) New(ctx context.Context, o release.NewOptions) (release.Created, error) {
	o.Date = w.set.opts.Now().UTC()
	created, err := w.tree.New(ctx, o)
	created.Signed = w.isSigned(ctx)
	return created, err
}

// isSigned reports whether the project accepts only signed policies.
func (w Workspace) isSigned(ctx context.Context) bool {
	config, err := w.set.opts.Config(ctx)
	return err == nil && len(config.TrustKeys) > 0
}

// Release completes the decision record of a version and locks it. version has the form
// routing@1.3.0; "" selects the unreleased one. accept sets its decision record's status.
// ledger is the file with the decisions to replay, "" for the project's ledger.
func (w Workspace) Release(ctx context.Context, version string, accept bool, ledger string) (release.Released, error) {
	// An agent may propose the policy that judges it, but must not accept it.
	if err := childenv.Inside(w.set.opts.Environ); err != nil {
		return release.Released{}, err
	}
	raised, err := w.categorySources(ctx, false)
	if err != nil {
		return release.Released{}, err
	}
	released, err := w.tree.Release(ctx, release.ReleaseOptions{
		Version: version, Accept: accept, Raised: raised, Replay: w.set.replayer(ledger),
	})
	released.Signed = w.isSigned(ctx)
	return released, err
}

// replayer replays the decisions of a ledger; "" selects the project's ledger.
func (s *Set) replayer(ledger string) release.Replayer {
	return func(ctx context.Context, candidate *routing.Policy, through int64) (replay.Report, error) {
		return s.Replay(ctx, api.ReplayRequest{Policy: candidate, Ledger: ledger, Through: through})
	}
}

// hostName is the engine's name among the sources of categories.
const hostName = "switchyard"

// hostCategories are the categories of the engine's own findings: a failed critic, and
// audits (ADR-0002).
var hostCategories = []string{task.CategoryCriticError, task.CategoryRule9, "skill-bar-unconsulted"}

// categorySources lists the sources of each category: the modules of the project's critic,
// the plugins with configured categories, and the engine. For a built-in policy, the
// built-in agents count even if the project replaces them, because the project cannot
// change that policy.
func (w Workspace) categorySources(ctx context.Context, builtIn bool) (map[string][]string, error) {
	config, err := w.set.opts.Config(ctx)
	if err != nil {
		return nil, err
	}
	sources, err := definition.Library{Root: w.set.opts.Project.Root}.Raised()
	if err != nil {
		return nil, err
	}
	addConfigured(sources, config)
	for _, category := range hostCategories {
		sources[category] = append(sources[category], hostName)
	}
	if !builtIn {
		return sources, nil
	}
	agents, err := definition.Library{}.Raised()
	if err != nil {
		return nil, err
	}
	for category, by := range agents {
		if sources[category] == nil {
			sources[category] = by
		}
	}
	return sources, nil
}

// addConfigured adds the plugins with settings that name a category to its sources. It ignores
// malformed settings; the plugin rejects them.
func addConfigured(sources map[string][]string, config project.Config) {
	for _, plugin := range slices.Sorted(maps.Keys(config.Plugins)) {
		var c struct {
			Categories struct {
				Rules      map[string]string `json:"rules"`
				Tags       map[string]string `json:"tags"`
				Severities map[string]string `json:"severities"`
				Default    string            `json:"default"`
			} `json:"categories"`
		}
		if err := json.Unmarshal(config.Plugins[plugin].Settings, &c); err != nil {
			continue
		}
		named := []string{c.Categories.Default}
		for _, m := range []map[string]string{c.Categories.Rules, c.Categories.Tags, c.Categories.Severities} {
			named = slices.AppendSeq(named, maps.Values(m))
		}
		slices.Sort(named)
		for _, category := range slices.Compact(named) {
			if category != "" {
				sources[category] = append(sources[category], plugin)
			}
		}
	}
}
