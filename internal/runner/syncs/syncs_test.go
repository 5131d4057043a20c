package syncs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// judged judges a trace of marks in /m and files in /d.
func judged(t *testing.T, trace string) Verdict {
	t.Helper()
	calls, err := Parse(strings.NewReader(begin + trace))
	if err != nil {
		t.Fatal(err)
	}
	return Judge(calls, "/d", "/m", false)
}

const (
	begin = "7 openat(AT_FDCWD</>, \"/m\", O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0644) = 9</m>\n"
	mark  = "7 write(9</m>, \"\"..., 1) = 1\n"
)

func TestJudge(t *testing.T) {
	const (
		write = "7 pwrite64(5</d/wal>, \"\"..., 100, 0) = 100\n"
		sync  = "7 fdatasync(5</d/wal>) = 0\n"
		other = "8 write(6</d/data>, \"\"..., 10) = 10\n"
		mmap  = "7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 5</d/data>, 0) = 0x7f00\n"
		dsync = "7 openat(AT_FDCWD</>, \"/d/wal\", O_RDWR|O_DSYNC, 0644) = 5</d/wal>\n"
		fork  = "7 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD, child_tidptr=0x7f) = 8\n"
		clone = "7 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[8]}, 88) = 8\n"
		child = "8 pwrite64(5</d/wal>, \"\"..., 100, 0) = 100\n"
	)
	for name, c := range map[string]struct {
		trace  string
		answer string
		syncs  float64
	}{
		"synced":                         {write + sync + mark + write + sync + mark, "yes", 1},
		"not synced":                     {write + mark + write + mark, "no", 0},
		"one of two":                     {write + sync + mark + write + mark, "1 of 2", 0.5},
		"written after the sync":         {write + sync + write + mark, "no", 1},
		"another file is not synced":     {write + sync + other + mark, "no", 1},
		"another file never is":          {strings.Repeat(write+sync+other+mark, 2), "no", 1},
		"cut short, and not synced":      {write + "7 ftruncate(5</d/wal>, 0) = 0\n" + mark, "no", 0},
		"a sync of the marks":            {write + sync + mark + "7 fsync(9</m>) = 0\n", "yes", 1},
		"nothing at all":                 {mark, "no", 0},
		"no marks":                       {write + sync, "", 0},
		"a sync that fails":              {write + "7 fdatasync(5</d/wal>) = -1 EIO (Input/output error)\n" + mark, "no", 0},
		"a sync that ends too late":      {write + "8 fsync(5</d/wal> <unfinished ...>\n" + mark + "8 <... fsync resumed>) = 0\n" + mark, "no", 0},
		"a sync in another thread":       {write + "8 fsync(5</d/wal> <unfinished ...>\n8 <... fsync resumed>) = 0\n" + mark, "yes", 1},
		"a sync that began before":       {"8 fsync(5</d/wal> <unfinished ...>\n" + write + "8 <... fsync resumed>) = 0\n" + mark, "no", 1},
		"a file that syncs each write":   {"7 openat(AT_FDCWD</>, \"/d/wal\", O_RDWR|O_DSYNC, 0644) = 5</d/wal>\n" + write + mark, "yes", 1},
		"opened by openat2":              {"7 openat2(AT_FDCWD</>, \"/d/wal\", {flags=O_RDWR|O_DSYNC, resolve=0}, 24) = 5</d/wal>\n" + write + mark, "yes", 1},
		"the number of another process":  {fork + strings.Replace(dsync, "7", "8", 1) + write + mark, "no", 0},
		"the number of the parent":       {dsync + fork + child + mark, "yes", 1},
		"the number of a thread":         {clone + strings.Replace(dsync, "7", "8", 1) + write + mark, "yes", 1},
		"a thread before clone3 ends":    {dsync + "7 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0} <unfinished ...>\n" + child + "7 <... clone3 resumed> => {parent_tid=[8]}, 88) = 8\n" + mark, "yes", 1},
		"a thread before clone ends":     {dsync + "7 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD <unfinished ...>\n" + child + "7 <... clone resumed>) = 8\n" + mark, "yes", 1},
		"a child before its clone ends":  {"7 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n" + strings.Replace(dsync, "7", "8", 1) + "7 <... clone resumed>) = 8\n" + write + mark, "no", 0},
		"a copied descriptor":            {strings.Replace(dsync, "= 5", "= 4", 1) + "7 dup2(4</d/wal>, 5) = 5</d/wal>\n" + write + mark, "yes", 1},
		"a new file for each commit":     {"7 write(5</d/000001.log>, \"\"..., 10) = 10\n" + sync + mark + "7 write(5</d/000002.log>, \"\"..., 10) = 10\n" + sync + mark, "no", 1},
		"a new file, and it is synced":   {strings.ReplaceAll(write+sync+mark, "wal", "000001.log") + strings.ReplaceAll(write+sync+mark, "wal", "000002.log"), "yes", 1},
		"only another file is synced":    {write + mark + other + sync + mark + mark, "no", 1.0 / 3},
		"all files":                      {write + other + "7 sync() = 0\n" + mark, "yes", 1},
		"a file system":                  {write + "7 syncfs(4</d>) = 0\n" + mark, "yes", 1},
		"another file system":            {write + "7 syncfs(4</tmp>) = 0\n" + mark, "no", 0},
		"sendfile":                       {write + sync + "7 sendfile(5</d/wal>, 6</tmp/x>, NULL, 10) = 10\n" + mark, "no", 1},
		"io_submit":                      {write + sync + "7 io_submit(0x7f, 1, []) = 1\n" + mark, "", 1},
		"a kernel thread for io_uring":   {"7 io_uring_setup(4, {flags=IORING_SETUP_SQPOLL, sq_entries=4}) = 5<anon_inode:[io_uring]>\n" + write + sync + mark, "", 1},
		"io_uring that is not used":      {"7 io_uring_setup(4, {flags=0, sq_entries=4}) = 5<anon_inode:[io_uring]>\n" + write + sync + mark, "yes", 1},
		"the same file, opened again":    {"7 openat(AT_FDCWD</>, \"/d/wal\", O_RDWR|O_DSYNC, 0644) = 6</d/wal>\n" + write + mark, "no", 0},
		"a write that syncs":             {"7 pwritev2(5</d/wal>, [{iov_base=\"\"..., iov_len=1}], 1, 0, RWF_DSYNC) = 1\n" + mark, "yes", 1},
		"mapped memory, synced":          {mmap + "7 msync(0x7f00, 8192, MS_SYNC) = 0\n" + mark, "yes", 1},
		"mapped memory, started":         {mmap + "7 msync(0x7f00, 8192, MS_ASYNC) = 0\n" + mark, "no", 0},
		"mapped memory, in part":         {mmap + "7 msync(0x7f00, 4096, MS_SYNC) = 0\n" + mark, "", 1},
		"mapped memory, moved":           {mmap + "7 mremap(0x7f00, 8192, 16384, MREMAP_MAYMOVE) = 0xff00\n7 msync(0xff00, 16384, MS_SYNC) = 0\n" + mark, "yes", 1},
		"mapped memory, from its middle": {mmap + "7 msync(0x8f00, 8192, MS_SYNC) = 0\n" + mark, "", 1},
		"memory behind what is mapped":   {mmap + write + "7 msync(0xff00, 4096, MS_SYNC) = 0\n" + mark, "no", 0},
		"other memory, moved":            {"7 mremap(0x0a00, 8192, 16384, MREMAP_MAYMOVE) = 0xff00\n" + write + sync + mark, "yes", 1},
		"other mapped memory":            {mmap + write + "7 msync(0x0a00, 4096, MS_SYNC) = 0\n" + mark, "no", 0},
		"mapped memory elsewhere":        {strings.Replace(mmap, "/d/data", "/tmp/x", 1) + write + "7 msync(0x7f00, 8192, MS_SYNC) = 0\n" + mark, "no", 0},
		"sync_file_range":                {write + "7 sync_file_range(5</d/wal>, 0, 0, SYNC_FILE_RANGE_WRITE) = 0\n" + mark, "no", 0},
		"files elsewhere":                {write + sync + "7 write(1</tmp/out>, \"\"..., 2) = 2\n" + mark, "yes", 1},
		"written in the background":      {write + sync + mark + write + sync + other + mark + write + sync + mark, "yes", 1},
		"a log for people":               {write + sync + "7 write(8</d/LOG>, \"\"..., 2) = 2\n" + mark, "yes", 1},
		"a file of locks":                {write + sync + "7 pwrite64(8</d/lock.mdb>, \"\"..., 1, 0) = 1\n" + mark, "yes", 1},
		"an index of the log":            {write + sync + "7 pwrite64(8</d/data.db-shm>, \"\"..., 1, 4095) = 1\n" + mark, "yes", 1},
		"nothing is written":             {write + sync + "7 write(8</d/meta>, \"\", 0) = 0\n" + mark, "yes", 1},
		"io_uring":                       {"7 io_uring_enter(4<anon_inode:[io_uring]>, 1, 1, 0, NULL, 8) = 1\n" + mark, "", 0},
	} {
		v := judged(t, c.trace)
		if v.Answer() != c.answer || v.Syncs != c.syncs {
			t.Errorf("%s: %q with %g syncs, want %q with %g", name, v.Answer(), v.Syncs, c.answer, c.syncs)
		}
	}
}

// Commits that change nothing write nothing, where an engine writes what changes
// before it acknowledges; elsewhere they may be written later.
func TestIdleUnits(t *testing.T) {
	const (
		commit = "7 pwrite64(5</d/wal>, \"\"..., 100, 0) = 100\n7 fdatasync(5</d/wal>) = 0\n" + mark
		lost   = "7 pwrite64(5</d/wal>, \"\"..., 100, 0) = 100\n" + mark
	)
	for name, c := range map[string]struct {
		trace  string
		direct bool
		answer string
		idle   int
		syncs  float64
	}{
		"direct":                {commit + mark + mark + commit, true, "yes", 2, 0.5},
		"direct, and one lost":  {commit + mark + mark + lost, true, "1 of 2", 2, 0.25},
		"direct, none commits":  {mark + mark, true, "", 2, 0},
		"written later":         {commit + mark + mark + commit, false, "2 of 4", 0, 0.5},
		"direct, and it is hid": {commit + "7 io_submit(0x7f, 1, []) = 1\n" + mark, true, "", 0, 0.5},
	} {
		calls, err := Parse(strings.NewReader(begin + c.trace))
		if err != nil {
			t.Fatal(err)
		}
		if v := Judge(calls, "/d", "/m", c.direct); v.Answer() != c.answer || v.Idle != c.idle || v.Syncs != c.syncs {
			t.Errorf("%s: got %q, %d idle and %g syncs, want %q, %d and %g", name, v.Answer(), v.Idle, v.Syncs, c.answer, c.idle, c.syncs)
		}
	}
}

func TestVerdictMapped(t *testing.T) {
	v := judged(t, `7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 5</d/data.mdb>, 0) = 0x7f00
7 mmap(NULL, 4096, PROT_READ, MAP_SHARED, 5</d/other>, 0) = 0x7f00
7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 5</lib/libc.so>, 0) = 0x7f00
`+"7 pwrite64(5</d/data.mdb>, \"\"..., 10, 0) = 10\n7 fdatasync(5</d/data.mdb>) = 0\n"+mark)
	want := Verdict{Units: 1, Covered: 1, Syncs: 1, Calls: map[string]int{"pwrite64": 1, "fdatasync": 1}, Mapped: []string{"data.mdb"}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := v.Evidence(); got != "1 commits: 1 fdatasync, 1 pwrite64; stores into mapped memory (data.mdb) are not seen" {
		t.Error(got)
	}
}

// A line of a trace may have any length: a call can be about thousands of buffers.
func TestLongLine(t *testing.T) {
	got := judged(t, "7 pwritev(5</d/wal>, ["+strings.Repeat("{}, ", 1<<19)+"], 100, 0) = 100\n7 fdatasync(5</d/wal>) = 0\n"+mark).Evidence()
	if want := "1 commits: 1 fdatasync, 1 pwritev"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The evidence has the calls of all commits.
func TestEvidence(t *testing.T) {
	const commit = "7 pwrite64(5</d/wal>, \"\"..., 100, 0) = 100\n7 fdatasync(5</d/wal>) = 0\n" + mark
	for trace, want := range map[string]string{
		commit + commit:        "2 commits: 2 fdatasync, 2 pwrite64",
		mark + mark:            "2 commits without a write or sync",
		commit + mark + commit: "3 commits: 2 fdatasync, 2 pwrite64",
	} {
		if got := judged(t, trace).Evidence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := (Verdict{Units: 1, Idle: 2, Calls: map[string]int{"fsync": 1}}).Evidence(), "1 commits: 1 fsync; 2 more changed nothing"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(mark + "7 <... fsync resumed>) = 0\n1 +++ exited with 0 +++\n")
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		if v := Judge(calls, "/d", "/m", false); v.Covered > v.Units {
			t.Errorf("%+v", v)
		}
	})
}

func TestRate(t *testing.T) {
	rate, err := Rate(t.TempDir())
	if err != nil || !(rate > 0) {
		t.Errorf("%g syncs a second, %v", rate, err)
	}
	if _, err := Rate("/does/not/exist"); err == nil {
		t.Error("no error for a folder that is not there")
	}
}
