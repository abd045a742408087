package metrics

type kind int

const (
	counter kind = iota
	gauge
	timer
)

// description describes a metric of the SDK. The tags in labels are exported. Other tags have
// the same value for a whole process, or one for each workflow.
type description struct {
	kind       kind
	name, help string
	labels     []string
}

// descriptions describes the metrics of the parts of the SDK that a fleet uses.
func descriptions() []description {
	var (
		none      []string
		queue     = []string{"task_queue"}
		workflow  = []string{"workflow_type"}
		activity  = []string{"activity_type"}
		scheduled = []string{"task_queue", "activity_type"}
		operation = []string{"operation"}
		failure   = []string{"operation", "status_code"}
		exhausted = []string{"operation", "cause"}
		slots     = []string{"task_queue", "worker_type"}
		pollers   = []string{"task_queue", "poller_type"}
	)
	return []description{
		{counter, "temporal_workflow_completed", "Workflows that ended without an error.", workflow},
		{counter, "temporal_workflow_canceled", "Workflows that ended as cancelled.", workflow},
		{counter, "temporal_workflow_failed", "Workflows that ended with an error.", workflow},
		{counter, "temporal_workflow_continue_as_new", "Workflows that continued as a new run.", workflow},
		{timer, "temporal_workflow_endtoend_latency", "Time from the start of a run of a workflow to its end.", workflow},
		{counter, "temporal_workflow_task_execution_failed", "Workflow tasks that failed.", []string{"workflow_type", "failure_reason"}},
		{timer, "temporal_workflow_task_execution_latency", "Time that workflow tasks took.", workflow},
		{timer, "temporal_workflow_task_replay_latency", "Time that the replay of histories took.", workflow},
		{timer, "temporal_workflow_task_schedule_to_start_latency", "Time that workflow tasks waited for a worker.", queue},
		{counter, "temporal_workflow_task_queue_poll_empty", "Polls for workflow tasks that returned none.", queue},
		{counter, "temporal_workflow_task_queue_poll_succeed", "Polls for workflow tasks that returned one.", queue},
		{counter, "temporal_corrupted_signals", "Signals that could not be decoded.", workflow},

		{timer, "temporal_activity_schedule_to_start_latency", "Time that activities waited for a worker.", scheduled},
		{timer, "temporal_activity_execution_latency", "Time that attempts of activities took.", activity},
		{timer, "temporal_activity_succeed_endtoend_latency", "Time from the start of an activity to its success, with all attempts.", activity},
		{counter, "temporal_activity_execution_failed", "Attempts of activities that returned an error.", activity},
		{counter, "temporal_activity_task_error", "Activities that panicked, or whose result could not be sent.", activity},
		{counter, "temporal_activity_poll_no_task", "Polls for activities that returned none.", queue},
		{counter, "temporal_unregistered_activity_invocation", "Activities that this worker does not have.", activity},

		{counter, "temporal_worker_start", "Starts of workers, by what they poll for.", slots},
		{gauge, "temporal_worker_task_slots_available", "Tasks that the worker could take beyond those that it has.", slots},
		{gauge, "temporal_worker_task_slots_used", "Tasks that the worker has.", slots},
		{counter, "temporal_poller_start", "Starts of pollers.", slots},
		{gauge, "temporal_num_pollers", "Polls that wait for tasks now.", pollers},
		{gauge, "temporal_sticky_cache_size", "Workflows in the cache.", none},
		{counter, "temporal_sticky_cache_hit", "Workflow tasks whose workflow was in the cache.", none},
		{counter, "temporal_sticky_cache_miss", "Workflow tasks whose workflow had to be replayed.", none},
		{counter, "temporal_sticky_cache_total_forced_eviction", "Workflows that were removed from the cache.", none},

		{counter, "temporal_request", "Requests to the server.", operation},
		{counter, "temporal_request_failure", "Requests to the server that failed.", failure},
		{counter, "temporal_request_resource_exhausted", "Requests that the server refused because of a limit.", exhausted},
		{timer, "temporal_request_latency", "Time that requests to the server took.", operation},
		{counter, "temporal_long_request", "Long polls of the server.", operation},
		{counter, "temporal_long_request_failure", "Long polls of the server that failed.", failure},
		{counter, "temporal_long_request_resource_exhausted", "Long polls that the server refused because of a limit.", exhausted},
		{timer, "temporal_long_request_latency", "Time that long polls of the server took.", operation},
	}
}
