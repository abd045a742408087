package plugins

import "github.com/tetratelabs/wazero/experimental"

// boundedMemory allocates one guest's linear memory, up to a limit. It records
// whether it refused an allocation, so that a following trap is reported as a lack of
// memory. It serves one instance on one goroutine.
type boundedMemory struct {
	limit  uint64
	data   []byte
	denied bool
}

// Allocate implements experimental.MemoryAllocator. checkModule has compared the
// module's declared minimum with the limit.
func (m *boundedMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It doubles the capacity, so that a
// guest that grows page by page copies each byte a constant number of times.
func (m *boundedMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.denied = true
		return nil
	}
	if size > uint64(cap(m.data)) {
		data := make([]byte, size, min(max(size, 2*uint64(cap(m.data))), m.limit))
		copy(data, m.data)
		m.data = data
	}
	m.data = m.data[:size]
	return m.data
}

// Free implements experimental.LinearMemory. The memory is garbage collected.
func (m *boundedMemory) Free() { m.data = nil }
