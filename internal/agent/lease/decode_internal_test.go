package lease

import (
	"testing"

	"github.com/go-json-experiment/json"
)

// Whatever lies in the place of a record is refused, or is one that can be written
// again.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", "{}", "null", `{"process":{"pid":4711,"start":7,"boot":"b","mark":"m","folder":"/tmp/x"},"run":"r","task":"T1","began":"now"}`,
		`{"process":{"mark":"m","folder":"/tmp/x"},"run":"r"}`, `{"process":{"pid":1},"run":"r"}`, `{"process":{"pid":1e99},"run":"r"}`, `{"process":{"pid":9},"run":"r"}x`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		record, err := decode(data)
		if err != nil {
			return
		}
		if record.Process.PID < 0 || record.Process.PID == 1 || record.Run == "" {
			t.Errorf("%q: got %+v", data, record)
		}
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if again, err := decode(text); err != nil || again != record {
			t.Errorf("%q: got %+v, then %+v, %v", data, record, again, err)
		}
	})
}
