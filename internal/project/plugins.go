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

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxSettings limits the settings of all plugins together, as JSON in bytes. It is the
// maximum size of the file: only aliases, which repeat a text, can exceed it.
const maxSettings = maxConfig

// PluginConfig is an entry of plugins.
type PluginConfig struct {
	// Use is the plugin that the entry configures, "" if the entry has the plugin's name.
	Use string
	// Settings are the plugin's settings, as one JSON object.
	Settings jsontext.Value
}

const keyUse = "use"

// readPlugins reads the settings of plugins. It knows only the key use.
func (r *configReader) readPlugins(v value) map[string]PluginConfig {
	r.plugins = make(map[string]int)
	ok := v.entries(func(name, plugin value) {
		if plugin.node.Kind != yaml.MappingNode && !plugin.isEmpty() {
			plugin.expected("a mapping of the plugin's keys")
		}
		r.plugins[name.node.Value] = name.line
	})
	if !ok {
		return nil
	}
	// Decode all at once: the parser limits alias expansion per call.
	var plugins map[string]map[string]any
	if err := v.node.Decode(&plugins); err != nil {
		v.fail(": %s", describeYAMLError(err))
		return nil
	}
	var settings map[string]PluginConfig
	left := maxSettings
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		keys, path := plugins[name], join(v.path, name)
		use, isText := keys[keyUse].(string)
		if _, given := keys[keyUse]; given && (!isText || use == "") {
			r.addProblem(r.plugins[name], "%s must be the name of a plugin", join(path, keyUse))
		}
		if use != "" && (!isConfigName(name) || name == finding.AuditCritic) { // The name is also a critic's.
			r.addProblem(r.plugins[name], "%s: a name is 1 to 64 lower-case letters and digits, joined by dashes, and neither auto nor audit", path)
		}
		delete(keys, keyUse)
		text := limitedBuffer{left: left}
		err := json.MarshalWrite(&text, keys, json.Deterministic(true))
		if errors.Is(err, errTooLong) {
			v.fail(" has more than %d bytes as JSON, its aliases written out", maxSettings)
			return nil
		}
		if err != nil {
			if e, ok := errors.AsType[*json.SemanticError](err); ok {
				for token := range e.JSONPointer.Tokens() {
					path = join(path, token)
				}
			}
			r.addProblem(r.plugins[name], "%s cannot be written as JSON; quote keys such as true or 1.5, and numbers such as .inf", path)
			return nil
		}
		if settings == nil {
			settings = make(map[string]PluginConfig)
		}
		left = text.left
		settings[name] = PluginConfig{Use: use, Settings: text.Bytes()}
	}
	return settings
}

// checkPlugins reports unknown plugin names in plugins and in the commands for reports.
// known has the built-in plugins; pinned ones are known too. If the project has its own
// plugins, names are checked only after the first lock, which records their names.
func (p Project) checkPlugins(ctx context.Context, r *configReader, c Config, known []string) error {
	known = slices.Clone(known)
	isUnknown := func(name string) bool { return !slices.Contains(known, name) }
	names := slices.Sorted(maps.Keys(c.Plugins))
	needsLock := func(name string) bool { return isUnknown(name) || c.Plugins[name].isNamed() }
	// The plugin of a command may also be a file or a configuration.
	isUnknownPlugin := func(v value) bool {
		_, configured := c.Plugins[v.node.Value]
		return isConfigName(v.node.Value) && isUnknown(v.node.Value) && !configured
	}
	if !slices.ContainsFunc(names, needsLock) && !slices.ContainsFunc(r.reportPlugins, isUnknownPlugin) {
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
		case !entry.isNamed() && isUnknown(name):
			r.addProblem(line, "%s: no plugin has this name; %s", path,
				suggest(name, "a configuration under a name of your own says which plugin it is for, as in use: json-map"))
		case !entry.isNamed():
		case !isUnknown(name):
			r.addProblem(line, "%s has use, but %s is itself a plugin's name; choose another name", path, name)
		case isUnknown(entry.Use):
			r.addProblem(line, "%s: no plugin has the name %q; %s", join(path, keyUse), textutil.Clip(entry.Use, maxShown),
				suggest(entry.Use, "switchyard plugin list shows all"))
		}
	}
	known = append(known, names...)
	for _, v := range r.reportPlugins {
		if isUnknownPlugin(v) {
			r.addProblem(v.line, "%s is %s, and no plugin has this name; %s", v.path, v, suggest(v.node.Value, "switchyard plugin list shows all"))
		}
	}
	return nil
}

// isNamed reports whether the entry has a name that the project chose.
func (c PluginConfig) isNamed() bool { return c.Use != "" }

// isConfigName reports whether a name can precede the = of --report.
func isConfigName(name string) bool {
	return len(name) <= 64 && name != "auto" && regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name)
}

// limitedBuffer is a buffer that fails when it becomes too long.
type limitedBuffer struct {
	bytes.Buffer
	left int
}

var errTooLong = errors.New("too long")

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
