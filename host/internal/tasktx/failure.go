package tasktx

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RecordFailure records that a round failed because of a plugin or policy error, and
// returns err. Other errors reject the input and are not recorded. If RecordFailure fails
// itself, it only warns. A failure never creates a ledger.
func RecordFailure(ctx context.Context, p *core.Project, id string, err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	broke := ok && (slices.Contains(errs.PluginFailures(), f.Code) || slices.Contains(errs.PolicyFailures(), f.Code))
	if !broke || ctx.Err() != nil || p.Inside() != nil || task.CheckID(id) != nil {
		return err
	}
	failed := appendFailure(ctx, p, event.Failure{
		By: p.By, Task: id, Code: f.Code, Plugin: faultyPlugin(f),
		Message: textutil.ClipBytes(strings.ToValidUTF8(f.Message, "\ufffd"), event.MaxFailureMessage),
	})
	if failed != nil {
		p.Warn(fmt.Errorf("failed to record the failed round: %w", failed))
	}
	return err
}

// faultyPlugin returns the name of the plugin that failed, "" if the policy did. A plugin
// that failed before it reported its name is named after its file.
func faultyPlugin(f *errs.Error) string {
	plugin, _ := f.Details["plugin"].(string)
	if file, ok := f.Details["path"].(string); ok && plugin == "" && strings.HasPrefix(string(f.Code), "plugin-") {
		plugin = strings.TrimSuffix(path.Base(file), ".wasm")
	}
	// The name may be followed by a version, or by the plugin that it configures.
	if end := strings.IndexAny(plugin, "@ "); end >= 0 {
		plugin = plugin[:end]
	}
	return plugin
}

// appendFailure appends to the failures chain, if the ledger exists.
func appendFailure(ctx context.Context, p *core.Project, reported event.Failure) error {
	l, err := p.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	body, err := json.Marshal(reported, json.Deterministic(true))
	if err != nil {
		return err
	}
	if last, err := l.Last(ctx); err != nil || last == 0 {
		return err
	}
	for {
		head, err := l.Head(ctx, event.FailuresChain)
		if err != nil {
			return err
		}
		// Rounds of other tasks may fail at the same time.
		_, err = p.Append(ctx, l, ledger.Batch{Task: event.FailuresChain, After: head.N, Events: []ledger.NewEvent{{Kind: event.KindFailed, Body: body}}})
		if errs.CodeOf(err) != errs.LedgerConflict {
			return err
		}
	}
}
