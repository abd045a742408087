package tasktx_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestFailureMessage checks that a recorded message is not longer than promised, and valid
// UTF-8.
func TestFailureMessage(t *testing.T) {
	root := t.TempDir()
	p := core.New(core.Options{Project: project.Project{Root: root, Dir: root}, Now: time.Now, By: "tester"})
	t.Cleanup(func() { _ = p.Close(t.Context()) })
	l, err := p.OpenLedger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// Only an existing ledger records failures.
	first := ledger.NewEvent{Kind: event.KindFailed, Body: []byte(`{"by":"tester","task":"T","code":"plugin-trapped"}`)}
	if _, err := p.Append(t.Context(), l, ledger.Batch{Task: event.FailuresChain, Events: []ledger.NewEvent{first}}); err != nil {
		t.Fatal(err)
	}
	for n, text := range []string{strings.Repeat("a", event.MaxFailureMessage-1) + "é", strings.Repeat("a\xff", event.MaxFailureMessage)} {
		f := errs.New(errs.PluginFailures()[0], "%s", text)
		if err := tasktx.RecordFailure(t.Context(), p, "T", f); err != error(f) {
			t.Errorf("got the error %v", err)
		}
		e, err := l.Event(t.Context(), event.FailuresChain, int64(n)+2)
		if err != nil {
			t.Fatal(err)
		}
		var recorded event.Failure
		if err := json.Unmarshal(e.Body, &recorded); err != nil {
			t.Fatal(err)
		}
		if m := recorded.Message; len(m) > event.MaxFailureMessage || !utf8.ValidString(m) {
			t.Errorf("message %d has %d bytes, of %d: %q", n, len(m), event.MaxFailureMessage, m)
		}
	}
}
