package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot/verbs"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/hook"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/policy/bench"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/stats"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/metrics"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
)

// schemaFolder has a JSON Schema for the output of each command.
const schemaFolder = "../../docs/schema"

// results returns the types that each command prints as JSON. A command with several
// types prints one of them. Those of fleet are commands of switchyard-fleet.
func results() map[string][]reflect.Type {
	return map[string][]reflect.Type{
		"answer": {reflect.TypeFor[host.TaskResult]()},
		"audit":  {reflect.TypeFor[api.AttestationResult](), reflect.TypeFor[render.AttestationList]()},
		"doctor": {reflect.TypeFor[api.Health]()},
		"error": {reflect.TypeFor[struct {
			Error errs.Error `json:"error"`
		}]()},
		"evaluate":            {reflect.TypeFor[api.Evaluation]()},
		"explain":             {reflect.TypeFor[host.Explanation]()},
		"findings":            {reflect.TypeFor[api.FindingList]()},
		"gate":                {reflect.TypeFor[api.GateResult]()},
		"fleet answer":        {reflect.TypeFor[render.FleetSent]()},
		"fleet status":        {reflect.TypeFor[render.FleetList](), reflect.TypeFor[api.RunResult]()},
		"fleet stop":          {reflect.TypeFor[render.FleetSent]()},
		"hook install":        {reflect.TypeFor[render.HookSettings]()},
		"hook release":        {reflect.TypeFor[render.SessionRelease]()},
		"hook stop":           {reflect.TypeFor[hook.Output]()},
		"hook uninstall":      {reflect.TypeFor[render.HookSettings]()},
		"init":                {reflect.TypeFor[render.Initialized]()},
		"ledger archive":      {reflect.TypeFor[ledger.Archived]()},
		"ledger compact":      {reflect.TypeFor[ledger.Compaction]()},
		"ledger prove":        {reflect.TypeFor[evidence.Proof[evidence.Statement]]()},
		"ledger export":       {reflect.TypeFor[ledger.Event]()},
		"ledger verify":       {reflect.TypeFor[render.LedgerReport]()},
		"loop-audit-tool-use": {reflect.TypeFor[verbs.AuditResult](), reflect.TypeFor[verbs.SearchResult](), reflect.TypeFor[verbs.AuditList]()},
		"loop-metrics":        {reflect.TypeFor[api.Summary]()},
		"loop-run-round": {
			reflect.TypeFor[verbs.CommitResult](), reflect.TypeFor[verbs.DraftResult](), reflect.TypeFor[verbs.PreflightResult](),
			reflect.TypeFor[verbs.PrepareResult](), reflect.TypeFor[verbs.ReviewResult](), reflect.TypeFor[verbs.StuckResult](),
		},
		"loop-stuck":       {reflect.TypeFor[verbs.StuckResult]()},
		"mcp next":         {reflect.TypeFor[render.NextStep]()},
		"metrics push":     {reflect.TypeFor[metrics.PushResult]()},
		"metrics textfile": {reflect.TypeFor[metrics.TextfileResult]()},
		"phase commit":     {reflect.TypeFor[host.TaskResult]()},
		"phase design":     {reflect.TypeFor[host.TaskResult]()},
		"phase draft":      {reflect.TypeFor[api.DraftResult]()},
		"phase research":   {reflect.TypeFor[host.TaskResult]()},
		"phase review":     {reflect.TypeFor[host.Decision]()},
		"phase start":      {reflect.TypeFor[host.TaskResult]()},
		"phase stuck":      {reflect.TypeFor[host.TaskResult]()},
		"phase tests":      {reflect.TypeFor[host.TaskResult]()},
		"plugin bench":     {reflect.TypeFor[api.Benchmark]()},
		"plugin inspect":   {reflect.TypeFor[api.PluginInspection]()},
		"plugin list":      {reflect.TypeFor[api.PluginInventory]()},
		"plugin lock":      {reflect.TypeFor[api.PluginLockResult]()},
		"plugin new":       {reflect.TypeFor[render.PluginScaffold]()},
		"plugin run":       {reflect.TypeFor[render.NormalizedView]()},
		"plugin test":      {reflect.TypeFor[plugintest.Report]()},
		"policy adopt":     {reflect.TypeFor[api.Adoption]()},
		"policy bench":     {reflect.TypeFor[bench.Report]()},
		"policy build":     {reflect.TypeFor[render.Bundle]()},
		"policy diff":      {reflect.TypeFor[render.DiffView]()},
		"policy lint":      {reflect.TypeFor[release.LintReport]()},
		"policy list":      {reflect.TypeFor[api.PolicyInventory]()},
		"policy new":       {reflect.TypeFor[release.Created]()},
		"policy release":   {reflect.TypeFor[release.Released]()},
		"policy replay":    {reflect.TypeFor[replay.Report]()},
		"policy show":      {reflect.TypeFor[render.PolicyView]()},
		"policy test":      {reflect.TypeFor[render.TestedPolicy]()},
		"policy verify":    {reflect.TypeFor[api.PolicyChecks]()},
		"resume":           {reflect.TypeFor[host.TaskResult]()},
		"round":            {reflect.TypeFor[api.RoundResult]()},
		"route":            {reflect.TypeFor[host.Decision]()},
		"run":              {reflect.TypeFor[api.RunEvent]()},
		"spawn":            {reflect.TypeFor[host.SpawnResult]()},
		"spawn-headless":   {reflect.TypeFor[compatSpawn]()},
		"stats":            {reflect.TypeFor[stats.Stats](), reflect.TypeFor[writtenPage]()},
		"status":           {reflect.TypeFor[render.TaskList](), reflect.TypeFor[host.TaskDetail]()},
		"version":          {reflect.TypeFor[buildInfo]()},
	}
}

// otherOutput returns the commands that print no JSON result.
func otherOutput() []string {
	return []string{
		"completion bash", "completion fish", "completion powershell", "completion zsh", // shell scripts
		"demo", "demo agent", // a text for people, and for a fake agent's caller
		"mcp",                            // the Model Context Protocol
		"metrics print", "metrics serve", // the exposition formats of Prometheus
	}
}

// TestSchemas compares the schemas in the repository with the types that the commands
// print. UPDATE=1 writes them.
func TestSchemas(t *testing.T) {
	update := os.Getenv("UPDATE") != ""
	all := results()
	named := make(map[string]reflect.Type)
	for name, types := range all {
		for def := range definitions(types) {
			if other := named[definitionName(def)]; other != nil && other != def {
				t.Errorf("%s and %s are both %s: give one another name in definitionName", def, other, definitionName(def))
			}
			named[definitionName(def)] = def
		}
		schema, err := schemaOf(name, types)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := schemaFile(name)
		if update {
			if err := os.WriteFile(file, schema, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if written, err := os.ReadFile(file); err != nil || !bytes.Equal(written, schema) {
			t.Errorf("%s is not the schema of what %q prints (%v): run UPDATE=1 go test ./cmd/switchyard -run TestSchemas", file, name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(schemaFolder, "*"))
	if err != nil || len(files) != len(all) {
		t.Errorf("%d files in %s for %d commands (%v)", len(files), schemaFolder, len(all), err)
	}
}

// TestEveryCommandHasASchema finds commands without a description of their output.
func TestEveryCommandHasASchema(t *testing.T) {
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	all := results()
	known := append(otherOutput(), slices.Collect(maps.Keys(all))...)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		name := commandName(cmd)
		if cmd.Runnable() && !cmd.HasSubCommands() && name != "help" && !slices.Contains(known, name) {
			t.Errorf("the output of %q has no schema", name)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	root := newRootCmd(&app{}, nil)
	visit(root)
	for name := range all {
		if !bytes.Contains(page, []byte("(schema/"+filepath.Base(schemaFile(name))+")")) {
			t.Errorf("docs/json.md does not link the schema of %q", name)
		}
	}
}

// commandName returns a command's path without the program's name.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

func schemaFile(name string) string {
	return filepath.Join(schemaFolder, strings.ReplaceAll(name, " ", "-")+".schema.json")
}

// schemaOf returns the JSON Schema of a command's output. A struct that is the type of
// another's field is defined once, under $defs.
func schemaOf(name string, types []reflect.Type) ([]byte, error) {
	shared := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[jsontext.Value](): {},
		reflect.TypeFor[map[int]int]():    {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "integer"}},
	}
	fields := definitions(types)
	for t := range fields {
		shared[t] = &jsonschema.Schema{Ref: "#/$defs/" + definitionName(t)}
	}
	options := &jsonschema.ForOptions{TypeSchemas: shared}
	forms := make([]*jsonschema.Schema, len(types))
	for i, t := range types {
		var err error
		if forms[i], err = formOf(t, options); err != nil {
			return nil, err
		}
	}
	schema := forms[0]
	if len(forms) > 1 {
		schema = &jsonschema.Schema{AnyOf: forms}
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = strings.Replace("switchyard "+name, "switchyard fleet", "switchyard-fleet", 1)
	if name == "error" {
		schema.Title = "an error, on standard error"
	}
	schema.Defs = make(map[string]*jsonschema.Schema)
	for t := range fields {
		def, err := formOf(t, options)
		if err != nil {
			return nil, err
		}
		schema.Defs[definitionName(t)] = def
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	return append(text, '\n'), err
}

// definitions returns the types that the schema of these types defines under $defs.
func definitions(types []reflect.Type) map[reflect.Type]bool {
	fields := make(map[reflect.Type]bool)
	for _, t := range types {
		fieldTypes(t, fields)
	}
	maps.DeleteFunc(fields, func(_ reflect.Type, shared bool) bool { return !shared })
	return fields
}

// definitionName returns the name of a type in $defs, the same in all schemas. It does
// not change if the type moves to another package.
func definitionName(t reflect.Type) string {
	special := map[reflect.Type]string{
		reflect.TypeFor[abi.Identity]():           "PluginIdentity",
		reflect.TypeFor[abi.Skipped]():            "SkippedItem",
		reflect.TypeFor[abi.Unmapped]():           "UnmappedRule",
		reflect.TypeFor[api.RoundResult]():        "RoundView",
		reflect.TypeFor[check.Answer]():           "PolicyAnswer",
		reflect.TypeFor[check.Report]():           "PolicyReport",
		reflect.TypeFor[check.Violation]():        "InvariantViolation",
		reflect.TypeFor[evidence.Statement]():     "ProofStatement",
		reflect.TypeFor[explain.Count]():          "CountChange",
		reflect.TypeFor[explain.Verify]():         "VerifyChange",
		reflect.TypeFor[plugintest.Check]():       "PluginCheck",
		reflect.TypeFor[release.Finding]():        "LintFinding",
		reflect.TypeFor[replay.ChangedDecision](): "ReplayedDecision",
		reflect.TypeFor[routing.Decision]():       "PolicyDecision",
		reflect.TypeFor[routing.Identity]():       "PolicyIdentity",
		reflect.TypeFor[routing.Input]():          "PolicyInput",
		reflect.TypeFor[routing.Source]():         "RegoSource",
		reflect.TypeFor[stats.Questions]():        "QuestionTotals",
		reflect.TypeFor[task.Branch]():            "GitBranch",
		reflect.TypeFor[task.Verification]():      "RecordedVerification",
		reflect.TypeFor[verbs.Finding]():          "FindingWithRaw",
		reflect.TypeFor[verbs.Routing]():          "FindingsByRoute",
	}
	name := cmp.Or(special[t], t.Name())
	return strings.ToUpper(name[:1]) + name[1:]
}

// formOf returns the schema of one type, even if references to it are shared.
func formOf(t reflect.Type, options *jsonschema.ForOptions) (*jsonschema.Schema, error) {
	own := maps.Clone(options.TypeSchemas)
	delete(own, t)
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	fixNull(s)
	if s != nil {
		s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return optional(t, name) })
	}
	return s, err
}

// optional reports whether a struct has a field of that name in JSON only if a pointer
// that it embeds is not nil.
func optional(t reflect.Type, name string) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for i := range f.Index[:len(f.Index)-1] {
			if tag == name && t.FieldByIndex(f.Index[:i+1]).Type.Kind() == reflect.Pointer {
				return true
			}
		}
	}
	return false
}

// fieldTypes adds the named structs in the fields of a type, at any depth. The value is
// false for a struct that is also embedded and so part of another.
func fieldTypes(t reflect.Type, found map[reflect.Type]bool) {
	if t = elementOf(t); t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return
	}
	for f := range t.Fields() {
		switch held := elementOf(f.Type); {
		case f.Anonymous:
			found[held] = false
			fieldTypes(held, found)
		case !f.IsExported() || f.Tag.Get("json") == "-" || held.Kind() != reflect.Struct || held == reflect.TypeFor[time.Time]():
		default:
			if _, known := found[held]; !known {
				found[held] = held.Name() != ""
				fieldTypes(held, found)
			}
		}
	}
}

// elementOf returns the element type of a pointer, a list or a map, or the type itself.
func elementOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// fixNull corrects which values may be null: an empty list is printed as [], and a
// pointer to a shared struct may be null.
func fixNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Equal(s.Types, []string{"null", "array"}) {
		s.Type, s.Types = "array", nil
	}
	if s.Ref != "" && len(s.Types) > 0 {
		s.AnyOf, s.Ref, s.Types = []*jsonschema.Schema{{Ref: s.Ref}, {Type: "null"}}, "", nil
	}
	fixNull(s.Items)
	fixNull(s.AdditionalProperties)
	for _, p := range s.Properties {
		fixNull(p)
	}
}

// schemaVariable names the schemas' directory for a program in a script, which runs in
// another directory.
const schemaVariable = "SWITCHYARD_TEST_SCHEMAS"

// checkedMain is the program in the scripts. It runs main, and fails if the printed
// JSON does not match the schema of its command.
func checkedMain() {
	args := os.Args[1:]
	if folder := os.Getenv(schemaVariable); folder == "" || !printsJSON(args) {
		main()
		return
	}
	var out bytes.Buffer
	printed := &recorder{to: os.Stdout, text: &out}
	code := run(context.Background(), args, cli.Streams{In: os.Stdin, Out: printed, Err: os.Stderr})
	if err := checkOutput(args, out.Bytes()); err != nil && !printed.failed {
		fmt.Fprintln(os.Stderr, err)
		code = 99
	}
	os.Exit(code)
}

// printsJSON reports whether a command line selects JSON, or its command always prints
// it.
func printsJSON(args []string) bool {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") || slices.Contains(args, "help") {
		return false
	}
	return cli.WantsJSON(args) || slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "loop-") || arg == "spawn-headless" || arg == "export"
	})
}

// recorder keeps a copy of all written bytes.
type recorder struct {
	to     io.Writer
	text   *bytes.Buffer
	failed bool
}

func (r *recorder) Write(p []byte) (int, error) {
	r.text.Write(p)
	n, err := r.to.Write(p)
	r.failed = r.failed || err != nil
	return n, err
}

// checkOutput checks the JSON that a command line printed.
func checkOutput(args []string, out []byte) error {
	cmd, _, err := newRootCmd(&app{}, nil).Find(args)
	if err != nil {
		return nil // An unknown command prints an error and no result.
	}
	name := commandName(cmd)
	// A bundle that is built to standard output is not JSON, and a transcript is whatever
	// the agent's program printed.
	if results()[name] == nil || name == "policy build" && bytes.HasPrefix(out, []byte{0x1f}) || slices.Contains(args, "--transcript") {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(os.Getenv(schemaVariable), filepath.Base(schemaFile(name))))
	if err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var value any
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("the output is not JSON: %w", err)
		}
		if err := resolved.Validate(value); err != nil {
			return fmt.Errorf("the output does not fit docs/schema: %w", err)
		}
	}
	return nil
}
