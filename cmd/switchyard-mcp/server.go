package main

import (
	"bytes"
	"cmp"
	"context"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/buildinfo"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// engine is the part of host.Engine that the tools use.
type engine interface {
	Tasks(ctx context.Context) ([]host.TaskStatus, error)
	Task(ctx context.Context, id string) (host.TaskDetail, error)
	Findings(ctx context.Context, id string, round int, deferred bool) (api.FindingList, error)
	Explain(ctx context.Context, id string, round int) (host.Explanation, error)
	Round(ctx context.Context, id string, req host.Request) (host.RoundResult, error)
	Answer(ctx context.Context, id string, req host.AnswerRequest) (host.TaskResult, error)
}

// server answers the calls of one client.
type server struct {
	engine   engine
	policies interface {
		Adopted(ctx context.Context) (*api.Adopted, error)
	}
	// handoff reads files of the project by their path below its root.
	handoff interface {
		Read(ctx context.Context, path string, limit int64) ([]byte, error)
	}
	// publish updates the metrics after calls of tools that record. Their answers do not wait
	// for it, because a gateway may be slow.
	publish func(context.Context)
	// recorded has a value if such a call has ended since the last update began.
	recorded chan struct{}
	// slots has an element for each call that runs.
	slots chan struct{}
}

// serve answers calls until the client closes the connection or ctx ends. It returns after the
// last update of the metrics.
func (s *server) serve(ctx context.Context, allowMutations bool, transport mcp.Transport) error {
	inner, err := transport.Connect(ctx)
	if err != nil {
		return err
	}
	conn := &boundedConnection{Connection: inner, waiting: make(map[jsonrpc.ID]int), answered: make(chan struct{}, 1)}
	// A closed connection makes the session cancel its calls; otherwise it waits for them.
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer s.publishRecorded(ctx)()
	session, err := s.protocol(allowMutations).Connect(context.WithoutCancel(ctx), conn, nil)
	if err != nil {
		return err
	}
	return cmp.Or(session.Wait(), ctx.Err())
}

// publishRecorded starts to update the metrics, one update at a time. No call may run when the
// returned function is called, which waits for the last update.
func (s *server) publishRecorded(ctx context.Context) (end func()) {
	s.recorded = make(chan struct{}, 1)
	var updates sync.WaitGroup
	updates.Go(func() {
		for range s.recorded {
			s.publish(ctx)
		}
	})
	return func() {
		close(s.recorded)
		updates.Wait()
	}
}

// noteRecorded makes an update of the metrics follow. An update that already waits suffices.
func (s *server) noteRecorded() {
	select {
	case s.recorded <- struct{}{}:
	default:
	}
}

// protocol returns the server of the protocol with its tools.
func (s *server) protocol(allowMutations bool) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "switchyard", Version: buildinfo.Read().Version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	addTool(s, m, "status", "Show the status of all tasks, or of one task with its open findings and questions.", readOnly, s.status)
	addTool(s, m, "findings", "List the findings that a review of a task left open, or those that are deferred.", readOnly, s.findings)
	addTool(s, m, "explain", "Explain a decision on a task: what the policy saw and chose, and the evidence behind it.", readOnly, s.explain)
	addTool(s, m, "next", "Say what has to happen next for a task, with the instructions for the executor if there are any.", readOnly, s.next)
	if allowMutations {
		addTool(s, m, "submit_report", "Decide the current round of a task with a critic's report. The decision is recorded and cannot be undone.", mutating, s.submitReport)
		addTool(s, m, "answer", "Answer a question of a task that waits for its user. The answer is recorded as that of the user.", mutating, s.answer)
	}
	return m
}

func annotations(mutates bool) *mcp.ToolAnnotations {
	no := false
	return &mcp.ToolAnnotations{ReadOnlyHint: !mutates, IdempotentHint: !mutates, DestructiveHint: &no, OpenWorldHint: &no}
}

const (
	readOnly = false
	mutating = true
)

// result is the output of a command, as JSON and as text.
type result struct {
	command string
	value   any
	text    func(*render.Printer)
}

// show returns the result of a command in the form of cli.Show. The words of the command are
// without switchyard.
func show[T any](command []string, value T, err error, text func(*render.Printer, T)) (result, error) {
	return result{"switchyard --output json " + strings.Join(command, " "), value, func(p *render.Printer) { text(p, value) }}, err
}

// about returns the words of a command about a task and, unless it is 0, a round.
func about(command, task string, round number) []string {
	words := []string{command, task}
	if round != 0 {
		words = append(words, "--round", strconv.Itoa(int(round)))
	}
	return words
}

// addTool adds a tool with arguments of type In.
func addTool[In any](s *server, m *mcp.Server, name, description string, mutates bool, run func(context.Context, In) (result, error)) {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[number](): {Type: "integer", Minimum: jsonschema.Ptr(1.0), Maximum: jsonschema.Ptr(float64(maxNumber))},
	}})
	if err != nil {
		panic(err) // A test lists all tools.
	}
	m.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: schema, Annotations: annotations(mutates)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case s.slots <- struct{}{}:
				defer func() { <-s.slots }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			notify(ctx, req, 0)
			defer notify(ctx, req, 1)
			var in In
			r, err := result{}, decode(req.Params.Arguments, schema, &in)
			if err == nil {
				r, err = run(ctx, in)
				if mutates {
					s.noteRecorded()
				}
			}
			if err != nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				e := cli.Typed(err)
				r.value = map[string]any{"error": e}
				r.text = func(p *render.Printer) { p.Error("switchyard", e) }
			}
			return content(r, err != nil)
		})
}

// number is an integer from 1, or 0 if it is left out. It is a float64 because JSON Schema
// takes 1.0 for an integer too.
type number float64

const maxNumber = math.MaxUint16

// maxReason is the maximum length of an error about arguments, in code points. The reason can
// quote a whole argument.
const maxReason = 500

// decode decodes arguments that fit the tool's schema. It takes null for an argument that is
// left out.
func decode(arguments stdjson.RawMessage, schema *jsonschema.Schema, in any) error {
	if len(arguments) == 0 {
		arguments = stdjson.RawMessage("{}")
	}
	var given map[string]any
	err := json.Unmarshal(arguments, &given)
	if err == nil {
		maps.DeleteFunc(given, func(_ string, value any) bool { return value == nil })
		err = check(given, schema)
	}
	if err == nil {
		err = json.Unmarshal(arguments, in)
	}
	if err != nil {
		return errInvalid("%s", textutil.Fit(textutil.JSONReason(err).Error(), maxReason))
	}
	return nil
}

func errInvalid(format string, args ...any) error {
	return errs.New(errs.MCPArgumentsInvalid, "the arguments do not fit the tool: "+format, args...)
}

// check compares arguments with the schema of a tool, whose properties have a string, a boolean
// or an integer. The messages of the schema's own validator are for people who know JSON Schema.
func check(given map[string]any, schema *jsonschema.Schema) error {
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		argument := schema.Properties[name]
		if argument == nil {
			return fmt.Errorf("there is no argument %q", name)
		}
		text, isText := given[name].(string)
		_, isBool := given[name].(bool)
		n, isNumber := given[name].(float64)
		switch {
		case argument.Type == "string" && !isText:
			return fmt.Errorf("%s must be a string", name)
		case argument.Type == "boolean" && !isBool:
			return fmt.Errorf("%s must be true or false", name)
		case argument.Type == "integer" && (!isNumber || n != math.Trunc(n) || n < 1 || n > maxNumber):
			return fmt.Errorf("%s must be an integer from 1 to %d", name, maxNumber)
		case isText && text == "" && !slices.Contains(schema.Required, name):
			return fmt.Errorf("%s is empty", name) // It is not left out.
		}
	}
	return nil
}

// notify reports the progress of a call if the client asked for it.
func notify(ctx context.Context, req *mcp.CallToolRequest, done float64) {
	if token := req.Params.GetProgressToken(); token != nil {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 1})
	}
}

// content returns a result of the protocol: as structured content, and as text.
func content(r result, isError bool) (*mcp.CallToolResult, error) {
	var structured, text bytes.Buffer
	if err := render.JSONObject(&structured, r.value); err != nil {
		return nil, err
	}
	r.text(render.New(&text, &text))
	object, left, err := fit(bytes.TrimSpace(structured.Bytes()), r.command)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: fitText(text.String(), left)}},
		StructuredContent: stdjson.RawMessage(object),
		IsError:           isError,
	}, nil
}

type statusArguments struct {
	Task string `json:"task,omitempty" jsonschema:"the id of a task; all tasks if it is left out"`
}

func (s *server) status(ctx context.Context, in statusArguments) (result, error) {
	if in.Task != "" {
		t, err := s.engine.Task(ctx, in.Task)
		return show(about("status", in.Task, 0), t, err, (*render.Printer).Task)
	}
	tasks, err := s.engine.Tasks(ctx)
	if err != nil {
		return result{}, err
	}
	list := render.TaskList{Tasks: tasks, Total: len(tasks)}
	list.Policy, err = s.policies.Adopted(ctx)
	return show([]string{"status"}, list, err, (*render.Printer).TaskList)
}

type findingsArguments struct {
	Task     string `json:"task" jsonschema:"the id of the task"`
	Round    number `json:"round,omitempty" jsonschema:"the number of the round, from 1; the latest review if it is left out"`
	Deferred bool   `json:"deferred,omitempty" jsonschema:"list the deferred findings instead: those below the bar of the policy"`
}

func (s *server) findings(ctx context.Context, in findingsArguments) (result, error) {
	list, err := s.engine.Findings(ctx, in.Task, int(in.Round), in.Deferred)
	command := about("findings", in.Task, in.Round)
	if in.Deferred {
		command = append(command, "--deferred")
	}
	return show(command, list, err, (*render.Printer).FindingList)
}

type explainArguments struct {
	Task  string `json:"task" jsonschema:"the id of the task"`
	Round number `json:"round,omitempty" jsonschema:"the number of the round, from 1; the latest decision if it is left out"`
}

func (s *server) explain(ctx context.Context, in explainArguments) (result, error) {
	x, err := s.engine.Explain(ctx, in.Task, int(in.Round))
	return show(about("explain", in.Task, in.Round), x, err, (*render.Printer).Explanation)
}

type nextArguments struct {
	Task string `json:"task" jsonschema:"the id of the task"`
}

// maxHandoff is the maximum size in bytes of the executor's instructions that next returns.
const maxHandoff = 4 << 20

func (s *server) next(ctx context.Context, in nextArguments) (result, error) {
	t, err := s.engine.Task(ctx, in.Task)
	if err != nil {
		return result{}, err
	}
	step := render.NextOf(t)
	if t.Handoff != nil {
		text, err := s.handoff.Read(ctx, *t.Handoff, maxHandoff)
		// The client can read a large handoff by its path.
		if err != nil && errs.CodeOf(err) != errs.FileTooLarge {
			return result{}, err
		}
		step.HandoffText = string(text)
	}
	return show(about("status", in.Task, 0), step, nil, (*render.Printer).Next)
}

type reportArguments struct {
	Task   string `json:"task" jsonschema:"the id of the task"`
	Report string `json:"report" jsonschema:"the text of the report"`
	Format string `json:"format,omitempty" jsonschema:"the name of the plugin that reads the report, such as np-critic or sarif; detected if it is left out"`
	Round  number `json:"round,omitempty" jsonschema:"the round that the report is about, from 1; give it if the report does not name its round"`
}

func (s *server) submitReport(ctx context.Context, in reportArguments) (result, error) {
	if in.Format != "" && !abi.IsName(in.Format) {
		return result{}, errInvalid("format must be the name of a plugin, and not a path")
	}
	ref := host.ReportRef{Plugin: cmp.Or(in.Format, host.Auto), Path: host.Stdin}
	r, err := s.engine.Round(ctx, in.Task, host.Request{Reports: []host.ReportRef{ref}, Stdin: strings.NewReader(in.Report), Round: int(in.Round)})
	return show(about("explain", in.Task, number(r.Round)), r, err, (*render.Printer).RoundResult)
}

type answerArguments struct {
	Task     string `json:"task" jsonschema:"the id of the task"`
	Question string `json:"question,omitempty" jsonschema:"the fingerprint of the question's finding; needed if there are several questions"`
	Choice   number `json:"choice,omitempty" jsonschema:"the number of the question's choice, from 1; give this or text"`
	Text     string `json:"text,omitempty" jsonschema:"the answer, if it is not one of the choices; give this or choice"`
}

func (s *server) answer(ctx context.Context, in answerArguments) (result, error) {
	switch {
	case in.Choice == 0 && in.Text == "":
		return result{}, errInvalid("give choice or text")
	case in.Choice != 0 && in.Text != "":
		return result{}, errInvalid("give choice or text, and not both")
	}
	t, err := s.engine.Answer(ctx, in.Task, host.AnswerRequest{Question: in.Question, Choice: int(in.Choice), Text: strings.TrimSpace(in.Text)})
	return show(about("status", in.Task, 0), t, err, (*render.Printer).TaskResult)
}
