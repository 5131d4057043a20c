package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestLoadFails: requests that fail end the command with a status of their own, in every
// format.
func TestLoadFails(t *testing.T) {
	broken := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	for _, broken = range []bool{false, true} {
		for _, name := range loadFormats.Names() {
			cmd := (&app{stdout: io.Discard}).loadCommand()
			cmd.SetArgs([]string{server.URL, "--clients", "1", "--requests", "10", "--warm", "0", "--format", name})
			err := cmd.ExecuteContext(t.Context())
			var exit *exitError
			if status := errors.As(err, &exit) && exit.status == statusFailed; status != broken || err != nil && !broken {
				t.Errorf("%s, with a server that fails %t: got %v", name, broken, err)
			}
		}
	}
}
