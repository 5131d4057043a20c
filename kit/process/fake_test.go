//go:build unix

package process

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/kit/wire"
)

// TestMain turns the test binary into a fake worker where it is started by a
// fake's name.
func TestMain(m *testing.M) {
	if fake, ok := fakes[filepath.Base(os.Args[0])]; ok {
		fake()
		return
	}
	os.Exit(m.Run())
}

// fakes are worker programs, by name.
var fakes = map[string]func(){
	"honest":  func() { hello(wire.Protocol); serve(honest) },
	"verbose": func() { fmt.Fprintln(os.Stderr, "a log line"); hello(wire.Protocol); serve(honest) },

	"mute":           func() { readToEnd() },
	"french":         func() { fmt.Println("bonjour") },
	"early reply":    func() { fmt.Println(`{"type":"ok","id":1}`) },
	"next protocol":  func() { hello(wire.Protocol + 1); readToEnd() },
	"dead on arrive": func() { fmt.Fprintln(os.Stderr, "no such library"); os.Exit(2) },

	"silent":       func() { hello(wire.Protocol); readToEnd() },
	"deaf":         func() { hello(wire.Protocol); forever() },
	"garbled":      func() { hello(wire.Protocol); serve(func(wire.Envelope, []byte) any { return "what?" }) },
	"undecided":    func() { hello(wire.Protocol); serve(reply("maybe", nil)) },
	"shapeless":    func() { hello(wire.Protocol); serve(reply("ok", []int{1})) },
	"off by one":   func() { hello(wire.Protocol); serve(offByOne) },
	"endless line": func() { hello(wire.Protocol); readLine(); fmt.Println(strings.Repeat("x", 10<<20)) },
	"half a line":  func() { hello(wire.Protocol); readLine(); fmt.Print(`{"type":`) },
	"closed mouth": func() { hello(wire.Protocol); _ = os.Stdout.Close(); forever() },

	"crash":   func() { hello(wire.Protocol); readLine(); lastWords(); os.Exit(3) },
	"suicide": func() { hello(wire.Protocol); readLine(); _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); forever() },

	"stubborn":     func() { signal.Ignore(syscall.SIGTERM); hello(wire.Protocol); forever() },
	"lingering":    lingering,
	"end of input": func() { hello(wire.Protocol); readToEnd() },

	"holder":     func() { hold("alive"); hello(wire.Protocol); serve(honest) },
	"grandchild": func() { hold("alive"); hold("ready"); forever() },
	"family":     func() { bear(false); hello(wire.Protocol); serve(honest) },
	"broken family": func() {
		bear(false)
		hello(wire.Protocol)
		readLine()
		os.Exit(3)
	},
	"daemon": func() { bear(true); hello(wire.Protocol); serve(honest) },
	"leashed": func() { // it holds the worker's output open as long as the test holds the leash
		leash, err := os.Open("leash")
		check(err)
		_, _ = io.Copy(io.Discard, leash)
	},
	"parent": parent,
}

// program returns the path of a fake.
func program(t *testing.T, name string) string {
	t.Helper()
	if _, ok := fakes[name]; !ok {
		t.Fatalf("there is no fake %q", name)
	}
	path := filepath.Join(t.TempDir(), name)
	linkSelf(t, path)
	return path
}

func linkSelf(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, path)
	}
	must(t, err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
}

func hello(protocol int) {
	check(wire.Write(os.Stdout, wire.Hello{Type: "hello", Protocol: protocol,
		Target: wire.Target{Driver: "fake", DriverVersion: "v1"}, Capabilities: []string{"lies"}}))
}

var input = wire.NewReader(os.Stdin)

// readLine ends the fake where there is none.
func readLine() []byte {
	line, err := input.Line()
	if err != nil {
		os.Exit(0)
	}
	return line
}

func readToEnd() { _, _ = io.Copy(io.Discard, os.Stdin) }

// forever outlasts every test. It must not be a deadlock.
func forever() { time.Sleep(time.Hour) }

func serve(answer func(wire.Envelope, []byte) any) {
	for {
		line := readLine()
		var head wire.Envelope
		_ = json.Unmarshal(line, &head) // garbage has no head
		check(wire.Write(os.Stdout, answer(head, line)))
		if head.Type == wire.TypeClose {
			return
		}
	}
}

type body struct {
	wire.Envelope
	Body any `json:"body,omitempty"`
}

type failure struct {
	wire.Envelope
	wire.Error
}

// honest answers with what it was asked.
func honest(head wire.Envelope, line []byte) any {
	switch {
	case !json.Valid(line):
		return failure{wire.Envelope{Type: "error"}, *wire.Errorf(wire.Invalid, "no JSON")}
	case head.Type == wire.TypeClose:
		return body{wire.Envelope{Type: "ok", ID: head.ID}, wire.Closed{Nanos: 7}}
	case head.Type == wire.TypeServe:
		return failure{wire.Envelope{Type: "error", ID: head.ID}, wire.Error{Code: wire.Failed, Message: "disk full"}}
	}
	return body{wire.Envelope{Type: "ok", ID: head.ID}, map[string]string{"asked": string(line)}}
}

func reply(kind string, content any) func(wire.Envelope, []byte) any {
	return func(head wire.Envelope, _ []byte) any { return body{wire.Envelope{Type: kind, ID: head.ID}, content} }
}

func offByOne(head wire.Envelope, _ []byte) any { return wire.Envelope{Type: "ok", ID: head.ID + 1} }

func lastWords() {
	for i := range 40 {
		fmt.Fprintf(os.Stderr, "line %d\n", i+1)
	}
}

// lingering answers close, and goes only when it is asked by signal.
func lingering() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	hello(wire.Protocol)
	serve(honest)
	<-asked
	os.Exit(5)
}

// hold keeps a named pipe of the working directory open until the process
// ends: then, and not before, its reader sees the end.
func hold(pipe string) {
	_, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	check(err)
}

// bear starts a child that shares this process's output, in a session of its
// own or not.
func bear(leaves bool) {
	name := "grandchild"
	if leaves {
		name = "leashed"
	}
	child := exec.Command("./" + name)
	child.Stdout = os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: leaves}
	check(child.Start())
}

// parent starts a worker, stops it, and says so.
func parent() {
	worker, err := Start(testContext, "./holder", Options{Dir: "."})
	check(err)
	check(worker.Pause())
	fmt.Println("ready")
	forever()
}
