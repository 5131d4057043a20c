package crash

import (
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
	Busy     Moment = "busy commit" // over three times the usual writes: a checkpoint, a compaction, a file that grows
	Closing  Moment = "closing"     // after the last acknowledgement
	Anywhere Moment = "anywhere"    // no flush and no acknowledgement is near
	Recovery Moment = "recovery"    // a second cut, while the engine recovers from the first
)

// points returns where to cut, by moment: just before each flush, where the most
// can be lost, and just after each acknowledgement, where the most was promised.
func (r *Recording) points() map[Moment][]int {
	all := map[Moment][]int{}
	usual := r.usualWrites()
	began, acked, total := 0, 0, r.Acked(len(r.Ops))
	for i, op := range r.Ops {
		switch op.Kind {
		case OpAck:
			acked++
			all[Acked] = append(all[Acked], i+1)
			began = i + 1
		case OpFlush:
			m := Commit
			switch {
			case acked == 0:
				m = Creation
			case acked == total:
				m = Closing
			case usual > 0 && r.writesUntilAck(began) > 3*usual:
				m = Busy
			}
			all[m] = append(all[m], i)
		}
	}
	all[Closing] = append(all[Closing], len(r.Ops))
	return all
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

// choices are in the order in which they are tried: the outermost first, for
// they find the most.
var choices = []Choice{KeepAll, KeepNone, KeepPrefix, DropOne, KeepSome, KeepOne, KeepTorn}

func newChooser(r *Recording, flushes bool, seed uint64) *chooser {
	c := &chooser{recording: r, flushes: flushes, random: rand.New(rand.NewPCG(seed, 1)), points: r.points(), turns: map[Moment]int{}}
	for _, m := range []Moment{Acked, Commit, Busy, Creation, Closing} {
		if len(c.points[m]) > 0 {
			c.moments = append(c.moments, m)
		}
	}
	return c
}

// next draws a cut.
func (c *chooser) next() (Cut, Moment) {
	for {
		m := c.moments[c.turn%len(c.moments)]
		c.turn++
		choice := choices[c.turns[m]%len(choices)]
		c.turns[m]++
		points := c.points[m]
		at := points[c.random.IntN(len(points))]
		if c.random.IntN(8) == 0 { // anywhere, where no flush is near
			at, m = c.random.IntN(len(c.recording.Ops)+1), Anywhere
		}
		if cut, ok := c.recording.choose(at, choice, c.flushes, c.random); ok {
			return cut, m
		}
	}
}
