package project

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// maxSettings is how much all plugins' settings together may be as JSON, in bytes:
// as much as the whole file. Only aliases, each of which stands for a text of any
// length, make more of it.
const maxSettings = maxConfig

// settings reads the plugins' own settings, which nobody here knows the keys of.
func (r *reader) settings(v value) map[string]jsontext.Value {
	if v.empty() {
		return nil
	}
	if v.node.Kind != yaml.MappingNode {
		r.must(v, "a mapping of plugins' names")
		return nil
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		plugin := valueOf(v.node.Content[i+1], join(v.path, v.node.Content[i].Value))
		if plugin.node.Kind != yaml.MappingNode && !plugin.empty() {
			r.must(plugin, "a mapping of the plugin's keys")
			return nil
		}
	}
	// All at once: the parser stops aliases that explode, but counts anew for
	// every value that it is asked for.
	var plugins map[string]keys
	if err := v.node.Decode(&plugins); err != nil {
		r.note(v.line, "%s: %s", v.path, plainly(err))
		return nil
	}
	if len(plugins) == 0 {
		return nil
	}
	settings := make(map[string]jsontext.Value, len(plugins))
	text := bounded{left: maxSettings}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		text.Reset()
		err := json.MarshalWrite(&text, plugins[name], json.Deterministic(true))
		if errors.Is(err, errUnbounded) {
			r.note(v.line, "%s has more than %d bytes as JSON, its aliases written out", v.path, maxSettings)
			return nil
		}
		if err != nil {
			r.note(v.line, "%s cannot be handed to a plugin: %s", join(v.path, name), err)
			return nil
		}
		settings[name] = bytes.Clone(text.Bytes())
	}
	return settings
}

// keys are a plugin's settings.
type keys map[string]any

// bounded takes text up to a limit, all its lives together.
type bounded struct {
	bytes.Buffer
	left int
}

var errUnbounded = errors.New("too much text")

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errUnbounded
	}
	return b.Buffer.Write(p)
}
