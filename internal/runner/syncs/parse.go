// Package syncs tells from a trace of system calls whether commits were on the
// disk before they were acknowledged, and finds out how many syncs a second the
// disk can do. It knows nothing of databases.
package syncs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Command returns strace, which is a program's path, with the arguments by
// which it runs what stands behind them and writes a trace that Parse reads.
func Command(strace, output string) []string {
	return []string{strace, "-f", "-y", "-s", "0", "-o", output, "-e", "trace=" + strings.Join(traced, ","), "--"}
}

// Attach returns a command of Command that also traces running processes, with
// all that they start. It ends when these have ended, too.
func Attach(command []string, pids []int) []string {
	all := slices.Clone(command[:len(command)-1])
	for _, pid := range pids {
		all = append(all, "-p", strconv.Itoa(pid))
	}
	return append(all, command[len(command)-1])
}

// traced are the system calls that write, sync or map files, hand writes to the
// kernel, or tell which process a descriptor or a mapping belongs to. The
// question mark is strace's: a call that this architecture need not have.
var traced = []string{"write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "sendfile", "splice", "ftruncate",
	"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range", "?open", "?creat", "openat", "?openat2",
	"dup", "?dup2", "dup3", "fcntl", "mmap", "mremap", "clone", "?clone3", "?fork", "?vfork",
	"?io_uring_setup", "?io_uring_enter", "io_submit"}

// Kind says what a system call does.
type Kind int

// The kinds of calls.
const (
	Write     Kind = iota // bytes of a file
	Sync                  // of a file: fsync, fdatasync
	SyncWrite             // a write that syncs by itself; its bytes are a Write before it
	SyncAll               // of all files: sync, syncfs
	SyncMap               // of a whole mapped file: msync with MS_SYNC
	SyncPart              // of a part of a mapped file
	Map                   // a file into shared memory that can be written
	Flush                 // sync_file_range: starts writing, promises nothing
	Unseen                // io_uring, io_submit: writes and syncs that the trace does not show
	UnseenAll             // io_uring with a thread of the kernel: no call shows when it writes
	Truncate              // cuts a file, or makes it longer
	Open
)

// Call is one system call that succeeded.
type Call struct {
	Kind Kind
	Name string // of the system call: fdatasync
	File string // path; empty where it is not about one
	// Began and Ended are lines of the trace: in another thread, a call may end
	// much later than it began.
	Began, Ended int
}

var (
	callPattern   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumePattern = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	filePattern   = regexp.MustCompile(`^(\d+)<(/[^>]*)>`)
	resultPattern = regexp.MustCompile(`= (0x[0-9a-f]+|-?\d+)(?:<(/[^>]*)>)?[^=]*$`)
)

// Parse reads a trace in strace's format (-f -y).
func Parse(r io.Reader) ([]Call, error) {
	p := parser{open: map[string]pending{}, processes: map[string]*process{}}
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := lines.ReadString('\n')
		if p.line(strings.TrimSuffix(text, "\n"), number); errors.Is(err, io.EOF) {
			return p.calls, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read line %d of the trace of system calls: %w", number, err)
		}
	}
}

type parser struct {
	calls     []Call
	open      map[string]pending  // by thread: calls that have not ended
	processes map[string]*process // by thread: those of one process share theirs
}

type pending struct {
	name, text string
	began      int
}

func (p *parser) line(text string, number int) {
	if m := resumePattern.FindStringSubmatch(text); m != nil {
		if start, ok := p.open[m[1]]; ok && start.name == m[2] {
			delete(p.open, m[1])
			p.call(m[1], start.name, start.text+m[3], start.began, number)
		}
		return
	}
	m := callPattern.FindStringSubmatch(text)
	if m == nil {
		return // a signal, or the end of a thread
	}
	if start, unfinished := strings.CutSuffix(m[3], " <unfinished ...>"); unfinished {
		p.open[m[1]] = pending{m[2], start, number}
		return
	}
	p.call(m[1], m[2], m[3], number, number)
}

// plain are the kinds of calls that need no look at their arguments; what is traced
// and has no case of its own writes.
var plain = map[string]Kind{
	"open": Open, "openat": Open, "openat2": Open, "creat": Open, "fsync": Sync, "fdatasync": Sync, "sync": SyncAll, "syncfs": SyncAll,
	"sync_file_range": Flush, "io_uring_enter": Unseen, "io_submit": Unseen, "ftruncate": Truncate,
}

// ended is a call of a thread that ended without an error.
type ended struct {
	Call
	text       string // behind its open bracket
	descriptor string // of its file
	result     string
	opened     string // path of the result, where that is a descriptor
}

// call notes a call of a thread that ended; text is what stands behind its open
// bracket.
func (p *parser) call(thread, name, text string, began, end int) {
	result := resultPattern.FindStringSubmatch(text)
	if result == nil || strings.HasPrefix(result[1], "-") {
		return
	}
	owner := p.process(thread)
	c := ended{Call: Call{Name: name, Began: began, Ended: end}, text: text, result: result[1], opened: result[2]}
	if m := filePattern.FindStringSubmatch(text); m != nil {
		c.descriptor, c.File = m[1], m[2]
	}
	if p.follow(owner, c) || !c.classify(owner) || c.Kind == Write && c.result == "0" { // 0: nothing was written
		return
	}
	p.calls = append(p.calls, c.Call)
	if c.Kind == Write && (owner.synced[c.descriptor] || c.has("RWF_DSYNC", "RWF_SYNC")) {
		c.Kind = SyncWrite
		p.calls = append(p.calls, c.Call)
	}
}

// has reports whether one of the flags is among the arguments.
func (c *ended) has(flags ...string) bool {
	return slices.ContainsFunc(flags, func(flag string) bool { return strings.Contains(c.text, flag) })
}

// follow notes what a call does to the descriptors, mapped ranges and processes of its
// owner. It reports whether that is all that the call does.
func (p *parser) follow(owner *process, c ended) bool {
	switch c.Name {
	case "open", "openat", "openat2", "creat":
		owner.synced[c.result] = c.has("O_DSYNC", "O_SYNC")
		return false
	case "dup", "dup2", "dup3":
		owner.synced[c.result] = owner.synced[c.descriptor]
	case "fcntl":
		if c.has("F_DUPFD") {
			owner.synced[c.result] = owner.synced[c.descriptor]
		}
	case "clone", "clone3", "fork", "vfork":
		p.inherit(owner, c.result, c.text)
	case "mremap":
		owner.remapped(c.text, c.result)
	default:
		return false
	}
	return true
}

// classify finds out what a call does to which file. It reports whether it does
// anything that counts.
func (c *ended) classify(owner *process) bool {
	kind, known := plain[c.Name]
	switch {
	case known:
		c.Kind = kind
		if kind == Open {
			c.File = c.opened
		}
	case c.Name == "mmap":
		c.Kind, c.File = Map, owner.mapped(c.text, c.result)
		return c.File != ""
	case c.Name == "msync":
		c.Kind, c.File = owner.syncedMap(c.text)
		return c.File != "" && c.has("MS_SYNC")
	case c.Name == "io_uring_setup":
		c.Kind = UnseenAll
		return c.has("IORING_SETUP_SQPOLL")
	case c.Name == "copy_file_range" || c.Name == "splice":
		c.Kind, c.File = Write, secondFile(c.text)
	default:
		c.Kind = Write
	}
	return true
}

var anyFile = regexp.MustCompile(`\d+<(/[^>]*)>`)

func secondFile(text string) string {
	if all := anyFile.FindAllStringSubmatch(text, 2); len(all) == 2 {
		return all[1][1]
	}
	return ""
}
