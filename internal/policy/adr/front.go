package adr

import (
	"regexp"
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

// field describes how a key is read, and whether it is optional.
type field struct {
	key      string
	optional bool
	read     func(*yaml.Node)
}

// mapping reads a mapping, whose keys must be unique.
func (r *reader) mapping(n *yaml.Node, what string, fields ...field) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping of keys", what)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f, known := find(fields, key)
		switch {
		case !known:
			r.fail(key, "unknown key %q", key.Value)
			return
		case seen[f.key]:
			r.fail(key, "key %q is there twice", f.key)
			return
		}
		seen[f.key] = true
		f.read(value)
	}
	for _, f := range fields {
		if !f.optional && !seen[f.key] {
			r.fail(n, "%s has no %s", what, f.key)
		}
	}
}

func find(fields []field, key *yaml.Node) (field, bool) {
	for _, f := range fields {
		if key.Kind == yaml.ScalarNode && key.Anchor == "" && f.key == key.Value {
			return f, true
		}
	}
	return field{}, false
}

// record reads the whole front matter.
func (r *reader) record(n *yaml.Node, to *Record) {
	var decides *yaml.Node // the first key that requires policy
	ofPolicy := func(read func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if decides == nil {
				decides = n
			}
			read(n)
		}
	}
	r.mapping(n, "the front matter",
		field{key: "status", read: func(n *yaml.Node) { to.Status = r.status(n) }},
		field{key: "date", read: func(n *yaml.Node) { to.Date = r.date(n) }},
		field{"policy", true, func(n *yaml.Node) { to.Policy = r.like(n, versionForm, "a version as routing@1.0.0") }},
		field{"supersedes", true, ofPolicy(func(n *yaml.Node) { to.Supersedes = r.like(n, versionForm, "a version as routing@1.0.0") })},
		field{"diff", true, ofPolicy(func(n *yaml.Node) { to.Diff = r.diff(n) })},
		field{"replay", true, ofPolicy(func(n *yaml.Node) { to.Replay = r.replay(n) })},
		field{"waives", true, ofPolicy(func(n *yaml.Node) { to.Waives = r.waives(n) })},
	)
	if decides != nil && to.Policy == "" {
		r.fail(decides, "it names no policy, so nothing can be said about one")
	}
	if to.Policy != "" && to.Policy == to.Supersedes {
		r.fail(n, "%s cannot supersede itself", to.Policy)
	}
}

func (r *reader) diff(n *yaml.Node) *Proof {
	var p Proof
	r.mapping(n, "diff", r.summary(&p), r.digest(&p))
	return &p
}

func (r *reader) replay(n *yaml.Node) *ReplayProof {
	var p ReplayProof
	r.mapping(n, "replay",
		r.summary(&p.Proof), r.digest(&p.Proof),
		field{key: "policy", read: func(n *yaml.Node) { p.Policy = r.like(n, digestForm, "a digest as sha256:HEX") }},
		field{key: "decisions", read: func(n *yaml.Node) { p.Decisions = r.count(n) }},
		field{key: "through", read: func(n *yaml.Node) { p.Through = r.count(n) }},
	)
	return &p
}

func (r *reader) summary(p *Proof) field {
	return field{key: "summary", read: func(n *yaml.Node) { p.Summary = r.line(n) }}
}

func (r *reader) digest(p *Proof) field {
	return field{key: "digest", read: func(n *yaml.Node) { p.Digest = r.like(n, digestForm, "a digest as sha256:HEX") }}
}

func (r *reader) waives(n *yaml.Node) []Waive {
	list := []Waive{}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "waives must be a list")
		return list
	}
	seen := make(map[string]bool)
	for _, item := range n.Content {
		var w Waive
		r.mapping(item, "what is waived",
			field{key: "invariant", read: func(n *yaml.Node) { w.Invariant = r.like(n, nameForm, "an invariant's name") }},
			field{key: "reason", read: func(n *yaml.Node) { w.Reason = r.line(n) }},
		)
		if seen[w.Invariant] {
			r.fail(item, "%s is waived twice", w.Invariant)
		}
		seen[w.Invariant] = true
		list = append(list, w)
	}
	return list
}

func (r *reader) status(n *yaml.Node) Status {
	switch s := Status(r.text(n)); s {
	case Proposed, Accepted, Superseded, Rejected:
		return s
	}
	r.fail(n, "status must be %s, %s, %s or %s", Proposed, Accepted, Superseded, Rejected)
	return ""
}

func (r *reader) date(n *yaml.Node) string {
	if _, err := time.Parse(time.DateOnly, n.Value); err != nil || !isScalar(n, "!!timestamp", "!!str") {
		r.fail(n, "date must be a day as 2006-01-02")
		return ""
	}
	return n.Value
}

// count reads a count in canonical form: 010 is eight to some YAML parsers and ten to
// others.
func (r *reader) count(n *yaml.Node) int64 {
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || i < 0 || strconv.FormatInt(i, 10) != n.Value || !isScalar(n, "!!int") {
		r.fail(n, "it must be a whole number from 0")
		return 0
	}
	return i
}

// like reads text that matches a regular expression.
func (r *reader) like(n *yaml.Node, form, what string) string {
	s := r.text(n)
	if !regexp.MustCompile(form).MatchString(s) {
		r.fail(n, "it must be %s", what)
		return ""
	}
	return s
}

// line reads a sentence.
func (r *reader) line(n *yaml.Node) string {
	s := r.text(n)
	if !isLine(s, maxText) {
		r.fail(n, "it must be text for one line, of at most %d characters", maxText)
		return ""
	}
	return s
}

// text reads a string. It must also be one to YAML, so that every parser reads the same.
func (r *reader) text(n *yaml.Node) string {
	if !isScalar(n, "!!str") {
		r.fail(n, "it must be text")
		return ""
	}
	return n.Value
}

// isScalar reports whether n is a plain value with one of the tags.
func isScalar(n *yaml.Node, tags ...string) bool {
	if n.Kind != yaml.ScalarNode || n.Anchor != "" {
		return false
	}
	for _, tag := range tags {
		if n.ShortTag() == tag {
			return true
		}
	}
	return false
}
