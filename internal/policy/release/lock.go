package release

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

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
func readLock(root *os.Root, name string) (lock, error) {
	text, err := safefile.Read(root, name, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return lock{missing: true}, nil
	}
	if err != nil {
		return lock{}, unreadable(name, err)
	}
	l := lock{text: string(text)}
	l.digests, l.err = routing.ParseLock(l.text)
	return l, nil
}

// refs returns the locked references, oldest first.
func (l lock) refs() []string {
	var refs []string
	for ref := range l.digests {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, compareReferences)
	return refs
}

// lockHead is the comment at the top of a new lock.
const lockHead = `# The digest of every released policy. A released version never changes, so no
# line here ever changes either; a new version adds one.
`

// newLock returns the lock of a tree without released versions: it has the built-in
// versions that the tree's line follows.
func (s *workspace) newLock(ctx context.Context) (string, error) {
	history, err := s.history(ctx)
	if err != nil {
		return "", err
	}
	text := lockHead
	for _, v := range history {
		if v.folder == "" {
			text += lockLine(v.ref, v.policy.Identity().Digest)
		}
	}
	return text, nil
}

func lockLine(ref, digest string) string { return ref + " " + digest + "\n" }

// with returns the text of a lock with one more version, in its sorted position. All
// other lines are unchanged.
func with(text, ref, digest string) string {
	var out strings.Builder
	done := false
	for line := range strings.Lines(text) {
		other, _, isLine := strings.Cut(line, " ")
		if !done && isLine && line[0] != '#' && isBefore(ref, other) {
			out.WriteString(lockLine(ref, digest))
			done = true
		}
		out.WriteString(line)
	}
	if !done {
		if text != "" && !strings.HasSuffix(text, "\n") {
			out.WriteString("\n")
		}
		out.WriteString(lockLine(ref, digest))
	}
	return out.String()
}

// isBefore reports whether a is sorted before b in a lock.
func isBefore(a, b string) bool {
	x, y := identity(a), identity(b)
	return x.Name < y.Name || routing.Older(x, y)
}
