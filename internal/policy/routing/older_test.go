package routing_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func identity(version, revision string) routing.Identity {
	return routing.Identity{Name: "routing", Version: version, Revision: revision}
}

// The order of pre-releases is the example of semver.org, 11.4.
func TestOlderFollowsSemanticVersions(t *testing.T) {
	ascending := []string{
		"0.0.1", "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
		"1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-1", "2.0.0", "10.0.0", "99999999999999999999.0.0", "100000000000000000000.0.0",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := routing.Older(identity(a, "9"), identity(b, "9")); got != (i < j) {
				t.Errorf("Older(%s, %s) = %v", a, b, got)
			}
		}
	}
}

func TestOfOneVersionTheRevisionDecides(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"1.2.0", "1.2.1", true},
		{"1.2.0-rc.1", "1.2.0", true},
		{"9", "10", true},
		{"20261121", "20261122", true},
		{"0", "1", true},
		{"10", "9", false},
		{"7", "7", false},
		{"", "1", false},
		{"1", "", false},
		{"4f0c2a1", "5f0c2a1", false}, // commit hashes have no order
		{"1", "1.0.0", false},         // a number and a version are not comparable
		{"007", "8", false},           // leading zeros make it not a plain number
		{"1.2.0+1", "1.2.0+2", false}, // build metadata is ignored (semver.org, 10)
		{"1.2.0+2", "1.2.1+1", true},
		{"v1.2.0", "v1.3.0", false},
		{"1.2.0", "1.2.0-alpha", false},
	} {
		if got := routing.Older(identity("1.2.0", tc.a), identity("1.2.0", tc.b)); got != tc.want {
			t.Errorf("revisions %q and %q: Older = %v", tc.a, tc.b, got)
		}
	}
}

func TestPoliciesOfOtherNamesHaveNoOrder(t *testing.T) {
	other := identity("2.0.0", "")
	other.Name = "other"
	if routing.Older(identity("1.0.0", ""), other) || routing.Older(other, identity("3.0.0", "")) {
		t.Error("policies of different names were ordered")
	}
	if routing.Older(routing.Identity{Name: "routing"}, identity("1.0.0", "")) {
		t.Error("a policy without a version was ordered")
	}
}

func anyIdentity(t *rapid.T, label string) routing.Identity {
	version := rapid.StringMatching(`[0-2]\.[0-2]\.0(-(a|b|1|a\.1|a\.b))?(\+[a-b])?`).Draw(t, label)
	return identity(version, rapid.OneOf(rapid.StringMatching(`[0-9]{0,2}`), rapid.StringMatching(`1\.[0-2]\.0(-a)?`), rapid.StringMatching(`[a-c]?`)).Draw(t, label))
}

// Older is a strict partial order, so a sequence of upgrades never returns to its start.
func TestOlderIsAStrictPartialOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyIdentity(t, "a"), anyIdentity(t, "b"), anyIdentity(t, "c")
		if routing.Older(a, a) {
			t.Fatalf("%+v is older than itself", a)
		}
		if routing.Older(a, b) && routing.Older(b, a) {
			t.Fatalf("%+v and %+v are both older", a, b)
		}
		if routing.Older(a, b) && routing.Older(b, c) && !routing.Older(a, c) {
			t.Fatalf("%+v, %+v, %+v: not transitive", a, b, c)
		}
	})
}

// If revisions are of one kind, the order is total up to equality.
func TestOlderOrdersVersionsTotally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		revision := rapid.SampledFrom([]string{`[1-9][0-9]{0,2}`, `1\.[0-2]\.[0-2](-a|-b)?`}).Draw(t, "kind")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) routing.Identity {
			return identity(rapid.StringMatching(`[0-2]\.[0-2]\.0(-(a|1|a\.1))?`).Draw(t, "version"), rapid.StringMatching(revision).Draw(t, "revision"))
		}), 2, 8).Draw(t, "list")
		slices.SortFunc(list, func(a, b routing.Identity) int {
			switch {
			case routing.Older(a, b):
				return -1
			case routing.Older(b, a):
				return 1
			default:
				return 0
			}
		})
		for i := range list {
			for j := range i {
				if routing.Older(list[i], list[j]) {
					t.Fatalf("%+v sorts behind %+v and is older", list[i], list[j])
				}
				if !routing.Older(list[j], list[i]) && list[i] != list[j] {
					t.Fatalf("%+v and %+v have no order", list[j], list[i])
				}
			}
		}
	})
}
