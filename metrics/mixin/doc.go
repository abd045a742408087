// Package mixin is what a Prometheus server and a Grafana need to watch Switchyard:
// recording rules, alerts and a dashboard.
//
// They are written here, over the metrics that package metrics describes, and
// generated into the YAML and JSON files of this folder: go run
// ./metrics/mixin/generate writes them, and make mixin-check and this package's tests
// hold the files against it. Vocabulary.Check holds every expression against the
// description, so that neither a metric nor a label can be misspelt or outlive its
// removal.
//
// # Sums before increases
//
// The usual rule is to take the rate of each series first and then the sum, because
// every process starts its counters anew. Ours do not: all series of an exposition
// are folds of one ledger as of one moment, and start anew only together, with
// another ledger. So the rules sum first, and take the increase of the sum. That
// counts what would be lost otherwise: the first event of a series that nobody could
// know before, as the first fallback for a reason, appears as a series of 1, and a
// series that appears has not increased. Sums start at 0 where nothing was counted
// (see zero), and are taken without the labels of the metric, so that they keep what
// tells ledgers apart, whatever that is: job, instance, and labels of one's own.
//
// The windows are an hour, a day and a week, because rounds take minutes, and there
// may be few a day. Against a scrape every minute the extrapolation of increase is
// below 2 % then. What is divided by nothing is absent, neither 0 nor NaN.
package mixin
