package serve

import (
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every answer tells browsers what they may do with it: also one that refuses, and one
// that is a file.
func TestHeadersOfEveryAnswer(t *testing.T) {
	const token = "0123456789abcdef"
	web := start(t, Options{Store: sampleStore(t, 1), Token: token})
	known := func(r *http.Request) { r.SetBasicAuth("", token) }
	for name, test := range map[string]struct {
		path   string
		change func(*http.Request)
		status int
	}{
		"a page":    {"/", known, 200},
		"a file":    {"/runs/" + firstID + "/export", known, 200},
		"no page":   {"/nosuch", known, 404},
		"no token":  {"/", nil, 401},
		"a foreign": {"/", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
	} {
		answer, _ := web.ask(t, "GET", test.path, nil, test.change)
		if answer.StatusCode != test.status {
			t.Errorf("%s: got status %d, want %d", name, answer.StatusCode, test.status)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: got %s %q, want %q", name, header, got, want)
			}
		}
		// Without it a browser does not ask for the token.
		if got := answer.Header.Get("WWW-Authenticate"); strings.HasPrefix(got, "Basic ") != (test.status == 401) {
			t.Errorf("%s: got WWW-Authenticate %q with status %d", name, got, test.status)
		}
	}
}

// A server behind one that speaks TLS is of the same origin as its pages.
func TestOriginBehindTLS(t *testing.T) {
	const token = "0123456789abcdef"
	web := start(t, Options{Store: sampleStore(t, 1), Token: token})
	answer, text := web.ask(t, "GET", "/", nil, func(r *http.Request) {
		r.Host = "assay.example"
		r.Header.Set("Origin", "https://assay.example")
		r.SetBasicAuth("", token)
	})
	if answer.StatusCode != 200 {
		t.Errorf("got status %d, want 200\n%s", answer.StatusCode, text)
	}
}

// Browsers leave out the port of HTTP, and no other.
func TestLocalNames(t *testing.T) {
	for _, test := range []struct {
		ip   string
		port int
		want []string
	}{
		{"127.0.0.2", 7070, []string{"127.0.0.2:7070", "localhost:7070", "127.0.0.1:7070", "[::1]:7070"}},
		{"127.0.0.1", 80, []string{"127.0.0.1:80", "127.0.0.1", "localhost", "[::1]"}},
		{"::1", 80, []string{"[::1]:80", "[::1]", "localhost:80", "localhost", "127.0.0.1:80", "127.0.0.1"}},
	} {
		got := localNames(&net.TCPAddr{IP: net.ParseIP(test.ip), Port: test.port})
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s port %d: got %q, want %s among them", test.ip, test.port, got, want)
			}
		}
		if slices.Contains(got, "localhost") != (test.port == 80) {
			t.Errorf("%s port %d: got %q, want localhost without a port with the port 80 only", test.ip, test.port, got)
		}
	}
}

// A file that is sent is bounded as it comes and as it is unpacked, and nothing of it stays
// beside the store.
func TestImportIsBounded(t *testing.T) {
	from := start(t, Options{Store: sampleStore(t, 1)})
	_, file := from.ask(t, "GET", "/runs/"+firstID+"/export", nil, nil)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	for _, test := range []struct {
		largest int64
		status  int
		want    string
	}{
		{int64(len(file)) / 2, 400, "the file was not received: "},
		{int64(len(file)) + 1000, 400, "it unpacks to more than"}, // with what the form puts around it
		{0, 303, ""},
	} {
		web := start(t, Options{Store: sampleStore(t, 0), AllowImport: true, largest: test.largest})
		answer, text := send(t, web, "run", []byte(file))
		if answer.StatusCode != test.status || !strings.Contains(text, test.want) {
			t.Errorf("at most %d bytes: got status %d, want %d and %q in\n%s", test.largest, answer.StatusCode, test.status, test.want, text)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "assay-import-") }) {
		t.Errorf("got %v, %v; want no file that was sent", left, err)
	}
}
