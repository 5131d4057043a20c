package powercut

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// FileCall says what an engine did to a file by a system call of its own, as a
// tracer tells it: what is written to a disk does not say which file it is of.
type FileCall uint8

// The calls. Findings are stored with these numbers, as with those of OpKind.
const (
	NoCall  FileCall = 0
	Created FileCall = 1
	Removed FileCall = 2
	Resized FileCall = 3 // to the length of Op.Offset
)

// TracedCalls holds the system calls that ParseFileCall understands.
var TracedCalls = []string{"open", "openat", "creat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "ftruncate", "fallocate"}

var (
	tracedLine = regexp.MustCompile(`^(?:\d+ +)?(\w+)\((.*)$`)
	quoted     = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	descriptor = regexp.MustCompile(`^\d+<([^>]*)>, *(.*)$`)
	number     = regexp.MustCompile(`\d+`)
)

// ParseFileCall reads a line of strace; false where it is no call on a file below a
// folder.
func ParseFileCall(line, below string) (Op, bool) {
	parts := tracedLine.FindStringSubmatch(line)
	if parts == nil {
		return Op{}, false
	}
	call, arguments := parts[1], parts[2]
	op := Op{Kind: OpCall}
	paths := quoted.FindAllStringSubmatch(arguments, -1)
	switch {
	case call == "ftruncate" || call == "fallocate":
		file := descriptor.FindStringSubmatch(arguments)
		if file == nil {
			return Op{}, false
		}
		op.Call, op.Name = Resized, file[1]
		numbers := number.FindAllString(file[2], 3)
		if call == "fallocate" && len(numbers) == 3 { // mode, offset, length
			numbers = numbers[1:]
		}
		for _, n := range numbers[:min(len(numbers), map[string]int{"ftruncate": 1, "fallocate": 2}[call])] {
			bytes, _ := strconv.ParseInt(n, 10, 64) // digits only; what is too long is no length
			op.Offset += bytes
		}
	case len(paths) == 0:
		return Op{}, false
	case strings.HasPrefix(call, "unlink"):
		op.Call, op.Name = Removed, paths[0][1]
	case strings.HasPrefix(call, "rename"):
		op.Call, op.Name = Created, paths[len(paths)-1][1]
	case call == "creat" || strings.Contains(arguments, "O_CREAT"):
		op.Call, op.Name = Created, paths[0][1]
	default:
		return Op{}, false
	}
	return op, strings.HasPrefix(op.Name, below+"/")
}

// call returns what an operation says of a file, and by what the file is known;
// NoCall: nothing.
func (op Op) call() (call FileCall, file string) {
	switch {
	case op.Kind == OpCall:
		return op.Call, op.Name
	case op.Kind == OpName && !op.Folder:
		return Created, strconv.FormatUint(op.Child, 10)
	case op.Kind == OpUnname:
		return Removed, op.Name
	case op.Kind == OpTruncate:
		return Resized, strconv.FormatUint(op.Node, 10)
	}
	return NoCall, ""
}

// files follows the calls of a log-structured store: a log that is begun anew says
// that a memtable is full and will be flushed, which makes one table; other tables
// come from compactions, which remove those that they read.
type files struct {
	lengths  map[string]int64
	fresh    map[string]bool // made since the last acknowledgement
	there    map[string]bool
	flushing int // full memtables whose table is not there yet
}

// moment names what an operation shows the engine to be at; empty: nothing.
func (f *files) moment(op Op) Moment {
	call, file := op.call()
	extension := path.Ext(op.Name)
	table := extension == ".sst" || extension == ".ldb"
	switch call {
	case Created:
		if f.there[file] {
			return "" // it was only opened
		}
		f.there[file], f.fresh[file] = true, true
		switch {
		case extension == ".log" || extension == ".mem":
			if f.flushing++; f.flushing > 0 {
				return MemtableFlush
			}
		case table && f.flushing > 0:
			f.flushing--
			return MemtableFlush
		case table:
			return Compaction
		}
	case Removed:
		delete(f.there, file)
		switch {
		case table:
			return Compaction
		case strings.HasSuffix(op.Name, "-journal"):
			return JournalDeletion
		}
	case Resized:
		grows := op.Offset > f.lengths[file]
		f.lengths[file] = op.Offset
		if grows && !f.fresh[file] {
			return FileGrowth
		}
	}
	return ""
}
