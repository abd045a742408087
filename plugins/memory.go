package plugins

import "github.com/tetratelabs/wazero/experimental"

// boundedMemory gives one guest its linear memory, up to a limit, and remembers
// whether it ever had to refuse: a trap that follows is for want of memory and
// not a fault of the guest's logic. It serves one instance on one goroutine.
type boundedMemory struct {
	limit  uint64
	data   []byte
	denied bool
}

// Allocate implements experimental.MemoryAllocator. The module's declared
// minimum has been held against the limit before.
func (m *boundedMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It doubles the room, so that
// a guest that grows page by page copies each byte a constant number of times.
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
