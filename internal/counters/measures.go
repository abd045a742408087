package counters

// The dimensions.
func nextAction() Dimension    { return Dimension{Name: "next_action", Cap: 16} }
func policyVersion() Dimension { return Dimension{Name: "policy_version", Cap: 32} }
func category() Dimension      { return Dimension{Name: "category", Cap: 100} }
func severity() Dimension      { return Dimension{Name: "severity", Cap: 8} }
func agent() Dimension         { return Dimension{Name: "agent", Cap: 32} }
func adapter() Dimension       { return Dimension{Name: "adapter", Cap: 16} }
func plugin() Dimension        { return Dimension{Name: "plugin", Cap: 32} }
func reason() Dimension        { return Dimension{Name: "reason", Cap: 64} }
func code() Dimension          { return Dimension{Name: "code", Cap: 100} }
func digest() Dimension        { return Dimension{Name: "digest", Cap: 64} }
func adr() Dimension           { return Dimension{Name: "adr", Cap: 64} }
func free(name string) Dimension {
	return Dimension{Name: name}
}

// Rounds counts decisions.
func Rounds() Measure { return Measure{"rounds", []Dimension{nextAction(), policyVersion()}} }

// Verifications counts decisions by their verification: green, red or absent.
func Verifications() Measure { return Measure{"verifications", []Dimension{free("verify")}} }

// Findings counts the merged findings of decisions. The route is a destination of
// the policy, as next_action is, and shares its cap.
func Findings() Measure {
	return Measure{"findings", []Dimension{category(), severity(), nextAction()}}
}

// Progress counts findings by how they compare with the task's earlier reviews: new,
// repeat, reopened or resolved.
func Progress() Measure { return Measure{"progress", []Dimension{free("progress")}} }

// Stalled counts reviews that made no progress (ADR-0003).
func Stalled() Measure { return Measure{"stalled", nil} }

// Stops counts how often tasks became stuck.
func Stops() Measure { return Measure{"stops", []Dimension{reason()}} }

// BudgetStops counts those of them for which a budget was too small, by its unit: see
// budget-exhausted.
func BudgetStops() Measure { return Measure{"budget_stops", []Dimension{free("budget")}} }

// Resumes counts how often stuck tasks went on.
func Resumes() Measure { return Measure{"resumes", []Dimension{free("mode")}} }

// Forced counts gates that somebody forced, by their phase.
func Forced() Measure { return Measure{"forced", []Dimension{free("phase")}} }

// Questions counts those to the user.
func Questions() Measure { return Measure{"questions", nil} }

// QuestionWaits is how long questions waited for their answers, in milliseconds.
func QuestionWaits() Distribution { return duration("question_wait", 1000) }

// Failures counts rounds that came to no decision because a plugin or the policy broke,
// by the code of the error.
func Failures() Measure { return Measure{"failures", []Dimension{code()}} }

// PluginFailures counts those of them that a plugin is to blame for.
func PluginFailures() Measure { return Measure{"plugin_failures", []Dimension{plugin(), code()}} }

// PluginRuns is how long plugins took for a report, in microseconds.
func PluginRuns() Distribution { return duration("plugin_run", 1_000_000, plugin()) }

// Evaluations is how long the policy took for a decision, in microseconds.
func Evaluations() Distribution { return duration("evaluation", 1_000_000) }

// Spawns counts runs of agents that have ended.
func Spawns() Measure {
	return Measure{"spawns", []Dimension{agent(), adapter(), free("outcome")}}
}

// Fallbacks counts runs after whose failure another adapter or the caller took over,
// by the class of the failure; Retries those that were tried again.
func Fallbacks() Measure { return Measure{"fallbacks", []Dimension{agent(), reason()}} }

// Retries: see Fallbacks.
func Retries() Measure { return Measure{"retries", []Dimension{agent(), reason()}} }

// SpawnRuns is how long agents ran, in milliseconds. Runs of which nobody knows the
// end are not part of it.
func SpawnRuns() Distribution { return duration("spawn_run", 1000) }

// Tokens counts tokens by agent and direction: in, out, and cached.
func Tokens() Measure { return Measure{"tokens", []Dimension{agent(), free("direction")}} }

// MicroDollars adds up what agents cost, in millionths of a dollar.
func MicroDollars() Measure { return Measure{"microdollars", []Dimension{agent()}} }

// Tasks counts the tasks of each status. It falls, too.
func Tasks() Measure { return Measure{"tasks", []Dimension{free("status")}} }

// TaskRounds is how many rounds tasks had taken when they were committed.
func TaskRounds() Distribution {
	return Distribution{Measure{"task_rounds", nil}, Scale{PerUnit: 1, Exact: true}}
}

// BlockedTasks lists the tasks that are waiting or stuck, each with the time since when,
// in the ledger's form, and why.
func BlockedTasks() Measure {
	return Measure{"standing", []Dimension{free("status"), free("since"), free("task"), free("why")}}
}

// BudgetUse lists what part of a budget each task that is not committed has used, in
// thousandths with six digits, by the budget's unit.
func BudgetUse() Measure {
	return Measure{"budget_use", []Dimension{free("budget"), free("permille"), free("task")}}
}

// Policies counts the decisions of every policy, and Adoptions how often a project
// adopted it.
func Policies() Measure {
	return Measure{"policies", []Dimension{policyVersion(), digest(), adr()}}
}

// Categories and Destinations count the kept policies that know one. They are there so
// that what policies know has its place before reports bring anything else.
func Categories() Measure { return Measure{"categories", []Dimension{category()}} }

// Destinations: see Categories.
func Destinations() Measure { return Measure{"destinations", []Dimension{nextAction()}} }

// Adoptions: see Policies. When it was adopted last is when the sum last changed.
func Adoptions() Measure { return Measure{"adoptions", []Dimension{policyVersion(), digest()}} }

// DailyRounds counts decisions by day, a date in UTC, and next action.
func DailyRounds() Measure { return Measure{"daily_rounds", []Dimension{free("day"), nextAction()}} }

// Daily adds up by day what else a history shows, by one of the words below.
func Daily() Measure { return Measure{"daily", []Dimension{free("day"), free("what")}} }

// What Daily adds up.
const (
	DaySpawns       = "spawns"
	DayFallbacks    = "fallbacks"
	DayMicroDollars = "microdollars"
	DayCommitted    = "committed"
	DayStuck        = "stuck"
)
