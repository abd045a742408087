// Package e2e runs whole rounds of the real program with real agent CLIs, which
// talk to a mock of their model's API on the loopback interface.
//
// It has tests alone, and they are for those who ask: make e2e, or go test with
// SWITCHYARD_E2E=1. They install pinned versions of the CLIs with npm, some hundred
// megabytes each, once into the folder that SWITCHYARD_E2E_CACHE names, by default
// switchyard-e2e in the user's cache folder. Where npm is missing or cannot
// install, they are skipped and say so.
//
// Nothing else is asked for: keys are dummies, each CLI's API is the mock, and
// what CLIs send besides is switched off by our adapters. What a model answers is
// one of the scenarios in this package, chosen by the path of its base URL.
package e2e
