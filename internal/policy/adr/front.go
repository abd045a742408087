package adr

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxText is the longest summary or reason, in code points.
const maxText = 2000

// The formats of values, as regular expressions.
const (
	versionForm = `^[a-z0-9][a-z0-9-]{0,63}@[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$`
	digestForm  = `^sha256:[0-9a-f]{64}$`
	nameForm    = `^[a-z0-9][a-z0-9-]{0,63}$`
)

// reader reads a front matter's nodes. It stores only the first error: others may follow
// from it.
type reader struct {
	file string
	err  error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	if r.err == nil {
		r.err = invalid(r.file, n.Line, format, args...)
	}
}

// field describes how the value of a key is checked, and whether it is optional.
type field struct {
	key      string
	optional bool
	check    func(*yaml.Node)
}

// mapping checks that n is a mapping with these fields, each at most once.
func (r *reader) mapping(n *yaml.Node, what string, fields ...field) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping of keys", what)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.IndexFunc(fields, func(f field) bool {
			return key.Kind == yaml.ScalarNode && key.Anchor == "" && f.key == key.Value
		})
		switch {
		case at < 0:
			r.fail(key, "unknown key %q", key.Value)
			return
		case seen[key.Value]:
			r.fail(key, "key %q is there twice", key.Value)
			return
		}
		seen[key.Value] = true
		fields[at].check(value)
	}
	for _, f := range fields {
		if !f.optional && !seen[f.key] {
			r.fail(n, "%s has no %s", what, f.key)
		}
	}
}

// record reads the whole front matter.
func (r *reader) record(n *yaml.Node, to *Record) {
	var decides *yaml.Node // the first key that requires policy
	ofPolicy := func(check func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if decides == nil {
				decides = n
			}
			check(n)
		}
	}
	diff := []field{{"summary", false, r.line}, {"digest", false, r.digest}}
	replay := append(diff, field{"policy", false, r.digest}, field{"decisions", false, r.count}, field{"through", false, r.count})
	r.mapping(n, "the front matter",
		field{"status", false, r.status},
		field{"date", false, r.date},
		field{"policy", true, r.version},
		field{"supersedes", true, ofPolicy(r.version)},
		field{"diff", true, ofPolicy(func(n *yaml.Node) { r.mapping(n, "diff", diff...) })},
		field{"replay", true, ofPolicy(func(n *yaml.Node) { r.mapping(n, "replay", replay...) })},
		field{"waives", true, ofPolicy(r.waives)},
	)
	if r.err != nil {
		return
	}
	if err := n.Decode(to); err != nil {
		r.fail(n, "%w", err) // cannot happen: every value has been checked
	}
	if decides != nil && to.Policy == "" {
		r.fail(decides, "this key needs the key policy")
	}
	if to.Policy != "" && to.Policy == to.Supersedes {
		r.fail(n, "%s cannot supersede itself", to.Policy)
	}
}

func (r *reader) waives(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "waives must be a list")
		return
	}
	seen := make(map[string]bool)
	for _, item := range n.Content {
		r.mapping(item, "a waiver",
			field{"invariant", false, func(n *yaml.Node) {
				r.like(n, nameForm, "an invariant's name")
				if seen[n.Value] {
					r.fail(item, "%s is waived twice", n.Value)
				}
				seen[n.Value] = true
			}},
			field{"reason", false, r.line},
		)
	}
}

func (r *reader) status(n *yaml.Node) {
	r.text(n)
	if !slices.Contains([]Status{Proposed, Accepted, Superseded, Rejected}, Status(n.Value)) {
		r.fail(n, "status must be %s, %s, %s or %s", Proposed, Accepted, Superseded, Rejected)
	}
}

func (r *reader) date(n *yaml.Node) {
	if _, err := time.Parse(time.DateOnly, n.Value); err != nil || !isScalar(n, "!!timestamp", "!!str") {
		r.fail(n, "date must be a day such as 2006-01-02")
	}
}

// count checks for a count in canonical form: 010 is eight to some YAML parsers and ten
// to others.
func (r *reader) count(n *yaml.Node) {
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || i < 0 || strconv.FormatInt(i, 10) != n.Value || !isScalar(n, "!!int") {
		r.fail(n, "it must be a whole number from 0")
	}
}

func (r *reader) version(n *yaml.Node) { r.like(n, versionForm, "a version such as routing@1.0.0") }

func (r *reader) digest(n *yaml.Node) { r.like(n, digestForm, "a digest such as sha256:HEX") }

// like checks for text that matches a regular expression.
func (r *reader) like(n *yaml.Node, form, what string) {
	r.text(n)
	if !regexp.MustCompile(form).MatchString(n.Value) {
		r.fail(n, "it must be %s", what)
	}
}

// line checks for a sentence.
func (r *reader) line(n *yaml.Node) {
	r.text(n)
	if !isLine(n.Value, maxText) {
		r.fail(n, "it must be text for one line, of at most %d characters", maxText)
	}
}

// text checks for a string, also by YAML's own rules, so that every parser reads the same
// value.
func (r *reader) text(n *yaml.Node) {
	if !isScalar(n, "!!str") {
		r.fail(n, "it must be text")
	}
}

// isScalar reports whether n is a plain value with one of the tags.
func isScalar(n *yaml.Node, tags ...string) bool {
	return n.Kind == yaml.ScalarNode && n.Anchor == "" && slices.Contains(tags, n.ShortTag())
}
