package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/metrics/internal/pushgateway"
	"github.com/switchyard-dev/switchyard/metrics/internal/textfile"
	"github.com/switchyard-dev/switchyard/policies"
)

// Engine is the part of a project's engine that a Project needs.
type Engine interface {
	Source
	UncheckedConfig(ctx context.Context) (project.Config, error)
}

// Project exports the metrics of a project, with the labels and to the destinations of its
// configuration.
type Project struct {
	Engine Engine
	// Policy loads the policy that decides the project's rounds.
	Policy func(ctx context.Context) (*policies.Policy, error)
	// Root is the project's directory, and State the directory of its ledger.
	Root, State string
	Build       Build
	// Labels override the labels of the configuration.
	Labels map[string]string
}

// Collector returns a collector of the project's metrics.
//
// # Errors
//
// metrics-label-invalid, ledger-busy, and the errors of the configuration. If ctx is done, its
// cause.
func (p Project) Collector(ctx context.Context) (*Collector, error) {
	return p.collector(ctx, p.Engine, nil)
}

// collector returns a collector of a source. It omits labels that are in a push's group.
func (p Project) collector(ctx context.Context, source Source, group map[string]string) (*Collector, error) {
	config, err := p.Engine.UncheckedConfig(ctx)
	if err != nil {
		return nil, err
	}
	seed, err := p.seed(ctx, config)
	if err != nil {
		return nil, err
	}
	labels := mergeLabels(config.Metrics.Labels, p.Labels)
	maps.DeleteFunc(labels, func(name, value string) bool {
		grouped, ok := group[name]
		return ok && grouped == value
	})
	return New(source, Options{Labels: labels, Seed: seed, Build: p.Build})
}

// mergeLabels returns the labels of both maps; the second overrides the first.
func mergeLabels(first, second map[string]string) map[string]string {
	all := make(map[string]string, len(first)+len(second))
	maps.Copy(all, first)
	maps.Copy(all, second)
	return all
}

// seed returns the label values that the project's configuration and policy can produce.
func (p Project) seed(ctx context.Context, config project.Config) (Seed, error) {
	agents := []SeedAgent{{Name: "critic", Reviews: true}, {Name: "researcher"}, {Name: "executor", Edits: true}, {Name: "build-fixer", Edits: true}, {Name: "plan-checker"}}
	for i, a := range agents {
		agents[i].Adapters = config.Spawn.For(a.Name).AdapterChain()
	}
	s := Seed{
		Agents:  agents,
		Plugins: append(slices.Collect(maps.Keys(config.Plugins)), "np-critic"),
	}
	for _, command := range config.Reports.Commands {
		if command.Plugin != "" && command.Plugin != api.Auto {
			s.Plugins = append(s.Plugins, command.Plugin)
		}
	}
	policy, err := p.Policy(ctx)
	if ctx.Err() != nil || errs.CodeOf(err) == errs.LedgerBusy {
		return s, err // The counters cannot be read either.
	}
	if err != nil {
		// Metrics are exported even if the policy is broken, or not adopted yet.
		if policy, err = policies.Load(ctx, policies.Default); err != nil {
			return s, err
		}
	}
	s.PolicyVersions = []string{policy.Identity().Version}
	s.Actions = slices.Collect(maps.Keys(policy.Destinations()))
	s.Routes = policy.RouteTable()
	return s, nil
}

// TextfileResult is the result of WriteTextfile.
type TextfileResult = textfile.Result

// WriteTextfile replaces the file at path, whose name must end in .prom, with the project's
// metrics in the text format, for node_exporter. It gathers under a lock, and does not
// replace newer metrics.
//
// # Errors
//
// textfile-unwritable, textfile-refused, and the errors of Collector and Gather. On an error
// the file is unchanged.
func (p Project) WriteTextfile(ctx context.Context, path string) (TextfileResult, error) {
	c, err := p.Collector(ctx)
	if err != nil {
		return TextfileResult{}, err
	}
	return textfile.Write(ctx, path, c.Gather)
}

// PushRequest says where to push a project's metrics. Empty fields default to the
// configuration.
type PushRequest struct {
	// URL is the gateway's URL, without /metrics/job/…. It may have a user and a password.
	URL, Job string
	Grouping map[string]string
	// Delete removes the group instead of replacing it.
	Delete bool
	// Timeout limits the whole push; 0 is DefaultPushTimeout.
	Timeout time.Duration
}

// DefaultPushTimeout is the default of PushRequest.Timeout.
const DefaultPushTimeout = pushgateway.DefaultTimeout

// PushResult is the result of a push or of a deletion.
type PushResult = pushgateway.Result

// Push replaces a group of metrics at a Pushgateway with the project's metrics, or
// deletes the group. Only one process at a time pushes a project's metrics. If the group
// has no label "project", Push adds one that is unique to the project.
//
// # Errors
//
// usage without a URL; push-target-invalid, or usage if the request has a part of the target;
// push-refused, push-unavailable, state-unwritable, and the errors of Collector; ledger-busy also
// if the time is over before the metrics are read.
func (p Project) Push(ctx context.Context, r PushRequest) (PushResult, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(r.Timeout, DefaultPushTimeout))
	defer cancel()
	result, err := p.push(ctx, r)
	if errors.Is(err, context.DeadlineExceeded) && errs.CodeOf(err) == "" {
		err = errs.New(errs.LedgerBusy, "the metrics could not be read in time: %w", err)
	}
	return result, err
}

func (p Project) push(ctx context.Context, r PushRequest) (PushResult, error) {
	config, err := p.Engine.UncheckedConfig(ctx)
	if err != nil {
		return PushResult{}, err
	}
	m := config.Metrics
	if r.URL == "" && m.Push == "" {
		return PushResult{}, errs.New(errs.Usage, "URL is missing, and %s has no metrics.push", project.ConfigFile)
	}
	if r.URL == "" && m.Foreign {
		return PushResult{}, errs.New(errs.Usage, "%s is owned by user %d, so its metrics.push is ignored: give the URL", project.ConfigFile, m.Owner)
	}
	m.Push, m.Job = cmp.Or(r.URL, m.Push), cmp.Or(r.Job, m.Job)
	if len(r.Grouping) > 0 {
		m.Grouping = r.Grouping
	}
	to, err := p.target(m)
	if err != nil {
		if r.URL != "" || r.Job != "" || len(r.Grouping) > 0 {
			err = errs.New(errs.Usage, "%w", err)
		}
		return PushResult{}, err
	}
	o := pushgateway.Options{Timeout: r.Timeout, UserAgent: p.userAgent(), Lock: p.lockPush}
	if r.Delete {
		return pushgateway.Delete(ctx, to, o)
	}
	c, err := p.collector(ctx, p.Engine, to.Grouping())
	if err != nil {
		return PushResult{}, err
	}
	c.withoutExemplars = true
	return pushgateway.Push(ctx, to, c.Gather, o)
}

// target returns the group that a configuration pushes to. The default of its label "project"
// is the constant label of that name, or else a name that is unique to the project.
func (p Project) target(m project.Metrics) (pushgateway.Target, error) {
	const label = "project"
	if m.Job == "" {
		m.Job = "switchyard"
	}
	grouping := mergeLabels(nil, m.Grouping)
	if _, ok := grouping[label]; !ok {
		grouping[label], ok = mergeLabels(m.Labels, p.Labels)[label]
		if !ok {
			grouping[label] = projectName(p.Root)
		}
	}
	return pushgateway.Parse(m.Push, m.Job, grouping)
}

// projectName returns the name of a directory with a digest of its path and of the host name:
// paths in containers are often the same, and projects that share a group overwrite each
// other's counters.
func projectName(root string) string {
	machine, _ := os.Hostname() // Without a host name, the path alone must suffice.
	folder := []rune(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, filepath.Base(root)))
	const maxLength = 40
	return string(folder[:min(len(folder), maxLength)]) + "-" + digest.Hex(machine + "\x00" + root)[:8]
}

func (p Project) userAgent() string { return "switchyard/" + strings.Trim(p.Build.Version, "()") }

// lockPush waits until no other process pushes the project's metrics: older metrics must not
// arrive after newer ones. Without a state directory a lock is not needed, because every
// process pushes the same zeros.
func (p Project) lockPush(ctx context.Context) (unlock func(), err error) {
	run, err := safefile.MakeDir(filepath.Join(p.State, "run"))
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err == nil {
		var lock *safefile.Lock
		if lock, err = safefile.WaitLock(ctx, run, "metrics-push.lock"); err == nil {
			return func() { _ = errors.Join(lock.Release(), run.Close()) }, nil
		}
		err = errors.Join(err, run.Close())
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return nil, errs.New(errs.StateUnwritable, "failed to lock pushes: %w", err).With("path", p.State)
}

// publishTimeout limits how long a command waits for its metrics. Its result is already
// durable and reported.
const publishTimeout = 2 * time.Second

// Publish exports the project's metrics to every destination in its configuration. It
// takes at most two seconds. The error reports every failure.
func (p Project) Publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	config, err := p.Engine.UncheckedConfig(ctx)
	if err != nil {
		return fmt.Errorf("the metrics are not published: %w", err)
	}
	m := config.Metrics
	if !m.IsSet() {
		return nil
	}
	if m.Foreign {
		return fmt.Errorf("the metrics are not published: %s is owned by user %d, so its metrics destinations are ignored", project.ConfigFile, m.Owner)
	}
	// One of them must not wait for the other.
	var unwritten, unpushed error
	var exports sync.WaitGroup
	if path := m.Textfile; path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Root, path)
		}
		exports.Go(func() { _, unwritten = p.WriteTextfile(ctx, path) })
	}
	if m.Push != "" {
		exports.Go(func() {
			if _, err := p.Push(ctx, PushRequest{Timeout: publishTimeout}); err != nil {
				unpushed = fmt.Errorf("the metrics are not pushed: %w", err)
			}
		})
	}
	exports.Wait()
	return errors.Join(unwritten, unpushed)
}
