package kit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"assay/kit/wire"
)

// Main serves an engine on standard input and output until the input ends or
// a close request was answered. It returns the process's exit status.
func Main(engine Engine) int {
	in, end := input()
	defer end()
	if err := Serve(engine, in, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Serve serves an engine over a pair of streams. It returns nil when the
// input ends between two lines or a close request was answered.
func Serve(engine Engine, in io.Reader, out io.Writer) error {
	target, err := engine.Target()
	if err != nil {
		return fmt.Errorf("find out the target: %w", err)
	}
	hello := wire.Hello{Type: "hello", Protocol: wire.Protocol, Target: target, Capabilities: engine.Capabilities()}
	if err := wire.Write(out, hello); err != nil {
		return err
	}
	s := &session{engine: engine, prepared: map[string]*prepared{}}
	defer s.closeDatabase()
	lines := wire.NewReader(in)
	for !s.closed {
		line, err := lines.Line()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		if err := wire.Write(out, s.answer(line)); err != nil {
			return fmt.Errorf("write reply: %w", err)
		}
	}
	return nil
}

// session is what a worker knows between requests.
type session struct {
	engine   Engine
	database Database
	prepared map[string]*prepared
	server   *server // nil where nothing is served
	closed   bool
}

type okReply struct {
	wire.Envelope
	Body any `json:"body,omitempty"`
}

type errorReply struct {
	wire.Envelope
	wire.Error
}

// answer turns a request line into a reply, whatever the line holds.
func (s *session) answer(line []byte) any {
	var head wire.Envelope
	err := json.Unmarshal(line, &head)
	if err == nil && head.ID < 1 {
		err = errors.New("it has no id above zero")
	}
	if err != nil {
		return errorReply{wire.Envelope{Type: "error"}, *wire.Errorf(wire.Invalid, "not a request: %v", err)}
	}
	body, err := s.handle(head.Type, line)
	if err != nil {
		return errorReply{wire.Envelope{Type: "error", ID: head.ID}, *asWireError(err)}
	}
	return okReply{wire.Envelope{Type: "ok", ID: head.ID}, body}
}

func asWireError(err error) *wire.Error {
	if known, is := errors.AsType[*wire.Error](err); is {
		return known
	}
	return &wire.Error{Code: wire.Failed, Message: err.Error()}
}

func (s *session) handle(kind string, line []byte) (any, error) {
	if s.database == nil && slices.Contains(wire.OfDatabase, kind) {
		return nil, errNotOpen
	}
	switch kind {
	case wire.TypeOpen:
		return with(line, s.open)
	case wire.TypeSettings:
		return with(line, s.settings)
	case wire.TypeLoad:
		return with(line, s.load)
	case wire.TypeCheck:
		return s.check()
	case wire.TypePrepare:
		return with(line, s.prepare)
	case wire.TypeMeasure:
		return with(line, s.measure)
	case wire.TypeVerify:
		return with(line, s.verify)
	case wire.TypeStats:
		return s.stats(), nil
	case wire.TypeServe:
		return with(line, s.serve)
	case wire.TypeClose:
		return s.close()
	}
	return nil, wire.Errorf(wire.Unsupported, "this worker does not know the request %q", kind)
}

// with decodes a request's fields, ignoring unknown ones, and hands them on.
func with[Request, Reply any](line []byte, handle func(Request) (Reply, error)) (any, error) {
	var request Request
	if err := json.Unmarshal(line, &request); err != nil {
		return nil, wire.Errorf(wire.Invalid, "%v", err)
	}
	return handle(request)
}

func (s *session) open(request wire.Open) (wire.Opened, error) {
	if err := request.Check(s.database != nil); err != nil {
		return wire.Opened{}, err
	}
	database, opened, err := s.engine.Open(request)
	if err != nil {
		return wire.Opened{}, err
	}
	s.database = database
	return opened, nil
}

var errNotOpen = wire.Errorf(wire.Invalid, "no database is open")

func (s *session) settings(request wire.Settings) (wire.SettingsRead, error) {
	connections, err := s.database.Settings(request.Names)
	return wire.SettingsRead{Connections: connections}, err
}

func (s *session) load(request wire.Load) (wire.Loaded, error) {
	loader, ok := s.database.(Loader)
	if !ok {
		return wire.Loaded{}, wire.Errorf(wire.Unsupported, "this worker loads no records")
	}
	records, err := request.Open()
	if err != nil {
		return wire.Loaded{}, err
	}
	defer records.Close()
	return wire.Loaded{Records: int64(records.Rows())}, loader.Load(records)
}

func (s *session) check() (wire.Checked, error) {
	checker, ok := s.database.(Checker)
	if !ok {
		return wire.Checked{}, wire.Errorf(wire.Unsupported, "this worker's engine has no check but what its SQL has")
	}
	name, err := checker.Check()
	return wire.Checked{Name: name}, err
}

func (s *session) prepare(request wire.Prepare) (wire.Prepared, error) {
	if request.Clients < 1 {
		return wire.Prepared{}, wire.Errorf(wire.Invalid, "%d clients", request.Clients)
	}
	if _, exists := s.prepared[request.Operation.Name]; exists {
		return wire.Prepared{}, wire.Errorf(wire.Invalid, "operation %q is prepared already", request.Operation.Name)
	}
	p, err := prepareOperation(s.database, request.Operation, request.Clients)
	if err != nil {
		return wire.Prepared{}, err
	}
	s.prepared[request.Operation.Name] = p
	return wire.Prepared{QueryPlan: p.operation.QueryPlan()}, nil
}

func (s *session) find(operation string) (*prepared, error) {
	p, ok := s.prepared[operation]
	if !ok {
		return nil, wire.Errorf(wire.Invalid, "operation %q is not prepared", operation)
	}
	return p, nil
}

func (s *session) measure(request wire.Measure) (wire.Measured, error) {
	p, err := s.find(request.Operation)
	if err != nil {
		return wire.Measured{}, err
	}
	before := s.splits()
	measured, err := p.measure(request)
	measured.Splits = s.splits() - before
	return measured, err
}

func (s *session) splits() int64 {
	if splitter, ok := s.database.(Splitter); ok {
		return splitter.Splits()
	}
	return 0
}

func (s *session) verify(request wire.Verify) (wire.Verified, error) {
	if request.Operation == "" {
		if request.All && !slices.Contains(s.engine.Capabilities(), wire.CapKV) {
			return wire.Verified{}, wire.Errorf(wire.Unsupported, "this worker is no key-value store")
		}
		return verifyQuery(s.database, request)
	}
	p, err := s.find(request.Operation)
	if err != nil {
		return wire.Verified{}, err
	}
	return p.verify(request)
}

// close closes everything and ends the session after its reply.
func (s *session) close() (wire.Closed, error) {
	s.closed = true
	stopped := s.closeServer() // which is no part of closing the database
	began := time.Now()
	err := s.closeDatabase()
	return wire.Closed{Nanos: time.Since(began).Nanoseconds()}, errors.Join(stopped, err)
}

func (s *session) closeServer() error {
	if s.server == nil {
		return nil
	}
	err := s.server.close()
	s.server = nil
	return err
}

func (s *session) closeDatabase() error {
	errs := []error{s.closeServer()}
	for _, p := range s.prepared {
		errs = append(errs, p.close())
	}
	s.prepared = nil
	if s.database != nil {
		errs = append(errs, s.database.Close())
		s.database = nil
	}
	return errors.Join(errs...)
}
