package powercut

import (
	"maps"
	"testing"
)

// Lines of strace tell what is done to files below a folder, and nothing else.
func TestFileCall(t *testing.T) {
	for line, want := range map[string]Op{
		`71  openat(AT_FDCWD</w>, "/mnt/data.db/000004.log", O_RDWR|O_CREAT|O_CLOEXEC, 0666) = 5</mnt/data.db/000004.log>`: {Kind: OpCall, Call: Created, Name: "/mnt/data.db/000004.log"},
		`71  openat(AT_FDCWD</w>, "/mnt/data.db/000004.sst", O_CREAT <unfinished ...>`:                                     {Kind: OpCall, Call: Created, Name: "/mnt/data.db/000004.sst"},
		`rename("/mnt/data.db/000002.log", "/mnt/data.db/000009.log") = 0`:                                                 {Kind: OpCall, Call: Created, Name: "/mnt/data.db/000009.log"},
		`71  unlinkat(AT_FDCWD</w>, "/mnt/data.db-journal", 0) = 0`:                                                        {Kind: OpCall, Call: Removed, Name: "/mnt/data.db-journal"},
		`71  ftruncate(7</mnt/data.db>, 65536) = 0`:                                                                        {Kind: OpCall, Call: Resized, Name: "/mnt/data.db", Offset: 65536},
		`71  fallocate(7</mnt/data.db>, 0, 4096, 8192) = 0`:                                                                {Kind: OpCall, Call: Resized, Name: "/mnt/data.db", Offset: 12288},
	} {
		if got, ok := ParseFileCall(line, "/mnt"); !ok || got.Kind != want.Kind || got.Call != want.Call || got.Name != want.Name || got.Offset != want.Offset {
			t.Errorf("%s: got %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{
		"", "+++ exited with 0 +++", `71  openat(AT_FDCWD</w>, "/mnt/data.db/000004.log", O_RDONLY|O_CLOEXEC) = 5`,
		`71  openat(AT_FDCWD</w>, "/mntelse/000004.log", O_RDWR|O_CREAT, 0666) = 5`, `71  ftruncate(7, 65536) = 0`, `71  fsync(7</mnt/data.db>) = 0`,
	} {
		if got, ok := ParseFileCall(line, "/mnt"); ok {
			t.Errorf("%s: got %+v, want that it says nothing", line, got)
		}
	}
}

// A memtable's log and its table, the tables of compactions, files that grow and
// journals that go name the moments of cut points around them.
func TestMomentsOfFiles(t *testing.T) {
	call := func(c FileCall, name string, bytes int64) Op {
		return Op{Kind: OpCall, Call: c, Name: "/mnt/" + name, Offset: bytes}
	}
	plain := write(0, 1)
	commit := []Op{plain, flush, ack}
	for name, c := range map[string]struct {
		ops  []Op
		want map[Moment]int
	}{
		"log-structured": {[]Op{call(Created, "1.log", 0), call(Created, "1.log", 0), call(Created, "2.log", 0), plain, flush, call(Created, "3.sst", 0), plain, flush, plain,
			call(Created, "4.ldb", 0), plain, flush, call(Removed, "3.sst", 0), plain}, map[Moment]int{MemtableFlush: 4, Compaction: 4, FileGrowth: 0}},
		"one file that grows":                 {[]Op{call(Resized, "data.db", 32768), plain, flush, call(Resized, "data.db", 65536), call(Resized, "data.db", 4096)}, map[Moment]int{FileGrowth: 4, Compaction: 0}},
		"a file that is made with its length": {[]Op{call(Created, "1.mem", 0), call(Created, "2.mem", 0), call(Resized, "2.mem", 65536), flush}, map[Moment]int{MemtableFlush: 2, FileGrowth: 0}},
		"rollback":                            {[]Op{call(Created, "data.db-journal", 0), plain, call(Removed, "data.db-journal", 0), ack, plain, flush}, map[Moment]int{JournalDeletion: 2}},
		"of files": {[]Op{{Kind: OpName, Node: 1, Name: "1.log", Child: 7}, {Kind: OpName, Node: 1, Name: "2.log", Child: 8}, {Kind: OpTruncate, Node: 8, Offset: 10}, {Kind: OpFlush, Node: 8},
			{Kind: OpUnname, Node: 1, Name: "3.sst"}, ack, {Kind: OpTruncate, Node: 8, Offset: 20}}, map[Moment]int{MemtableFlush: 2, Compaction: 1, FileGrowth: 2}},
	} {
		all := append(append([]Op{}, commit...), c.ops...)
		r := recording(append(append(all, ack), commit...)...)
		got := r.Points()
		counts := map[Moment]int{}
		for m := range c.want {
			counts[m] = len(got[m])
		}
		if !maps.Equal(counts, c.want) {
			t.Errorf("%s: got %v, want %v", name, counts, c.want)
		}
	}
	first := recording(append([]Op{call(Created, "1.log", 0), call(Created, "2.sst", 0)}, commit...)...)
	if got := first.Points(); len(got[MemtableFlush])+len(got[Compaction]) > 0 || len(got[Creation]) == 0 {
		t.Errorf("what happens before the first acknowledgement: got %v, want creation only", got)
	}
}
