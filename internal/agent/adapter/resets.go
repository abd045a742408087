package adapter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/lazy"
)

const (
	// longWait is the longest wait at a rate limit. If the API asks for more, a quota is used
	// up.
	longWait = 10 * time.Minute
	// A usage limit ends at most maxPast before the output reports it, and at most maxAhead
	// after that. Other times were misread.
	maxPast, maxAhead = 24 * time.Hour, 8 * 24 * time.Hour
	// justPast is the longest time since which a time of day may have passed. An earlier one
	// means the next day.
	justPast = 10 * time.Minute
)

// resetRule finds the end of a usage limit at Path in an event, or with Match in the message
// of an error.
type resetRule struct {
	Where where       `field:"where"`
	Path  paths       `field:"path"`
	Match groupFinder `field:"match"`
	// Forms are tried in turn.
	Forms []timeForm `field:"forms,required"`
	// Zone is the zone of times that do not have one, nil for the CLI's zone. A group of Match
	// with the name zone takes precedence.
	Zone zone `field:"zone"`
}

// zone is a time zone with an IANA name. The Location may be nil.
type zone struct{ *time.Location }

func (z *zone) parse(text string) (err error) {
	if z.Location, err = location(text); err != nil {
		return fmt.Errorf("must be the name of a time zone, such as UTC or Europe/Berlin")
	}
	return nil
}

// location returns a time zone by its IANA name. It refuses Go's names for the local zone.
func location(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, errors.New("not the name of a zone")
	}
	return time.LoadLocation(name)
}

// resetTime returns the time of the first rule that finds one. found has the texts that the
// rules found in events, by rule.
func (a *spec) resetTime(found []string, message string, at time.Time) time.Time {
	for i, r := range a.Resets {
		text, in := found[i], at.Location()
		if r.Zone.Location != nil {
			in = r.Zone.Location
		}
		if r.Match.Regexp != nil {
			m := r.Match.FindStringSubmatch(message)
			if m == nil {
				continue
			}
			text = m[1]
			if group := r.Match.SubexpIndex("zone"); group >= 0 && m[group] != "" {
				var err error
				if in, err = location(m[group]); err != nil {
					continue
				}
			}
		}
		for _, form := range r.Forms {
			if t := form.time(text, at.In(in)); !t.IsZero() {
				return t
			}
		}
	}
	return time.Time{}
}

// findReset sets the end of the usage limit that caused a failure.
func (r *Reader) findReset(f *Failure, at time.Time) {
	if f == nil || f.Class != outcome.Quota && f.Class != outcome.RateLimit {
		return
	}
	long := f.RetryAfter > longWait
	if !at.IsZero() {
		f.ResetsAt = r.spec.resetTime(r.resets, f.Message, at)
		if f.ResetsAt.IsZero() && f.RetryAfter > 0 && (long || f.Class == outcome.Quota) {
			f.ResetsAt = plausible(at.Add(f.RetryAfter), at)
		}
	}
	if long || !f.ResetsAt.IsZero() {
		f.Class = outcome.Quota
	}
}

// plausible returns t, or the zero time if a usage limit cannot end then.
func plausible(t, at time.Time) time.Time {
	if t.Before(at.Add(-maxPast)) || t.After(at.Add(maxAhead)) {
		return time.Time{}
	}
	return t
}

// timeForm is a form of a time: Unix seconds, or a layout of the package time with an
// hour, perhaps a day, and then perhaps a year.
type timeForm struct {
	layout string // "" for Unix seconds
	// zoned is set if the layout has the offset from UTC.
	day, year, zoned bool
}

func (f *timeForm) parse(text string) error {
	if text == "unix" {
		return nil
	}
	sample := time.Date(2001, 2, 3, 16, 0, 0, 0, time.FixedZone("ABC", 3*60*60))
	parsed, err := time.Parse(text, sample.Format(text))
	*f = timeForm{
		layout: text, day: parsed.Month() == 2 && parsed.Day() == 3, year: parsed.Year() == 2001, zoned: parsed.Equal(sample),
	}
	switch {
	case err != nil || parsed.Hour() != sample.Hour():
		return errors.New("must be unix, or a layout of a time as in Go, with an hour: Jan 2, 2006 3:04PM")
	case !f.day && sample.Format(text) != sample.AddDate(1, 1, 1).Format(text):
		return errors.New("must have a month and a day, or no part of a date")
	case !f.zoned && sample.Format(text) != sample.UTC().Add(3*time.Hour).Format(text):
		return errors.New("must not have a zone, except the offset from UTC after a date with a year")
	}
	return nil
}

// time parses a text in the zone of at. It takes a missing year or day from the time nearest
// to at. It returns the zero time for a text that has another form, is ambiguous or is
// implausible.
func (f timeForm) time(text string, at time.Time) time.Time {
	if f.layout == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return time.Time{}
		}
		return plausible(time.Unix(seconds, 0), at)
	}
	parsed, err := time.Parse(f.layout, plainTime(text))
	switch {
	case err != nil:
		return time.Time{}
	case f.zoned:
		return plausible(parsed, at)
	case f.day && f.year:
		return plausible(onDay(parsed, parsed.Year(), parsed.Month(), parsed.Day(), at.Location()), at)
	case f.day:
		for year := at.Year() - 1; year <= at.Year()+1; year++ {
			if t := plausible(onDay(parsed, year, parsed.Month(), parsed.Day(), at.Location()), at); !t.IsZero() {
				return t
			}
		}
		return time.Time{}
	}
	for days := -1; days <= 1; days++ {
		day := at.AddDate(0, 0, days)
		t := onDay(parsed, day.Year(), day.Month(), day.Day(), at.Location())
		if first := at.Add(-justPast); !t.Before(first) && t.Before(first.AddDate(0, 0, 1)) {
			return t
		}
	}
	return time.Time{}
}

// onDay returns a time of a day, or the zero time if the clock shows it twice or never because
// it is changed on that day.
func onDay(clock time.Time, year int, month time.Month, day int, in *time.Location) time.Time {
	t := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), 0, in)
	if t.Day() != day || t.Hour() != clock.Hour() || t.Minute() != clock.Minute() {
		return time.Time{}
	}
	for _, change := range []time.Duration{30 * time.Minute, time.Hour, -30 * time.Minute, -time.Hour} {
		if other := t.Add(change); other.Hour() == t.Hour() && other.Minute() == t.Minute() {
			return time.Time{}
		}
	}
	return t
}

var (
	ordinal  = lazy.Regexp(`(\d)(?:st|nd|rd|th)\b`)
	meridiem = lazy.Regexp(`(?i)(\d)\s*([ap])\.?m\b\.?`)
)

// plainTime normalizes a time for layouts: with single spaces, without ordinals, and with AM
// and PM in capitals next to the digits.
func plainTime(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = ordinal().ReplaceAllString(text, "$1")
	return meridiem().ReplaceAllStringFunc(text, func(found string) string {
		m := meridiem().FindStringSubmatch(found)
		return m[1] + strings.ToUpper(m[2]) + "M"
	})
}
