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

// span is the range of one value in the data.
type span struct{ start, end int }

// elements yields the values of the array at i, or nothing if it is not an array.
func elements(data []byte, i int) func(yield func(int, span) bool) {
	return func(yield func(int, span) bool) {
		if i >= len(data) || data[i] != '[' {
			return
		}
		i++
		for n := 0; ; n++ {
			i = value(data, i)
			if i >= len(data) || data[i] == ']' {
				return
			}
			s := span{i, valueEnd(data, i)}
			if !yield(n, s) {
				return
			}
			i = s.end
		}
	}
}

// members yields the keys, with quotes, and the values of the object at i, or nothing
// if it is not an object.
func members(data []byte, i int) func(yield func(key []byte, value span) bool) {
	return func(yield func([]byte, span) bool) {
		if i >= len(data) || data[i] != '{' {
			return
		}
		i++
		for {
			i = value(data, i)
			if i >= len(data) || data[i] == '}' {
				return
			}
			end := valueEnd(data, i)
			key := data[i:end]
			i = value(data, end)
			s := span{i, valueEnd(data, i)}
			if !yield(key, s) {
				return
			}
			i = s.end
		}
	}
}
