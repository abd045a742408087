package render

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Policy prints a policy.
func (p *Printer) Policy(s PolicyView) {
	p.Line("%s  %s", p.paint(bold, s.Policy.Name+" "+s.Policy.Version), s.Title)
	p.Line("  record    %s", s.Policy.ADR)
	p.Line("  digest    %s", s.Policy.Digest)
	p.lineIf(s.Policy.Revision != "", "  revision  %s", s.Policy.Revision)
	p.lineIf(s.Signer != "", "  signed    by %s", s.Signer)
	p.title("Destinations, strongest first")
	for _, d := range s.Destinations {
		p.Line("  %s  %s", p.paint(actionColor(d.Name), d.Name), destinationWords(d.Destination))
		p.wrappedWords("      ", d.Categories)
	}
	p.title("Decision, by the first that holds")
	rows := newTable("GOES TO", "REASON", "AT", "RULE")
	for _, r := range s.Rungs {
		to, reason := "computed", "computed"
		if r.Decision != nil {
			to, reason = cmp.Or(r.Decision.NextAction, to), cmp.Or(r.Decision.Reason, reason)
		}
		rows.add(action(to), reason, dimmed(locationText(r.Location)), r.Location.Text)
	}
	p.table(rows)
	if len(s.BarRungs) == 0 {
		return
	}
	p.title("Bar, by the first that holds")
	rows = newTable("AT", "RULE")
	for _, r := range s.BarRungs {
		rows.add(dimmed(locationText(r.Location)), r.Location.Text)
	}
	p.table(rows)
}

func destinationWords(d routing.Destination) string {
	who := map[routing.Kind]string{routing.Agent: "an agent", routing.Human: "a person", routing.Terminal: "ends the loop"}
	words := cmp.Or(who[d.Kind], string(d.Kind))
	if d.AdvancesRound {
		words += ", begins a round"
	}
	return words
}

// wrapWidth is the width of a list of words, in columns: the same in a terminal and in a
// file.
const wrapWidth = 80

// wrappedWords prints words, separated by commas, in lines of at most wrapWidth.
func (p *Printer) wrappedWords(indent string, words []string) {
	for _, line := range wrap(textutil.Line(strings.Join(words, ", ")), wrapWidth-len(indent)) {
		p.lineIf(line != "", "%s%s", indent, line)
	}
}

// Rego prints Rego files with tabs of four spaces.
func (p *Printer) Rego(v PolicyView) {
	for i, s := range v.Sources {
		if len(v.Sources) > 1 {
			p.lineIf(i > 0, "")
			p.Line("%s", p.paint(dim, "# "+s.Name))
		}
		for line := range strings.Lines(s.Text) {
			p.Line("%s", strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
		}
	}
}

// locationText returns a location in a policy, in the format of compilers. The path of a file
// below the current directory is relative to it.
func locationText(at routing.Location) string {
	file := at.File
	if dir, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
	}
	return fmt.Sprintf("%s:%d:%d", file, at.Row, at.Col)
}

// PolicyView is the JSON output of policy show.
type PolicyView struct {
	Policy routing.Identity `json:"policy"`
	Title  string           `json:"title"`
	// Signer is the key that signed its bundle, or "".
	Signer string `json:"signer,omitzero"`
	// Destinations are sorted, strongest first. Destinations that no finding can have come
	// last.
	Destinations []shownDestination `json:"destinations"`
	Precedence   []string           `json:"precedence"`
	Rungs        []routing.Branch   `json:"rungs"`
	// BarRungs are the branches of the rule bar. They have no decision.
	BarRungs []routing.Branch `json:"bar_rungs,omitzero"`
	Sources  []routing.Source `json:"sources,omitzero"`
}

// shownDestination is a destination with the categories that are routed to it.
type shownDestination struct {
	Name string `json:"name"`
	routing.Destination
	Categories []string `json:"categories"`
}

// NewPolicyView converts a policy to its JSON form.
func NewPolicyView(ctx context.Context, policy *routing.Policy) (PolicyView, error) {
	branches, err := policy.Branches(ctx, routing.DecisionRule)
	if err != nil {
		return PolicyView{}, err
	}
	bars, err := policy.Branches(ctx, routing.BarRule)
	if err != nil {
		return PolicyView{}, err
	}
	shown := PolicyView{
		Policy: policy.Identity(), Title: policy.Title(), Signer: policy.Signer(),
		Precedence: policy.Precedence(), Rungs: branches.All(), BarRungs: bars.All(),
	}
	declared, table := policy.Destinations(), policy.RouteTable()
	categories := make(map[string][]string)
	for _, category := range slices.Sorted(maps.Keys(table)) {
		categories[table[category]] = append(categories[table[category]], category)
	}
	names := policy.Precedence()
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		shown.Destinations = append(shown.Destinations, shownDestination{name, declared[name], categories[name]})
	}
	return shown, nil
}

// PolicyList prints the policies that a project uses or has.
func (p *Printer) PolicyList(all api.PolicyInventory) {
	rows := newTable("VERSION", "DIGEST", "RECORD", "STATE", "FROM", "IN USE")
	for _, k := range all.Policies {
		name, digest, record := "-", "-", "-"
		if k.Policy != nil {
			name, digest, record = PolicyRef(*k.Policy), shortDigest(k.Policy.Digest), k.Policy.ADR
		}
		if k.ADRStatus != "" {
			record += " " + string(k.ADRStatus)
		}
		rows.add(name, dimmed(digest), record, cell{orDash(string(k.State)), stateColors[k.State]}, whereFrom(k), inUse(k))
	}
	p.table(rows)
	for _, k := range all.Policies {
		p.lineIf(k.Problem != "", "%s  %s: %s", p.paint(red, "broken"), k.Ref, k.Problem)
	}
	if all.Adopted != nil {
		p.Line("")
		p.Line("%s was adopted %s by %s", policyID(all.Adopted.Policy), eventTime(all.Adopted.At), all.Adopted.By)
	}
}

// whereFrom returns the location of a policy's files.
func whereFrom(k api.KnownPolicy) string {
	switch {
	case k.BuiltIn && k.Folder != "":
		return "built in, " + k.Folder
	case k.BuiltIn:
		return "built in"
	case k.Stored:
		return "ledger"
	default:
		return k.Ref
	}
}

// inUse describes how the project uses a policy.
func inUse(k api.KnownPolicy) string {
	var uses []string
	for _, use := range []struct {
		word string
		is   bool
	}{{"adopted", k.Adopted}, {"configured", k.Configured}, {"default", k.Default}} {
		if use.is {
			uses = append(uses, use.word)
		}
	}
	return strings.Join(uses, ", ")
}

// Adoption prints the changes of adopting a policy.
func (p *Printer) Adoption(a api.Adoption, dry bool) {
	verb := "adopted"
	if dry {
		verb = "would adopt"
	}
	switch {
	case !a.Changed && a.Event != nil: // Its path or its signature changed.
		p.Line("%s  %s, the same policy from another place", p.paint(green, verb), policyName(a.Policy))
	case !a.Changed:
		p.Line("%s  %s is the adopted policy already", p.paint(dim, "unchanged"), policyName(a.Policy))
		return
	case a.From == nil:
		p.Line("%s  %s, the project's first", p.paint(green, verb), policyName(a.Policy))
	default:
		p.Line("%s  %s, after %s", p.paint(green, verb), policyName(a.Policy), policyName(*a.From))
		if a.Diff != nil {
			p.Line("  changes: %s", a.Diff.Summary())
		} else {
			p.Line("  changes: %s: %s", p.paint(yellow, "not known"), a.Uncompared)
		}
	}
	switch a.State {
	case release.StateDraft:
		p.Line("  %s    it is not released: switchyard policy lint says what is missing", p.paint(yellow, "draft"))
	case release.StateEdited:
		p.Line("  %s   it is not what was released: switchyard policy lint says so too", p.paint(red, "edited"))
	}
	p.Line("  digest   %s", a.Policy.Digest)
	if a.Event != nil {
		p.Line("  event    sha256:%s, number %d of the policies", a.Event.Hash, a.Event.N)
	}
}

// NewVersion prints the created version and the next commands.
func (p *Printer) NewVersion(c release.Created) {
	p.Line("%s  %s, after %s, with %s", p.paint(green, "started"), c.Policy, c.Before, c.ADR)
	rego, record, before := "", "", c.Before
	if c.BeforeRef != c.Before {
		before = ShellQuote(filepath.FromSlash(c.BeforeRef))
	}
	for _, file := range c.Files {
		p.Line("  %s", filepath.FromSlash(file))
		switch path.Ext(file) {
		case ".rego":
			rego = ShellQuote(filepath.FromSlash(path.Dir(file)))
		case ".md":
			record = filepath.FromSlash(file)
		}
	}
	p.Line("")
	p.Line("amend the rules and their tests, and say why in %s; then", record)
	allow := ""
	if c.Signed {
		allow = " --allow-unsigned"
	}
	for _, command := range []string{
		"policy test " + rego + allow, "policy verify " + rego + allow, "policy diff " + before + " " + rego + allow,
		"policy replay --policy " + rego + allow, "policy release " + c.Policy + " --accept", "policy lint",
	} {
		p.Line("  switchyard %s", command)
	}
	p.Line("")
	p.adoptionHint(rego, c.Signed)
}

// adoptionHint prints how to make a version of the tree the active policy.
func (p *Printer) adoptionHint(folder string, signed bool) {
	first := ""
	if signed {
		first, folder = fmt.Sprintf("sign a bundle of it with switchyard policy build %s --allow-unsigned, then ", folder), "BUNDLE"
	}
	p.Line("to make it the active policy: %spolicy: %s in switchyard.yaml, and then switchyard policy adopt", first, folder)
}

// Release prints a released version.
func (p *Printer) Release(r release.Released) {
	if r.Already {
		p.Line("%s  %s is released, and nothing has changed since", p.paint(dim, "unchanged"), policyID(r.Policy))
		return
	}
	p.Line("%s  %s", p.paint(green, "released"), policyName(r.Policy))
	p.Line("  digest   %s", r.Policy.Digest)
	if r.Record.Diff != nil {
		p.Line("  changes  %s", r.Record.Diff.Summary)
	}
	if r.Record.Replay != nil {
		p.Line("  replay   %s", r.Record.Replay.Summary)
	}
	for i, file := range r.Files {
		label := ""
		if i == 0 {
			label = "wrote"
		}
		p.Line("  %-7s  %s", label, filepath.FromSlash(file))
	}
	p.Line("")
	p.adoptionHint(ShellQuote(filepath.FromSlash(r.Folder)), r.Signed)
}

// Lint prints the problems of a tree, one per line for other tools to read.
func (p *Printer) Lint(r release.LintReport) {
	p.LintFindings(r.Findings)
	p.lineIf(r.Clean(), "%s  %s", p.paint(green, "clean"), textutil.Count(len(r.Versions), "version and its decision record", "versions and their decision records"))
}

// LintFindings prints findings of lint, one per line.
func (p *Printer) LintFindings(all []release.Finding) {
	for _, f := range all {
		at := f.File
		if f.Location != nil {
			at = fmt.Sprintf("%s:%d:%d", f.Location.File, f.Location.Row, f.Location.Col)
		}
		p.Line("%s: %s: %s", at, p.paint(yellow, string(f.Rule)), f.Message)
		p.lineIf(f.Hint != "", "  %s", p.paint(dim, f.Hint))
	}
}

// PolicyRef returns the name of a policy in a line of text.
func PolicyRef(id routing.Identity) string { return fmt.Sprintf("%s@%s", id.Name, id.Version) }

// Bundle is the JSON output of policy build.
type Bundle struct {
	File   string           `json:"file"`
	Policy routing.Identity `json:"policy"`
	// Revision is the revision in the bundle's manifest.
	Revision string `json:"revision"`
	// Digest is the file's digest, and Size its size in bytes.
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	Wasm   bool   `json:"wasm"`
	// Signature is nil for an unsigned bundle.
	Signature *BundleSignature `json:"signature"`
}

// BundleSignature describes a bundle's signature.
type BundleSignature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`
	Scope     string `json:"scope,omitzero"`
	// Expires is when the signature expires, RFC 3339 in UTC; "" for never.
	Expires string `json:"expires,omitzero"`
}

// Bundle prints a bundle.
func (p *Printer) Bundle(b Bundle) {
	p.Line("%s  %s, %s", p.paint(green, "built"), b.File, Size(b.Size))
	p.Line("  policy    %s  %s", policyName(b.Policy), b.Policy.Digest)
	p.Line("  revision  %s", b.Revision)
	p.Line("  bundle    %s", b.Digest)
	p.lineIf(b.Wasm, "  wasm      policy.wasm is in it, for OPA's tools")
	s := b.Signature
	if s == nil {
		p.Line("  unsigned")
		return
	}
	words := "by " + s.KeyID + " with " + s.Algorithm
	if s.Scope != "" {
		words += ", for " + s.Scope
	}
	if s.Expires != "" {
		words += ", until " + s.Expires
	}
	p.Line("  signed    %s", words)
}
