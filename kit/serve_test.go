package kit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"assay/kit/answer"
	"assay/kit/wire"
)

// talk is the other half of a served engine.
type talk struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *wire.Reader
	ended chan error
}

// serveFake serves an engine and reads its hello.
func serveFake(t *testing.T, f *fake) *talk {
	t.Helper()
	requests, in := io.Pipe()
	out, replies := io.Pipe()
	s := &talk{t, in, wire.NewReader(out), make(chan error, 1)}
	go func() {
		err := Serve(f, requests, replies)
		_ = requests.Close()
		_ = replies.Close()
		s.ended <- err
	}()
	t.Cleanup(func() { _ = in.Close() })
	const hello = `{"type":"hello","protocol":1,"target":{"driver":"fake","driver_version":"v1","engine":"none","engine_version":"2"},"capabilities":["sql"]}`
	if got := s.line(); got != hello {
		t.Fatalf("hello %s\nwant  %s", got, hello)
	}
	return s
}

func (s *talk) line() string {
	s.t.Helper()
	line, err := s.out.Line()
	if err != nil {
		s.t.Fatalf("read: %v", err)
	}
	return string(line)
}

var nanos = regexp.MustCompile(`"nanos":[0-9]+`)

// ask sends a line and compares the answer, with N for nanoseconds.
func (s *talk) ask(request, want string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, request+"\n"); err != nil {
		s.t.Fatalf("write: %v", err)
	}
	if got := nanos.ReplaceAllString(s.line(), `"nanos":N`); got != want {
		s.t.Errorf("asked %s\ngot   %s\nwant  %s", request, got, want)
	}
}

const (
	openIt    = `{"type":"open","id":1,"path":"p","readers":1,"idle":1,"writers":0}`
	opened    = `{"type":"ok","id":1,"body":{"dsn":"fake:p"}}`
	prepareIt = `{"type":"prepare","id":2,"operation":{"name":"a","steps":[{"sql":"s","query":true,"args":0,"rows":1,"returns":["int"]}]},"clients":2}`
	preparedA = `{"type":"ok","id":2,"body":{"query_plan":"plan of a"}}`
)

// decode sends a line and decodes the answer.
func (s *talk) decode(request string, reply any) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, request+"\n"); err != nil {
		s.t.Fatalf("write: %v", err)
	}
	if err := json.Unmarshal([]byte(s.line()), reply); err != nil {
		s.t.Fatal(err)
	}
}

// end closes the input and returns what Serve returned.
func (s *talk) end() error {
	_ = s.in.Close()
	return <-s.ended
}

func digestOf(t *testing.T, types []string, rows ...[]any) string {
	t.Helper()
	hash := answer.New(types)
	for _, row := range rows {
		must(t, hash.Row(row))
	}
	return hash.Sum()
}

func checkLog(t *testing.T, f *fake, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(f.log, want) {
		t.Errorf("did  %q\nwant %q", f.log, want)
	}
}

// TestLifecycle goes once through every request.
func TestLifecycle(t *testing.T) {
	rows := [][]any{{int64(7)}, {int64(8)}}
	f := &fake{answers: rows}
	s := serveFake(t, f)
	s.ask(openIt, opened)
	s.ask(prepareIt, preparedA)
	s.ask(`{"type":"settings","id":3,"names":["a","b"]}`,
		`{"type":"ok","id":3,"body":{"connections":[{"name":"reader-1","settings":{"a":"on","b":"on"}}]}}`)
	s.ask(`{"type":"verify","id":4,"sql":"SELECT","returns":["int"]}`,
		`{"type":"ok","id":4,"body":{"digest":"`+digestOf(t, []string{"int"}, rows...)+`","rows":2}}`)
	s.ask(`{"type":"verify","id":5,"operation":"a","start":9,"count":2}`,
		`{"type":"ok","id":5,"body":{"digest":"`+digestOf(t, []string{"int"}, append(rows, rows...)...)+`","rows":4}}`)
	s.ask(`{"type":"close","id":6}`, `{"type":"ok","id":6,"body":{"nanos":N}}`)
	must(t, <-s.ended)
	checkLog(t, f, "open p", "prepare a", "answer 0", "answer 0",
		"close client of a", "close client of a", "close a", "close database")
}

// TestMeasureReply looks at what cannot be compared as text.
func TestMeasureReply(t *testing.T) {
	s := serveFake(t, &fake{})
	s.ask(openIt, opened)
	s.ask(prepareIt, preparedA)
	var measured struct {
		wire.Envelope
		Body wire.Measured
	}
	s.decode(`{"type":"measure","id":3,"operation":"a","start":0,"operations":50,"latency":true}`, &measured)
	m := measured.Body
	if measured.Envelope != (wire.Envelope{Type: "ok", ID: 3}) || m.Executed != 50 || m.Counters.Peak <= 0 || count(m) != 50 {
		t.Errorf("%+v", measured)
	}
	var stats struct {
		wire.Envelope
		Body wire.Counters
	}
	s.decode(`{"type":"stats","id":4}`, &stats)
	if stats.Envelope != (wire.Envelope{Type: "ok", ID: 4}) || stats.Body.CPU <= 0 || stats.Body.Allocs <= 0 || stats.Body.Alloc <= 0 {
		t.Errorf("%+v", stats)
	}
}

func TestRefusals(t *testing.T) {
	f := &fake{answers: [][]any{{int64(1), int64(2)}}}
	s := serveFake(t, f)
	refused := func(request, code, message string) {
		t.Helper()
		s.ask(`{"id":9,`+request[1:], `{"type":"error","id":9,"code":"`+code+`","definite":true,"message":"`+message+`"}`)
	}
	failed := func(request, message string) {
		t.Helper()
		s.ask(`{"id":9,`+request[1:], `{"type":"error","id":9,"code":"failed","definite":false,"message":"`+message+`"}`)
	}
	for _, request := range []string{`{"type":"settings"}`, `{"type":"prepare"}`, `{"type":"verify","sql":"s"}`, `{"type":"measure","operation":"a"}`,
		`{"type":"load"}`, `{"type":"check"}`} {
		refused(request, "invalid", "no database is open")
	}
	refused(`{"type":"serve","operation":"a","clients":1}`, "invalid", "no database is open")
	refused(`{"type":""}`, "unsupported", `this worker does not know the request \"\"`)
	refused(`{"type":"open","readers":"many"}`, "invalid", "json: cannot unmarshal string into Go struct field Open.readers of type int")
	refused(`{"type":"open","path":"q"}`, "invalid", "no connections asked for")

	s.ask(openIt, opened)
	refused(`{"type":"open","path":"q"}`, "invalid", "a database is open already")
	for _, request := range []string{`{"type":"measure","operation":"a"}`, `{"type":"verify","operation":"a"}`} {
		refused(request, "invalid", `operation \"a\" is not prepared`)
	}
	refused(`{"type":"prepare","operation":{"name":"a"}}`, "invalid", "0 clients")
	s.ask(prepareIt, preparedA)
	refused(`{"type":"prepare","operation":{"name":"a"},"clients":1}`, "invalid", `operation \"a\" is prepared already`)
	refused(`{"type":"prepare","operation":{"name":"b","steps":[{}],"transaction":-1},"clients":1}`, "invalid", `operation \"b\": transactions of -1 operations`)
	refused(`{"type":"prepare","operation":{"name":"b"},"clients":1}`, "invalid", `operation \"b\" has no steps`)
	refused(`{"type":"prepare","operation":{"name":"b","steps":[{"args":-1}]},"clients":1}`, "invalid", `operation \"b\": step 1 takes -1 arguments`)
	refused(`{"type":"prepare","operation":{"name":"b","steps":[{"args":2}]},"clients":1}`, "invalid", `operation \"b\" takes 2 arguments, its trace has 0 columns`)
	refused(`{"type":"prepare","operation":{"name":"b","trace":"/missing"},"clients":1}`, "invalid", "trace: open /missing: no such file or directory")
	for _, request := range []string{`{"type":"measure","operation":"a"}`, `{"type":"measure","operation":"a","nanos":1,"operations":1}`} {
		refused(request, "invalid", "measure wants nanos or operations, one of them")
	}
	refused(`{"type":"measure","operation":"a","start":-1,"operations":1}`, "invalid", "start -1, operations 1: want whole transactions of 1")
	refused(`{"type":"verify","operation":"a","start":-1,"count":1}`, "invalid", "verify of 1 positions from -1 on")
	refused(`{"type":"verify","operation":"a","count":-1}`, "invalid", "verify of -1 positions from 0 on")
	refused(`{"type":"verify","sql":"s","returns":["date"]}`, "invalid", `type \"date\": want int, real, text, blob or bool`)
	failed(`{"type":"verify","sql":"SELEKT","returns":["int"]}`, "syntax error")
	failed(`{"type":"verify","operation":"a","count":1}`, "position 0: row 1 has 2 columns, declared are 1")

	f.prepare = wire.Errorf(wire.Unsupported, "no")
	refused(`{"type":"prepare","operation":{"name":"c","steps":[{}]},"clients":1}`, "unsupported", "no")
	f.prepare, f.client = nil, errors.New("no more connections")
	failed(`{"type":"prepare","operation":{"name":"c","steps":[{}]},"clients":1}`, `client of \"c\": no more connections`)
	f.client = nil
	s.ask(`{"type":"prepare","id":3,"operation":{"name":"c","steps":[{}]},"clients":1}`, `{"type":"ok","id":3,"body":{"query_plan":"plan of c"}}`)
	refused(`{"type":"verify","operation":"c","count":1}`, "unsupported", `operation \"c\" returns no rows`)

	f.closing = errors.New("disk full")
	failed(`{"type":"close"}`, "disk full")
	must(t, <-s.ended)
}

func TestOpenFails(t *testing.T) {
	f := &fake{open: errors.New("no such file")}
	s := serveFake(t, f)
	s.ask(openIt, `{"type":"error","id":1,"code":"failed","definite":false,"message":"no such file"}`)
	f.open = nil
	s.ask(openIt, opened)
	must(t, s.end())
	checkLog(t, f, "open p", "close database")
}

// TestStrangeLines: whatever a line holds, it is answered and the talk goes on.
func TestStrangeLines(t *testing.T) {
	s := serveFake(t, &fake{})
	for line, want := range map[string]string{
		"":             `"code":"invalid","definite":true,"message":"not a request: unexpected end of JSON input"}`,
		"{not json":    `"code":"invalid","definite":true,"message":"not a request: invalid character 'n' looking for beginning of object key string"}`,
		"[1]":          `"code":"invalid","definite":true,"message":"not a request: json: cannot unmarshal array into Go value of type wire.Envelope"}`,
		`{"type":5}`:   `"code":"invalid","definite":true,"message":"not a request: json: cannot unmarshal number into Go struct field Envelope.type of type string"}`,
		`null`:         `"code":"invalid","definite":true,"message":"not a request: it has no id above zero"}`,
		"\xff\x00":     `"code":"invalid","definite":true,"message":"not a request: invalid character 'ÿ' looking for beginning of value"}`,
		`{"id":1e999}`: `"code":"invalid","definite":true,"message":"not a request: json: cannot unmarshal number 1e999 into Go struct field Envelope.id of type int64"}`,
	} {
		s.ask(line, `{"type":"error","id":0,`+want)
	}
	long := strings.Repeat("ä", 1<<20)
	s.ask(`{"type":"settings","id":2,"x-grease":{"deep":[null,1.5]},"x":"`+long+`"}`,
		`{"type":"error","id":2,"code":"invalid","definite":true,"message":"no database is open"}`)
	s.ask(strings.TrimSuffix(openIt, "}")+`,"x-grease":[]}`+"\r", opened)
}

func TestInputEnds(t *testing.T) {
	for name, c := range map[string]struct {
		last string
		want error
	}{
		"between lines":     {"", nil},
		"in a line":         {`{"type":"stats"`, io.ErrUnexpectedEOF},
		"line over a limit": {strings.Repeat("x", wire.MaxLine+1), wire.ErrLine},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			s := serveFake(t, f)
			s.ask(openIt, opened)
			s.ask(prepareIt, preparedA)
			_, _ = io.WriteString(s.in, c.last) // nobody reads the end of a line that is too long
			if err := s.end(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			checkLog(t, f, "open p", "prepare a", "close client of a", "close client of a", "close a", "close database")
		})
	}
}

func TestServeFails(t *testing.T) {
	broken := errors.New("broken")
	if err := Serve(&fake{target: broken}, strings.NewReader(""), io.Discard); !errors.Is(err, broken) {
		t.Errorf("target: %v", err)
	}
	_, out := io.Pipe()
	_ = out.CloseWithError(broken)
	if err := Serve(&fake{}, strings.NewReader(""), out); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("closed output: %v", err)
	}
	reader, half := io.Pipe()
	go func() {
		_, _ = wire.NewReader(reader).Line()
		_ = reader.CloseWithError(broken)
	}()
	if err := Serve(&fake{}, strings.NewReader(openIt+"\n"), half); !errors.Is(err, broken) {
		t.Errorf("output closed after hello: %v", err)
	}
}

// TestVerifySteps: with several answers to a step's SQL, the digest is that of
// the steps' digests.
func TestVerifySteps(t *testing.T) {
	rows := [][]any{{int64(7)}}
	op := wire.Operation{Name: "two", Trace: numbers(t, 3), Steps: []wire.Step{
		{Query: true, Returns: []string{"int"}}, {SQL: "no rows"}, {Query: true, Returns: []string{"bool"}}}}
	f := &fake{answers: rows}
	p := prepareFake(t, f, op, 1)
	got, err := p.verify(wire.Verify{Start: 2, Count: 2})
	must(t, err)
	twice := append(rows, rows...)
	sum := sha256.Sum256([]byte(digestOf(t, []string{"int"}, twice...) + digestOf(t, []string{"bool"}, twice...)))
	if want := (wire.Verified{Digest: hex.EncodeToString(sum[:]), Rows: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	checkLog(t, f, "prepare two", "answer 2", "answer 0")
	if _, err := p.verify(wire.Verify{Start: math.MaxInt64, Count: 1}); err != nil {
		t.Error(err)
	}
}
