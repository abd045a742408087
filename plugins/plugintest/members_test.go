package plugintest_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// TestManyMembers measures a plugin whose items are the members of an object.
func TestManyMembers(t *testing.T) {
	guest, _ := builtin.Find("json-map")
	text := `{"name":"x","config":{"items":"/{*}","message":"/message"},"report":{"a":{"message":"x"}},"want_counts":{"findings":1,"skipped":0}}`
	report := run(t, guest.Wasm, plugintest.Options{Corpus: corpus(t, text)})
	if c := last(report); c.Name != "10000 items" || c.Status != plugintest.Pass || !report.OK() {
		t.Errorf("the last check is %+v; failed are %q", c, failed(report))
	}
}
