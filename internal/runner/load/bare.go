package load

import (
	"net"

	"github.com/valyala/fasthttp"
)

// ServeBare answers every request with the same few bytes, as cheaply as can
// be, until the listener is closed: what a generator reaches here is its own
// limit, whatever it asks later.
func ServeBare(listener net.Listener) error {
	body := []byte(`{"answer":[[50000,42]],"rows":1}`)
	server := fasthttp.Server{NoDefaultServerHeader: true, NoDefaultDate: true, Handler: func(r *fasthttp.RequestCtx) {
		r.Response.Header.SetContentType("application/json")
		r.Response.SetBodyRaw(body)
	}}
	return server.Serve(listener)
}
