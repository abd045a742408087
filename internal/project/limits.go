package project

import (
	"strconv"
	"strings"
	"time"
)

// Limits are the limits of plugins. A zero field means the default.
type Limits struct {
	// Memory, Report and Output are in bytes.
	Memory, Report, Output int64
	Time                   time.Duration
}

// The maximum limits. An agent may have written the project's files, and a plugin without
// limits could exhaust the machine.
const (
	maxBytes = 1 << 30
	maxTime  = time.Minute
)

func (l *Limits) read(v value) {
	v.mapping(fields{
		"memory": func(v value) { l.Memory = v.size() },
		"report": func(v value) { l.Report = v.size() },
		"output": func(v value) { l.Output = v.size() },
		"time":   func(v value) { l.Time = v.duration(time.Millisecond, maxTime, "from 1ms to 1m, such as 2s") },
	})
}

func (v value) size() int64 {
	return v.sizeBetween(1<<10, maxBytes, "from 1KiB to 1GiB, such as 64MiB")
}

func (v value) sizeBetween(least, most int64, rule string) int64 {
	n, ok := byteSize(v.node.Value)
	if !v.isText() || !ok || n < least || n > most {
		v.expected("%s", rule)
	}
	return n
}

// byteSize parses a size in binary units (IEC 80000-13), such as 64MiB.
func byteSize(text string) (int64, bool) {
	for unit, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		size := int64(n) * factor
		return size, err == nil && size > 0
	}
	return 0, false
}
