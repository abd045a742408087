package ledger

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestAFailedLookUpIsNotForgotten tests that the result of a fold that takes a failed
// look-up for an absent entry is rejected.
func TestAFailedLookUpIsNotForgotten(t *testing.T) {
	why := errors.New("unreadable")
	for asked, ask := range map[string]func(*View, string){
		"one by one": func(v *View, key string) { v.Entry(key) },
		"together":   func(v *View, key string) { v.Entries([]string{"other", key}) },
	} {
		for name, outcome := range map[string]error{"going on": nil, "failing": errors.New("another")} {
			t.Run(asked+", "+name, func(t *testing.T) {
				_, err := project(func(before *View, _ Event) (Projection, error) {
					for _, key := range []string{"sound", "broken", "sound"} {
						ask(before, key)
					}
					return Projection{State: []byte(`{}`)}, outcome
				}, &View{load: func(keys []string) (map[string]jsontext.Value, error) {
					if slices.Contains(keys, "broken") {
						return nil, why
					}
					return nil, nil
				}}, Event{})
				if err != why {
					t.Errorf("project gives %v", err)
				}
			})
		}
	}
}
