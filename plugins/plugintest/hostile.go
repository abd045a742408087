package plugintest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// The limits of the hostile checks.
const (
	maxSeeds   = 6        // reports that are mutated
	maxPlaces  = 24       // values replaced in each
	maxMutated = 64 << 10 // maximum size of a mutated report, in bytes
)

// seeds returns the reports of the corpus that the plugin accepts, or else one report that
// is derived from the plugin's description.
func (k *kit) seeds() []seed {
	if len(k.cases) > 0 {
		return slices.Clone(k.cases)
	}
	text, _ := json.Marshal(k.minimal(), json.Deterministic(true))
	doc, _ := asJSON(text) // A description is small, and its pointers are short.
	return []seed{{"a minimal report", doc, nil}}
}

// minimal returns a report with the members that the plugin's description names.
func (k *kit) minimal() any {
	var root any
	d := k.plugin.Description()
	for _, pointer := range slices.Concat(d.Detect, d.DetectAny) {
		tokens, _ := document.Tokens(pointer)
		root = put(root, tokens, "x")
	}
	for _, pattern := range d.Items {
		tokens, _ := document.Tokens(pattern)
		root = put(root, tokens, map[string]any{})
	}
	return root
}

// put sets the value at tokens in a tree and creates missing parents; "*" is the first
// element of an array.
func put(at any, tokens []string, value any) any {
	if len(tokens) == 0 {
		if at != nil {
			return at
		}
		return value
	}
	if tokens[0] == "*" {
		list, _ := at.([]any)
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = put(list[0], tokens[1:], value)
		return list
	}
	object, ok := at.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	object[tokens[0]] = put(object[tokens[0]], tokens[1:], value)
	return object
}

func (k *kit) hostile() {
	seeds := slices.DeleteFunc(k.seeds(), func(s seed) bool { return len(s.doc.Bytes()) > maxMutated })
	if len(seeds) == 0 {
		k.add(GroupHostile, "mutated reports", Skip, fmt.Sprintf("no report of the corpus has less than %d bytes", maxMutated))
		return
	}
	seeds = spread(seeds, maxSeeds)
	k.roots()
	k.each("cut short, which the host refuses", seeds, k.truncate)
	k.each("in the wrong encoding, which the host refuses", seeds, k.wrongEncoding)
	k.each("written differently", seeds, k.rewrite)
	for _, m := range mutations() {
		k.each(m.name, seeds, func(s seed) error { return k.mutate(s, m) })
	}
	k.check(GroupHostile, "with a strange configuration", k.configurations(seeds[0]))
}

// each adds a check that tries every seed until one fails.
func (k *kit) each(name string, seeds []seed, try func(seed) error) {
	var err error
	for _, s := range seeds {
		if err = try(s); err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
			break
		}
	}
	k.check(GroupHostile, name, err)
}

// spread picks n elements at even distances.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	picked := make([]T, 0, n)
	for i := range n {
		picked = append(picked, all[i*len(all)/n])
	}
	return picked
}

func asJSON(text []byte) (*document.Document, error) { return document.Parse(text, document.Limits{}) }

// try runs the plugin on a text. It fails unless the plugin answers correctly or refuses.
// The result is nil if the host or the plugin refuses the text.
func (k *kit) try(text []byte, config jsontext.Value) (*abi.Result, error) {
	doc, err := asJSON(text)
	if err != nil {
		return nil, nil
	}
	result, err := k.plugin.Normalize(k.ctx, doc, config)
	switch code := errs.CodeOf(err); {
	case err == nil:
		return &result, nil
	case k.ctx.Err() == nil && isFailure(code):
		return nil, err
	default:
		return nil, nil
	}
}

// isFailure reports whether a code is a failure of the plugin and not a refusal. Failures
// have the host's codes, of which a plugin may use plugin-config-invalid for a refusal.
func isFailure(code errs.Code) bool {
	return code == "" || code != errs.PluginConfigInvalid && strings.HasPrefix(string(code), "plugin-")
}

// roots runs the plugin on values that are not reports.
func (k *kit) roots() {
	for _, text := range []string{"null", "true", "0", `""`, "{}", "[[]]", "[null]", "[{}]"} {
		result, err := k.try([]byte(text), nil)
		if err == nil && result != nil && len(result.Findings)+len(result.Skipped) == 0 {
			err = errors.New("it passes for a report without findings, and so could commit a task")
		}
		k.check(GroupHostile, text+" for a report", err)
	}
}

// truncate truncates the document's text at many places; the host must refuse each.
func (k *kit) truncate(s seed) error {
	text := bytes.TrimSpace(s.doc.Bytes())
	for i := range maxPlaces {
		cut := text[:i*len(text)/maxPlaces]
		if _, err := asJSON(cut); err == nil {
			return fmt.Errorf("the host takes the first %d bytes of it for a report", len(cut))
		}
	}
	return nil
}

// wrongEncoding checks that the host refuses text that is not UTF-8.
func (k *kit) wrongEncoding(s seed) error {
	text := string(s.doc.Bytes())
	utf16 := strings.Join(strings.Split(text, ""), "\x00") + "\x00"
	for name, broken := range map[string]string{"Latin-1": text + " \xe9", "UTF-16": utf16, "an overlong encoding": "\xc0\xa0" + text} {
		if _, err := asJSON([]byte(broken)); err == nil {
			return fmt.Errorf("the host takes %s for a report", name)
		}
	}
	return nil
}

// rewrite checks that the plugin gives the same answer for the same document with
// indentation, without white space, and with escaped names.
func (k *kit) rewrite(s seed) error {
	want, err := k.plugin.Normalize(k.ctx, s.doc, s.config)
	if err != nil {
		return nil // The plugin may refuse the minimal report.
	}
	indented := jsontext.Value(bytes.Clone(s.doc.Bytes()))
	compact := indented.Clone()
	if err := errors.Join(indented.Indent(), compact.Compact()); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"indented": indented, "compact": compact, "with escaped names": escapeNames(compact)} {
		doc, err := asJSON(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		got, err := k.plugin.Normalize(k.ctx, doc, s.config)
		if err == nil {
			err = compare(got.Answer(), want.Answer())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// escapeNames writes the first letter of every member's name as an escape. In compact JSON,
// a letter follows a quotation mark only at the beginning of a text.
func escapeNames(compact jsontext.Value) []byte {
	return regexp.MustCompile(`"[A-Za-z][^"\\]*":`).ReplaceAllFunc(compact, func(name []byte) []byte {
		return append(fmt.Appendf(nil, "\"\\u%04x", name[1]), name[2:]...)
	})
}
