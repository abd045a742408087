package adapter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// in returns a time zone.
func in(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// limited is the output of a CLI that reports an error with this message.
func limited(t testing.TB, name, message string) string {
	t.Helper()
	quoted, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(map[string]string{
		"claude":   `{"type":"result","is_error":true,"api_error_status":429,"result":%s}`,
		"codex":    `{"type":"turn.failed","error":{"message":%s}}`,
		"gemini":   `{"type":"result","status":"error","error":{"type":"Error","message":%s}}`,
		"opencode": `{"type":"error","error":{"name":"APIError","data":{"statusCode":429,"message":%s}}}`,
		"copilot":  `{"type":"session.error","data":{"errorType":"rate_limit","message":%s}}`,
	}[name], quoted) + "\n"
}

// failureAt is the failure of a run that ends at a time with this output.
func failureAt(a *adapter.Adapter, output string, at time.Time) *adapter.Failure {
	return read(a, []byte(output), adapter.Ended{ExitCode: 1, At: at}).Failure
}

func TestUsageLimitsEnd(t *testing.T) {
	berlin := in(t, "Europe/Berlin")
	now := time.Date(2026, 11, 22, 14, 30, 0, 0, berlin)
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	never := time.Time{}
	for _, c := range []struct {
		cli, says string
		want      time.Time
	}{
		{"claude", "You've hit your limit · resets 3pm (Europe/Berlin)", at(11, 22, 15, 0)},
		{"claude", "You've hit your session limit · resets 8:30pm (Asia/Tokyo)", at(11, 23, 12, 30)},
		{"claude", "You've hit your limit · resets 9am (UTC)", at(11, 23, 10, 0)},
		{"claude", "5-hour limit reached ∙ resets 1am", at(11, 23, 1, 0)},
		{"claude", "You've hit your limit · resets 2:25pm (Europe/Berlin)", at(11, 22, 14, 25)}, // It has just passed.
		{"claude", "You've hit your limit · resets 2:15pm (Europe/Berlin)", at(11, 23, 14, 15)},
		{"claude", "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", at(11, 22, 19, 0)},
		{"claude", "You've hit your weekly limit · resets Nov 28 at 7pm", at(11, 28, 19, 0)},
		{"claude", "You've hit your weekly limit · resets Nov 28, 10:59am (America/New_York)", at(11, 28, 16, 59)},
		{"claude", "You've hit your limit · resets Nov 28, 2026, 3:04\u202fPM (Europe/Berlin)", at(11, 28, 15, 4)},
		{"claude", "Claude AI usage limit reached|1795446000", time.Unix(1795446000, 0)},
		{"claude", "You've hit your limit · resets 3pm (Europe/Atlantis)", never},
		{"claude", "You've hit your limit · resets 3pm (Local)", never},
		{"claude", "You've hit your limit · resets 3pm (PST)", never}, // Which of several?
		{"claude", "You've hit your limit · resets 25pm", never},
		{"claude", "You've hit your limit · resets Feb 30 at 3pm", never},
		{"claude", "You've hit your limit · resets Dec 1 at 3pm", never}, // In more than eight days.
		{"claude", "You've hit your limit · resets Nov 20 at 3pm", never},
		{"claude", "You've hit your limit · resets soon", never},
		{"claude", "Claude AI usage limit reached|9999999999", never},

		{"codex", "You've hit your usage limit. Upgrade to Pro (https://openai.com/x) or try again at 3:41 PM.", at(11, 22, 15, 41)},
		{"codex", "You've hit your usage limit. Try again at Nov 23rd, 2026 9:41 PM.", at(11, 23, 21, 41)},
		{"codex", "You've hit your usage limit. Try again at Nov 23rd, 2025 9:41 PM.", never},
		{"codex", "You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", at(11, 25, 18, 35)},
		{"codex", "You've hit your usage limit. Try again in 5 days 22 hours 11\nminutes.", at(11, 28, 12, 41)},
		{"codex", "You've hit your usage limit. Try again in 9 days.", never},
		{"codex", "You've hit your usage limit. Try again later.", never},

		{"gemini", "You have exhausted your capacity on this model. Your quota will reset after 21h53m56s.", now.Add(21*time.Hour + 53*time.Minute + 56*time.Second)},
		{"opencode", "5-hour usage limit reached. It will reset in 3 hours 5 minutes. To continue", at(11, 22, 17, 35)},
		{"copilot", "Sorry, you've hit a rate limit that restricts. Please try again in 15 hours 23 minutes. Please review", at(11, 23, 5, 53)},
		{"copilot", "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds. (x)", now.Add(2733 * time.Second)},
		{"copilot", "You've reached your weekly rate limit. Please wait for your limit to reset on November 24, 2026 at 2:00 AM or", at(11, 24, 2, 0)},
	} {
		f := failureAt(embedded(t, c.cli), limited(t, c.cli, c.says), now)
		if f == nil || !f.ResetsAt.Equal(c.want) || f.Class != outcome.Quota {
			t.Errorf("%s, %q: %+v, want %v", c.cli, c.says, f, c.want)
		}
		f = failureAt(embedded(t, c.cli), limited(t, c.cli, c.says), time.Time{})
		if f == nil || !f.ResetsAt.IsZero() {
			t.Errorf("%s, %q, without a clock: %+v", c.cli, c.says, f)
		}
	}
}

// TestOtherErrorsAreNoUsageLimits checks that a rate limit that ends soon is not a quota,
// and that other errors have no end.
func TestOtherErrorsAreNoUsageLimits(t *testing.T) {
	for says, want := range map[string]outcome.Class{
		"Rate limit reached. Please try again in 11.054s. Visit":    outcome.RateLimit,
		"Rate limit reached. Please try again in 2 minutes":         outcome.RateLimit,
		"unexpected status 401 Unauthorized: try again at 3:41 PM.": outcome.Auth,
		"unexpected status 500: try again in 3 hours":               outcome.Overloaded,
	} {
		f := failureAt(embedded(t, "codex"), limited(t, "codex", says), time.Now())
		if f == nil || f.Class != want || !f.ResetsAt.IsZero() {
			t.Errorf("%q: %+v", says, f)
		}
	}
	// What is no error is not read for one.
	o := read(embedded(t, "claude"), []byte(result("You've hit your limit · resets 3pm")), adapter.Ended{At: time.Now()})
	if o.Failure != nil {
		t.Errorf("%+v", o.Failure)
	}
}

func TestUsageLimitsOfEvents(t *testing.T) {
	now := time.Date(2026, 11, 22, 14, 30, 0, 0, time.UTC)
	event := func(status string, at int64) string {
		return fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":%q,"resetsAt":%d,"rateLimitType":"five_hour"}}`+"\n", status, at)
	}
	soon, later := now.Add(time.Hour).Unix(), now.Add(2*time.Hour).Unix()
	failed := limited(t, "claude", "You've hit your limit")
	for output, want := range map[string]int64{
		event("rejected", soon) + failed:                             soon,
		event("rejected", soon) + event("rejected", later) + failed:  later,
		event("rejected", soon) + event("allowed", later) + failed:   soon,
		event("allowed_warning", soon) + failed:                      0,
		event("rejected", 1) + failed:                                0,
		event("rejected", soon) + limited(t, "claude", "resets 3pm"): soon,
	} {
		f := failureAt(embedded(t, "claude"), output, now)
		if got := f.ResetsAt; got.IsZero() != (want == 0) || want != 0 && got.Unix() != want {
			t.Errorf("%s: %v", output, got)
		}
	}
	headers := func(more string) string {
		return `{"type":"error","error":{"name":"APIError","data":{"statusCode":429,"message":"no","responseHeaders":{` + more + `}}}}` + "\n"
	}
	for output, want := range map[string]time.Time{
		headers(`"retry-after":"7200"`):                          now.Add(2 * time.Hour),
		headers(`"retry-after":"Sun, 22 Nov 2026 16:00:00 GMT"`): now.Add(90 * time.Minute),
		headers(fmt.Sprintf(`"retry-after":"5","anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"%d"`, soon)): now.Add(time.Hour),
		headers(`"retry-after":"5"`): {},
	} {
		f := failureAt(embedded(t, "opencode"), output, now.In(in(t, "Asia/Tokyo")))
		if !f.ResetsAt.Equal(want) || (f.Class == outcome.Quota) == want.IsZero() {
			t.Errorf("%s: %+v", output, f)
		}
	}
}

// A user's adapter may find times in other forms.
func TestUsageLimitsInOtherForms(t *testing.T) {
	now := time.Date(2026, 11, 22, 14, 30, 0, 0, in(t, "Asia/Tokyo"))
	for _, c := range []struct {
		rules []any
		says  string
		want  time.Time
	}{
		{rule("path", "at", "forms", []any{"2006-01-02T15:04:05Z07:00"}), "2026-11-22T09:00:00+02:00", time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)},
		{rule("path", "at", "forms", []any{"15:04"}, "zone", "UTC"), "07:00", time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)},
		{rule("path", "at", "forms", []any{"15:04"}), "07:00", time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)},
		{append(rule("path", "no", "forms", []any{"unix"}), rule("match", "until (.*)", "forms", []any{"unix", "15:04"})...), "until 16:00", time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)},
	} {
		fields := map[string]any{
			"name": "mine", "bin": "mine", "prompt": "stdin", "argv": []any{"run"}, "output": "json", "result": rule("path", "text"),
			"error": rule("where", "at", "class", "quota", "message", "at"), "resets": c.rules,
		}
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		a, err := adapter.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		f := failureAt(a, fmt.Sprintf("{\"at\":%q}\n", c.says), now)
		if !f.ResetsAt.Equal(c.want) {
			t.Errorf("%v of %q: %v, want %v", c.rules, c.says, f.ResetsAt, c.want)
		}
	}
}

// A time that the clock shows twice, or never, is not known.
func TestUsageLimitsWhileTheClockChanges(t *testing.T) {
	berlin := in(t, "Europe/Berlin")
	for says, c := range map[string]struct{ now, want time.Time }{
		"resets 2:30am": {now: time.Date(2026, 10, 24, 23, 0, 0, 0, berlin)}, // It is 2:30 twice.
		"resets 3:30am": {now: time.Date(2026, 10, 24, 23, 0, 0, 0, berlin), want: time.Date(2026, 10, 25, 2, 30, 0, 0, time.UTC)},
		"resets 2:40am": {now: time.Date(2026, 3, 28, 23, 0, 0, 0, berlin)}, // It is never 2:40.
		"resets 3:40am": {now: time.Date(2026, 3, 28, 23, 0, 0, 0, berlin), want: time.Date(2026, 3, 29, 1, 40, 0, 0, time.UTC)},
		// The year is the one that is near.
		"resets Jan 3 at 5pm": {now: time.Date(2026, 12, 30, 8, 0, 0, 0, berlin), want: time.Date(2027, 1, 3, 16, 0, 0, 0, time.UTC)},
		"resets Feb 29, 5pm":  {now: time.Date(2028, 2, 25, 8, 0, 0, 0, berlin), want: time.Date(2028, 2, 29, 16, 0, 0, 0, time.UTC)},
	} {
		f := failureAt(embedded(t, "claude"), limited(t, "claude", "You've hit your limit · "+says), c.now)
		if !f.ResetsAt.Equal(c.want) {
			t.Errorf("%s at %v: %v, want %v", says, c.now, f.ResetsAt, c.want)
		}
	}
}

// What claude prints of a time within a day leads back to that time, in any zone.
func TestUsageLimitsAreReadInAnyZone(t *testing.T) {
	a := embedded(t, "claude")
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Kiritimati", "Etc/GMT+5"}
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Unix(rapid.Int64Range(1.7e9, 2.2e9).Draw(rt, "now"), 0).In(in(t, rapid.SampledFrom(zones).Draw(rt, "zone")))
		zone := rapid.SampledFrom(zones).Draw(rt, "printed zone")
		ends := now.Add(time.Duration(rapid.Int64Range(0, int64(23*time.Hour)).Draw(rt, "after"))).In(in(t, zone)).Truncate(time.Minute)
		says := fmt.Sprintf("You've hit your limit · resets %s (%s)", strings.Replace(ends.Format("3:04pm"), ":00", "", 1), zone)
		f := failureAt(a, limited(t, "claude", says), now)
		if !f.ResetsAt.Equal(ends) && !(f.ResetsAt.IsZero() && changes(ends)) {
			rt.Fatalf("at %v %q is %v, want %v", now, says, f.ResetsAt, ends)
		}
	})
}

// changes reports whether the clock is changed within two hours of a time.
func changes(t time.Time) bool {
	_, before := t.Add(-2 * time.Hour).Zone()
	_, after := t.Add(2 * time.Hour).Zone()
	return before != after
}

// FuzzResets reads any message: the end of a limit is unknown or plausible.
func FuzzResets(f *testing.F) {
	for _, says := range []string{
		"hit your limit · resets 3pm (Europe/Berlin)", "usage limit reached|1795446000", "usage limit. Try again in 3 days 4 hours 5 minutes",
		"usage limit, try again at Mar 3rd, 2026 9:41 PM.", "weekly rate limit. limit to reset on April 20, 2026 at 2:00 AM",
	} {
		f.Add(says, int64(1795446000), 60)
	}
	adapters := map[string]*adapter.Adapter{}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "copilot"} {
		adapters[name] = embedded(f, name)
	}
	f.Fuzz(func(t *testing.T, says string, now int64, offset int) {
		at := time.Unix(now%4e9, 0).In(time.FixedZone("", offset%(14*60)*60))
		for name, a := range adapters {
			output := limited(t, name, strings.ToValidUTF8(says, ""))
			got := failureAt(a, output, at)
			if !got.ResetsAt.IsZero() && (got.ResetsAt.Sub(at) < -24*time.Hour || got.ResetsAt.Sub(at) > 8*24*time.Hour || got.Class != outcome.Quota) {
				t.Errorf("%s at %v: %+v", name, at, got)
			}
		}
	})
}
