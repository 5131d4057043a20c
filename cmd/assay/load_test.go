package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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

// A wrong rate or way of arrival is refused before another one is measured, and a server that goes away takes
// nothing along that was measured before.
func TestLoadKeepsWhatItMeasured(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	for _, rates := range []string{"100,1e99", "100,0.1", "100,NaN"} {
		cmd := (&app{stdout: io.Discard}).loadCommand()
		cmd.SetArgs([]string{server.URL, "--clients", "1", "--warm", "0", "--rate", rates, "--duration", "1s"})
		var exit *exitError
		if err := cmd.ExecuteContext(t.Context()); !errors.As(err, &exit) || exit.status != statusUsage || strings.Contains(err.Error(), "-9") || asked > 0 {
			t.Errorf("%s: got %v after %d requests, want that it is refused before the first", rates, err, asked)
		}
	}
	for word, want := range map[string]string{"evn": `did you mean "even"?`, "Poison": `did you mean "poisson"?`, "": "want poisson or even", "burst": "want poisson or even"} {
		cmd := (&app{stdout: io.Discard}).loadCommand()
		cmd.SetArgs([]string{server.URL, "--rate", "100", "--requests", "1", "--arrivals", word})
		var exit *exitError
		if err := cmd.ExecuteContext(t.Context()); !errors.As(err, &exit) || exit.status != statusUsage || !strings.Contains(err.Error(), want) || asked > 0 {
			t.Errorf("--arrivals %q: got %v after %d requests, want %s", word, err, asked, want)
		}
	}
	var short *httptest.Server
	answered := 0
	short = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if answered++; answered == 20 { // there is no connection for the second rate
			short.Listener.Close()
		}
	}))
	var out bytes.Buffer
	cmd := (&app{stdout: &out}).loadCommand()
	cmd.SetArgs([]string{short.URL, "--clients", "1", "--warm", "0", "--requests", "20", "--rate", "100,100"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(out.String(), "open, 100/s") {
		t.Errorf("got %v and %q, want an error and the first rate", err, out.String())
	}
}
