//go:build amd64 || arm64

// Package helper is the part of package sandbox that runs in a separate process and confines
// it. Package sandbox decides on the rules; the helper makes the system calls.
//
// It imports only package syscall, and slices and strconv, which precede it. Go initializes a
// package after its imports and after the packages that precede it in the order of import paths,
// which in a large program takes several times as long as the helper's own work.
package helper

// Name is the name by which this program calls itself as the helper.
const Name = "switchyard-sandbox"

// Order is the request that the helper reads from its control socket.
type Order struct {
	Path      string
	Args, Env []string
	Dir       string
	// Capabilities is a bit set of the capabilities that remain.
	Capabilities uint64
	// Ruleset is a struct landlock_ruleset_attr. Files and Ports are the rules of the set, and
	// PortAccess are the rights to each port.
	Ruleset    []byte
	Files      []FileRule
	Ports      []uint64
	PortAccess uint64
	// Filter is a program for seccomp, an array of struct sock_filter.
	Filter []byte
	Limits []Limit
	// Namespaces is set if the helper is the first process of new namespaces. The fields below
	// apply only then.
	Namespaces bool
	// Writable are the paths that stay writable when the file system becomes read-only, and
	// Protected are paths below them that do not.
	Writable, Protected []string
	// MaxPID is written to /proc/sys/kernel/pid_max unless it is "".
	MaxPID string
	// Listen are the ports to listen on at 127.0.0.1, and except for the first one also at ::1.
	Listen []uint64
}

// FileRule allows access to a file, or to a directory and everything below it. It has no
// effect if the path does not exist or contains a symbolic link.
type FileRule struct {
	Path string
	// Folder are the Landlock rights if the path is a directory, and File the rights if it is
	// not. No rule is added without rights.
	Folder, File uint64
}

// Limit is a resource limit (setrlimit) of the process, which its descendants inherit.
type Limit struct{ Resource, Value uint64 }

// Encode returns the order as the helper reads it.
func (o *Order) Encode() []byte {
	var c coder
	o.code(&c)
	return c.text
}

// decode reads an encoded order, and reports whether the text is valid.
func (o *Order) decode(text []byte) bool {
	c := coder{text: text, decodes: true}
	o.code(&c)
	return !c.short && len(c.text) == 0
}

// code encodes or decodes the fields, so that both directions have the same order.
func (o *Order) code(c *coder) {
	c.string(&o.Path)
	each(c, &o.Args, c.string)
	each(c, &o.Env, c.string)
	c.string(&o.Dir)
	c.number(&o.Capabilities)
	c.bytes(&o.Ruleset)
	each(c, &o.Files, func(r *FileRule) {
		c.string(&r.Path)
		c.number(&r.Folder)
		c.number(&r.File)
	})
	each(c, &o.Ports, c.number)
	c.number(&o.PortAccess)
	c.bytes(&o.Filter)
	each(c, &o.Limits, func(l *Limit) {
		c.number(&l.Resource)
		c.number(&l.Value)
	})
	namespaces := uint64(0)
	if o.Namespaces {
		namespaces = 1
	}
	c.number(&namespaces)
	o.Namespaces = namespaces == 1
	each(c, &o.Writable, c.string)
	each(c, &o.Protected, c.string)
	c.string(&o.MaxPID)
	each(c, &o.Listen, c.number)
}

// coder encodes values to text, or decodes them from it.
type coder struct {
	text    []byte
	decodes bool
	// short is set if the text ended too soon.
	short bool
}

// number codes a number, as eight bytes.
func (c *coder) number(n *uint64) {
	if !c.decodes {
		for i := range 8 {
			c.text = append(c.text, byte(*n>>(8*i)))
		}
		return
	}
	*n = 0
	for i, b := range c.take(8) {
		*n |= uint64(b) << (8 * i)
	}
}

// bytes codes bytes, after their number.
func (c *coder) bytes(b *[]byte) {
	length := uint64(len(*b))
	c.number(&length)
	if !c.decodes {
		c.text = append(c.text, *b...)
		return
	}
	*b = c.take(length)
}

func (c *coder) string(s *string) {
	b := []byte(*s)
	c.bytes(&b)
	*s = string(b)
}

// take removes the next n bytes of the text and returns them, or nil if the text is shorter.
func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.text)) {
		c.short, c.text = true, nil
		return nil
	}
	taken := c.text[:n:n]
	c.text = c.text[n:]
	return taken
}

// each codes a list, after its length.
func each[T any](c *coder, list *[]T, item func(*T)) {
	length := uint64(len(*list))
	c.number(&length)
	if c.decodes {
		if length > uint64(len(c.text)) { // An item has at least a byte.
			c.short = true
			return
		}
		*list = make([]T, length)
	}
	for i := range *list {
		item(&(*list)[i])
	}
}

// Answer is the first byte of the helper's answer, after the descriptors of the listeners. A
// message follows, except after Started.
type Answer byte

// The answers. Without namespaces the helper answers only if it fails.
const (
	Started Answer = 's'
	// Failed says that the process cannot be confined, Unavailable that the system does not
	// support the level, and NotStarted that the program cannot be run.
	Failed      Answer = 'f'
	Unavailable Answer = 'u'
	NotStarted  Answer = 'n'
)
