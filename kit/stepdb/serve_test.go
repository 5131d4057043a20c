package stepdb

import (
	"fmt"
	"runtime"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

// onePool lends one connection.
type onePool struct{ free chan Conn }

func (p onePool) Take() (Conn, error) { return <-p.free, nil }
func (p onePool) Put(c Conn)          { p.free <- c }
func (p onePool) Close() error        { return (<-p.free).Close() }

// TestHandlers: each request takes a connection, of the driver's own pool or in
// turn, and who waits for one is counted.
func TestHandlers(t *testing.T) {
	for _, own := range []bool{false, true} {
		f := newFake()
		d := f.driver()
		if own {
			d.Pool = func(s Source, n int) (Pool, error) {
				conn, err := d.Open(s)
				p := onePool{make(chan Conn, 1)}
				p.free <- conn
				return p, err
			}
		}
		db := f.database(t, d, wire.Open{Readers: 1})
		o, err := db.Prepare(reading("each"), traceOf(t, 1, 2))
		must(t, err)
		var handlers []kit.Handler
		for range 2 {
			h, err := o.(kit.Server).Handler()
			must(t, err)
			handlers = append(handlers, h)
		}
		waits, done := make(chan struct{}), make(chan string)
		ask := func(h kit.Handler, meanwhile func()) string {
			shown := ""
			rows, err := h.Answer(t.Context(), 1, func(types []string, row []any) error {
				meanwhile()
				shown += fmt.Sprint(types, row)
				return nil
			})
			return fmt.Sprint(shown, " ", rows, " ", err)
		}
		go func() {
			<-waits
			done <- ask(handlers[1], func() {})
		}()
		first := ask(handlers[0], func() {
			close(waits)
			for db.Pool().Waits == 0 {
				runtime.Gosched()
			}
		})
		for _, got := range []string{first, <-done} {
			if got != "[int] [7] 1 <nil>" {
				t.Errorf("own pool %t: got %s", own, got)
			}
		}
		if got := db.Pool(); got.Opened != 1 || got.Closed != 0 || got.Waits != 1 || got.Waited <= 0 {
			t.Errorf("own pool %t: %+v", own, got)
		}
	}
}
