package project

import (
	"strconv"
	"strings"
	"time"
)

// Limits are what the project grants its plugins. A zero field stands for the
// default.
type Limits struct {
	// Memory, Report and Output are in bytes.
	Memory, Report, Output int64
	Time                   time.Duration
}

// limitsFile is plugin_limits as it is written.
type limitsFile struct {
	Memory string `yaml:"memory"`
	Time   string `yaml:"time"`
	Report string `yaml:"report"`
	Output string `yaml:"output"`
}

// The most that a project can grant. Its files may have been written by an agent,
// and a plugin that may take everything is not limited.
const (
	maxBytes = 1 << 30
	maxTime  = time.Minute
)

func (f limitsFile) limits() (Limits, error) {
	var l Limits
	for _, size := range []struct {
		name, text string
		into       *int64
	}{{"memory", f.Memory, &l.Memory}, {"report", f.Report, &l.Report}, {"output", f.Output, &l.Output}} {
		if size.text == "" {
			continue
		}
		n, ok := byteSize(size.text)
		if !ok {
			return Limits{}, invalidConfig("plugin_limits.%s is %q; it must be from 1KiB to 1GiB, such as 64MiB", size.name, size.text)
		}
		*size.into = n
	}
	if f.Time != "" {
		d, err := time.ParseDuration(f.Time)
		if err != nil || d < time.Millisecond || d > maxTime {
			return Limits{}, invalidConfig("plugin_limits.time is %q; it must be from 1ms to %s, such as 2s", f.Time, maxTime)
		}
		l.Time = d
	}
	return l, nil
}

// byteSize reads a size in binary units (IEC 80000-13): 64MiB.
func byteSize(text string) (int64, bool) {
	for unit, factor := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		size := int64(n) * factor
		return size, err == nil && size > 0 && size <= maxBytes
	}
	return 0, false
}
