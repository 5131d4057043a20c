// Package syncs tells from a trace of system calls whether commits were on the
// disk before they were acknowledged, and finds out how many syncs a second the
// disk can do. It knows nothing of databases.
package syncs

import (
	"bufio"
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

// Kind is what a system call does.
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
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		p.line(lines.Text(), number)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the trace of system calls: %w", err)
	}
	return p.calls, nil
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
		if begun, ok := p.open[m[1]]; ok && begun.name == m[2] {
			delete(p.open, m[1])
			p.call(m[1], begun.name, begun.text+m[3], begun.began, number)
		}
		return
	}
	m := callPattern.FindStringSubmatch(text)
	if m == nil {
		return // a signal, or the end of a thread
	}
	if begun, unfinished := strings.CutSuffix(m[3], " <unfinished ...>"); unfinished {
		p.open[m[1]] = pending{m[2], begun, number}
		return
	}
	p.call(m[1], m[2], m[3], number, number)
}

// call notes a call of a thread that ended; text is what stands behind its open
// bracket.
func (p *parser) call(thread, name, text string, began, ended int) {
	result := resultPattern.FindStringSubmatch(text)
	if result == nil || strings.HasPrefix(result[1], "-") {
		return
	}
	owner := p.process(thread)
	c := Call{Name: name, Began: began, Ended: ended}
	descriptor := ""
	if m := filePattern.FindStringSubmatch(text); m != nil {
		descriptor, c.File = m[1], m[2]
	}
	switch name {
	case "open", "openat", "openat2", "creat":
		owner.synced[result[1]] = strings.Contains(text, "O_DSYNC") || strings.Contains(text, "O_SYNC")
		c.Kind, c.File = Open, result[2]
	case "dup", "dup2", "dup3":
		owner.synced[result[1]] = owner.synced[descriptor]
		return
	case "fcntl":
		if strings.Contains(text, "F_DUPFD") {
			owner.synced[result[1]] = owner.synced[descriptor]
		}
		return
	case "clone", "clone3", "fork", "vfork":
		p.inherit(owner, result[1], text)
		return
	case "mmap":
		if c.File = owner.mapped(text, result[1]); c.File == "" {
			return
		}
		c.Kind = Map
	case "mremap":
		owner.remapped(text, result[1])
		return
	case "msync":
		if c.Kind, c.File = owner.syncedMap(text); c.File == "" || !strings.Contains(text, "MS_SYNC") {
			return
		}
	case "fsync", "fdatasync":
		c.Kind = Sync
	case "sync", "syncfs":
		c.Kind = SyncAll
	case "sync_file_range":
		c.Kind = Flush
	case "io_uring_setup":
		if !strings.Contains(text, "IORING_SETUP_SQPOLL") {
			return
		}
		c.Kind = UnseenAll
	case "io_uring_enter", "io_submit":
		c.Kind = Unseen
	case "ftruncate":
		c.Kind = Truncate
	case "copy_file_range", "splice":
		c.Kind, c.File = Write, secondFile(text)
	default:
		c.Kind = Write
	}
	if c.Kind == Write && result[1] == "0" {
		return // nothing was written
	}
	p.calls = append(p.calls, c)
	if c.Kind == Write && (owner.synced[descriptor] || strings.Contains(text, "RWF_DSYNC") || strings.Contains(text, "RWF_SYNC")) {
		c.Kind = SyncWrite
		p.calls = append(p.calls, c)
	}
}

var anyFile = regexp.MustCompile(`\d+<(/[^>]*)>`)

func secondFile(text string) string {
	if all := anyFile.FindAllStringSubmatch(text, 2); len(all) == 2 {
		return all[1][1]
	}
	return ""
}
