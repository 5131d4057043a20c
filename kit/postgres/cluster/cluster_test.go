//go:build linux

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/kit/process"
)

// template is a cluster that the tests copy, made once.
var template string

func TestMain(m *testing.M) {
	if folder := os.Getenv("CLUSTER_TEST_CHILD"); folder != "" {
		startAndWait(folder)
	}
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	template = filepath.Join(dir, "template")
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// programs finds PostgreSQL, and makes the template. Without it a test is
// skipped.
func programs(t *testing.T) Programs {
	t.Helper()
	p, err := Find(t.Context())
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	if _, err := os.Stat(template); err != nil {
		must(t, p.Init(t.Context(), template))
	}
	return p
}

// folder is a short one, which is removed; nobody but its owner may enter it.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	inner := filepath.Join(dir, "private", "instance")
	must(t, os.MkdirAll(inner, 0o700))
	return inner
}

func start(t *testing.T, settings map[string]string) *Cluster {
	t.Helper()
	p, dir := programs(t), folder(t)
	data := filepath.Join(dir, "data")
	must(t, Copy(data, template))
	c, err := p.Start(t.Context(), Options{Data: data, Socket: dir, Settings: settings})
	must(t, err)
	t.Cleanup(c.Kill)
	return c
}

// gone checks that nothing of a server runs.
func gone(t *testing.T, data string) {
	t.Helper()
	if left := processes(data); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	before := elsewhere
	t.Cleanup(func() { elsewhere = before })
	elsewhere = filepath.Join(t.TempDir(), "*")
	if _, err := Find(t.Context()); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Error(err)
	}
}

func TestStartAndStop(t *testing.T) {
	t.Setenv("PGHOSTADDR", "127.0.0.1") // another server's
	c := start(t, map[string]string{"synchronous_commit": "off", "shared_buffers": "33554432"})
	check := `DO $$ BEGIN
		ASSERT current_setting('synchronous_commit') = 'off';
		ASSERT current_setting('shared_buffers') = '32MB';
		ASSERT current_setting('listen_addresses') = '';
		ASSERT current_setting('fsync') = 'on';
		ASSERT current_setting('server_encoding') = 'UTF8' AND current_setting('lc_collate') = 'C';
		ASSERT current_setting('server_version_num')::int / 10000 = ` + strings.SplitN(c.programs.Version, ".", 2)[0] + `;
	END $$;`
	before := c.Snapshot()
	must(t, c.Run(t.Context(), strings.NewReader(check)))
	if len(before) < 5 {
		t.Errorf("a server of %d processes", len(before))
	}
	must(t, c.Run(t.Context(), strings.NewReader("CREATE TABLE t (n bigint); INSERT INTO t SELECT generate_series(1, 100000); CHECKPOINT;")))
	if used := c.Snapshot().Since(before); used.CPU <= 0 || used.Written <= 0 {
		t.Errorf("the server used %+v", used)
	}
	if took, err := c.Stop(); err != nil || took <= 0 {
		t.Errorf("stopped in %s: %v", took, err)
	}
	if c.Alive() || c.Used() <= 0 {
		t.Error("it is alive, or used no time")
	}
	gone(t, c.options.Data)
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	c := start(t, nil)
	err := c.Run(t.Context(), strings.NewReader("SELEKT 1;\nCREATE TABLE t (n int);"))
	if err == nil || !strings.Contains(err.Error(), `syntax error at or near "SELEKT"`) {
		t.Error(err)
	}
	if err := c.Run(t.Context(), strings.NewReader("CREATE TABLE t (n int);")); err != nil {
		t.Errorf("the script went on after its first error: %v", err)
	}
	if err := c.Run(t.Context(), strings.NewReader("SET statement_timeout = 50;\nSELECT pg_sleep(60);")); !errors.Is(err, ErrTimeout) {
		t.Errorf("a minute's sleep in 50 ms: got %v, want %v", err, ErrTimeout)
	}
}

func TestKill(t *testing.T) {
	c := start(t, nil)
	c.Kill()
	gone(t, c.options.Data)
	c.Kill()
	if words := c.LastWords(); !strings.Contains(words, "immediate shutdown") {
		t.Error(words)
	}
}

// segment is the ID of a server's System V segment, from its lock file.
var segment string

// segmentsOf counts the segments of shared memory of a server.
func segmentsOf(t *testing.T, data string) int {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(data, "postmaster.pid")); err == nil {
		segment = strings.Fields(strings.Split(string(text), "\n")[6])[1]
	}
	text, err := os.ReadFile("/proc/sysvipc/shm")
	must(t, err)
	found := 0
	for line := range strings.Lines(string(text)) {
		if strings.Fields(line)[1] == segment {
			found++
		}
	}
	return found
}

// A server whose process is killed leaves none of the others behind, nor does
// it begin again.
func TestKilledServer(t *testing.T) {
	c := start(t, nil)
	children := processes(c.options.Data)
	must(t, c.command.Process.Kill())
	<-c.exited
	segments := segmentsOf(t, c.options.Data)
	c.Kill()
	gone(t, c.options.Data)
	for _, file := range c.shared {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is left", file)
		}
	}
	if len(c.shared) == 0 || segments != 1 || segmentsOf(t, c.options.Data) != 0 {
		t.Errorf("shared memory: %v and %d segments", c.shared, segments)
	}
	if len(children) < 5 || !strings.Contains(c.LastWords(), "signal: killed") {
		t.Errorf("%d processes; %s", len(children), c.LastWords())
	}
}

// A server is killed with all of its processes, and has no time to say a word.
func TestKillAtOnce(t *testing.T) {
	c := start(t, nil)
	var shared []string // files of shared memory
	for _, pid := range c.Processes() {
		shared = append(shared, sharedFiles(pid)...)
	}
	c.KillAtOnce()
	gone(t, c.options.Data)
	for _, file := range shared {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is left", file)
		}
	}
	if words := c.LastWords(); !strings.Contains(words, "signal: killed") || strings.Contains(words, "shutdown") {
		t.Error(words)
	}
}

// A server that lost one of its processes ends.
func TestCrash(t *testing.T) {
	c := start(t, nil)
	for _, pid := range processes(c.options.Data) {
		if pid != c.command.Process.Pid {
			must(t, syscall.Kill(pid, syscall.SIGKILL))
			break
		}
	}
	<-c.exited
	if words := c.LastWords(); !strings.Contains(words, "was terminated by signal 9") {
		t.Error(words)
	}
	c.Kill()
	gone(t, c.options.Data)
}

func TestStartFails(t *testing.T) {
	p, dir := programs(t), folder(t)
	data := filepath.Join(dir, "data")
	must(t, Copy(data, template))
	_, err := p.Start(t.Context(), Options{Data: data, Socket: dir, Settings: map[string]string{"wal_sync_method": "prayer"}})
	if err == nil || !strings.Contains(err.Error(), "invalid value for parameter") {
		t.Error(err)
	}
	gone(t, data)
	_, err = p.Start(t.Context(), Options{Data: data, Socket: "/" + strings.Repeat("x", 100)})
	if err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Error(err)
	}
}

// The server ends with the process that started it, also when that is killed.
func TestEndsWithItsParent(t *testing.T) {
	programs(t)
	dir := folder(t)
	data := filepath.Join(dir, "data")
	must(t, Copy(data, template))
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "CLUSTER_TEST_CHILD="+dir)
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, process.Launch(child))
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "started\n" {
		t.Fatal(said, err)
	}
	if running := processes(data); len(running) < 5 {
		t.Errorf("a server of %d processes", len(running))
	}
	must(t, child.Process.Kill())
	_ = child.Wait() // it was killed
	for deadline := time.Now().Add(quitPatience); len(processes(data)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v are left", processes(data))
		}
	}
}

// startAndWait is the child of that test.
func startAndWait(dir string) {
	p, err := Find(context.Background())
	if err == nil {
		_, err = p.Start(context.Background(), Options{Data: filepath.Join(dir, "data"), Socket: dir})
	}
	fmt.Println(map[bool]string{true: "started", false: fmt.Sprint(err)}[err == nil])
	select {} // until it is killed
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
