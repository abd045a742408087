package release

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// workspace is the content of a tree.
type workspace struct {
	tree     Tree
	root     *os.Root
	versions []*version // oldest first; directories without a version's name last
	stray    []string   // other entries next to the version directories, such as links
	records  records
	lock     lock
	builtIn  []*version
	// line has all relevant versions, oldest first: the built-in ones before the tree's
	// first version, then the tree's versions. Later built-in versions are not part of it.
	line []*version
}

// version is a version of a tree, or a built-in one before them.
type version struct {
	ref     string   // the name of its directory
	folder  string   // "" for a built-in version
	before  *version // the previous version of the line, nil for the first
	modules []routing.Source
	tests   []routing.Source
	policy  *routing.Policy // nil if it does not load
	err     error           // of loading it
}

// beforeRef returns the reference of the previous version, or "" for the first.
func (v *version) beforeRef() string {
	if v.before == nil {
		return ""
	}
	return v.before.ref
}

// load reads a tree and the built-in versions. Defects of its contents are not errors
// here; the rules report them. The caller must close the root.
func (t Tree) load(ctx context.Context) (*workspace, error) {
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	s := &workspace{tree: t, root: root}
	if err := s.read(ctx); err != nil {
		_ = root.Close()
		return nil, err
	}
	return s, nil
}

func (s *workspace) read(ctx context.Context) error {
	var err error
	if s.records, err = readRecords(s.root); err != nil {
		return err
	}
	if s.lock, err = readLock(s.root); err != nil {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), versionsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(versionsDir, err)
	}
	for _, e := range entries {
		switch name := path.Join(versionsDir, e.Name()); {
		case e.IsDir():
			s.versions = append(s.versions, readVersion(ctx, s.root, e.Name()))
		case !e.Type().IsRegular():
			s.stray = append(s.stray, name)
		}
	}
	slices.SortStableFunc(s.versions, func(a, b *version) int { return compareReferences(a.ref, b.ref) })
	if err := ctx.Err(); err != nil {
		return err
	}
	loader := routing.Loader{Released: s.tree.BuiltIn}
	for _, ref := range loader.Versions() {
		p, err := loader.Load(ctx, ref)
		if err != nil {
			return err
		}
		tests, err := loader.TestSources(ref)
		if err != nil {
			return err
		}
		s.builtIn = append(s.builtIn, &version{ref: ref, modules: p.Sources(), tests: tests, policy: p})
	}
	s.order()
	return nil
}

// order puts the versions in line.
func (s *workspace) order() {
	own := slices.DeleteFunc(slices.Clone(s.versions), func(v *version) bool { return !isVersion(v.ref) })
	for _, v := range s.builtIn {
		if len(own) > 0 && !s.precedes(v.ref, own[0]) {
			break
		}
		s.line = append(s.line, v)
	}
	s.line = append(s.line, own...)
	for i := 1; i < len(s.line); i++ {
		s.line[i].before = s.line[i-1]
	}
}

// latest returns the last version of the line, or nil.
func (s *workspace) latest() *version {
	if len(s.line) == 0 {
		return nil
	}
	return s.line[len(s.line)-1]
}

// find returns the version for a reference, or nil.
func find(versions []*version, ref string) *version {
	i := slices.IndexFunc(versions, func(v *version) bool { return v.ref == ref })
	if i < 0 {
		return nil
	}
	return versions[i]
}

func readVersion(ctx context.Context, root *os.Root, name string) *version {
	v := &version{ref: policyName + "@" + name, folder: versionDir(name)}
	if v.modules, v.err = routing.ReadFiles(root, v.folder, v.folder, routing.IsModule); v.err == nil {
		v.tests, v.err = routing.ReadFiles(root, v.folder, v.folder, routing.IsTest)
	}
	if v.err == nil {
		v.policy, v.err = routing.Loader{}.FromSources(ctx, v.folder, v.modules)
	}
	return v
}

func unreadable(name string, err error) error {
	return errs.New(errs.PolicyTreeUnreadable, "%s cannot be read: %w", name, safefile.Reason(err)).With("path", name)
}

// files returns the version's files with paths in the tree, for locations.
func (v *version) files() []routing.Source {
	var all []routing.Source
	for _, f := range slices.Concat(v.modules, v.tests) {
		all = append(all, routing.Source{Name: path.Join(v.folder, f.Name), Text: f.Text})
	}
	return all
}

// identity splits a reference.
func identity(ref string) routing.Identity {
	name, number, _ := strings.Cut(ref, "@")
	return routing.Identity{Name: name, Version: number}
}

// isVersion reports whether a reference has a version that can be released: three
// numbers.
func isVersion(ref string) bool {
	id := identity(ref)
	return id.Name == policyName && diff.Enough("", id.Version, diff.None)
}

// precedes reports whether a built-in version comes before the first one of the tree: it
// is older, and not newer than the version that the first one's record supersedes. If that
// is not a built-in version, all older built-in versions precede it.
func (s *workspace) precedes(ref string, first *version) bool {
	if compareReferences(ref, first.ref) >= 0 {
		return false
	}
	for _, r := range s.records {
		if r.Err == nil && r.Record.Policy == first.ref && find(s.builtIn, r.Record.Supersedes) != nil {
			return compareReferences(ref, r.Record.Supersedes) <= 0
		}
	}
	return true
}

// State is the release state of a version.
type State string

// The states of a version.
const (
	// StateReleased: the lock has it with its digest.
	StateReleased State = "released"
	// StateDraft: the lock does not have it yet.
	StateDraft State = "draft"
	// StateEdited: the lock has it with another digest, so it was changed after its
	// release.
	StateEdited State = "edited"
)

// Listed is a version of a tree, without lint results.
type Listed struct {
	// Folder is relative to the tree's root.
	Folder string
	// Policy is nil if the directory has no policy that loads; Err is then the reason.
	Policy *routing.Policy
	Err    error
	State  State
	// ADRStatus is the status of its decision record, or "" without a record.
	ADRStatus adr.Status
}

// Versions lists the versions of the tree, oldest first. A missing tree counts as empty.
//
// # Errors
//
// policy-tree-unreadable if the tree cannot be read, and the error of ctx.
func (t Tree) Versions(ctx context.Context) ([]Listed, error) {
	t.BuiltIn = nil // not listed, and slow to load
	s, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	defer s.root.Close()
	if err := s.checkLockReadable(); err != nil {
		return nil, err
	}
	var all []Listed
	for _, v := range s.versions {
		l := Listed{Folder: v.folder, Policy: v.policy, Err: v.err, State: StateDraft}
		want, locked := s.lock.digests[v.ref]
		switch {
		case locked && v.policy != nil && v.policy.Identity().Digest == want:
			l.State = StateReleased
		case locked:
			l.State = StateEdited
		}
		if v.policy != nil {
			if found, ok := s.records.of(v.policy.Identity().ADR); ok && found.Record.Policy == v.ref {
				l.ADRStatus = found.Record.Status
			}
		}
		all = append(all, l)
	}
	return all, nil
}

// maxLock is the largest lock, in bytes.
const maxLock = 1 << 20

// lock is a tree's versions.lock.
type lock struct {
	text    string
	missing bool
	digests map[string]string // by reference
	err     error             // of parsing it
}

// readLock reads the lock. A missing or invalid lock is not an error here.
func readLock(root *os.Root) (lock, error) {
	text, err := safefile.Read(root, lockPath, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return lock{missing: true}, nil
	}
	if err != nil {
		return lock{}, unreadable(lockPath, err)
	}
	l := lock{text: string(text)}
	l.digests, l.err = routing.ParseLock(l.text)
	return l, nil
}

// lockHead is the comment at the top of a new lock.
const lockHead = `# The digest of every released policy. A released version never changes, so no
# line here ever changes either; a new version adds one.
`

// newLock returns the lock of a tree without released versions: it has the built-in
// versions that the tree's line follows.
func (s *workspace) newLock() string {
	text := lockHead
	for _, v := range s.line {
		if v.folder == "" {
			text += lockLine(v.ref, v.policy.Identity().Digest)
		}
	}
	return text
}

func lockLine(ref, digest string) string { return ref + " " + digest + "\n" }

// addToLock returns the text of a lock with one more version, in its sorted position. All
// other lines are unchanged.
func addToLock(text, ref, digest string) string {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	added := ref + " " + digest + end
	lines := slices.Collect(strings.Lines(text))
	at := slices.IndexFunc(lines, func(line string) bool {
		other, _, isEntry := strings.Cut(line, " ")
		return isEntry && line[0] != '#' && routing.CompareRefs(ref, other) < 0
	})
	if at < 0 {
		at = len(lines)
		if text != "" && !strings.HasSuffix(text, "\n") {
			added = end + added
		}
	}
	return strings.Join(slices.Insert(lines, at, added), "")
}

// checkLockReadable fails if the lock cannot be read, since it is not known then what is released.
func (s *workspace) checkLockReadable() error {
	if s.lock.err == nil {
		return nil
	}
	return errs.New(errs.PolicyTreeUnreadable, "%w", s.lock.err).With("path", lockPath).WithHint("restore it from version control")
}
