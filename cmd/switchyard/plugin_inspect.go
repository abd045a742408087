package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/plugins"
)

func newPluginInspectCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect PLUGIN",
		Short: "Show what a plugin is, needs and says of itself",
		Long: `Inspect shows a plugin's digest and size, what it imports and exports, the memory
that it declares, the limits that it runs under, and what it says of itself: its
name and version, the formats that it reads, how its reports are detected, and
the items that it accounts for. Of the plugin itself only its start and its
description are run, in the sandbox.

A file that is no plugin is shown as far as it can be read; then the command
fails with the reason.`,
		Example: `  switchyard plugin inspect sarif
  switchyard plugin inspect ./my-linter.wasm
  switchyard plugin inspect ./my-linter.wasm --output json | jq .imports`,
		Args: exactly("the PLUGIN"),
	}
	cmd.RunE = a.runE(func(ctx context.Context, args []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			in, err := e.Inspect(ctx, args[0])
			if in.Digest == "" {
				return err
			}
			shown := inspection{in.Inspection, limits{
				in.Limits.Memory, in.Limits.Time.Milliseconds(), in.Limits.Output, in.ReportLimit,
			}}
			return errors.Join(a.print(shown, func(p *page) { p.inspected(in) }), err)
		})
	})
	return cmd
}

// inspection is what inspect prints as JSON.
type inspection struct {
	plugins.Inspection
	Limits limits `json:"limits"`
}

type limits struct {
	Memory int64 `json:"memory"`
	TimeMS int64 `json:"time_ms"`
	Output int64 `json:"output"`
	Report int64 `json:"report"`
}

// inspected shows a plugin from outside.
func (p *page) inspected(in host.Inspected) {
	if d := in.Description; d != nil {
		p.line("%s %s  reads reports of %s", p.paint(bold, d.Name), d.Version, d.Critic)
	}
	p.line("  digest   %s", in.Digest)
	p.line("  size     %s", size(int64(in.Size)))
	if in.Description == nil && in.Memory == nil && len(in.Imports)+len(in.Exports) == 0 {
		return // It is no module.
	}
	if in.ABI == "" {
		in.ABI = "none"
	}
	p.line("  abi      %s", in.ABI)
	p.line("  memory   %s", memoryWords(in.Memory))
	p.line("  limits   %s of memory, %s and an answer of %s for a report of %s",
		size(in.Limits.Memory), in.Limits.Time, size(in.Limits.Output), size(in.ReportLimit))
	if d := in.Description; d != nil {
		p.line("  formats  %s", strings.Join(d.Formats, ", "))
		p.line("  detect   %s", detectWords(d))
		items := d.Items
		if d.ItemsFrom != "" {
			items = append(slices.Clone(items), "those at "+d.ItemsFrom+" of its configuration")
		}
		p.line("  items    %s", strings.Join(items, ", "))
	}
	var imports, exports [][]cell
	for _, i := range in.Imports {
		imports = append(imports, []cell{{i.Module + "." + i.Name, plain}, {i.Kind, plain}, {i.Type, plain}})
	}
	for _, e := range in.Exports {
		exports = append(exports, []cell{{e.Name, plain}, {e.Kind, plain}, {e.Type, plain}})
	}
	if len(imports) > 0 {
		p.line("")
		p.table([]string{"IMPORT", "KIND", "TYPE"}, imports)
	}
	if len(exports) > 0 {
		p.line("")
		p.table([]string{"EXPORT", "KIND", "TYPE"}, exports)
	}
}

func memoryWords(m *wasmbin.Memory) string {
	switch {
	case m == nil:
		return "none"
	case m.Maximum == nil:
		return size(m.Minimum) + " at first"
	default:
		return size(m.Minimum) + " at first, at most " + size(*m.Maximum)
	}
}

func detectWords(d *plugins.Description) string {
	var words []string
	if len(d.Detect) > 0 {
		words = append(words, strings.Join(d.Detect, " and "))
	}
	if len(d.DetectAny) > 0 {
		words = append(words, "any of "+strings.Join(d.DetectAny, ", "))
	}
	if len(words) == 0 {
		return "never: its reports need its name"
	}
	return strings.Join(words, ", and ")
}
