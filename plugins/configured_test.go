package plugins

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

func TestItemsOfTheConfiguration(t *testing.T) {
	p := &Plugin{description: abi.Description{Items: []string{"/own/*"}, ItemsFrom: "/where/items"}}
	none := &Plugin{description: abi.Description{ItemsFrom: "/where/items"}}
	for _, c := range []struct {
		config string
		want   []string // nil for a refusal
	}{
		{`{}`, []string{"/own/*"}},
		{`{"where":{}}`, []string{"/own/*"}},
		{`{"where":{"items":"/a/*"}}`, []string{"/own/*", "/a/*"}},
		{`{"where":{"items":["/a/*","/b/{*}"]}}`, []string{"/own/*", "/a/*", "/b/{*}"}},
		{`{"where":{"items":[]}}`, []string{"/own/*"}},
		{`{"where":{"items":3}}`, nil},
		{`{"where":{"items":[3]}}`, nil},
		{`{"where":{"items":"a"}}`, nil},
		{`{"where":{"items":"/~2"}}`, nil},
		{`{"where":{"items":"` + strings.Repeat("/a", 17) + `"}}`, nil},
		{`{"where":{"items":[` + strings.Repeat(`"/a",`, 63) + `"/a"]}}`, nil},
	} {
		got, err := p.Items(jsontext.Value(c.config))
		if c.want == nil && errs.CodeOf(err) != errs.PluginConfigInvalid || c.want != nil && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%.60s: %v, %v", c.config, got, err)
		}
	}
	for config, refused := range map[string]bool{"": true, `{}`: true, `{"where":{"items":[]}}`: true, `{"where":{"items":"/a/*"}}`: false} {
		if got, err := none.Items(jsontext.Value(config)); refused != (errs.CodeOf(err) == errs.PluginConfigInvalid) {
			t.Errorf("%q, without own items: %v, %v", config, got, err)
		}
	}
}

// TestConfiguredItemsAreAccountedFor checks answers against items that only the configuration
// names.
func TestConfiguredItemsAreAccountedFor(t *testing.T) {
	p := &Plugin{description: abi.Description{ItemsFrom: "/items", Critic: "map"}, runtime: New(Config{})}
	p.identity = abi.Identity{Name: "mine", Version: "1.0.0", Use: "map"}
	doc, err := document.Parse([]byte(`{"a":{"x":[1],"y":[2]}}`), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	config := jsontext.Value(`{"items":"/a/{*}/*"}`)
	answer := func(refs ...string) jsontext.Value {
		var findings []string
		for _, ref := range refs {
			findings = append(findings, `{"category":"c","remediation":"r","file":null,"line":null,"ref":"`+ref+`"}`)
		}
		return jsontext.Value(`{"critic":"map","findings":[` + strings.Join(findings, ",") + `],"skipped":[]}`)
	}
	result, err := p.parseReply(t.Context(), doc, config, Reply{Answer: answer("/a/x/0", "/a/y/0")})
	if err != nil || len(result.Findings) != 2 {
		t.Fatalf("got %+v, %v", result, err)
	}
	if f := result.Findings[0]; f.Critic != "mine" || f.Sources[0].Plugin != "mine" || result.Critic != "mine" {
		t.Errorf("the configuration's name is not in %+v", f)
	}
	for _, refs := range [][]string{{}, {"/a/x/0"}, {"/a/x/0", "/a/y/0", "/a/z/0"}} {
		if _, err := p.parseReply(t.Context(), doc, config, Reply{Answer: answer(refs...)}); errs.CodeOf(err) != errs.PluginConservationViolated {
			t.Errorf("%v: %v", refs, err)
		}
	}
	if _, err := p.parseReply(t.Context(), doc, jsontext.Value(`{"items":3}`), Reply{Answer: answer()}); errs.CodeOf(err) != errs.PluginConfigInvalid {
		t.Errorf("an answer passes that no items are known of: %v", err)
	}
}

func TestDescriptionsOfConfiguredItems(t *testing.T) {
	const rest = `"name":"a","version":"1","critic":"a","formats":["application/json"],"detect":[]`
	for text, fine := range map[string]bool{
		`{` + rest + `,"items":[],"items_from":"/items","lines_if":"/lines"}`: true,
		`{` + rest + `,"items":[]}`:                                                                          false,
		`{` + rest + `,"items":[],"lines_if":"/lines"}`:                                                      false,
		`{` + rest + `,"items":[],"items_from":"items"}`:                                                     false,
		`{` + rest + `,"items":["/a"],"lines_if":"lines"}`:                                                   false,
		`{` + rest + `,"items":[],"items_from":["/items"]}`:                                                  false,
		`{` + rest + `,"items":["/a"],"items_from":"/a~3"}`:                                                  false,
		`{` + rest + `,"items":["/{*}"],"items_from":"/a/b"}`:                                                true,
		`{` + rest + `,"items":[` + strings.Repeat(`"/a",`, 63) + `"/a"]}`:                                   true,
		`{` + rest + `,"items":[` + strings.Repeat(`"/a",`, 61) + `"/a"],"items_from":"/i","lines_if":"/l"}`: true,
		`{` + rest + `,"items":[` + strings.Repeat(`"/a",`, 62) + `"/a"],"items_from":"/i","lines_if":"/l"}`: false,
	} {
		_, err := decodeDescription([]byte(text))
		if fine != (err == nil) || err != nil && !errors.Is(err, abi.WrongSchema) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
