package main

import "github.com/switchyard-dev/switchyard/internal/errs"

// metricsErrors lists the codes of the exporters.
func metricsErrors() []errorGroup {
	return []errorGroup{
		{"Metrics", []errorEntry{
			{errs.MetricsLedgerGone, "The ledger whose metrics are served was removed.", "restore it; if it was removed on purpose, start switchyard metrics serve again"},
			{errs.MetricsLabelInvalid, "A constant label of the metrics has a name or a value that Prometheus does not accept, or a metric has a label of that name already.", "give the label another name; docs/metrics.md has those of the metrics"},
			{errs.TextfileUnwritable, "The file for node_exporter cannot be written: its folder is missing or read-only, the disk is full, or another process keeps writing it.", "make the folder and let this user write to it; the previous file is unchanged"},
			{errs.TextfileRefused, "The file for node_exporter must not be written: its name does not end in .prom, it is a link or a device, it has metrics that are not ours, or it is that of a younger ledger.", "name another file, or remove this one if it is not needed"},
			{errs.PushTargetInvalid, "The URL of a Pushgateway, the job or a label of the group cannot be that of a push.", "the message names it; see switchyard help metrics push"},
			{errs.PushRefused, "The Pushgateway rejects the metrics, and would reject them again. The details have its status and its reason.", "check the URL, the user and the password; metrics of one name must have one type at a gateway"},
			{errs.PushUnavailable, "The Pushgateway could not be reached or did not take the metrics in time, although it was tried several times.", "check that it runs and can be reached; then push again; nothing is lost, because the ledger has all counters"},
			{errs.ListenFailed, "Metrics cannot be served at the address: another program has the port, this user may not take it, or the machine has no such address.", "name another with --listen; port 0 takes a free one"},
			{errs.WebConfigInvalid, "The web configuration file cannot be read or is not valid, or a certificate or key that it names is not.", "fix the setting that the message names; paths in the file are relative to it"},
			{errs.PageForeign, "The file of stats --html exists and is not such a page, so it was left alone.", "name another file, or remove this one if it is not needed"},
		}},
	}
}
