package linediff

// moves says which removed and added lines of a patch were moved, by their indexes in the
// parser's lists.
type moves struct{ removed, added []bool }

const (
	// minWeight is the number of letters and digits that a moved block has at least, as in
	// git diff --color-moved: two equal closing braces are not a moved block.
	minWeight = 20
	// maxPlaces limits the places that are tried for a block. Lines that are in more places
	// are not significant.
	maxPlaces = 32
)

// findMoves finds the blocks of added lines that were removed in another place. It takes
// the longest block from each line on. A removed line is moved to one place at most.
func (p *parser) findMoves() moves {
	m := moves{make([]bool, len(p.removed)), make([]bool, len(p.added))}
	places := make([][]int, len(p.ids)+1) // of removed lines, by id
	for at, id := range p.removed {
		places[id] = append(places[id], at)
	}
	weights := make([]int, len(p.ids)+1)
	for text, id := range p.ids {
		weights[id] = weight(text)
	}
	// block returns the length of the block that was moved from at to to.
	block := func(at, to int) (n int) {
		for to+n < len(p.added) && at+n < len(p.removed) && p.added[to+n] != 0 && p.added[to+n] == p.removed[at+n] && !m.removed[at+n] {
			n++
		}
		return n
	}
	for to := 0; to < len(p.added); {
		id, from, length := p.added[to], 0, 0
		if id != 0 {
			for len(places[id]) > 0 && m.removed[places[id][0]] {
				places[id] = places[id][1:]
			}
			for _, at := range places[id][:min(len(places[id]), maxPlaces)] {
				if n := block(at, to); n > length {
					from, length = at, n
				}
			}
		}
		total := 0
		for _, id := range p.added[to : to+length] {
			total += weights[id]
		}
		end := to + length
		if total >= minWeight {
			fill(m.added[to:end])
			fill(m.removed[from : from+length])
			to = end
			continue
		}
		// A longer block may begin at the next line. Lines without weight are left out, so that
		// no line is compared more than minWeight times for each place.
		for to++; to < end && weights[p.added[to]] == 0; to++ {
		}
	}
	return m
}

func fill(all []bool) {
	for i := range all {
		all[i] = true
	}
}

// weight counts the letters and digits of a text. A byte beyond ASCII is part of a letter.
func weight(text string) (n int) {
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			n++
		}
	}
	return n
}
