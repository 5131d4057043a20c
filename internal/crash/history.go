package crash

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"

	"assay/kit/answer"
	"assay/kit/column"
)

// rowsPerTransaction are what each transaction puts: a key that is new, and
// three that exist and are overwritten. All of them name the transaction, so
// that half of one is seen.
const rowsPerTransaction = 4

// sharedKeys is the number of keys that transactions overwrite. They are written by the
// first ones.
const sharedKeys = 60

// workload is a history, ready to be written and to be checked.
type workload struct {
	history   *history
	arguments string         // the file of its argument sequence
	digests   map[int]string // of history.state, by transactions
}

func newWorkload(dir string, transactions, bytes int, seed uint64) (workload, error) {
	w := workload{newHistory(transactions, bytes, seed), filepath.Join(dir, fmt.Sprintf("arguments-%d.col", transactions)), map[int]string{}}
	return w, w.history.arguments(w.arguments)
}

// digest returns the digest of the state after the first n transactions.
func (w workload) digest(n int) string {
	if _, known := w.digests[n]; !known {
		w.digests[n] = digest(w.history.state(n))
	}
	return w.digests[n]
}

// whole returns how many transactions leave so many keys with that digest, and false where no
// number of them does: of those that were not acknowledged, one can be there.
func (w workload) whole(rows int, digest string, acked int) (n int, found bool) {
	n, found = w.history.after(rows)
	return n, found && n <= acked+1 && digest == w.digest(n)
}

// history holds what the workload writes: transaction by transaction, from a seed.
type history struct {
	puts       []put // rowsPerTransaction for each transaction
	valueBytes int
}

type put struct{ key, value []byte }

// valueBytes is how long the values of a task are that says nothing else, and
// period after how many bytes longer ones repeat, so that findings stay small.
const (
	valueBytes = 600
	period     = 512
)

// newHistory makes a number of transactions with values of a size, and one more
// that is written after a crash.
func newHistory(transactions, bytes int, seed uint64) *history {
	h := &history{puts: make([]put, 0, (transactions+1)*rowsPerTransaction), valueBytes: bytes}
	random := rand.New(rand.NewPCG(seed, 2))
	for t := range transactions + 1 {
		h.puts = append(h.puts, put{fmt.Appendf(nil, "new-%08d", t), h.value(t, 0, random)})
		shared := random.Perm(sharedKeys)[:rowsPerTransaction-1]
		for part, k := range shared {
			if first := t*(rowsPerTransaction-1) + part; first < sharedKeys {
				k = first // each is written once before any is overwritten
			}
			h.puts = append(h.puts, put{fmt.Appendf(nil, "shared-%04d", k), h.value(t, part+1, random)})
		}
	}
	return h
}

// value is the transaction's number, the part's, random bytes, and a checksum of
// all of them at the end.
func (h *history) value(transaction, part int, random *rand.Rand) []byte {
	v := binary.LittleEndian.AppendUint32(make([]byte, 0, h.valueBytes), uint32(transaction))
	v = append(v, byte(part))
	for len(v) < h.valueBytes-4 {
		if len(v) < valueBytes {
			v = append(v, byte(random.Uint32()))
		} else {
			v = append(v, v[len(v)-period])
		}
	}
	return binary.LittleEndian.AppendUint32(v, crc32.ChecksumIEEE(v))
}

// transactions returns how many there are without the one after the crash.
func (h *history) transactions() int { return len(h.puts)/rowsPerTransaction - 1 }

// arguments writes the puts as the argument sequence of an operation.
func (h *history) arguments(path string) error {
	b := column.NewBuilder(column.Blob, column.Blob)
	for _, p := range h.puts {
		if err := b.Append(p.key, p.value); err != nil {
			return fmt.Errorf("arguments of the workload: %w", err)
		}
	}
	return b.WriteFile(path)
}

// state returns what is there after the first n transactions.
func (h *history) state(n int) map[string][]byte {
	all := map[string][]byte{}
	for _, p := range h.puts[:n*rowsPerTransaction] {
		all[string(p.key)] = p.value
	}
	return all
}

// with is a state after one more transaction: the one after the crash.
func (h *history) with(state map[string][]byte) map[string][]byte {
	all := maps.Clone(state)
	for _, p := range h.puts[h.transactions()*rowsPerTransaction:] {
		all[string(p.key)] = p.value
	}
	return all
}

// rows returns how many keys the first n transactions leave.
func (h *history) rows(n int) int { return n + min(n*(rowsPerTransaction-1), sharedKeys) }

// after returns how many transactions leave so many keys, and false where no number
// of them does.
func (h *history) after(rows int) (n int, found bool) {
	n = sort.Search(h.transactions()+1, func(n int) bool { return h.rows(n) >= rows })
	return n, n <= h.transactions() && h.rows(n) == rows
}

// digest returns the digest of a state as a worker digests all keys with their values.
func digest(state map[string][]byte) string {
	hash := answer.New([]string{"blob", "blob"})
	for _, key := range slices.Sorted(maps.Keys(state)) {
		if err := hash.Row([]any{[]byte(key), state[key]}); err != nil {
			panic(err)
		}
	}
	return hash.Sum()
}

// digestOK is the digest of the one row of text "ok".
var digestOK = func() string {
	hash := answer.New([]string{"text"})
	if err := hash.Row([]any{"ok"}); err != nil {
		panic(err) // constants
	}
	return hash.Sum()
}()
