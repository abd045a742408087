package release

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/adr"
)

// shared checks the parts of the tree that do not belong to one version.
func (l *linter) shared(ctx context.Context) error {
	for _, name := range l.stray {
		l.add(finding(FolderName, name, "it is neither a folder nor a file").hint("versions are folders: put one there, or remove it"))
	}
	files := make(map[int]string)
	for _, r := range l.records {
		if r.Err != nil {
			l.add(problems(finding(RecordValid, r.File, ""), r.Err)...)
			continue
		}
		if other, taken := files[r.Record.Number]; taken {
			l.add(finding(RecordValid, r.File, "%s is %s too", other, r.Record.Name).hint("give one of them the next free number"))
		}
		files[r.Record.Number] = r.File
		l.orphan(r.Record)
		l.rival(r.Record)
	}
	return l.locked(ctx)
}

// orphan reports a record whose version does not exist. The version of a rejected record
// may never have been created.
func (l *linter) orphan(r adr.Record) {
	if r.Policy == "" || r.Status == adr.Rejected || l.find(r.Policy) != nil || l.isBuiltIn(r.Policy) {
		return
	}
	f := finding(RecordNamed, r.File, "%s is about %s, and there is no such version", r.Name, r.Policy)
	f.ADR = r.Name
	l.add(f.hint("make the version's folder, or correct the record's policy"))
}

// rival reports a second record about a version: its content is not checked, and a reader
// cannot know that.
func (l *linter) rival(r adr.Record) {
	v := l.find(r.Policy)
	if v == nil || v.policy == nil || r.Status == adr.Rejected {
		return
	}
	name := v.policy.Identity().ADR
	named, ok := l.records.of(name)
	if !ok || name == r.Name || named.Record.Policy != r.Policy {
		return
	}
	f := finding(RecordNamed, r.File, "%s is about %s, whose METADATA names %s", r.Name, r.Policy, name)
	f.ADR = r.Name
	l.add(f.hint("a version has one record: remove policy from this one, or reject it"))
}

// locked checks the lock, and its entries without a version in the tree.
func (l *linter) locked(ctx context.Context) error {
	file := l.tree.lock()
	switch {
	case l.lock.missing:
		l.add(finding(LockValid, file, "there is no lock").hint("switchyard policy release writes it"))
	case l.lock.err != nil:
		l.add(finding(LockValid, file, "%s", l.lock.err.Error()).hint("restore it from version control"))
	}
	for _, ref := range l.lock.refs() {
		if l.find(ref) != nil {
			continue
		}
		var f Finding
		if l.isBuiltIn(ref) {
			ours, err := l.tree.builtIn(ctx, ref)
			if err != nil {
				return err
			}
			if ours.policy.Identity().Digest == l.lock.digests[ref] {
				continue
			}
			f = finding(Unchanged, file, "%s is built in with another digest", ref).hint("restore from version control what is another one now: the line, or %s", l.tree.folder(identity(ref).Version))
		} else {
			f = finding(Stored, file, "%s was released, and its folder is gone", ref).hint("restore %s from version control", l.tree.folder(identity(ref).Version))
		}
		f.Policy = ref
		l.add(f)
	}
	return nil
}

// find returns the tree's version for a reference, or nil.
func (s *workspace) find(ref string) *version {
	for _, v := range s.versions {
		if v.ref == ref {
			return v
		}
	}
	return nil
}

func (s *workspace) isBuiltIn(ref string) bool { return slices.Contains(s.builtIn, ref) }
