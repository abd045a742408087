package document

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
		depth := 0
		for ; i < len(data); i++ {
			switch data[i] {
			case '"':
				i = stringEnd(data, i) - 1
			case '[', '{':
				depth++
			case ']', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(data)
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
