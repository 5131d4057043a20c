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

// traced are the system calls that write, sync or map files.
var traced = []string{"write", "pwrite64", "writev", "pwritev", "pwritev2", "copy_file_range", "ftruncate",
	"fsync", "fdatasync", "msync", "sync_file_range", "open", "openat", "mmap", "io_uring_enter"}

// Kind is what a system call does.
type Kind int

// The kinds of calls.
const (
	Write    Kind = iota // bytes of a file
	Sync                 // of a file: fsync, fdatasync, or a write that syncs by itself
	SyncMap              // of mapped memory: msync with MS_SYNC
	Map                  // a file into shared memory that can be written
	Flush                // sync_file_range: starts writing, promises nothing
	Unseen               // io_uring: writes and syncs that the trace does not show
	Truncate             // cuts a file, or makes it longer
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
	resultPattern = regexp.MustCompile(`= (-?\d+|0x[0-9a-f]+)(?:<(/[^>]*)>)?[^=]*$`)
	mappedPattern = regexp.MustCompile(`, \d+<(/[^>]*)>, (?:0x)?[0-9a-f]+\) += `)
)

// Parse reads a trace in strace's format (-f -y).
func Parse(r io.Reader) ([]Call, error) {
	p := parser{open: map[string]pending{}, synced: map[string]bool{}}
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
	calls  []Call
	open   map[string]pending // by thread: calls that have not ended
	synced map[string]bool    // descriptors that were opened so that each write syncs
}

type pending struct {
	name, text string
	began      int
}

func (p *parser) line(text string, number int) {
	if m := resumePattern.FindStringSubmatch(text); m != nil {
		if begun, ok := p.open[m[1]]; ok && begun.name == m[2] {
			delete(p.open, m[1])
			p.call(begun.name, begun.text+m[3], begun.began, number)
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
	p.call(m[2], m[3], number, number)
}

// call notes a call that ended; text is what stands behind its open bracket.
func (p *parser) call(name, text string, began, ended int) {
	result := resultPattern.FindStringSubmatch(text)
	if result == nil || strings.HasPrefix(result[1], "-") {
		return
	}
	c := Call{Name: name, Began: began, Ended: ended}
	descriptor := ""
	if m := filePattern.FindStringSubmatch(text); m != nil {
		descriptor, c.File = m[1], m[2]
	}
	switch name {
	case "open", "openat":
		p.synced[result[1]] = strings.Contains(text, "O_DSYNC") || strings.Contains(text, "O_SYNC")
		c.Kind, c.File = Open, result[2]
	case "mmap":
		m := mappedPattern.FindStringSubmatch(text)
		if m == nil || !strings.Contains(text, "MAP_SHARED") || !strings.Contains(text, "PROT_WRITE") {
			return
		}
		c.Kind, c.File = Map, m[1]
	case "msync":
		if !strings.Contains(text, "MS_SYNC") {
			return
		}
		c.Kind = SyncMap
	case "fsync", "fdatasync":
		c.Kind = Sync
	case "sync_file_range":
		c.Kind = Flush
	case "io_uring_enter":
		c.Kind = Unseen
	case "ftruncate":
		c.Kind = Truncate
	case "copy_file_range":
		c.Kind, c.File = Write, secondFile(text)
	default:
		c.Kind = Write
	}
	if c.Kind == Write && result[1] == "0" {
		return // nothing was written
	}
	p.calls = append(p.calls, c)
	if c.Kind == Write && (p.synced[descriptor] || strings.Contains(text, "RWF_DSYNC") || strings.Contains(text, "RWF_SYNC")) {
		c.Kind = Sync
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
