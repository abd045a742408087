package plugintest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
)

// The size of the report that a plugin must process within its limits.
const (
	manyItems = 10_000
	muchText  = 4 << 20 // bytes
)

// limits checks that every finding is about an item, and measures the plugin on large
// reports.
func (k *kit) limits() {
	k.items()
	seeds := k.seeds()
	if k.ctx.Err() != nil {
		return
	}
	largest := slices.MaxFunc(seeds, func(a, b seed) int { return cmp.Compare(len(a.doc.Bytes()), len(b.doc.Bytes())) })
	k.measure("the largest report of the corpus", largest)
	for _, s := range seeds {
		if many, n := k.multiplyItems(s); n > 0 {
			k.measure(fmt.Sprintf("%d items", n), many)
			return
		}
	}
	k.add(GroupLimits, fmt.Sprintf("%d items", manyItems), Skip, "no report of the corpus has an item to repeat")
}

// measure runs the plugin on one report and adds a check with its time and memory.
func (k *kit) measure(name string, s seed) {
	start := time.Now()
	reply, err := k.plugin.Ask(k.ctx, s.doc, s.config)
	took := time.Since(start).Round(10 * time.Microsecond)
	if err == nil {
		_, err = k.plugin.Normalize(k.ctx, s.doc, s.config)
	}
	size := fmt.Sprintf("%d KiB of report, %s, %d KiB of memory", len(s.doc.Bytes())>>10, took, reply.Memory>>10)
	switch code := errs.CodeOf(err); {
	case k.ctx.Err() != nil:
	case err == nil:
		k.add(GroupLimits, name, Pass, size)
	case isFailure(code):
		k.fail(GroupLimits, name, err)
	default:
		k.add(GroupLimits, name, Skip, "the plugin refuses it: "+explain(err))
	}
}

// multiplyItems returns a report with many copies of the first item, and their number, which
// is 0 if there is no item to repeat.
func (k *kit) multiplyItems(s seed) (seed, int) {
	items, err := k.plugin.Items(s.config)
	if err != nil {
		return seed{}, 0
	}
	for ref, raw := range s.doc.Items(k.ctx, items) {
		n := min(manyItems, muchText/len(raw))
		tokens, _ := document.Tokens(ref)
		if len(tokens) == 0 || n < 2 {
			break
		}
		var tree any
		errTree := json.Unmarshal(s.doc.Bytes(), &tree)
		text, errText := json.Marshal(set(tree, tokens[:len(tokens)-1], func(v any) any {
			if object, ok := v.(map[string]any); ok {
				for i := range n {
					object[fmt.Sprintf("item %d", i)] = raw
				}
				return object
			}
			list, _ := v.([]any)
			copies := slices.Repeat([]any{raw}, n)
			return append(copies, list[min(1, len(list)):]...)
		}), json.Deterministic(true))
		doc, errDoc := asJSON(text)
		if errors.Join(errTree, errText, errDoc) != nil {
			break
		}
		found := 0
		for range doc.Items(k.ctx, items) {
			found++
		}
		if found < n { // The pattern names the member.
			break
		}
		return seed{"many items", doc, s.config}, n
	}
	return seed{}, 0
}

// items checks that every finding and statement is about an item: the host cannot notice
// that a plugin drops other values.
func (k *kit) items() {
	found := 0
	for _, s := range k.seeds() {
		result, err := k.plugin.Normalize(k.ctx, s.doc, s.config)
		if err != nil && k.ctx.Err() == nil && isFailure(errs.CodeOf(err)) {
			k.fail(GroupLimits, "items", fmt.Errorf("%s: %w", s.name, err))
			return
		}
		if err != nil {
			continue
		}
		patterns, _ := k.plugin.Items(s.config) // Normalize has used them.
		items := make(map[string]bool)
		for ref := range s.doc.Items(k.ctx, patterns) {
			items[ref] = true
		}
		found += len(items)
		var refs []string
		for _, f := range result.Findings {
			refs = append(refs, f.Sources[0].Ref)
		}
		for _, statement := range result.Previous {
			refs = append(refs, statement.Ref)
		}
		if i := slices.IndexFunc(refs, func(ref string) bool { return !items[ref] }); i >= 0 {
			k.add(GroupLimits, "items", Fail, fmt.Sprintf("%s: the answer is about %q, which no pattern of items names", s.name, refs[i]))
			return
		}
	}
	if k.ctx.Err() != nil {
		return
	}
	if found == 0 {
		k.add(GroupLimits, "items", Skip, "no report of the corpus has an item, so that conservation is not proven")
		return
	}
	k.add(GroupLimits, "items", Pass, fmt.Sprintf("%d in the corpus, each accounted for", found))
}
