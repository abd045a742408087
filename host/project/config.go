package project

import (
	"bytes"
	"context"
	"errors"
	"io"
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
	var file struct {
		MaxRounds *int                      `yaml:"max_rounds"`
		Policy    string                    `yaml:"policy"`
		Plugins   map[string]map[string]any `yaml:"plugins"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, invalidConfig("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, invalidConfig("the file holds more than one document")
	}
	c := Config{Policy: file.Policy}
	if file.MaxRounds != nil {
		c.MaxRounds = *file.MaxRounds
		if c.MaxRounds < 1 || c.MaxRounds > maxRounds {
			return Config{}, invalidConfig("max_rounds is %d; it must be from 1 to %d", c.MaxRounds, maxRounds)
		}
	}
	if len(file.Plugins) > 0 {
		c.Plugins = make(map[string]jsontext.Value, len(file.Plugins))
	}
	for name, settings := range file.Plugins {
		text, err := json.Marshal(settings, json.Deterministic(true))
		if err != nil {
			return Config{}, invalidConfig("plugins.%s cannot be handed to a plugin: %w", name, err)
		}
		c.Plugins[name] = text
	}
	return c, nil
}

func invalidConfig(format string, args ...any) error {
	f := fault.New(CodeConfig, ConfigFile+": "+format, args...)
	return f.With("path", ConfigFile)
}
