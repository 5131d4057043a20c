//go:build unix

package workertest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"assay/kit/column"
	"assay/kit/wire"
)

var serveChecks = []check{
	{"an operation is served over HTTP, on the loopback interface", wire.CapHTTP, serves},
	{"a served operation changes what it should, and an error is answered 500", wire.CapHTTP, servesChanges},
	{"a served operation is run by GET only, under the host and path that serve answered", wire.CapHTTP, servesLocalOnly},
	{"a served mix runs its parts as its trace says", wire.CapHTTP, servesMix},
	{"serving goes on with many requests at the same time, and ends with close", wire.CapHTTP, servesMany},
	{"stats tells what the pool did", wire.CapHTTP, countsPoolWaits},
}

// serve prepares an operation and has it served.
func (b *bench) serve(op wire.Operation, clients int) (url string) {
	request := wire.Serve{Operation: op.Name, Clients: clients}
	b.refused(wire.TypeServe, request, wire.Invalid)
	b.prepare(op, 1)
	b.refused(wire.TypeServe, wire.Serve{Operation: op.Name}, wire.Invalid)
	var served wire.Served
	b.call(wire.TypeServe, request, &served)
	b.refused(wire.TypeServe, request, wire.Invalid)
	url, err := served.URL()
	must(err)
	b.asks(url, "", http.StatusNoContent, "")
	return url
}

// asks checks what is answered to a request. The body of an error is any text.
func (b *bench) asks(url, path string, status int, body string) {
	request, err := http.NewRequest(http.MethodGet, url+"/"+path, nil)
	must(err)
	b.answersRequest(request, status, body)
}

func (b *bench) answersRequest(request *http.Request, status int, body string) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	request, path := request.WithContext(ctx), request.URL.Path
	response, err := http.DefaultClient.Do(request)
	must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(err)
	if response.StatusCode != status || status < http.StatusBadRequest && string(text) != body {
		fail("%s %s is answered %d %s, want %d %s", request.Method, path, response.StatusCode, text, status, body)
	}
	if status >= http.StatusBadRequest && len(text) == 0 {
		fail("%s %s is answered %d without a word", request.Method, path, status)
	}
}

func (b *bench) byID() wire.Operation {
	path := b.trace("by-id", []column.Type{column.Int}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)}, []any{int64(9)})
	return wire.Operation{Name: "by-id", Trace: path,
		Steps: []wire.Step{{SQL: "SELECT id, n, x, s, b, yes FROM t WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: allTypes}}}
}

var servedRows = []string{
	`{"answer":[[1,42,1.5,"grüße","AP8=",true]],"rows":1}`,
	`{"answer":[[2,null,null,null,null,null]],"rows":1}`,
	`{"answer":[[3,-9223372036854775808,0,"","",false]],"rows":1}`,
	`{"answer":[],"rows":0}`,
	`{"answer":[[1,42,1.5,"grüße","AP8=",true]],"rows":1}`, // around the trace's end
}

func serves(b *bench) {
	op := b.byID()
	b.make(wire.Open{Readers: 2, Idle: 2})
	url := b.serve(op, 2)
	for i, body := range servedRows {
		b.asks(url, fmt.Sprint(i), http.StatusOK, body)
	}
	b.asks(url, "frobnicate", http.StatusNotFound, "")
}

func servesChanges(b *bench) {
	op := b.insert("insert", 1, 2)
	b.make(wire.Open{Writers: 1})
	url := b.serve(op, 2)
	b.asks(url, "1", http.StatusOK, `{"answer":[],"rows":1}`)
	b.asks(url, "1", http.StatusInternalServerError, "")
	b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`)
	b.answers("SELECT id FROM t WHERE id >= 100 ORDER BY id", []string{"int"}, []any{int64(100)}, []any{int64(101)})
}

// servesLocalOnly asks as a page in a browser could, which any site can have
// ask this machine: none of it may run the operation.
func servesLocalOnly(b *bench) {
	op := b.insert("insert", 1, 2)
	b.make(wire.Open{Writers: 1})
	url := b.serve(op, 2)
	for _, other := range []struct{ method, host string }{
		{http.MethodPost, ""}, {http.MethodPut, ""}, {http.MethodOptions, ""}, {http.MethodGet, "example.org"}} {
		request, err := http.NewRequest(other.method, url+"/0", nil)
		must(err)
		request.Host = other.host
		about(fmt.Sprintf("asked by %s for host %q", other.method, other.host), func() { b.answersRequest(request, http.StatusNotFound, "") })
	}
	scheme, rest, _ := strings.Cut(url, "://")
	address, path, _ := strings.Cut(rest, "/")
	about("asked under another path", func() { b.asks(scheme+"://"+address, "x/"+path+"/0", http.StatusNotFound, "") })
	b.answers("SELECT id FROM t WHERE id >= 100", []string{"int"})
	b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`)
}

func servesMix(b *bench) {
	order := b.trace("mix", []column.Type{column.Int, column.Int}, []any{int64(1), int64(1)}, []any{int64(0), int64(1)})
	mix := wire.Operation{Name: "mix", Trace: order, Changes: true, Parts: []wire.Operation{b.byID(), b.insert("insert", 0, 2)}}
	b.make(wire.Open{Readers: 2, Idle: 2, Writers: 1})
	url := b.serve(mix, 2)
	b.asks(url, "0", http.StatusOK, `{"answer":[],"rows":1}`)
	b.asks(url, "1", http.StatusOK, servedRows[1])
	b.answers("SELECT id FROM t WHERE id >= 100", []string{"int"}, []any{int64(101)})
}

// servesMany asks from more clients than there are handlers or connections, and holds
// what stats counts meanwhile.
func servesMany(b *bench) {
	op := b.byID()
	b.make(wire.Open{Readers: 2, Idle: 2})
	url := b.serve(op, 4)
	before := b.stats()
	wrong := make(chan error, 8)
	for range cap(wrong) {
		go func() {
			wrong <- caught(func() {
				for i := range 5 * len(servedRows) {
					b.asks(url, fmt.Sprint(i%len(servedRows)), http.StatusOK, servedRows[i%len(servedRows)])
				}
			})
		}()
	}
	var errs []error
	for range cap(wrong) {
		errs = append(errs, <-wrong)
	}
	must(cmp.Or(errs...))
	after := b.stats()
	must(after.Check(before))
	b.stop()
	err := caught(func() { b.asks(url, "0", http.StatusOK, "") })
	if err == nil || strings.Contains(err.Error(), "is answered") {
		fail("it is still serving after close: %v", err)
	}
}

func countsPoolWaits(b *bench) {
	before := b.stats()
	b.open(wire.Open{Readers: 3, Idle: 3, Writers: 1})
	after := b.stats()
	if before.Pool != nil || after.Pool == nil {
		fail("the pool before open is %v, after it %v", before.Pool, after.Pool)
	}
	expect("opened less closed", after.Pool.Opened-after.Pool.Closed, int64(4))
}
