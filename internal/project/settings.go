package project

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxSettings limits the settings of all plugins together, as JSON in bytes: the maximum
// size of the file. Only aliases, which repeat a text of any length, can exceed it.
const maxSettings = maxConfig

// PluginConfig is an entry of plugins.
type PluginConfig struct {
	// Use is the plugin that the entry configures under a name of the project; "" if the
	// entry has the plugin's name.
	Use string
	// Settings are the plugin's settings, as one JSON object.
	Settings jsontext.Value
}

// keyUse is the key of PluginConfig.Use.
const keyUse = "use"

// settings reads the settings of plugins. The only key known here is use.
func (r *reader) settings(v value) map[string]PluginConfig {
	if v.empty() {
		return nil
	}
	if v.node.Kind != yaml.MappingNode {
		r.expected(v, "a mapping of plugins' names")
		return nil
	}
	lines := make(map[string]int)
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		plugin := valueOf(v.node.Content[i+1], join(v.path, v.node.Content[i].Value))
		if plugin.node.Kind != yaml.MappingNode && !plugin.empty() {
			r.expected(plugin, "a mapping of the plugin's keys")
			return nil
		}
		lines[v.node.Content[i].Value] = v.node.Content[i].Line
	}
	r.plugins = lines
	// Decode all at once: the parser limits alias expansion per call.
	var plugins map[string]keys
	if err := v.node.Decode(&plugins); err != nil {
		r.addProblem(v.line, "%s: %s", v.path, describeYAMLError(err))
		return nil
	}
	if len(plugins) == 0 {
		return nil
	}
	settings := make(map[string]PluginConfig, len(plugins))
	text := bounded{left: maxSettings}
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		use, isText := plugins[name][keyUse].(string)
		if _, given := plugins[name][keyUse]; given && (!isText || use == "") {
			r.addProblem(lines[name], "%s must be the name of a plugin", join(join(v.path, name), keyUse))
		}
		delete(plugins[name], keyUse)
		text.Reset()
		err := json.MarshalWrite(&text, plugins[name], json.Deterministic(true))
		if errors.Is(err, errUnbounded) {
			r.addProblem(v.line, "%s has more than %d bytes as JSON, its aliases written out", v.path, maxSettings)
			return nil
		}
		if err != nil {
			r.addProblem(v.line, "%s cannot be handed to a plugin: %s", join(v.path, name), err)
			return nil
		}
		settings[name] = PluginConfig{Use: use, Settings: bytes.Clone(text.Bytes())}
	}
	return settings
}

// checkPlugins reports unknown plugin names in plugins and in the commands for reports.
// known has the built-in plugins; pinned ones are known too. Before the first lock the
// names of the project's own plugins are unknown, so nothing is reported if it has any.
func (p Project) checkPlugins(ctx context.Context, r *reader, c Config, known []string) error {
	known = slices.Clone(known)
	isOther := func(name string) bool { return !slices.Contains(known, name) }
	names := slices.Sorted(maps.Keys(c.Plugins))
	isStrange := func(name string) bool { return isOther(name) || c.Plugins[name].isNamed() }
	// A plugin of a command may also be a file or a configuration.
	isLost := func(v value) bool {
		_, configured := c.Plugins[v.node.Value]
		return isConfigName(v.node.Value) && isOther(v.node.Value) && !configured
	}
	if !slices.ContainsFunc(names, isStrange) && !slices.ContainsFunc(r.readers, isLost) {
		return nil
	}
	lock, err := p.Lock(ctx)
	if err != nil {
		return err
	}
	if len(c.PluginPaths) > 0 && len(lock.Plugins) == 0 {
		return nil
	}
	for _, pin := range lock.Plugins {
		known = append(known, pin.Name)
	}
	suggest := func(name, otherwise string) string {
		if near := textutil.Nearest(name, known); near != "" {
			return "did you mean " + near + "?"
		}
		if len(c.PluginPaths) > 0 {
			return "one of plugin_paths is known once it is locked: switchyard plugin lock"
		}
		return otherwise
	}
	for _, name := range names {
		entry, line, path := c.Plugins[name], r.plugins[name], join("plugins", name)
		switch {
		case !entry.isNamed() && isOther(name):
			r.addProblem(line, "%s: no plugin has this name; %s", path,
				suggest(name, "a configuration under a name of your own says which plugin it is for, as in use: json-map"))
		case !entry.isNamed():
		case !isOther(name):
			r.addProblem(line, "%s has use, but %s is itself a plugin's name; choose another name", path, name)
		case !isConfigName(name):
			r.addProblem(line, "%s: a name is 1 to 64 lower-case letters and digits, joined by dashes, and not auto", path)
		case isOther(entry.Use):
			r.addProblem(line, "%s: no plugin has the name %q; %s", join(path, keyUse), textutil.Clip(entry.Use, maxShown),
				suggest(entry.Use, "switchyard plugin list shows all"))
		}
	}
	known = append(known, names...)
	for _, v := range r.readers {
		if isLost(v) {
			r.addProblem(v.line, "%s is %s, and no plugin has this name; %s", v.path, v, suggest(v.node.Value, "switchyard plugin list shows all"))
		}
	}
	return nil
}

// isNamed reports whether the entry has a name of the project.
func (c PluginConfig) isNamed() bool { return c.Use != "" }

// isConfigName reports whether a name can precede the = of --report.
func isConfigName(name string) bool {
	return len(name) <= 64 && name != "auto" && regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name)
}

// keys are a plugin's settings.
type keys map[string]any

// bounded accepts text up to a limit over its whole life.
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
