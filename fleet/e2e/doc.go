// Package e2e tests a fleet of real processes: a Temporal dev server, homes and workers,
// which the tests kill, stop and cut off.
//
// It contains only tests. They need the program that the variable SWITCHYARD_TEMPORAL
// names, and are skipped without it: make e2e builds the program and runs them.
package e2e
