package project

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// CodeConfig: switchyard.yaml is not valid.
const CodeConfig fault.Code = "config-invalid"

// maxConfig is the largest switchyard.yaml, in bytes.
const maxConfig = 1 << 20

// Config is what switchyard.yaml says. Its zero value is a project without one.
type Config struct {
	// MaxRounds is the cap of a task that sets none, 0 where the file sets none.
	MaxRounds int
	// Policy names the policy, "" for the default. A path is relative to the
	// project's root.
	Policy string
	// Plugins holds each plugin's own configuration, by the plugin's name, as
	// one JSON object each.
	Plugins map[string]jsontext.Value
	// PluginPaths are plugin files, and folders of them, relative to the
	// project's root and inside of it.
	PluginPaths []string
	// Limits are those of its plugins.
	Limits Limits
}

// Config reads the project's configuration.
//
// # Errors
//
// CodeConfig for what is no valid configuration, unknown keys included, and
// the codes of Read.
func (p Project) Config(ctx context.Context, maxRounds int) (Config, error) {
	data, err := Project{Root: p.Root, Dir: p.Root}.Read(ctx, ConfigFile, maxConfig)
	if fault.CodeOf(err) == CodeNotFound {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	var file configFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, invalidConfig("%s", plainly(err))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, invalidConfig("the file holds more than one document")
	}
	c := Config{Policy: file.Policy}
	if file.MaxRounds != nil {
		n, whole := file.MaxRounds.(int)
		if !whole || n < 1 || n > maxRounds {
			return Config{}, invalidConfig("max_rounds is %v; it must be a whole number from 1 to %d", file.MaxRounds, maxRounds)
		}
		c.MaxRounds = n
	}
	if len(file.Plugins) > 0 {
		c.Plugins = make(map[string]jsontext.Value, len(file.Plugins))
	}
	for name, settings := range file.Plugins {
		text := bounded{limit: maxSettings}
		if err := json.MarshalWrite(&text, settings, json.Deterministic(true)); errors.Is(err, errUnbounded) {
			return Config{}, invalidConfig("plugins.%s has more than %d bytes as JSON, its aliases written out", name, maxSettings)
		} else if err != nil {
			return Config{}, invalidConfig("plugins.%s cannot be handed to a plugin: %w", name, err)
		}
		c.Plugins[name] = bytes.Clone(text.Bytes())
	}
	if c.Limits, err = file.PluginLimits.limits(); err != nil {
		return Config{}, err
	}
	if len(file.PluginPaths) > maxModules {
		return Config{}, invalidConfig("plugin_paths has more than %d entries", maxModules)
	}
	for _, path := range file.PluginPaths {
		if !filepath.IsLocal(path) {
			return Config{}, invalidConfig("plugin_paths: %q does not lie in the project", path)
		}
		c.PluginPaths = append(c.PluginPaths, filepath.Clean(path))
	}
	return c, nil
}

// maxSettings is how much a plugin's settings may be as JSON, in bytes: as much as
// the whole file. Only aliases, each of which stands for a text of any length,
// make more of it.
const maxSettings = maxConfig

// bounded takes text up to a limit.
type bounded struct {
	bytes.Buffer
	limit int
}

var errUnbounded = errors.New("too much text")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, errUnbounded
	}
	return b.Buffer.Write(p)
}

// configFile is the file as it is written.
type configFile struct {
	MaxRounds   any             `yaml:"max_rounds"` // A number with a fraction would be cut.
	Policy      string          `yaml:"policy"`
	Plugins     map[string]keys `yaml:"plugins"`
	PluginPaths []string        `yaml:"plugin_paths"`

	PluginLimits limitsFile `yaml:"plugin_limits"`
}

type keys map[string]any

// plainly says in one line, and without the names of our types, what the parser
// has to say.
func plainly(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(e.Errors, "; ")
	}
	return strings.NewReplacer(
		"yaml: ", "",
		"field ", "unknown key ",
		" not found in type project.configFile", "",
		" not found in type project.limitsFile", "",
		" not found in type project.Lock", "",
		" not found in type project.Pin", "",
		"into project.configFile", "as the keys of a configuration",
		"into map[string]project.keys", "as the plugins' names",
		"into project.limitsFile", "as limits",
		"into project.keys", "as a plugin's keys",
		"!!", "",
		"\n", " ",
	).Replace(text)
}

func invalidConfig(format string, args ...any) error {
	f := fault.New(CodeConfig, ConfigFile+": "+format, args...)
	return f.With("path", ConfigFile)
}
