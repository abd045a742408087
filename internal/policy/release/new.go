package release

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// NewOptions describes the next version.
type NewOptions struct {
	// From is the version to copy, such as routing@1.2.0; "" means the latest.
	From string
	// Title is the decision record's title: one line.
	Title string
	// Step is the size of the planned change; "" means diff.Minor.
	Step diff.Step
	// Date is the record's date.
	Date time.Time
}

// Created is the result of New.
type Created struct {
	// Policy is the new version, such as routing@1.3.0, From the version it copies, and
	// Before the previous version.
	Policy string `json:"policy"`
	From   string `json:"from"`
	Before string `json:"before"`
	// BeforeRef is Before in the form that other commands accept: the same for a built-in
	// version, else its directory, relative to the tree's root.
	BeforeRef string `json:"before_ref"`
	// ADR is the name of its decision record.
	ADR string `json:"adr"`
	// Files are the created files, relative to the tree's root.
	Files []string `json:"files"`
	// Signed reports whether the project accepts only signed policies. The caller sets it.
	Signed bool `json:"-"`
}

// New creates the next version: its directory with a copy of another version's rules and
// tests, its decision record with status proposed, and the lock if it is missing. The
// number follows the latest version, whichever version is copied.
//
// Existing files are not changed. If New fails, it removes the files it created.
//
// # Errors
//
//   - policy-tree-unreadable: the tree cannot be read.
//   - policy-version-exists: a file exists already, a version is not released yet, or the
//     next one was released and is gone.
//   - policy-source-unfit: From is not a version, or cannot be copied.
//   - policy-title-invalid: the title is blank, too long or not one line.
//   - policy-tree-unwritable: a file cannot be written.
func (t Tree) New(ctx context.Context, o NewOptions) (Created, error) {
	s, err := t.load(ctx)
	if err != nil {
		return Created{}, err
	}
	defer s.root.Close()
	p, err := s.plan(o)
	if err != nil {
		return Created{}, err
	}
	files, err := p.files(ctx, o)
	if err != nil {
		return Created{}, err
	}
	if err := create(s.root, files); err != nil {
		return Created{}, err
	}
	made := Created{Policy: p.ref, From: p.from.ref, Before: p.before.ref, ADR: adr.Name(p.number), Files: []string{}}
	made.BeforeRef = cmp.Or(p.before.folder, p.before.ref)
	for _, f := range files {
		made.Files = append(made.Files, f.Name)
	}
	return made, nil
}

// plan is a version to create.
type plan struct {
	*workspace
	ref    string
	number int // of the record
	from   *version
	before *version
}

// plan determines the numbers of the next version and its record.
func (s *workspace) plan(o NewOptions) (plan, error) {
	p := plan{workspace: s, before: s.latest(), number: s.records.next()}
	if p.before == nil {
		return plan{}, noTree()
	}
	if err := s.checkLockReadable(); err != nil {
		return plan{}, err
	}
	for _, v := range s.versions {
		if _, released := s.lock.digests[v.ref]; !released && isVersion(v.ref) {
			return plan{}, errs.New(errs.PolicyVersionExists, "%s is still to be released", v.ref).With("policy", v.ref).With("path", v.folder)
		}
	}
	p.ref = policyName + "@" + diff.NextVersion(identity(p.before.ref).Version, cmp.Or(o.Step, diff.Minor))
	if _, released := s.lock.digests[p.ref]; released {
		dir := versionDir(identity(p.ref).Version)
		return plan{}, errs.New(errs.PolicyVersionExists, "%s was released, and its directory is gone", p.ref).With("policy", p.ref).With("path", dir).
			WithHint("restore " + dir + " from version control")
	}
	if p.number > maxRecords {
		return plan{}, errs.New(errs.PolicyVersionExists, "%s has a record %s, and no higher number is left", recordsDir, adr.Name(maxRecords)).With("path", recordsDir)
	}
	p.from = p.before
	if o.From != "" {
		if p.from = find(s.line, o.From); p.from == nil {
			return plan{}, errs.New(errs.PolicySourceUnfit, "there is no version %s to copy", textutil.Clip(o.From, 100)).With("policy", o.From).With("known", refs(s.line))
		}
	}
	if p.from.policy == nil {
		return plan{}, errs.New(errs.PolicySourceUnfit, "%s cannot be copied: %w", p.from.ref, p.from.err).With("policy", p.from.ref)
	}
	return p, nil
}

func refs(versions []*version) []string {
	all := []string{}
	for _, v := range versions {
		all = append(all, v.ref)
	}
	return all
}

// files returns the files of the new version.
func (p plan) files(ctx context.Context, o NewOptions) ([]routing.Source, error) {
	record, err := p.record(o)
	if err != nil {
		return nil, err
	}
	number := identity(p.ref).Version
	modules, err := renumbered(ctx, p.from, number, adr.Name(p.number))
	if err != nil {
		return nil, err
	}
	files := (&version{folder: versionDir(number), modules: modules, tests: p.from.tests}).files()
	files = append(files, record)
	if p.lock.missing {
		files = append(files, routing.Source{Name: lockPath, Text: p.newLock()})
	}
	return files, nil
}

// record returns the new version's decision record.
func (p plan) record(o NewOptions) (routing.Source, error) {
	title := strings.TrimSpace(o.Title)
	name := path.Join(recordsDir, adr.Name(p.number)[len("ADR-"):]+"-"+slug(title, identity(p.ref).Version)+".md")
	r := adr.Record{
		Name: adr.Name(p.number), Number: p.number, File: name, Title: title, Status: adr.Proposed,
		Date: o.Date.Format(time.DateOnly), Policy: p.ref, Supersedes: p.before.ref,
	}
	if err := adr.CheckTitle(title); err != nil {
		return routing.Source{}, errs.New(errs.PolicyTitleInvalid, "%w", err).With("title", textutil.Clip(o.Title, 300))
	}
	text, err := adr.Format(r, outline)
	return routing.Source{Name: name, Text: string(text)}, err
}

// maxSlug is the longest slug, in bytes.
const maxSlug = 60

// slug returns a title in the form of a file name: lower-case ASCII letters and digits
// with single hyphens between them. A title without any of these gives the version.
func slug(title, number string) string {
	var words []string
	length := 0
	for _, word := range regexp.MustCompile("[a-z0-9]+").FindAllString(strings.ToLower(title), -1) {
		if length += len(word) + 1; length > maxSlug+1 {
			break
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return policyName + "-" + strings.ReplaceAll(number, ".", "-")
	}
	return strings.Join(words, "-")
}

// renumbered returns a copy of a version's modules with another version and record.
// Everything else is unchanged.
func renumbered(ctx context.Context, from *version, number, record string) ([]routing.Source, error) {
	was := from.policy.Identity()
	modules := slices.Clone(from.modules)
	for i, m := range modules {
		head, rest, ok := cutMetadata(m.Text)
		if !ok {
			continue
		}
		head = setCustom(head, "version", was.Version, number)
		head = setCustom(head, "adr", was.ADR, record)
		modules[i].Text = head + rest
	}
	// Loading the copy shows whether the replacement was complete.
	copied, err := routing.Loader{}.FromSources(ctx, policyName+"@"+number, modules)
	if err != nil {
		return nil, err
	}
	if id := copied.Identity(); id.Version != number || id.ADR != record {
		return nil, errs.New(errs.PolicySourceUnfit, "the METADATA of %s is written in a way that cannot be copied", from.ref).With("policy", from.ref)
	}
	return modules, nil
}

// create writes all of the files, or removes them after an error. It fails if one exists
// already, and creates missing directories.
func create(root *os.Root, files []routing.Source) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range slices.Backward(made) {
			_ = root.Remove(name) // err has the first cause
		}
	}()
	for _, f := range files {
		dirs, err := mkdirs(root, path.Dir(f.Name))
		made = append(made, dirs...)
		if err == nil {
			err = safefile.Create(root, path.Dir(f.Name), f.Name, []byte(f.Text), 0o644)
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			return errs.New(errs.PolicyVersionExists, "%s is there already", f.Name).With("path", f.Name)
		case err != nil:
			return unwritable(f.Name, err)
		}
		made = append(made, f.Name)
	}
	return nil
}

// mkdirs creates a directory with its parents, and returns those that did not exist.
func mkdirs(root *os.Root, name string) ([]string, error) {
	if name == "." {
		return nil, nil
	}
	made, err := mkdirs(root, path.Dir(name))
	if err != nil {
		return made, err
	}
	switch err := root.Mkdir(name, 0o755); {
	case err == nil:
		return append(made, name), safefile.SyncDir(root, path.Dir(name))
	case errors.Is(err, fs.ErrExist):
		return made, nil
	default:
		return made, err
	}
}

func unwritable(name string, err error) error {
	return errs.New(errs.PolicyTreeUnwritable, "%s cannot be written: %w", name, safefile.Reason(err)).With("path", name)
}

// cutMetadata splits a module before its package clause: the head has the package's
// METADATA. It fails for a module of another package.
func cutMetadata(text string) (head, rest string, ok bool) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return text[:at], text[at:], strings.TrimSpace(strings.TrimPrefix(line, "package ")) == "switchyard."+policyName
		}
		at += len(line)
	}
	return "", "", false
}

// setCustom replaces a value in METADATA and keeps its quotes.
func setCustom(head, key, old, value string) string {
	line := regexp.MustCompile(`(?m)^(#.*\b` + key + `:[ \t]*["']?)` + regexp.QuoteMeta(old) + `(["']?[ \t]*(?:[,}#].*)?\r?)$`)
	found := line.FindStringSubmatchIndex(head)
	if found == nil {
		return head
	}
	return head[:found[3]] + value + head[found[4]:]
}
