package release

import (
	"os"
	"path"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// records are the files of the records folder, by name.
type records []adr.Found

func (t Tree) records(root *os.Root) (records, error) {
	found, err := adr.List(root, t.adrs())
	if err != nil {
		return nil, errs.New(errs.PolicyTreeUnreadable, "the decision records in %s cannot be read: %w", t.adrs(), safefile.Reason(err)).With("path", t.adrs())
	}
	return found, nil
}

// of returns the record with a name. If two have it, it returns neither.
func (all records) of(name string) (adr.Found, bool) {
	var found []adr.Found
	for _, r := range all {
		if r.Err == nil && r.Record.Name == name {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return adr.Found{}, false
	}
	return found[0], true
}

// next returns the number after the highest. It counts invalid records too: their numbers
// are taken.
func (all records) next() int {
	highest := 0
	for _, r := range all {
		n := 0
		for _, c := range path.Base(r.File) {
			if c < '0' || c > '9' || n > maxRecords {
				break
			}
			n = 10*n + int(c-'0')
		}
		highest = max(highest, n)
	}
	return highest + 1
}

// maxRecords is the highest number of a record.
const maxRecords = 9999

// waivers converts a record's waivers for package check.
func waivers(r adr.Record) []check.Waiver {
	list := make([]check.Waiver, len(r.Waives))
	for i, w := range r.Waives {
		list[i] = check.Waiver{Invariant: check.Invariant(w.Invariant), ADR: r.Name, Reason: w.Reason}
	}
	return list
}
