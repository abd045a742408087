// Package pushgateway takes metrics to a Pushgateway.
//
// It speaks the gateway's HTTP contract itself. The push package of client_golang
// has no retries, no limit on the answers that it reads, no context for a deletion,
// and shows the URL with its password in errors; of what it does, little would be
// left.
//
// A push replaces its group: what the gateway shows of it is one moment of the
// ledger, never a mixture of two. Metrics are sent as protocol buffers, with native
// histograms, and without exemplars: a gateway shows the same ones for ever, and
// their times grow old.
//
// # Order
//
// Counters must not go back, or Prometheus takes them for restarted and counts them
// twice. So every attempt gathers anew, and Options.Turn keeps pushes to one group
// apart, from gathering to the answer. What remains is a gateway that takes a push
// up after we have given it up and after it has taken a newer one; no client can
// prevent that.
package pushgateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// DefaultTimeout is how long a push that somebody waits for may take in total.
const DefaultTimeout = 10 * time.Second

// Gather returns the metrics of one moment. A push calls it once an attempt.
type Gather func(ctx context.Context) ([]*dto.MetricFamily, error)

// Options are how a push is made. The zero value has the defaults.
type Options struct {
	// Timeout is how long everything may take: waiting for the turn, gathering,
	// all attempts and the pauses between them. 0 is DefaultTimeout. A request
	// gets half of it, so that a gateway that hangs once leaves time for another.
	// The deadline of a context that ends sooner takes its place.
	Timeout time.Duration
	// Turn waits until nobody else pushes to the same group, and returns how to
	// hand the turn on. nil where nobody else can.
	Turn func(ctx context.Context) (done func(), err error)
	// UserAgent is what the gateway's log shows.
	UserAgent string

	// transport carries requests instead of the network, where tests set it.
	transport http.RoundTripper
}

// Receipt is what a push came to.
type Receipt struct {
	// URL is the gateway's, without a password.
	URL string `json:"url"`
	// Grouping is the key of the group, with the job.
	Grouping map[string]string `json:"grouping"`
	// Families, Series and Bytes say how much was sent, all 0 for a deletion. A
	// histogram is one series.
	Families int `json:"families,omitzero"`
	Series   int `json:"series,omitzero"`
	Bytes    int `json:"bytes,omitzero"`
	// Attempts is how many requests it took.
	Attempts int `json:"attempts"`
	// Deleted says that the group was deleted and not replaced.
	Deleted bool `json:"deleted"`
}

// Push gathers, and replaces the target's group by what was gathered.
//
// # Errors
//
// push-refused, push-unavailable; push-target-invalid where a metric has a label that the
// grouping has too; and those of gather and of Options.Turn as they are. Where ctx
// is cancelled, the error wraps its cause.
func Push(ctx context.Context, to Target, gather Gather, o Options) (Receipt, error) {
	return run(ctx, to, o, func(ctx context.Context, c *courier, got *Receipt) error {
		if o.Turn != nil {
			done, err := o.Turn(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				return errs.New(errs.PushUnavailable, "another push to the same group does not come to its end").Because(err).With("url", to.String())
			}
			if err != nil {
				return err
			}
			defer done()
		}
		families, err := gather(ctx)
		if err != nil {
			return err
		}
		body, err := encode(to, families)
		if err != nil {
			return err
		}
		got.Families, got.Series, got.Bytes = len(families), series(families), len(body)
		return c.put(ctx, body)
	})
}

// Delete removes the target's group. It is no error where there is none.
//
// # Errors
//
// As Push.
func Delete(ctx context.Context, to Target, o Options) (Receipt, error) {
	return run(ctx, to, o, func(ctx context.Context, c *courier, got *Receipt) error {
		got.Deleted = true
		return c.remove(ctx)
	})
}
