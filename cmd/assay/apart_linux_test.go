package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/store"
	"assay/internal/sys/hostlock"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/process"

	"github.com/rogpeppe/go-internal/testscript"
)

// insideVariable is set for the test that runs in a network of its own.
const insideVariable = "ASSAY_TEST_INSIDE"

// TestMachinesApart runs testdata/apart in a network of its own, that of the server. Its
// machines are processes in further ones. A network ends with its last process, and
// every process with the one that started it: nothing is left, however the test ends.
func TestMachinesApart(t *testing.T) {
	if os.Getenv(insideVariable) != "" {
		testscript.Run(t, testscript.Params{Dir: "testdata/apart", Setup: setup, Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": apartServer, "machine": newMachine, "agent": startAgent, "heard": heard, "cut": link("down"), "heal": link("up"),
			"hold": hold, "release": release, "once": once, "start": start, "said": said, "finish": finish}})
		return
	}
	t.Parallel() // it waits most of the time
	if testing.Short() {
		t.Skip("it waits until a cut network counts as lost")
	}
	if why := notApart(t.Context()); why != "" {
		t.Skip(why)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, "-test.run=^TestMachinesApart$", "-test.v")
	command.Env = append(os.Environ(), insideVariable+"=yes")
	command.SysProcAttr = apart()
	var out strings.Builder
	command.Stdout, command.Stderr = &out, &out
	if err = process.Launch(command); err == nil {
		err = command.Wait()
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("this system does not let us make networks: ", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "--- PASS: TestMachinesApart/apart") {
		t.Fatalf("the script did not run\n%s", out.String())
	}
}

// notApart says what is missing for machines with networks of their own; empty: nothing.
func notApart(ctx context.Context) string {
	if os.Getuid() != 0 {
		return "networks of their own take root"
	}
	for program, pkg := range map[string]string{"ip": "iproute2", "nsenter": "util-linux", "mount": "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is missing: install " + pkg
		}
	}
	if _, err := os.Stat("/etc/machine-id"); err != nil {
		return "this machine has no ID: make /etc/machine-id"
	}
	if _, err := cluster.Find(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// apart are the attributes of a process with a network and mounts of its own.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
}

// run runs a program of the system.
func run(ts *testscript.TestScript, words ...string) {
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		ts.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// server starts PostgreSQL, which the machines reach with a password only, and keeps
// the URL of a store on it in ASSAY_STORE.
func apartServer(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "server")
	run(ts, "ip", "link", "set", "lo", "up")
	ctx := context.Background()
	programs, err := cluster.Find(ctx)
	ts.Check(err)
	folder, err := os.MkdirTemp("/tmp", "assay-apart-") // a socket has a short path
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(folder) })
	ts.Check(os.Chmod(folder, 0o755))
	data := filepath.Join(folder, "data")
	ts.Check(programs.Init(ctx, data))
	ts.Check(os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("local all all trust\nhost all all all scram-sha-256\n"), 0o600))
	server, err := programs.Start(ctx, cluster.Options{Data: data, Socket: folder, Settings: map[string]string{"fsync": "off", "listen_addresses": "*"}})
	ts.Check(err)
	ts.Defer(server.Kill)
	ts.Check(server.Run(ctx, strings.NewReader("ALTER ROLE "+postgres.User+" PASSWORD 'secret';\n")))
	ts.Setenv("ASSAY_STORE", storeAt("127.0.0.1"))
}

func storeAt(address string) string {
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(postgres.User, "secret"), Host: address + ":" + strconv.Itoa(postgres.Port),
		Path: "/" + postgres.User, RawQuery: "sslmode=disable"}).String()
}

// machine NAME NET makes a machine: a network that a link joins with the server's, an
// ID, and a lock. Its addresses begin with NET, three numbers.
func newMachine(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "machine NAME NET")
	name, net := args[0], args[1]
	holder := exec.Command("sleep", "infinity")
	holder.SysProcAttr = apart()
	ts.Check(process.Launch(holder))
	ts.Defer(func() { _ = holder.Process.Kill(); _ = holder.Wait() })
	pid := strconv.Itoa(holder.Process.Pid)
	ts.Setenv("PID_"+name, pid)
	ts.Setenv("NET_"+name, net)

	run(ts, "ip", "link", "add", "to-"+name, "type", "veth", "peer", "name", "to-server", "netns", pid)
	run(ts, "ip", "address", "add", net+".1/24", "dev", "to-"+name)
	run(ts, "ip", "link", "set", "to-"+name, "up")
	inside := []string{"nsenter", "--net", "--mount", "--target", pid, "--"}
	run(ts, append(inside, "ip", "address", "add", net+".2/24", "dev", "to-server")...)
	run(ts, append(inside, "ip", "link", "set", "to-server", "up")...)

	id, lock := ts.MkAbs(name+".id"), ts.MkAbs(name+".lock")
	ts.Check(os.WriteFile(id, []byte(strings.Repeat("0", 32-len(pid))+pid+"\n"), 0o644))
	ts.Check(os.WriteFile(lock, nil, 0o644))
	made, err := os.OpenFile(hostlock.Path, os.O_CREATE|os.O_EXCL, 0o666) // to mount over
	if err == nil {
		ts.Check(errors.Join(made.Chmod(0o666), made.Close()))
	}
	run(ts, append(inside, "mount", "--bind", id, "/etc/machine-id")...)
	run(ts, append(inside, "mount", "--bind", lock, hostlock.Path)...)
}

// agent NAME starts an agent on a machine. What it says goes to NAME.err.
func startAgent(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "agent NAME")
	name := args[0]
	inner := command(ts, "agent")
	nsenter, err := exec.LookPath("nsenter")
	ts.Check(err)
	agent := exec.Command(nsenter, append([]string{"--net", "--mount", "--target", ts.Getenv("PID_" + name), "--"}, inner.Args...)...)
	agent.Args[6] = inner.Path
	agent.Env = append(inner.Env, "ASSAY_STORE="+storeAt(ts.Getenv("NET_"+name)+".1"),
		"XDG_DATA_HOME="+ts.MkAbs("data-"+name), "XDG_CACHE_HOME="+ts.MkAbs("cache-"+name))
	agent.Stderr, err = os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	ts.Check(process.Launch(agent))
	ts.Defer(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
}

// heard NAME TEXT waits until the agent of a machine has said a text.
func heard(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "heard NAME TEXT")
	file := args[0] + ".err"
	for deadline := time.Now().Add(patience); !strings.Contains(ts.ReadFile(file), args[1]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("the agent of %s does not say %q\n%s", args[0], args[1], ts.ReadFile(file))
		}
	}
}

// link sets the link of a machine: up or down.
func link(state string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		want(ts, len(args) == 1 && !neg, "cut NAME, or heal NAME")
		run(ts, "ip", "link", "set", "to-"+args[0], state)
	}
}

// locks are those that scripts hold, by the file's path.
var locks = map[string]*os.File{}

// hold NAME waits for the turn to measure on a machine, and takes it: its agent waits
// before its next launch.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "hold NAME")
	path := ts.MkAbs(args[0] + ".lock")
	file, err := os.Open(path)
	ts.Check(err)
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
	}
	ts.Check(err)
	locks[path] = file
}

// release NAME gives the turn back.
func release(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "release NAME")
	ts.Check(locks[ts.MkAbs(args[0]+".lock")].Close())
}

// once MACHINES LAUNCHES demands that the fleet has so many machines, each with a run of
// its own in which every cell has so many launches, each once.
func once(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "once MACHINES LAUNCHES")
	machines, err := strconv.Atoi(args[0])
	ts.Check(err)
	launches, err := strconv.Atoi(args[1])
	ts.Check(err)
	ctx := context.Background()
	s, err := store.Open(ctx, ts.Getenv("ASSAY_STORE"))
	ts.Check(err)
	defer s.Close()
	f, err := s.Fleet(ctx, "") // the only one
	ts.Check(err)
	all, err := s.FleetMachines(ctx, f.Template.ID)
	ts.Check(err)
	seen := map[string]bool{}
	for _, m := range all {
		run, err := s.Run(ctx, m.Run)
		ts.Check(err)
		seen[assay.Identity(run.Host)] = true
		if got := launchesOf(ts, s, m.Run); len(got) < 3 { // two drivers and a twin
			ts.Fatalf("%s: got the rows %v, want two drivers and a twin", m.Machine, got)
		} else {
			for row, numbers := range got {
				if numbers != numbersTo(launches) {
					ts.Fatalf("%s, %s: got the launches%s, want each once:%s", m.Machine, row, numbers, numbersTo(launches))
				}
			}
		}
	}
	if len(seen) != machines || len(all) != machines {
		ts.Fatalf("got runs of %d machines by %d, want %d", len(all), len(seen), machines)
	}
}

// launchesOf are the launches of each row of a run, in their order.
func launchesOf(ts *testscript.TestScript, s *store.Store, run string) map[string]string {
	rows := map[string]string{}
	for trial, err := range s.Trials(context.Background(), run) {
		ts.Check(err)
		rows[fmt.Sprint(trial.Cell.Operation, " ", trial.Cell.Driver, " ", trial.Twin)] += fmt.Sprint(" ", trial.Launch)
	}
	return rows
}

func numbersTo(n int) (text string) {
	for i := range n {
		text += fmt.Sprint(" ", i+1)
	}
	return text
}
