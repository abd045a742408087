package main

import "github.com/switchyard-dev/switchyard/internal/errs"

// metricsErrors are those of the ways that metrics leave.
func metricsErrors() []errorGroup {
	return []errorGroup{
		{"Metrics", []errorEntry{
			{"metrics-ledger-gone", "The metrics are served, and the ledger that was there is not any more.", "put it back; where it was removed for good, start switchyard metrics serve again"},
			{"metrics-label-invalid", "A constant label of the metrics has a name or a value that Prometheus does not take, or a metric has a label of that name already.", "give the label another name; docs/metrics.md has those of the metrics"},
			{"textfile-unwritable", "The file for node_exporter cannot be written: its folder is missing or read-only, the disk is full, or another process keeps writing it.", "make the folder and let this user write to it; the file of before is as it was"},
			{"textfile-refused", "The file for node_exporter must not be written: its name does not end in .prom, it is a link or a device, it has metrics that are not ours, or it is that of a younger ledger.", "name another file, or remove this one if nobody needs it"},
			{"push-target-invalid", "The URL of a Pushgateway, the job or a label of the group cannot be that of a push.", "the message says which; switchyard help metrics push says what they are"},
			{"push-refused", "The Pushgateway does not take the metrics, and would not take them later either. The details have its status and its reason.", "check the URL, the user and the password; metrics of one name must have one type at a gateway"},
			{"push-unavailable", "The Pushgateway could not be reached or did not take the metrics in time, although it was tried several times.", "check that it runs and can be reached; then push again, for nothing is lost: the ledger has it all"},
			{"listen-failed", "Metrics cannot be served at the address: another program has the port, this user may not take it, or the machine has no such address.", "name another with --listen; port 0 takes a free one"},
			{"web-config-invalid", "The web configuration file cannot be read or is not valid, or a certificate or key that it names is not.", "mend what the message names; paths in the file are relative to it"},
			{errs.PageForeign, "The file of stats --html is there already and is no such page, so it was left alone.", "name another file, or remove this one if nobody needs it"},
		}},
	}
}
