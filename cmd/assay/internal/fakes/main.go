//go:build unix

// Command fakes is the fake workers of the scripts: a program of its own, since the test
// program takes four times as long to start.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/sqldb"
	"assay/kit/wire"

	"modernc.org/sqlite"
)

// fault holds what a fake worker does wrong. The zero fault is an honest worker.
type fault struct {
	before func()                       // what happens before it reads its first request
	line   func(request) (swallow bool) // what happens when a request comes
	ask    func(map[string]string)      // changes the settings that it was asked for
	file   func(bytes int64)            // happens where it opens a database of this size, after ask
	op     func(wire.Operation, string) // happens when an operation is prepared, which has this query plan
	told   func(map[string]string)      // changes the settings that it read back
	row    func([]any)                  // changes a row of an answer
	plan   func(string) string          // changes the query plan
	rows   func(int) int                // changes the number of rows of an operation
	do     func()                       // happens in every measured operation
	serve  func([]any) error            // happens at each row that a request is answered
	lacks  string                       // a part of SQL that it refuses to prepare
}

// request is the part of a request's line that faults look at.
type request struct {
	Type      string          `json:"type"`
	Nanos     int64           `json:"nanos"`
	Operation json.RawMessage `json:"operation"` // of prepare; others have its name
}

// faults are the fake workers, by name.
var faults = map[string]fault{
	"honest": {},
	"twin":   {}, // the same under the name that the reference's second instance has
	"mattn":  {}, // the same under a name that published claims are about
	"slow":   {do: func() { time.Sleep(2 * time.Millisecond) }},

	"tunable": {ask: slowUnlessTuned, file: slowWhereLarge, op: slowUnlessHelped, do: func() { time.Sleep(pause) }},

	"crashing": {do: dieMidway},
	"hanging":  {line: on(wire.TypeMeasure, hang)},
	"stuck":    {line: on(wire.TypeStats, hang)},
	"garbage":  {line: on(wire.TypeMeasure, func() { fmt.Println("Segmentation fault, or so") })},
	"longline": {line: on(wire.TypeMeasure, func() { fmt.Println(strings.Repeat("x", 10<<20)) })},
	"deaf":     {before: func() { signal.Ignore(syscall.SIGTERM) }, line: on(wire.TypeClose, hang)},

	"meddling": {line: func(r request) bool {
		if r.Type == wire.TypeMeasure {
			meddle()
		}
		return false
	}, do: func() { time.Sleep(2 * time.Millisecond) }}, // so that another is ahead

	"liar-served": {serve: func(row []any) error { row[2] = row[2].(int64) + 1; return nil }},
	"holding":     {serve: func([]any) error { time.Sleep(time.Millisecond); return nil }}, // its connection
	"locked":      {serve: failSome},
	"tardy":       {serve: func([]any) error { time.Sleep(100 * time.Millisecond); return nil }},
	"silent":      {serve: func([]any) error { hang(); return nil }},

	"liar-row":     {row: lieOnce},
	"liar-text":    {row: lieOfText},
	"liar-rows":    {rows: func(n int) int { return n + 1 }},
	"liar-setting": {ask: ignore("journal_mode"), told: func(s map[string]string) { s["journal_mode"] = "wal" }},
	"not-applied":  {ask: ignore("cache_size")},
	"limited":      {lacks: "mail ="},
	"unindexed": {
		plan: func(plan string) string { return searched.ReplaceAllString(plan, "SCAN monster") },
		do:   func() { time.Sleep(2 * time.Millisecond) }, // a faster head may plan as it likes
	},

	"no-hello": {before: func() {
		fmt.Fprintln(os.Stderr, "cannot load libsomething.so.3")
		os.Exit(127)
	}},
	"escaping": {before: func() {
		fmt.Fprintln(os.Stderr, "last words \x1b[2J\x1b]0;owned\a")
		os.Exit(1)
	}},
	"mute": {before: func() {
		waitAtGate(request{Type: wire.TypeMeasure, Nanos: 1})
		hang()
	}},
	"old-protocol": {before: func() {
		fmt.Println(`{"type":"hello","protocol":0,"target":{"driver":"old-protocol","engine":"sqlite"}}`)
		hang()
	}},
}

// searched is how a query plan uses an index.
var searched = regexp.MustCompile(`SEARCH monster USING COVERING INDEX.*`)

var meddled bool

// meddle adds a row to the user's own file.
func meddle() {
	if meddled {
		return
	}
	meddled = true
	db, err := sql.Open("sqlite", os.Getenv("MEDDLE"))
	if err != nil {
		panic(err)
	}
	if _, err := db.Exec("INSERT INTO item DEFAULT VALUES"); errors.Join(err, db.Close()) != nil {
		panic(err)
	}
}

func on(kind string, do func()) func(request) bool {
	return func(r request) bool {
		if r.Type == kind {
			do()
		}
		return r.Type == kind
	}
}

// hang never returns.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// pause is how long each operation of the worker tunable takes; unhelped, before what an index
// and the program do.
var pause, unhelped time.Duration

// slowUnlessTuned has one setting that makes operations faster, and one that makes them faster
// still and loses data. Hardly any others can be had.
func slowUnlessTuned(settings map[string]string) {
	unhelped = 2 * time.Millisecond // much longer than an operation
	if settings["temp_store"] == "2" {
		unhelped /= 2
	}
	if settings["synchronous"] == "0" {
		unhelped = 0
	}
	for name, only := range map[string]string{"journal_mode": "wal", "cache_size": "1000", "mmap_size": "0", "wal_autocheckpoint": "", "journal_size_limit": ""} {
		if settings[name] != only {
			delete(settings, name)
		}
	}
}

// slowWhereLarge makes what helps with little data harm with more.
func slowWhereLarge(bytes int64) {
	if unhelped == time.Millisecond && bytes > 80<<10 {
		unhelped *= 4
	}
}

// slowUnlessHelped has operations that an index makes faster, and that are faster where the
// program keeps its statements.
func slowUnlessHelped(op wire.Operation, plan string) {
	pause = unhelped
	if op.Statement.Keeps() {
		pause /= 2
	}
	if !strings.Contains(plan, "SCAN") {
		pause /= 4
	}
}

var operations atomic.Int64

// dieMidway ends the process in the middle of a window.
func dieMidway() {
	if operations.Add(1) == 20 {
		fmt.Fprintln(os.Stderr, "fatal error: heap corrupted\nthese were my last words")
		os.Exit(3)
	}
}

var lied bool

// lieOnce changes one number of one answer.
func lieOnce(row []any) {
	for i, value := range row {
		if n, ok := value.(int64); ok && !lied {
			row[i], lied = n+1, true
		}
	}
}

// lieOfText makes the first text of the first answer that has one longer.
func lieOfText(row []any) {
	for i, value := range row {
		if text, ok := value.(string); ok && !lied {
			row[i], lied = text+"?", true
		}
	}
}

var served atomic.Int64

// failSome fails every tenth request.
func failSome([]any) error {
	if served.Add(1)%10 == 0 {
		return errors.New("database is locked, or so")
	}
	return nil
}

func ignore(setting string) func(map[string]string) {
	return func(settings map[string]string) { delete(settings, setting) }
}

// main is the fake worker that its argument names; without one it lists them.
func main() {
	if len(os.Args) < 2 {
		fmt.Println(strings.Join(slices.Collect(maps.Keys(faults)), " "))
		return
	}
	f, ok := faults[os.Args[1]]
	if !ok {
		panic("no such worker: " + os.Args[1])
	}
	if f.before != nil {
		f.before()
	}
	driver := sqldb.Driver{Name: os.Args[1], Module: "modernc.org/sqlite", SQLName: "sqlite", Key: pragma, Busy: busy}
	in := &requests{lines: bufio.NewReader(os.Stdin), fault: f}
	if err := kit.Serve(faultyEngine{sqldb.New(driver), f}, in, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pragma(name, value string) string { return "_pragma=" + name + "(" + value + ")" }

func busy(err error) bool {
	failure, is := errors.AsType[*sqlite.Error](err)
	return is && (failure.Code()&0xff == 5 || failure.Code()&0xff == 6)
}

// requests hands requests on, one line a call, unless the fault swallows them.
type requests struct {
	lines *bufio.Reader
	fault fault
	rest  []byte
}

func (r *requests) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if err != nil {
			return 0, io.EOF
		}
		var known request
		if json.Unmarshal(line, &known) == nil {
			waitAtGate(known)
			if r.fault.line != nil && r.fault.line(known) {
				continue
			}
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// waitAtGate counts the windows that any worker was asked for. At the one that the
// script wants it tells the script, and waits to be killed, or for the end of
// its input.
func waitAtGate(r request) {
	path, at := os.Getenv("GATE"), 0
	if _, err := fmt.Sscan(os.Getenv("GATE_AT"), &at); err != nil || path == "" || r.Type != wire.TypeMeasure || r.Nanos == 0 {
		return
	}
	count, err := os.OpenFile(path+".count", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	_, _ = count.WriteString("x")             // at the end, in one step
	end, err := count.Seek(0, io.SeekCurrent) // of this one: another worker may have written by now
	if err != nil || end != int64(at) {
		return
	}
	fifo, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(fifo, os.Getpid())
	fifo.Close()
	if os.Getenv("GATE_UNTIL") == "end" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	hang()
}

type faultyEngine struct {
	kit.Engine
	fault fault
}

func (e faultyEngine) Open(r wire.Open) (kit.Database, wire.Opened, error) {
	if e.fault.ask != nil {
		e.fault.ask(r.Settings)
	}
	if file, err := os.Stat(r.Path); err == nil && e.fault.file != nil {
		e.fault.file(file.Size())
	}
	db, opened, err := e.Engine.Open(r)
	return faultyDatabase{db, e.fault}, opened, err
}

type faultyDatabase struct {
	kit.Database
	fault fault
}

func (d faultyDatabase) Settings(names []string) ([]wire.Connection, error) {
	connections, err := d.Database.Settings(names)
	for _, c := range connections {
		if d.fault.told != nil {
			d.fault.told(c.Settings)
		}
	}
	return connections, err
}

func (d faultyDatabase) Prepare(op wire.Operation, trace *column.File) (kit.Operation, error) {
	if lacks := func(s wire.Step) bool { return d.fault.lacks != "" && strings.Contains(s.SQL, d.fault.lacks) }; slices.ContainsFunc(op.Steps, lacks) {
		return nil, errors.New("SQL logic error: no such function: \x1b[31mmail")
	}
	prepared, err := d.Database.Prepare(op, trace)
	if d.fault.op != nil && err == nil {
		d.fault.op(op, prepared.QueryPlan())
	}
	return faultyOperation{prepared, d.fault}, err
}

func (d faultyDatabase) Pool() wire.Pool { return d.Database.(kit.Pooled).Pool() }

func (d faultyDatabase) Query(sql string, returns []string, visit func([]any) error) error {
	return d.Database.Query(sql, returns, func(row []any) error {
		d.fault.change(row)
		return visit(row)
	})
}

func (f fault) change(row []any) {
	if f.row != nil {
		f.row(row)
	}
}

type faultyOperation struct {
	kit.Operation
	fault fault
}

func (o faultyOperation) Answer(position int, visit func(int, []any) error) error {
	return o.Operation.Answer(position, func(step int, row []any) error {
		o.fault.change(row)
		return visit(step, row)
	})
}

func (o faultyOperation) QueryPlan() string {
	if o.fault.plan != nil {
		return o.fault.plan(o.Operation.QueryPlan())
	}
	return o.Operation.QueryPlan()
}

func (o faultyOperation) Handler() (kit.Handler, error) {
	handler, err := o.Operation.(kit.Server).Handler()
	return faultyHandler{handler, o.fault}, err
}

type faultyHandler struct {
	kit.Handler
	fault fault
}

func (h faultyHandler) Answer(ctx context.Context, position int, visit func([]string, []any) error) (int, error) {
	if h.fault.do != nil {
		h.fault.do()
	}
	return h.Handler.Answer(ctx, position, func(types []string, row []any) error {
		if h.fault.serve != nil {
			if err := h.fault.serve(row); err != nil {
				return err
			}
		}
		return visit(types, row)
	})
}

func (o faultyOperation) Client() (kit.Client, error) {
	client, err := o.Operation.Client()
	return faultyClient{client, o.fault}, err
}

type faultyClient struct {
	kit.Client
	fault fault
}

func (c faultyClient) Do(position int) (int, error) {
	if c.fault.do != nil {
		c.fault.do()
	}
	rows, err := c.Client.Do(position)
	if c.fault.rows != nil {
		rows = c.fault.rows(rows)
	}
	return rows, err
}

// Show is of the database's own clients and of mixes: the faults stay in what it
// shows.
func (c faultyClient) Show(visit func(int, []any) error) (kit.Client, error) {
	shown, err := c.Client.(kit.Shower).Show(func(step int, row []any) error {
		c.fault.change(row)
		return visit(step, row)
	})
	return faultyClient{shown, c.fault}, err
}
