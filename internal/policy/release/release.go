package release

import (
	"bytes"
	"context"
	"os"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// ReleaseOptions selects the version to release.
type ReleaseOptions struct {
	// Version is the version, such as routing@1.3.0; "" means the unreleased one or, if
	// all are released, the latest.
	Version string
	// Accept accepts the decision record if it is proposed.
	Accept bool
	// Raised is as in LintOptions.
	Raised map[string][]string
	// Replay replays a ledger and must be set. The ledger may be empty.
	Replay Replayer
}

// Released is the result of Release.
type Released struct {
	Policy routing.Identity `json:"policy"`
	// Folder is the version's directory, relative to the tree's root.
	Folder string `json:"folder"`
	// Record is the version's updated decision record.
	Record adr.Record `json:"record"`
	// Already reports that the version was released before, with a complete record. Release
	// then writes no file.
	Already bool `json:"already"`
	// Files are the written files, relative to the tree's root.
	Files []string `json:"files"`
	// Signed is as in Created.
	Signed bool `json:"-"`
}

// Release fills the computed figures into the version's decision record and then adds the
// version to the lock. It rejects a version with any other defect, and a version that
// follows one with defects.
//
// It writes the record first and the lock last, each atomically. If it is interrupted in
// between, the version is not released, and a second call completes the release.
//
// # Errors
//
//   - policy-tree-unreadable: the tree cannot be read, or has no versions.
//   - policy-version-unknown: there is no such version, or Version is "" and ambiguous.
//   - policy-release-refused: the version has defects.
//   - policy-tree-unwritable: a file cannot be written.
//   - Errors from the Replayer, and the error of ctx.
func (t Tree) Release(ctx context.Context, o ReleaseOptions) (Released, error) {
	if o.Replay == nil {
		return Released{}, errs.New(errs.PolicyReleaseRefused, "there is no ledger to replay").With("findings", []Finding{})
	}
	s, err := t.load(ctx)
	if err != nil {
		return Released{}, err
	}
	defer s.root.Close()
	v, err := s.candidate(o.Version)
	if err != nil {
		return Released{}, err
	}
	report, err := s.lint(ctx, LintOptions{Raised: o.Raised})
	if err != nil {
		return Released{}, err
	}
	missing, refused := s.judge(v, report.Findings, o.Accept)
	if len(refused) > 0 {
		return Released{}, errs.New(errs.PolicyReleaseRefused, "%s cannot be released: %s%s", v.ref, refused[0].Message, textutil.AndMore(len(refused)-1)).
			With("policy", v.ref).With("findings", refused)
	}
	found, _ := s.records.of(v.policy.Identity().ADR)
	done := Released{Policy: v.policy.Identity(), Folder: v.folder, Record: found.Record, Files: []string{}}
	if !missing {
		done.Already = true
		return done, nil
	}
	return s.release(ctx, v, found, done, o.Replay)
}

// candidate returns the version to release.
func (s *workspace) candidate(ref string) (*version, error) {
	if len(s.versions) == 0 {
		return nil, noTree()
	}
	if ref != "" {
		if v := find(s.versions, ref); v != nil {
			return v, nil
		}
		return nil, errs.New(errs.PolicyVersionUnknown, "there is no version %s in %s", textutil.Clip(ref, 100), versionsDir).
			With("policy", ref).With("known", refs(s.versions))
	}
	var open []*version
	for _, v := range s.versions {
		if _, released := s.lock.digests[v.ref]; !released {
			open = append(open, v)
		}
	}
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return s.versions[len(s.versions)-1], nil
	default:
		return nil, errs.New(errs.PolicyVersionUnknown, "%s and %s are both still to be released: name one", open[0].ref, open[1].ref).With("known", refs(open))
	}
}

// judge reports whether figures are missing that Release fills in, and returns the
// findings that it cannot fix. It ignores findings about later versions.
func (s *workspace) judge(v *version, findings []Finding, accept bool) (missing bool, refused []Finding) {
	for _, f := range findings {
		mine := f.Policy == v.ref
		switch {
		case f.Policy != "" && compareReferences(f.Policy, v.ref) > 0:
		case f.Rule == LockValid && s.lock.missing, mine && f.Rule.filledIn():
			missing = true
		case mine && f.Rule == RecordAccepted && accept && s.proposed(v):
			missing = true
		default:
			refused = append(refused, f)
		}
	}
	return missing, refused
}

// proposed reports whether the version's record is still proposed.
func (s *workspace) proposed(v *version) bool {
	found, ok := s.records.of(v.policy.Identity().ADR)
	return ok && found.Record.Status == adr.Proposed
}

// release writes the record and the lock.
func (s *workspace) release(ctx context.Context, v *version, found adr.Found, done Released, again Replayer) (Released, error) {
	text, err := v.recordText(ctx, found, again)
	if err != nil {
		return Released{}, err
	}
	if string(text) != string(found.Text) {
		if err := replace(s.root, found.File, text); err != nil {
			return Released{}, err
		}
		done.Files = append(done.Files, found.File)
	}
	if done.Record, err = adr.Parse(found.File, text); err != nil {
		return Released{}, err
	}
	if s.lock.digests[v.ref] != "" {
		return done, nil
	}
	if err := s.lockIn(v.ref, done.Policy.Digest); err != nil {
		return Released{}, err
	}
	done.Files = append(done.Files, lockPath)
	return done, nil
}

// lockIn adds a version to the current lock, which may have changed since this version
// was checked.
func (s *workspace) lockIn(ref, digest string) error {
	now, err := readLock(s.root)
	if err != nil {
		return err
	}
	if now.digests[ref] == digest { // another process has released it
		return nil
	}
	if now.missing {
		now.text = s.newLock()
	}
	return replace(s.root, lockPath, []byte(addToLock(now.text, ref, digest)))
}

// recordText returns the text of the version's record with all figures filled in.
func (v *version) recordText(ctx context.Context, found adr.Found, again Replayer) ([]byte, error) {
	diff, err := v.diff(ctx)
	if err != nil {
		return nil, err
	}
	replayed, err := again(ctx, v.policy, 0)
	if err != nil {
		return nil, err
	}
	return adr.Update(found.File, fill(found.Text, diff.Markdown()), func(r *adr.Record) {
		if r.Status == adr.Proposed {
			r.Status = adr.Accepted
		}
		r.Supersedes = v.beforeRef()
		r.Diff, r.Replay = new(diffFigures(diff)), new(replayFigures(replayed))
	})
}

// replace writes a file of the tree atomically. An existing file keeps its permissions.
func replace(root *os.Root, name string, data []byte) error {
	info, err := root.Stat(name)
	if err == nil {
		err = safefile.ReplaceWith(root, name, bytes.NewReader(data), safefile.Options{Mode: info.Mode().Perm(), Exact: true})
	} else {
		err = safefile.Replace(root, name, data, 0o644)
	}
	if err != nil {
		return unwritable(name, err)
	}
	return nil
}
