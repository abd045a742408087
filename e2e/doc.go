// Package e2e runs whole rounds of the real program with real agent CLIs, which talk to
// a mock of their model's API on the loopback interface.
//
// It contains only tests, and they run only if requested: make e2e, or go test with
// SWITCHYARD_E2E=1. They install pinned versions of the CLIs with npm, a few hundred
// megabytes each, once into the directory that SWITCHYARD_E2E_CACHE names, by default
// switchyard-e2e in the user's cache directory. If npm is missing or cannot install,
// the tests are skipped with a message.
//
// The tests need no keys and no network besides npm: keys are dummies, each CLI's API
// is the mock, and our adapters switch off the CLIs' other requests. The model's
// answers are scenarios in this package, selected by the path of its base URL.
package e2e
