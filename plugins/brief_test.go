package plugins_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// TestMessagesAreShort has plugins say too much in every way that a message could
// quote.
func TestMessagesAreShort(t *testing.T) {
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	long := strings.Repeat("x", 1<<20)
	check := func(name string, err error, want errs.Code) {
		t.Helper()
		if got := errs.CodeOf(err); got != want || len(err.Error()) > 2000 {
			t.Errorf("%s: code %q, a message of %d bytes", name, got, len(err.Error()))
		}
	}
	for name, text := range map[string]string{
		"unknown member":   `{"` + long + `":1}`,
		"unknown and deep": `{"findings":[{"` + long + `":1}]}`,
		"wrong type":       `{"critic":"puppet","round":"` + long + `","findings":[],"skipped":[]}`,
		"same member":      `{"` + long + `":1,"` + long + `":1}`,
		"number":           `{"round":` + strings.Repeat("1", 1<<20) + `}`,
		"deep details":     `{"error":{"code":"x","message":"y","details":{"a":` + strings.Repeat("[", 129) + strings.Repeat("]", 129) + `}}}`,
	} {
		_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{}`), answer(text))
		check(name, err, errs.PluginInvalidOutput)
	}
	_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{}`),
		answer(`{"critic":"puppet","findings":[{"category":"c","remediation":"","ref":"/`+long+`"}],"skipped":[]}`))
	check("ref", err, errs.PluginConservationViolated)

	for name, d := range map[string]string{
		"name":    `{"name":"` + long + `"}`,
		"critic":  `{"name":"x","version":"1","critic":"` + long + `","formats":["application/json"],"detect":[],"items":["/x"]}`,
		"format":  `{"name":"x","version":"1","critic":"x","formats":["` + long[:60_000] + `"],"detect":[],"items":["/x"]}`,
		"pointer": `{"name":"x","version":"1","critic":"x","formats":["application/json"],"detect":["` + long[:60_000] + `"],"items":["/x"]}`,
	} {
		_, err := r.Load(t.Context(), describing(d))
		check(name, err, errs.PluginInvalidOutput)
	}
}

// TestAnswersOfManyEntries has a plugin answer with too many entries.
func TestAnswersOfManyEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	r := newRuntime(t, plugins.Config{})
	puppet := load(t, r, "puppet")
	many := strings.Repeat("{},", 1_000_000) + "{}"
	for name, text := range map[string]string{
		"findings": `{"critic":"puppet","findings":[` + many + `],"skipped":[]}`,
		"skipped":  `{"critic":"puppet","findings":[],"skipped":[` + many + `]}`,
		"unmapped": `{"critic":"puppet","findings":[],"skipped":[],"unmapped":[` + many + `]}`,
	} {
		_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{}`), answer(text))
		if got := errs.CodeOf(err); got != errs.PluginOutputTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{`{"critic":"puppet","findings":{},"skipped":[]}`, `{"critic":"puppet","findings":[],"skipped":"x"}`, `{"critic":"puppet","findings":[],"skipped":[],"unmapped":1}`} {
		_, err := puppet.Normalize(t.Context(), jsonDocument(t, `{}`), answer(text))
		if !errors.Is(err, abi.WrongSchema) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := puppet.Normalize(t.Context(), jsonDocument(t, `{}`), answer(`{"critic":"puppet","findings":[],"skipped":[],"unmapped":null}`)); err != nil {
		t.Error(err)
	}
}
