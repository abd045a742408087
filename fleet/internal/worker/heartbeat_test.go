package worker_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// faultyServer is a Temporal server with one order, whose heartbeats it answers with answer.
type faultyServer struct {
	workflowservice.UnimplementedWorkflowServiceServer
	order *commonpb.Payloads
	given sync.Once
	// answer gets the agents of the heartbeat.
	answer func([]flow.Progress) (*workflowservice.RecordActivityTaskHeartbeatResponse, error)
	// end has the result of the order, or its failure.
	end chan proto.Message
}

func (s *faultyServer) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (s *faultyServer) PollActivityTaskQueue(ctx context.Context, r *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	var order *workflowservice.PollActivityTaskQueueResponse
	if r.TaskQueue.Name == flow.WorkQueue("claude", "none") {
		s.given.Do(func() {
			now := timestamppb.Now()
			order = &workflowservice.PollActivityTaskQueueResponse{
				TaskToken: []byte("order"), WorkflowNamespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "T", RunId: "1"},
				WorkflowType: &commonpb.WorkflowType{Name: flow.Workflow}, ActivityType: &commonpb.ActivityType{Name: flow.Draft}, ActivityId: "1", Attempt: 1,
				Input: s.order, ScheduledTime: now, StartedTime: now, HeartbeatTimeout: durationpb.New(2 * time.Second),
				ScheduleToCloseTimeout: durationpb.New(time.Hour), StartToCloseTimeout: durationpb.New(time.Hour),
			}
		})
	}
	if order == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return order, nil
}

func (s *faultyServer) RecordActivityTaskHeartbeat(_ context.Context, r *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	var agents []flow.Progress
	if err := converter.GetDefaultDataConverter().FromPayloads(r.Details, &agents); err != nil || string(r.TaskToken) != "order" || r.Namespace != "default" {
		return nil, status.Errorf(codes.Internal, "a wrong heartbeat %v, %v", r, err)
	}
	return s.answer(agents)
}

func (s *faultyServer) RespondActivityTaskCompleted(_ context.Context, r *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	s.end <- r.Result
	return &workflowservice.RespondActivityTaskCompletedResponse{}, nil
}

func (s *faultyServer) RespondActivityTaskFailed(_ context.Context, r *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	s.end <- r.Failure
	return &workflowservice.RespondActivityTaskFailedResponse{}, nil
}

// TestHeartbeats lets a real worker carry out an order while the server has an outage, which does
// not concern the agent, or ends the order. Then heartbeats go on until the agent has ended.
func TestHeartbeats(t *testing.T) {
	type response = workflowservice.RecordActivityTaskHeartbeatResponse
	slow := fakeagent.Edits(fakeagent.Step{Sleep: fakeagent.Duration(5 * time.Second)})
	stubborn := fakeagent.Scenario{Term: "ignore", Steps: []fakeagent.Step{{Hang: true}}}
	for name, c := range map[string]struct {
		agent  fakeagent.Scenario
		answer *response
		err    error
		ends   bool
	}{
		"outage":    {slow, nil, status.Error(codes.Unavailable, "restarting"), false},
		"cancelled": {stubborn, &response{CancelRequested: true}, nil, true},
		"paused":    {stubborn, &response{ActivityPaused: true}, nil, true},
		"reset":     {stubborn, &response{ActivityReset: true}, nil, true},
		"timed out": {stubborn, nil, status.Error(codes.NotFound, "timed out"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agents := oneRound()
			agents["executor"] = []fakeagent.Scenario{c.agent}
			h := newHand(t, "", agents)
			h.advance(t, flow.Move{})
			var beats atomic.Int64
			s := &faultyServer{end: make(chan proto.Message, 1), answer: func(agents []flow.Progress) (*response, error) {
				if len(agents) == 0 || beats.Add(1) < 4 { // Let the agent start.
					return &response{}, nil
				}
				return c.answer, c.err
			}}
			var err error
			if s.order, err = converter.GetDefaultDataConverter().ToPayloads(flow.Order{Project: "shop", Task: "T", Round: h.at.Round, Digest: h.at.Order}); err != nil {
				t.Fatal(err)
			}
			h.site.carry(t, s.dial(t), "worker")
			end := <-s.end
			result, ok := end.(*commonpb.Payloads)
			if !ok {
				t.Fatalf("the order fails: %v", end)
			}
			var done flow.Done
			if err := converter.GetDefaultDataConverter().FromPayloads(result, &done); err != nil {
				t.Fatal(err)
			}
			r, err := orderstore.Get[host.OrderResult](t.Context(), h.store(t), done.Result)
			if err != nil {
				t.Fatal(err)
			}
			if r.Interrupted != c.ends || beats.Load() < 8 {
				t.Errorf("after %d heartbeats the order ends, interrupted: %t", beats.Load(), r.Interrupted)
			}
		})
	}
}

// dial starts the server and returns a client of it. Both end with the test.
func (s *faultyServer) dial(t *testing.T) client.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, s)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	c, err := client.Dial(client.Options{HostPort: l.Addr().String(), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
