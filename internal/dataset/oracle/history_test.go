package oracle

import (
	"strings"
	"testing"

	"assay"
	"assay/kit/wire"
)

// newWritten is a history of the keys a and b with two fields, a0 a1 and b0 b1.
func newWritten(t *testing.T) *history {
	t.Helper()
	return newHistory(file(t, []string{"a", "b"}, []string{"a0a1", "b0b1"}), 2, shard{})
}

// mayText is what the fields of a key may be, such as "a0|a1 x".
func (h *history) mayText(key string) string {
	var fields []string
	for _, values := range h.keys[key].may {
		var all []string
		for _, v := range values {
			all = append(all, string(v))
			if v == nil {
				all[len(all)-1] = "-"
			}
		}
		fields = append(fields, strings.Join(all, " "))
	}
	return strings.Join(fields, "|")
}

func TestHistory(t *testing.T) {
	update := func(field int, value string) func(*history) {
		return func(h *history) { h.update([]byte("a"), field, []byte(value)) }
	}
	put := func(h *history) { h.put([]byte("a"), [][]byte{[]byte("p0"), []byte("p1")}) }
	measured := func(h *history) { h.phase = measuring }
	one := func(h *history) { h.phase = alone }
	for name, c := range map[string]struct {
		does []func(*history)
		want string
	}{
		"one update cannot be lost":                    {[]func(*history){update(1, "x")}, "a0|x"},
		"of two, one can be lost":                      {[]func(*history){update(0, "x"), update(1, "y")}, "a0 x|a1 y"},
		"of two of one field, the other is as it was":  {[]func(*history){update(0, "x"), update(0, "y")}, "a0 x y|a1"},
		"a put of all fields reads nothing":            {[]func(*history){put, put}, "p0|p1"},
		"an update may bring back what a put replaced": {[]func(*history){put, update(0, "x")}, "a0 p0 x|a1 p1"},
		"the warm-up is over when measuring begins":    {[]func(*history){update(0, "x"), update(0, "y"), measured, update(0, "z")}, "z|a1"},
		"a field keeps what the warm-up may have left": {[]func(*history){update(0, "x"), update(0, "y"), measured, update(1, "z")}, "a0 x y|z"},
		"of one client the newest is there":            {[]func(*history){put, update(0, "x"), one, update(0, "y"), update(0, "z")}, "z|a1 p1"},
		"one client deletes, and puts again":           {[]func(*history){put, one, func(h *history) { h.delete([]byte("a")) }, put}, "p0|p1"},
		"an empty value is not one that is missing":    {[]func(*history){func(h *history) { h.put([]byte("a"), [][]byte{{}, {}}) }, func(h *history) { h.delete([]byte("a")) }}, "- |- "},
		"a key that is deleted is not there":           {[]func(*history){func(h *history) { h.delete([]byte("a")) }}, "-|-"},
	} {
		h := newWritten(t)
		for _, do := range c.does {
			do(h)
		}
		h.keys["a"].close()
		if got := h.mayText("a"); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// Each position is of the phase that it was done in: the first one alone is behind the
// last one that was measured.
func TestReplayPhases(t *testing.T) {
	for name, c := range map[string]struct {
		done Done
		want string
	}{
		"all measured":     {Done{Measured: 3}, "v0 v1 v2"},
		"one warmed up":    {Done{Warm: 1, Measured: 2}, "v1 v2"},
		"one was alone":    {Done{Measured: 2, Alone: 1}, "v2"},
		"one of each":      {Done{Warm: 1, Measured: 1, Alone: 1}, "v2"},
		"alone begins new": {Done{Measured: 1, Alone: 2}, "v2"},
	} {
		put := assay.Step{KV: wire.Put, Args: make([]assay.Values, 2)}
		w := &writes{fields: 1, parts: []written{{trace: file(t, []string{"a", "a", "a"}, []string{"v0", "v1", "v2"}), steps: []assay.Step{put}}}}
		h := newHistory(file(t, []string{"a"}, []string{"old"}), 1, shard{})
		h.replay(w, c.done)
		h.keys["a"].close()
		if got := h.mayText("a"); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// Each key belongs to one shard, in the order of keys.
func TestShard(t *testing.T) {
	all := []shard{{nil, []byte("b")}, {[]byte("b"), []byte("b")}, {[]byte("b"), []byte("d")}, {[]byte("d"), nil}}
	for key, want := range map[string]int{"": 0, "a": 0, "b": 2, "bb": 2, "cz": 2, "d": 3, "z": 3} {
		var got []int
		for i, s := range all {
			if s.has([]byte(key)) {
				got = append(got, i)
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("key %q: shards %v, want %d", key, got, want)
		}
	}
}
