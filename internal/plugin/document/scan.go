package document

import "math"

// The functions below scan checked JSON. They return offsets into data, and neither
// copy nor recurse. On invalid JSON they end and stay inside data, but their results
// are meaningless.

// value returns the offset of the next value at or after i.
func value(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			return i
		}
	}
	return i
}

// stringEnd returns the offset after the closing quote of the string at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// valueEnd returns the offset after the value at i.
func valueEnd(data []byte, i int) int {
	if i >= len(data) {
		return len(data)
	}
	switch data[i] {
	case '"':
		return stringEnd(data, i)
	case '[', '{':
		end, _, _ := containerEnd(data, i, math.MaxInt)
		return end
	default:
		for i < len(data) {
			switch data[i] {
			case ' ', '\t', '\r', '\n', ',', ']', '}':
				return i
			}
			i++
		}
		return i
	}
}

// containerEnd returns the offset after the array or object at i, and its nesting. If that
// exceeds the limit, it returns false, and the offset at which it does.
func containerEnd(data []byte, i, limit int) (end, nesting int, ok bool) {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '[', '{':
			if depth++; depth > limit {
				return i, depth, false
			}
			nesting = max(nesting, depth)
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1, nesting, true
			}
		}
	}
	return len(data), nesting, true
}
