package project_test

import (
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

func TestTranscripts(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]transcript.Limits{
		"off":                       {},
		"{keep: 1d}":                {Age: day, Size: 200 << 20},
		"{keep: 3650d, size: 1GiB}": {Age: 3650 * day, Size: 1 << 30},
		"{size: 4KiB}":              {Age: 30 * day, Size: 4 << 10},
	} {
		if c, err := configured(t, "transcripts: "+text+"\n"); err != nil || c.Transcripts != want {
			t.Errorf("%s: %+v, %v", text, c.Transcripts, err)
		}
	}
	for text, problem := range map[string]string{
		"on":            `transcripts is "on"; it must be off, or a mapping of keep and size`,
		"false":         "transcripts is false; it must be off, or a mapping of keep and size",
		"[]":            "transcripts is a list; it must be off, or a mapping of keep and size",
		"{keep: 30}":    "transcripts.keep is 30; it must be from 1d to 3650d, such as 30d",
		"{keep: 0d}":    "transcripts.keep",
		"{keep: 3651d}": "transcripts.keep",
		"{keep: -1d}":   "transcripts.keep",
		"{keep: 720h}":  "transcripts.keep",
		"{size: 200}":   "transcripts.size",
		"{size: 2GiB}":  "transcripts.size",
		"{size: 3KiB}":  `transcripts.size is "3KiB"; it must be from 4KiB to 1GiB, such as 64MiB`,
		"{days: 30}":    "unknown key transcripts.days",
	} {
		if _, err := configured(t, "transcripts: "+text+"\n"); errs.CodeOf(err) != errs.ConfigInvalid || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
