package plugins_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

func TestInspectDescribes(t *testing.T) {
	guest, _ := builtin.Find("np-critic")
	in, err := newRuntime(t, plugins.Config{}).Inspect(t.Context(), guest.Wasm)
	if err != nil {
		t.Fatal(err)
	}
	if in.Description == nil || in.Description.Name != "np-critic" || in.ABI != "v1" || in.Size != len(guest.Wasm) {
		t.Errorf("got %+v", in)
	}
	for _, i := range in.Imports {
		t.Errorf("it imports %s.%s, which only the meter adds", i.Module, i.Name)
	}
}

// TestSurveyBoundsTypes has a function with a million parameters, exported many
