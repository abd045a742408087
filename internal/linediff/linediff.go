// Package linediff says which lines differ between two versions of a project.
//
// All functions are pure and safe for concurrent use.
package linediff

import "slices"

// Changes has the changed lines of the later version, by path. It has no files without
// changed lines, such as binary files. The ranges of a file are in its order.
type Changes map[string][]Range

// Range is a range of lines, which count from 1.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Has reports whether a line of a file was changed. An added line counts as changed. If
// lines were only removed, the line after them counts as changed, because it now runs
// without them. Lines that were moved, within a file or between files, do not count.
func (c Changes) Has(file string, line int) bool {
	i, _ := slices.BinarySearchFunc(c[file], line, func(r Range, line int) int { return r.Last - line })
	return i < len(c[file]) && c[file][i].First <= line
}

// Parse reads the output of git diff-tree -r -p -U0 --no-renames with the prefixes a/ and
// b/.
func Parse(patch []byte) (Changes, error) {
	p := parser{rest: patch, ids: make(map[string]int)}
	if err := p.parse(); err != nil {
		return nil, err
	}
	m := p.findMoves()
	c := make(Changes)
	for _, h := range p.hunks {
		if ranges := h.changedLines(m); h.file != "" && len(ranges) > 0 {
			c[h.file] = append(c[h.file], ranges...)
		}
	}
	return c, nil
}

func (h hunk) changedLines(m moves) (ranges []Range) {
	for i, line := h.added.from, h.first; i < h.added.to; i, line = i+1, line+1 {
		switch last := len(ranges) - 1; {
		case m.added[i]:
		case last >= 0 && ranges[last].Last == line-1:
			ranges[last].Last = line
		default:
			ranges = append(ranges, Range{line, line})
		}
	}
	if len(ranges) == 0 && slices.Contains(m.removed[h.removed.from:h.removed.to], false) {
		after := h.first + h.added.to - h.added.from
		ranges = []Range{{after, after}}
	}
	return ranges
}
