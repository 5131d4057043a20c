//go:build unix

package workertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"assay/kit/column"
	"assay/kit/wire"
)

// serveChecks are about operations that are asked for over HTTP.
var serveChecks = []check{
	{"an operation is served over HTTP, on the loopback interface", wire.CapHTTP, serves},
	{"a served operation changes what it should, and an error is answered 500", wire.CapHTTP, servesChanges},
	{"a served operation is run by GET only, under the host and path that serve answered", wire.CapHTTP, servesLocalOnly},
	{"a served mix runs its parts as its trace says", wire.CapHTTP, servesMix},
	{"serving goes on with many requests at the same time, and ends with close", wire.CapHTTP, servesMany},
	{"stats tells what the pool did", wire.CapHTTP, countsPoolWaits},
}

// serve prepares an operation and has it served.
func (b *bench) serve(op wire.Operation, clients int) (url string, err error) {
	var served wire.Served
	err = steps(
		func() error {
			return b.refused(wire.TypeServe, wire.Serve{Operation: op.Name, Clients: clients}, wire.Invalid)
		},
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil) },
		func() error { return b.refused(wire.TypeServe, wire.Serve{Operation: op.Name}, wire.Invalid) },
		func() error { return b.call(wire.TypeServe, wire.Serve{Operation: op.Name, Clients: clients}, &served) },
		func() error {
			return b.refused(wire.TypeServe, wire.Serve{Operation: op.Name, Clients: clients}, wire.Invalid)
		})
	if err != nil {
		return "", err
	}
	if url, err = served.URL(); err != nil {
		return "", err
	}
	return url, b.asks(url, "", http.StatusNoContent, "")
}

// asks checks what is answered to a request. The body of an error is any text.
func (b *bench) asks(url, path string, status int, body string) error {
	request, err := http.NewRequest(http.MethodGet, url+"/"+path, nil)
	if err != nil {
		return err
	}
	return b.answersRequest(request, status, body)
}

func (b *bench) answersRequest(request *http.Request, status int, body string) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	request, path := request.WithContext(ctx), request.URL.Path
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != status || status < http.StatusBadRequest && string(text) != body {
		return fmt.Errorf("%s %s is answered %d %s, want %d %s", request.Method, path, response.StatusCode, text, status, body)
	}
	if status >= http.StatusBadRequest && len(text) == 0 {
		return fmt.Errorf("%s %s is answered %d without a word", request.Method, path, status)
	}
	return nil
}

func (b *bench) byID() (wire.Operation, error) {
	path, err := b.trace("by-id", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)}, []any{int64(9)})
	return wire.Operation{Name: "by-id", Trace: path,
		Steps: []wire.Step{{SQL: "SELECT id, n, x, s, b, yes FROM t WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: allTypes}}}, err
}

var servedRows = []string{
	`{"answer":[[1,42,1.5,"grüße","AP8=",true]],"rows":1}`,
	`{"answer":[[2,null,null,null,null,null]],"rows":1}`,
	`{"answer":[[3,-9223372036854775808,0,"","",false]],"rows":1}`,
	`{"answer":[],"rows":0}`,
	`{"answer":[[1,42,1.5,"grüße","AP8=",true]],"rows":1}`, // around the trace's end
}

func serves(b *bench) error {
	op, err := b.byID()
	if err != nil {
		return err
	}
	if err := b.make(wire.Open{Readers: 2, Idle: 2}); err != nil {
		return err
	}
	url, err := b.serve(op, 2)
	if err != nil {
		return err
	}
	for i, body := range servedRows {
		if err := b.asks(url, fmt.Sprint(i), http.StatusOK, body); err != nil {
			return err
		}
	}
	return b.asks(url, "frobnicate", http.StatusNotFound, "")
}

func servesChanges(b *bench) error {
	op, err := b.insert("insert", 1, 2)
	if err != nil {
		return err
	}
	var url string
	return steps(
		func() error { return b.make(wire.Open{Writers: 1}) },
		func() (err error) { url, err = b.serve(op, 2); return err },
		func() error { return b.asks(url, "1", http.StatusOK, `{"answer":[],"rows":1}`) },
		func() error { return b.asks(url, "1", http.StatusInternalServerError, "") },
		func() error { return b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`) },
		func() error {
			return b.answers("SELECT id FROM t WHERE id >= 100 ORDER BY id", []string{"int"}, []any{int64(100)}, []any{int64(101)})
		})
}

// servesLocalOnly asks as a page in a browser could, which any site can have
// ask this machine: none of it may run the operation.
func servesLocalOnly(b *bench) error {
	op, err := b.insert("insert", 1, 2)
	if err != nil {
		return err
	}
	if err := b.make(wire.Open{Writers: 1}); err != nil {
		return err
	}
	url, err := b.serve(op, 2)
	if err != nil {
		return err
	}
	for _, other := range []struct{ method, host string }{
		{http.MethodPost, ""}, {http.MethodPut, ""}, {http.MethodOptions, ""}, {http.MethodGet, "example.org"}} {
		request, err := http.NewRequest(other.method, url+"/0", nil)
		if err != nil {
			return err
		}
		request.Host = other.host
		if err := b.answersRequest(request, http.StatusNotFound, ""); err != nil {
			return fmt.Errorf("asked by %s for host %q: %w", other.method, other.host, err)
		}
	}
	scheme, rest, _ := strings.Cut(url, "://")
	address, path, _ := strings.Cut(rest, "/")
	if err := b.asks(scheme+"://"+address, "x/"+path+"/0", http.StatusNotFound, ""); err != nil {
		return fmt.Errorf("asked under another path: %w", err)
	}
	return steps(
		func() error { return b.answers("SELECT id FROM t WHERE id >= 100", []string{"int"}) },
		func() error { return b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`) })
}

func servesMix(b *bench) error {
	read, err := b.byID()
	if err != nil {
		return err
	}
	insert, err := b.insert("insert", 0, 2)
	if err != nil {
		return err
	}
	order, err := b.trace("mix", []column.Type{column.Int, column.Int}, []any{int64(1), int64(1)}, []any{int64(0), int64(1)})
	if err != nil {
		return err
	}
	mix := wire.Operation{Name: "mix", Trace: order, Changes: true, Parts: []wire.Operation{read, insert}}
	var url string
	return steps(
		func() error { return b.make(wire.Open{Readers: 2, Idle: 2, Writers: 1}) },
		func() (err error) { url, err = b.serve(mix, 2); return err },
		func() error { return b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`) },
		func() error { return b.asks(url, "1", http.StatusOK, servedRows[1]) },
		func() error { return b.answers("SELECT id FROM t WHERE id >= 100", []string{"int"}, []any{int64(101)}) })
}

// servesMany asks from more clients than there are handlers or connections, and holds
// what stats counts meanwhile.
func servesMany(b *bench) error {
	op, err := b.byID()
	if err != nil {
		return err
	}
	if err := b.make(wire.Open{Readers: 2, Idle: 2}); err != nil {
		return err
	}
	url, err := b.serve(op, 4)
	if err != nil {
		return err
	}
	var before, after wire.Stats
	if err := b.call(wire.TypeStats, nil, &before); err != nil {
		return err
	}
	wrong := make(chan error, 8)
	var clients sync.WaitGroup
	for range cap(wrong) {
		clients.Go(func() {
			for i := range 5 * len(servedRows) {
				if err := b.asks(url, fmt.Sprint(i%len(servedRows)), http.StatusOK, servedRows[i%len(servedRows)]); err != nil {
					wrong <- err
					return
				}
			}
		})
	}
	clients.Wait()
	close(wrong)
	if err := <-wrong; err != nil {
		return err
	}
	if err := steps(
		func() error { return b.call(wire.TypeStats, nil, &after) },
		func() error { return after.Check(before) }); err != nil {
		return err
	}
	if _, err := b.worker.Stop(b.ctx); err != nil {
		return err
	}
	if err := b.asks(url, "0", http.StatusOK, ""); err == nil || strings.Contains(err.Error(), "is answered") {
		return fmt.Errorf("it is still serving after close: %v", err)
	}
	return nil
}

func countsPoolWaits(b *bench) error {
	var before, after wire.Stats
	if err := steps(
		func() error { return b.call(wire.TypeStats, nil, &before) },
		func() error { return b.open(wire.Open{Readers: 3, Idle: 3, Writers: 1}) },
		func() error { return b.call(wire.TypeStats, nil, &after) }); err != nil {
		return err
	}
	if before.Pool != nil || after.Pool == nil {
		return fmt.Errorf("the pool before open is %v, after it %v", before.Pool, after.Pool)
	}
	return expect("opened less closed", after.Pool.Opened-after.Pool.Closed, int64(4))
}
