package host

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// PolicyTree is the part of a project in which versions of a policy are written,
// with their decision records. What lies there are sources for its authors, so keys
// are not asked for. It is safe for concurrent use.
type PolicyTree struct {
	engine *Engine
	tree   release.Tree
}

// PolicyTree returns the project's tree. versions and records are its folders,
// relative to the project's root and with slashes; "" for the usual ones.
func (e *Engine) PolicyTree(versions, records string) PolicyTree {
	return PolicyTree{e, release.Tree{BuiltIn: policies.Files(), Root: e.project.Root, Policies: versions, ADRs: records}}
}

// Prove holds a policy against every invariant, but for those that its own decision
// record waives. Who raises which category is asked of the newest version alone, the
// tree's if it has any: the agents of today are not what another was written for.
//
// # Errors
//
// Those of check.Verify, of the decision records and of agents' definitions. That
// the policy is not proven is in the report.
func (t PolicyTree) Prove(ctx context.Context, p *policies.Policy, progress func(done, total int)) (check.Report, error) {
	waivers, err := t.tree.Waivers(p.Identity())
	if err != nil {
		return check.Report{}, err
	}
	o := check.Options{Waivers: waivers, Progress: progress}
	all, err := t.known(ctx)
	if err != nil {
		return check.Report{}, err
	}
	i := slices.IndexFunc(all, func(k KnownPolicy) bool { return k.Policy != nil && k.Policy.Digest == p.Identity().Digest })
	if i < 0 || newest(all).Digest == p.Identity().Digest {
		if o.Raised, err = t.engine.raised(ctx, i >= 0 && all[i].BuiltIn); err != nil {
			return check.Report{}, err
		}
	}
	return check.Verify(ctx, p, o)
}

// newest is the version that the project's agents are for: the tree's newest, or where
// it has none, the newest that is built in. A later program may have newer ones than
// the tree, which know nothing of its categories.
func newest(all []KnownPolicy) policies.Identity {
	var of policies.Identity
	own := slices.ContainsFunc(all, func(k KnownPolicy) bool { return k.Policy != nil && k.Folder != "" })
	for _, k := range all {
		if k.Policy != nil && (k.Folder != "") == own {
			of = *k.Policy // They come oldest first.
		}
	}
	return of
}

// Lint holds every version of the tree against every rule. ledger is a file whose
// decisions are made again to check what the records say of them, "" for none.
//
// # Errors
//
// Those of release.Tree.Lint and of agents' definitions. What is wrong with the tree
// is in the report.
func (t PolicyTree) Lint(ctx context.Context, ledger string) (release.LintReport, error) {
	raised, err := t.engine.raised(ctx, false)
	if err != nil {
		return release.LintReport{}, err
	}
	o := release.LintOptions{Raised: raised}
	if ledger != "" {
		o.Replay = t.engine.replayer(ledger)
	}
	return t.tree.Lint(ctx, o)
}

// New makes the files of the next version. Its record's day is today, in UTC.
//
// # Errors
//
// Those of release.Tree.New.
func (t PolicyTree) New(ctx context.Context, o release.NewOptions) (release.Created, error) {
	o.Date = t.engine.now().UTC()
	return t.tree.New(ctx, o)
}

// Release fills in what is proven about a version and locks it. version is as in
// routing@1.3.0, "" for the one that is not released. accept sets its decision
// record's status. ledger is the file whose decisions are made again, "" for the
// project's own ledger.
//
// # Errors
//
// Those of release.Tree.Release and of agents' definitions.
func (t PolicyTree) Release(ctx context.Context, version string, accept bool, ledger string) (release.Released, error) {
	// An agent may propose what it is judged by, and not accept it.
	if err := childenv.Inside(t.engine.environ); err != nil {
		return release.Released{}, err
	}
	raised, err := t.engine.raised(ctx, false)
	if err != nil {
		return release.Released{}, err
	}
	return t.tree.Release(ctx, release.ReleaseOptions{
		Version: version, Accept: accept, Raised: raised, Replay: t.engine.replayer(ledger),
	})
}

// replayer makes the decisions of a ledger again; "" is the project's own.
func (e *Engine) replayer(ledger string) release.Replayer {
	return func(ctx context.Context, candidate *policies.Policy, through int64) (replay.Report, error) {
		return e.Replay(ctx, ReplayRequest{Policy: candidate, Ledger: ledger, Through: through})
	}
}

// raisedByHost names the host among those who raise categories.
const raisedByHost = "switchyard"

// categorySkills is what audits raise about skills (ADR-0002).
const categorySkills = "skill-bar-unconsulted"

// raised says who raises which category of finding: the modules of the project's
// critic, the plugins that the configuration gives categories to, and the host itself.
// For a policy that is built in, our own agents count also where the project has others
// in their place: the policy is not the project's to amend.
//
// # Errors
//
// Those of the configuration, and of an agent's definition that is broken.
func (e *Engine) raised(ctx context.Context, builtIn bool) (map[string][]string, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return nil, err
	}
	raised, err := definition.Library{Root: e.project.Root}.Raised()
	if err != nil {
		return nil, err
	}
	for category, by := range configuredCategories(config) {
		raised[category] = append(raised[category], by...)
	}
	for _, category := range []string{categoryCriticError, task.CategoryRule9, categorySkills} {
		raised[category] = append(raised[category], raisedByHost)
	}
	if !builtIn {
		return raised, nil
	}
	ours, err := definition.Library{}.Raised()
	if err != nil {
		return nil, err
	}
	for category, by := range ours {
		if raised[category] == nil {
			raised[category] = by
		}
	}
	return raised, nil
}
