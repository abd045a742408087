package project

import (
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// maxDays is the maximum number of days for which a transcript is stored.
const maxDays = 3650

func defaultTranscripts() transcript.Limits {
	return transcript.Limits{Age: 30 * 24 * time.Hour, Size: 200 << 20}
}

// readTranscripts reads the limits of transcripts, which are zero if they are off.
func readTranscripts(v value) transcript.Limits {
	l := defaultTranscripts()
	if v.node.Kind != yaml.MappingNode && !v.isEmpty() {
		if v.node.Value != "off" {
			v.expected("off, or a mapping of keep and size")
		}
		return transcript.Limits{}
	}
	v.mapping(fields{
		"keep": func(v value) { l.Age = v.days() },
		"size": func(v value) {
			l.Size = v.sizeBetween(transcript.MinSize, maxBytes, "from 4KiB to 1GiB, such as 64MiB")
		},
	})
	return l
}

// days reads a number of days, such as 30d.
func (v value) days() time.Duration {
	digits, ok := strings.CutSuffix(v.node.Value, "d")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !v.isText() || !ok || err != nil || n < 1 || n > maxDays {
		v.expected("from 1d to %dd, such as 30d", maxDays)
	}
	return time.Duration(n) * 24 * time.Hour
}
