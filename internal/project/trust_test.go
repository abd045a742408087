package project_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/project"
)

func TestConfigOfTrust(t *testing.T) {
	key := project.TrustKey{ID: "release-2026", Algorithm: "ES256", File: "keys/policy.pem", Scope: "switchyard"}
	secret := project.TrustKey{ID: "ci", Algorithm: "HS256", Env: "POLICY_SECRET"}
	for text, want := range map[string][]project.TrustKey{
		"{keys: [{id: release-2026, algorithm: ES256, file: keys/policy.pem, scope: switchyard}]}": {key},
		"{keys: [{id: ci, algorithm: HS256, env: POLICY_SECRET}, {id: release-2026, algorithm: ES256, file: keys/policy.pem, scope: switchyard}]}": {
			secret, key,
		},
	} {
		c, err := configured(t, "policy_trust: "+text+"\n")
		if err != nil || !reflect.DeepEqual(c.TrustKeys, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, c.TrustKeys, err, want)
		}
	}
}

// TestConfigSaysWhatIsWrongWithTrust checks that an invalid trust section is an error and
// never ignored.
func TestConfigSaysWhatIsWrongWithTrust(t *testing.T) {
	for text, says := range map[string]string{
		"":                                    "policy_trust.keys must have a key at least",
		"{}":                                  "policy_trust.keys must have a key at least",
		"{keys: []}":                          "policy_trust.keys must have a key at least",
		"{key: []}":                           "unknown key policy_trust.key; did you mean policy_trust.keys?",
		"{keys: [{id: a, algorithm: ES256}]}": "the key a needs file or env, and not both",
		"{keys: [{id: a, algorithm: ES256, file: f, env: E}]}":                             "the key a needs file or env, and not both",
		"{keys: [{algorithm: ES256, file: f}]}":                                            "a key needs id and algorithm",
		"{keys: [{id: a, file: f}]}":                                                       "a key needs id and algorithm",
		"{keys: [{id: a, algorithm: ES256, file: ../f}]}":                                  "is not in the project",
		"{keys: [{id: a, algorithm: ES256, file: /f}]}":                                    "is not in the project",
		"{keys: [{id: a b, algorithm: ES256, file: f}]}":                                   "visible characters",
		"{keys: [{id: a, algorithm: ES256, env: 1A}]}":                                     "no digit first",
		"{keys: [{id: a, algorithm: none-such, file: f}]}":                                 "an algorithm such as ES256",
		"{keys: [{id: a, algorithm: ES256, file: f}, {id: a, algorithm: RS256, file: g}]}": "has the key a twice",
		"{allow_rollback: true, keys: [{id: a, algorithm: ES256, file: f}]}":               "unknown key policy_trust.allow_rollback",
		"{keys: [" + strings.Repeat("{id: a, algorithm: ES256, file: f}, ", 33) + "]}":     "has more than 32 entries",
		"{keys: {id: a, algorithm: ES256, file: f}}":                                       "policy_trust.keys is a mapping; it must be a list",
	} {
		wantInvalid(t, "policy_trust: "+text+"\n", says)
	}
}
