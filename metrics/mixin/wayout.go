package mixin

import "fmt"

// wayOutAlerts tell whether the metrics arrive.
//
// How old they are does not tell it: metrics change when a command records something,
// and a project where nothing happens is not stale. What tells is that they were there
// and are gone, whichever way they came: that a target is down, a file was removed or
// cannot be read, or a group was deleted.
func wayOutAlerts(t Thresholds) Group {
	hold := span(t.For)
	const seen = "max_over_time(switchyard_ledger_events_total[1d])"
	return Group{Name: "switchyard.ways-out", Interval: "1m", Rules: []Rule{
		alert("SwitchyardExporterStale", critical, hold,
			"the metrics of a ledger were there within a day, and are gone",
			seen+"\nunless switchyard_ledger_events_total",
			"The metrics of LEDGER are gone",
			"They were there within the last day, and are not any more."),
		alert("SwitchyardExporterDown", critical, hold,
			"metrics serve cannot be scraped",
			fmt.Sprintf("up{job=%q} == 0", t.Job),
			"switchyard metrics serve does not answer on LEDGER",
			"The scrape fails: the process has ended, cannot be reached, or cannot read its ledger."),
		alert("SwitchyardTextfileUnreadable", warning, hold,
			"node_exporter cannot read a text file, where ours are among them",
			"node_textfile_scrape_error > 0\nand on (job, instance) "+seen,
			"node_exporter on LEDGER cannot read a text file",
			"One of the files in the folder of its textfile collector cannot be read, and Switchyard's metrics come from there."),
		alert("SwitchyardPushRefused", warning, hold,
			"the Pushgateway refused the last push",
			fmt.Sprintf("push_failure_time_seconds{job=%[1]q} > push_time_seconds{job=%[1]q}", t.Job),
			"The Pushgateway refused the metrics of LEDGER",
			"The last push was refused, and what is shown is older."),
	}}
}
