package counters

import "github.com/switchyard-dev/switchyard/internal/finding"

// The dimensions.
func nextAction() Dimension    { return Dimension{Name: "next_action", Cap: 16} }
func policyVersion() Dimension { return Dimension{Name: "policy_version", Cap: 32} }
func category() Dimension      { return Dimension{Name: "category", Cap: 100} }
func agent() Dimension         { return Dimension{Name: "agent", Cap: 32} }
func adapter() Dimension       { return Dimension{Name: "adapter", Cap: 16} }
func plugin() Dimension        { return Dimension{Name: "plugin", Cap: 32} }
func reason() Dimension        { return Dimension{Name: "reason", Cap: 64} }
func code() Dimension          { return Dimension{Name: "code", Cap: 100} }
func digest() Dimension        { return Dimension{Name: "digest", Cap: 64} }
func adr() Dimension           { return Dimension{Name: "adr", Cap: 64} }

// severity has known values, because a critic can invent others.
func severity() Dimension {
	return Dimension{Name: "severity", Cap: 8, Known: []string{string(finding.Fail), string(finding.Risk), string(finding.Nit)}}
}

// free returns a dimension without a cap.
func free(name string) Dimension { return Dimension{Name: name} }

// Rounds counts decisions.
func Rounds() Measure { return Measure{"rounds", []Dimension{nextAction(), policyVersion()}} }

// Verifications counts decisions by their verification: green, red or absent.
func Verifications() Measure { return Measure{"verifications", []Dimension{free("verify")}} }

// Findings counts the merged findings of decisions. The route is a destination of
// the policy, as next_action is, and shares its cap.
func Findings() Measure {
	return Measure{"findings", []Dimension{category(), severity(), nextAction()}}
}

// Deferred counts the deferred findings of decisions, which Findings does not count.
func Deferred() Measure { return Measure{"deferred", []Dimension{severity()}} }

// Induced counts the findings of reviews that the last fix induced, deferred ones included.
func Induced() Measure { return Measure{"induced", nil} }

// Progress counts findings by how they compare with the task's earlier reviews: new,
// repeat, reopened or resolved.
func Progress() Measure { return Measure{"progress", []Dimension{free("progress")}} }

// Stalled counts reviews that made no progress (ADR-0003).
func Stalled() Measure { return Measure{"stalled", nil} }

// Stops counts the times that tasks became stuck.
func Stops() Measure { return Measure{"stops", []Dimension{reason()}} }

// BudgetStops counts the stops because of an exhausted budget, by its unit: see
// budget-exhausted.
func BudgetStops() Measure { return Measure{"budget_stops", []Dimension{free("budget")}} }

// Resumes counts the times that stuck tasks were resumed.
func Resumes() Measure { return Measure{"resumes", []Dimension{free("mode")}} }

// Forced counts forced gates, by their phase.
func Forced() Measure { return Measure{"forced", []Dimension{free("phase")}} }

// Questions counts the questions to the user.
func Questions() Measure { return Measure{"questions", nil} }

// QuestionWaits measures how long questions waited for their answers, in milliseconds.
func QuestionWaits() Distribution { return duration("question_wait", 1000) }

// Failures counts rounds that failed because of a plugin or the policy, by error code.
func Failures() Measure { return Measure{"failures", []Dimension{code()}} }

// PluginFailures counts the rounds that failed because of a plugin.
func PluginFailures() Measure { return Measure{"plugin_failures", []Dimension{plugin(), code()}} }

// PluginRuns measures how long plugins took for a report, in microseconds.
func PluginRuns() Distribution { return duration("plugin_run", 1_000_000, plugin()) }

// Evaluations measures how long the policy took for a decision, in microseconds.
func Evaluations() Distribution { return duration("evaluation", 1_000_000) }

// Spawns counts the agent runs that have ended.
func Spawns() Measure {
	return Measure{"spawns", []Dimension{agent(), adapter(), free("outcome")}}
}

// SpawnLevels counts the processes of agents that have ended, by their confinement level.
func SpawnLevels() Measure { return Measure{"spawn_levels", []Dimension{agent(), free("level")}} }

// Fallbacks counts failed runs after which another adapter or the caller took over, by
// the class of the failure.
func Fallbacks() Measure { return Measure{"fallbacks", []Dimension{agent(), reason()}} }

// Retries counts failed runs that were tried again, by the class of the failure.
func Retries() Measure { return Measure{"retries", []Dimension{agent(), reason()}} }

// SpawnRuns measures how long agents ran, in milliseconds, excluding runs with an unknown
// end.
func SpawnRuns() Distribution { return duration("spawn_run", 1000) }

// Tokens counts tokens by agent and direction: in, out, and cached.
func Tokens() Measure { return Measure{"tokens", []Dimension{agent(), free("direction")}} }

// MicroDollars adds up the cost of agents, in millionths of a dollar.
func MicroDollars() Measure { return Measure{"microdollars", []Dimension{agent()}} }

// Tasks counts the tasks of each status. Its sums can decrease.
func Tasks() Measure { return Measure{"tasks", []Dimension{free("status")}} }

// Commits counts the committed tasks by their bar.
func Commits() Measure { return Measure{"commits", []Dimension{free("bar")}} }

// TaskRounds measures the rounds of committed tasks.
func TaskRounds() Distribution {
	return Distribution{Measure{"task_rounds", nil}, Scale{PerUnit: 1, Exact: true}}
}

// BlockedTasks lists the tasks that are waiting or stuck, each with its status, the start of
// the status in the ledger's format of times, and the reason.
func BlockedTasks() Measure {
	return Measure{"standing", []Dimension{free("status"), free("since"), free("task"), free("why")}}
}

// BudgetUse lists the used part of a budget for each task that is not committed, in
// thousandths with six digits, by the budget's unit.
func BudgetUse() Measure {
	return Measure{"budget_use", []Dimension{free("budget"), free("permille"), free("task")}}
}

// Policies counts the decisions of every policy.
func Policies() Measure {
	return Measure{"policies", []Dimension{policyVersion(), digest(), adr()}}
}

// Categories counts the stored policies that define a category. So the categories of
// policies are below the cap, before reports bring others.
func Categories() Measure { return Measure{"categories", []Dimension{category()}} }

// Destinations counts the stored policies that define a destination: see Categories.
func Destinations() Measure { return Measure{"destinations", []Dimension{nextAction()}} }

// Adoptions counts the times that a project adopted a policy. The last adoption was at the
// time of the sum's last change.
func Adoptions() Measure { return Measure{"adoptions", []Dimension{policyVersion(), digest()}} }

// DailyRounds counts decisions by day, a date in UTC, and next action.
func DailyRounds() Measure { return Measure{"daily_rounds", []Dimension{free("day"), nextAction()}} }

// Daily adds up the other numbers of a day's history, by the labels below.
func Daily() Measure { return Measure{"daily", []Dimension{free("day"), free("what")}} }

// The labels of Daily.
const (
	DaySpawns       = "spawns"
	DayFallbacks    = "fallbacks"
	DayMicroDollars = "microdollars"
	DayCommitted    = "committed"
	DayStuck        = "stuck"
)
