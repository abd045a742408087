package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// TestAdoptionInTheMiddleOfARound adopts another policy at each moment at which a round
// reads the clock, the last of which is just before recording. The round must be decided
// by the policy adopted when it is recorded, or fail.
func TestAdoptionInTheMiddleOfARound(t *testing.T) {
	refused := 0
	for at := 1; ; at++ {
		s := newSummarized(t)
		s.adopt("routing@1.0.0")
		s.review("A", "style") // This stores the round's policy.
		looks := 0
		e := host.New(host.Options{
			Project: project.Project{Root: s.root, Dir: s.root}, Plugins: plugins.Config{}, By: "tess",
			Now: func() time.Time {
				if looks++; looks == at {
					s.adopt("routing@1.1.0")
				}
				return noon()
			},
			Warn: func(err error) { t.Error(err) },
		})
		d, err := e.Review(t.Context(), "B", s.report("style"))
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if looks < at {
			if at == 1 || refused == 0 {
				t.Errorf("a round looks at the clock %d times, and was never refused", at-1)
			}
			return
		}
		switch {
		case errs.CodeOf(err) == errs.PolicyChanged:
			refused++
		case err != nil:
			t.Errorf("look %d: %v", at, err)
		case d.Policy.Version != "1.1.0":
			t.Errorf("look %d: decided by %s", at, d.Policy.Version)
		}
		s.decidedAsAdopted()
	}
}

// decidedAsAdopted checks that each decision used the policy adopted last before it.
func (s *summarized) decidedAsAdopted() {
	s.Helper()
	adopted := ""
	for event, err := range s.Events(s.Context()) {
		if err != nil {
			s.Fatal(err)
		}
		var body struct {
			Policy   policies.Identity `json:"policy"`
			Decision struct {
				Policy policies.Identity `json:"policy"`
			} `json:"decision"`
		}
		if err := json.Unmarshal(event.Body, &body); err != nil {
			s.Fatal(err)
		}
		switch event.Kind {
		case "policy-adopted":
			adopted = body.Policy.Digest
		case "round-decided":
			if body.Decision.Policy.Digest != adopted {
				s.Errorf("event %d is decided by %s, and %.19s is adopted", event.Seq, body.Decision.Policy.Version, adopted)
			}
		}
	}
}
