package powercut

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// Moment names what went on when the power was cut, as far as the order of
// operations on the disk tells.
type Moment string

// The moments.
const (
	Creation Moment = "creation" // before the first acknowledgement
	Acked    Moment = "acknowledged"
	Commit   Moment = "commit"
	// Known by what SQLite writes at the beginning of its files:
	LogRestart Moment = "log restart" // the header of its log
	Checkpoint Moment = "checkpoint"  // the first page of the database, where there is a log
	Busy       Moment = "busy commit" // over three times the usual writes, of an engine whose files are not known
	// Known by system calls on files, see type files:
	JournalDeletion Moment = "journal deletion"
	MemtableFlush   Moment = "memtable flush"
	Compaction      Moment = "compaction"
	FileGrowth      Moment = "file growth" // by a call of its own, not by a write behind the end
	Closing         Moment = "closing"     // after the last acknowledgement
	Anywhere        Moment = "anywhere"    // no flush and no acknowledgement is near
	Recovery        Moment = "recovery"    // a second cut, while the engine recovers from the first
)

// Points returns where to cut, by moment: just before each flush, where the most
// can be lost, just after each acknowledgement, where the most was promised, and
// just after each call that changes which files there are.
func (r *Recording) Points() map[Moment][]int {
	all := map[Moment][]int{}
	usual, hasLog := r.usualWrites(), slices.ContainsFunc(r.Ops, startsLog)
	began, acked, total := 0, 0, r.Acked(len(r.Ops))
	known, recent := &files{map[string]int64{}, map[string]bool{}, map[string]bool{}, -1}, Moment("") // the first log is of no full memtable
	for i, op := range r.Ops {
		if m := known.moment(op); m != "" && acked > 0 && acked < total {
			recent = m
			all[m] = append(all[m], i+1)
		}
		switch op.Kind {
		case OpAck:
			acked++
			all[Acked] = append(all[Acked], i+1)
			began = i + 1
			clear(known.fresh)
		case OpFlush:
			m := Commit
			switch {
			case acked == 0:
				m = Creation
			case acked == total:
				m = Closing
			case recent != "":
				m = recent
			default:
				m = r.during(began, usual, hasLog)
			}
			all[m] = append(all[m], i)
			recent = ""
		}
	}
	all[Closing] = append(all[Closing], len(r.Ops))
	return all
}

// Beginnings of SQLite's files.
var (
	databaseStart = []byte("SQLite format 3\x00")
	logStarts     = [][]byte{{0x37, 0x7f, 0x06, 0x82}, {0x37, 0x7f, 0x06, 0x83}}
)

func (op Op) begins(with []byte) bool {
	for from := 0; op.Kind == OpWrite && from < len(op.Data); from += BlockBytes {
		if bytes.HasPrefix(op.Data[from:], with) {
			return true
		}
	}
	return false
}

func startsLog(op Op) bool {
	return slices.ContainsFunc(logStarts, op.begins)
}

// during says what a commit was that began at an index. hasLog says that SQLite
// has a log: without one the first page is written by each commit.
func (r *Recording) during(began, usual int, hasLog bool) Moment {
	end := len(r.Ops)
	if n := slices.IndexFunc(r.Ops[began:], func(op Op) bool { return op.Kind == OpAck }); n >= 0 {
		end = began + n
	}
	window := r.Ops[began:end]
	switch {
	case slices.ContainsFunc(window, startsLog):
		return LogRestart
	case hasLog && slices.ContainsFunc(window, func(op Op) bool { return op.begins(databaseStart) }):
		return Checkpoint
	case usual > 0 && r.writesUntilAck(began) > 3*usual:
		return Busy
	}
	return Commit
}

// writesUntilAck counts the writes from an index to the next acknowledgement.
func (r *Recording) writesUntilAck(from int) int {
	n := 0
	for _, op := range r.Ops[from:] {
		if op.Kind == OpAck {
			break
		}
		if op.Kind == OpWrite {
			n++
		}
	}
	return n
}

// usualWrites is the median number of writes between acknowledgements.
func (r *Recording) usualWrites() int {
	var counts []int
	n, acked := 0, false
	for _, op := range r.Ops {
		switch op.Kind {
		case OpWrite:
			n++
		case OpAck:
			if acked {
				counts = append(counts, n)
			}
			n, acked = 0, true
		}
	}
	if len(counts) == 0 {
		return 0
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// chooser draws cuts of a recording: moments in turn, so that rare ones are
// tried too, and in each the choices in turn.
type chooser struct {
	recording *Recording
	flushes   bool
	random    *rand.Rand
	points    map[Moment][]int
	moments   []Moment
	turn      int
	turns     map[Moment]int
}

// Choices are in the order in which they are tried: the outermost first, for
// they find the most.
var Choices = []Choice{KeepAll, KeepNone, KeepPrefix, DropOne, KeepSome, KeepOne, KeepTorn}

func NewChooser(r *Recording, flushes bool, seed uint64) *chooser {
	c := &chooser{recording: r, flushes: flushes, random: rand.New(rand.NewPCG(seed, 1)), points: r.Points(), turns: map[Moment]int{}}
	for _, m := range []Moment{Acked, Commit, LogRestart, Checkpoint, JournalDeletion, MemtableFlush, Compaction, FileGrowth, Busy, Creation, Closing} {
		if len(c.points[m]) > 0 {
			c.moments = append(c.moments, m)
		}
	}
	return c
}

func (c *chooser) Next() (Cut, Moment) {
	for {
		m := c.moments[c.turn%len(c.moments)]
		c.turn++
		choice := Choices[c.turns[m]%len(Choices)]
		c.turns[m]++
		points := c.points[m]
		at := points[c.random.IntN(len(points))]
		if c.random.IntN(8) == 0 { // anywhere, where no flush is near
			at, m = c.random.IntN(len(c.recording.Ops)+1), Anywhere
		}
		if cut, ok := c.recording.Choose(at, choice, c.flushes, c.random); ok {
			return cut, m
		}
	}
}
