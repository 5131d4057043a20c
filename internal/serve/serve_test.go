package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/store"
)

const (
	firstID  = "20261101-000000-0001"
	secondID = "20261102-000000-0002"
)

// sampleStore has runs of the sample, the later ones with a shift of mattn, and one
// that was made on another machine.
func sampleStore(t testing.TB, runs int) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	must(t, err)
	t.Cleanup(func() { s.Close() })
	for day := 1; day <= runs; day++ {
		run := analysistest.PlainRun
		run.ID, run.Plan, run.PlanText = fmt.Sprintf("202611%02d-000000-%04d", day, day), "quick", "name: quick\n"
		run.Started, run.Status = analysistest.SampleStart.Add(time.Duration(day)*24*time.Hour), assay.Finished
		run.Host = map[string]string{"cpu": "x", "cores": "2", "memory": "4 GB"}
		add(t, s, run, day)
	}
	return s
}

// add adds a run whose ratio shifts with the seventh.
func add(t testing.TB, s *store.Store, run assay.Run, day int) {
	t.Helper()
	version, times := "v1.0.0", 1+float64(day%3)/500
	if day >= 7 {
		version, times = "v1.1.0", times*1.2
	}
	head := analysistest.Cell("read", "mattn", "web")
	head.DriverVersion = version
	run.Targets = []assay.Target{{Driver: "modernc", DriverVersion: "v1.61.1", Build: "b-modernc"}, {Driver: "mattn", DriverVersion: version, Build: "b-mattn"}}
	trials := append(analysistest.Launches(analysistest.Cell("read", "modernc", "web"), 6, 10000, 1), analysistest.Launches(head, 6, 10000*times, 2+day%3)...)
	put(t, s, run, trials)
}

func put(t testing.TB, s *store.Store, run assay.Run, trials []assay.Trial) {
	t.Helper()
	must(t, s.Begin(t.Context(), run))
	for _, trial := range trials {
		must(t, s.Append(t.Context(), run.ID, trial))
	}
}

// serving is a server on a port of its own.
type serving struct {
	url string
	log *bytes.Buffer
}

func start(t testing.TB, o Options) serving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	logged := &bytes.Buffer{}
	o.Log = logged
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v, want that it was stopped", err)
		}
		if logged.Len() > 0 {
			t.Errorf("logged: %s", logged)
		}
	})
	return serving{"http://" + l.Addr().String(), logged}
}

// ask sends a request and returns the answer with its text.
func (s serving) ask(t testing.TB, method, path string, body io.Reader, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, body)
	must(t, err)
	if change != nil {
		change(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	_, page, found := strings.Cut(string(text), "</style>") // messages of tests need no style sheet
	if !found {
		page = string(text)
	}
	return answer, page
}

func TestPages(t *testing.T) {
	s := sampleStore(t, 12)
	if err := s.KeepProof(t.Context(), "name: quick\n", assay.Proof{Target: "mattn@v1.1.0", Build: "b-mattn", Profile: "web", Fault: assay.PowerCut,
		Claimed: assay.Power, States: 40, Held: 39, Refuted: 1, Kind: assay.LosesCommits, Replay: "seed-7"}); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepProof(t.Context(), "name: never-run\n", assay.Proof{Target: "zombiezen@v1.4.0", Build: "b-zombiezen", Profile: "alone", Fault: assay.PowerCut,
		Claimed: assay.Power, States: 24, Held: 24}); err != nil {
		t.Fatal(err)
	}
	web := start(t, Options{Store: s})
	for _, test := range []struct {
		path   string
		status int
		want   []string
		not    string
	}{
		{"/", 200, []string{"12 runs in the store", `href="/runs/` + firstID + `"`, "1 to 12 of 12 runs", "x, 2 cores, 4 GB"}, "Import a run"},
		{"/?plan=quick&driver=mattn&machine=x%2C+2+cores%2C+4+GB", 200, []string{"1 to 12 of 12 runs", `<option value="mattn" selected>mattn</option>`}, ""},
		{"/?driver=bbolt", 200, []string{"No run fits"}, firstID},
		{"/?page=99", 200, []string{"No run fits"}, firstID},
		{"/?page=-1", 200, []string{"1 to 12 of 12 runs"}, ""},
		{"/?page=92233720368547758", 200, []string{"1 to 12 of 12 runs"}, ""},
		{"/?page=9223372036854775807", 200, []string{"1 to 12 of 12 runs"}, ""},
		{"/runs/" + firstID, 200, []string{"run " + firstID, `href="/history"`, `href="/runs/` + firstID + `/export"`, "<svg"}, ""},
		{"/runs/nosuch", 404, []string{"the store has no such run"}, ""},
		{"/compare", 200, []string{`name="a"`}, "is faster in"},
		{"/compare?a=" + firstID, 200, []string{"Name both A and B."}, ""},
		{"/compare?a=" + firstID + "&b=" + secondID, 200, []string{firstID + " against " + secondID, "launches are not paired", "undecided in"}, ""},
		{"/compare?a=mattn&b=modernc&run=" + firstID, 200, []string{"mattn against modernc"}, "not paired"},
		{"/compare?a=mattn&b=nosuch&run=" + firstID, 404, []string{"it has no driver, profile or coordinate \"nosuch\""}, ""},
		{"/compare?a=mattn&b=web&run=" + firstID, 400, []string{"not of a kind"}, ""},
		{"/history", 200, []string{"Cells", "read, 1k rows, 1 client: mattn (web) / modernc@v1.61.1, 12 runs", "cell=plan%3Dquick+workload%3Dmonster+operation%3Dread"}, "<svg"},
		{"/history?cell=read+driver%3Dmattn", 200, []string{"1.00x -> 1.20x", "with v1.0.0 -> v1.1.0", "<svg", "21 Nov v1.0.0", `href="/runs/` + secondID}, ""},
		{"/history?cell=nosuch", 200, []string{"No finished run of this machine compares such a cell"}, "<svg"},
		{"/history?cell=a+b", 400, []string{"operation is named twice"}, ""},
		{"/claims", 404, nil, ""},
		{"/nosuch", 404, nil, ""},
		{"/import", 404, nil, ""},
	} {
		answer, text := web.ask(t, "GET", test.path, nil, nil)
		if answer.StatusCode != test.status {
			t.Errorf("%s: got status %d, want %d\n%s", test.path, answer.StatusCode, test.status, text)
		}
		text = html.UnescapeString(text)
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not have %q:\n%s", test.path, want, text)
			}
		}
		if test.not != "" && strings.Contains(text, test.not) {
			t.Errorf("%s has %q", test.path, test.not)
		}
		if strings.Contains(strings.ToLower(text), "<script") && !strings.HasPrefix(test.path, "/runs/") {
			t.Errorf("%s has a script", test.path)
		}
	}
}

// The links of the page of cells lead to the history of exactly that cell.
func TestHistoryLinksLeadToTheCell(t *testing.T) {
	web := start(t, Options{Store: sampleStore(t, 2)})
	_, text := web.ask(t, "GET", "/history", nil, nil)
	_, after, found := strings.Cut(text, `href="/history?cell=`)
	if !found {
		t.Fatalf("no link in\n%s", text)
	}
	query, _, _ := strings.Cut(after, `"`)
	_, text = web.ask(t, "GET", "/history?cell="+html.UnescapeString(query), nil, nil)
	if strings.Count(text, "<h2>read, 1k rows") != 1 || strings.Contains(text, "Other cells") {
		t.Errorf("got\n%s\nwant the one cell", text)
	}
}

func TestForeignRequests(t *testing.T) {
	web := start(t, Options{Store: sampleStore(t, 1), AllowImport: true})
	own := web.url
	for name, test := range map[string]struct {
		method string
		change func(*http.Request)
		status int
	}{
		"own origin":          {"GET", func(r *http.Request) { r.Header.Set("Origin", own) }, 200},
		"localhost":           {"GET", func(r *http.Request) { r.Host = "localhost" + own[strings.LastIndex(own, ":"):] }, 200},
		"in capitals":         {"GET", func(r *http.Request) { r.Host = "LOCALHOST" + own[strings.LastIndex(own, ":"):] }, 200},
		"without the port":    {"GET", func(r *http.Request) { r.Host = "localhost" }, 403},
		"another name":        {"GET", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another port":        {"GET", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"another origin":      {"GET", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"a longer origin":     {"GET", func(r *http.Request) { r.Header.Set("Origin", own+"0") }, 403}, // another port
		"a domain of another": {"GET", func(r *http.Request) { r.Header.Set("Origin", own+".evil.example") }, 403},
		"no origin at all":    {"GET", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"sent by another":     {"POST", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"sent by a neighbour": {"POST", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		"sent from own page":  {"POST", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-origin"); r.Header.Set("Origin", own) }, 400},
		"read by another": {"GET", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
		}, 403},
		"opened from another": {"GET", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}, 200},
		"typed":    {"GET", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		"deleting": {"DELETE", nil, 405},
	} {
		path := "/"
		if test.method == "POST" {
			path = "/import"
		}
		answer, text := web.ask(t, test.method, path, nil, test.change)
		if answer.StatusCode != test.status {
			t.Errorf("%s: got status %d (%s), want %d", name, answer.StatusCode, text, test.status)
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: got the policy %q", name, policy)
		}
	}
}

func TestToken(t *testing.T) {
	const token = "0123456789abcdef"
	web := start(t, Options{Store: sampleStore(t, 1), Token: token})
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"none":          {nil, 401},
		"as a password": {func(r *http.Request) { r.SetBasicAuth("anybody", token) }, 200},
		"wrong":         {func(r *http.Request) { r.SetBasicAuth(token, "0123456789abcdee") }, 401},
		"bearer":        {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }, 200},
		"lower case":    {func(r *http.Request) { r.Header.Set("Authorization", "bearer "+token) }, 200},
		"bare token":    {func(r *http.Request) { r.Header.Set("Authorization", token) }, 401},
		"by any name":   {func(r *http.Request) { r.Host = "assay.example"; r.SetBasicAuth("a", token) }, 200},
	} {
		answer, text := web.ask(t, "GET", "/", nil, test.change)
		if answer.StatusCode != test.status || strings.Contains(text, token) {
			t.Errorf("%s: got status %d, want %d, without the token in\n%s", name, answer.StatusCode, test.status, text)
		}
	}
}

func TestCheckAddress(t *testing.T) {
	const token = "0123456789abcdef"
	for _, test := range []struct{ address, token, want string }{
		{"127.0.0.1:7070", "", ""}, {"localhost:0", "", ""}, {"[::1]:7070", "", ""},
		{"0.0.0.0:7070", "", "can be reached from other machines"}, {":7070", "", "can be reached"}, {"192.0.2.1:7070", "", "can be reached"},
		{"evil.example:1", "", "can be reached"}, {"7070", "", "want HOST:PORT"}, {"127.0.0.1:99999", "", "want HOST:PORT"},
		{":7070", token, ""}, {"127.0.0.1:7070", token[1:], "has 15 bytes, and needs at least 16"},
	} {
		err := CheckAddress(test.address, test.token)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s with token %q: got %v, want %q", test.address, test.token, err, test.want)
		}
	}
}

// send posts a file as the form of the page does.
func send(t *testing.T, web serving, field string, file []byte) (*http.Response, string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, "../../run.assay")
	if err == nil {
		_, err = part.Write(file)
	}
	must(t, errors.Join(err, form.Close()))
	return web.ask(t, "POST", "/import", &body, func(r *http.Request) { r.Header.Set("Content-Type", form.FormDataContentType()) })
}

func TestImport(t *testing.T) {
	from := start(t, Options{Store: sampleStore(t, 1)})
	answer, file := from.ask(t, "GET", "/runs/"+firstID+"/export", nil, nil)
	if got := answer.Header.Get("Content-Disposition"); got != "attachment; filename="+firstID+".assay" {
		t.Errorf("got Content-Disposition %q", got)
	}
	to := sampleStore(t, 0)
	web := start(t, Options{Store: to, AllowImport: true})
	for range 2 { // the second time changes nothing
		answer, text := send(t, web, "run", []byte(file))
		if answer.StatusCode != 303 || answer.Header.Get("Location") != "/runs/"+firstID {
			t.Errorf("got status %d, Location %q, want 303 and the run\n%s", answer.StatusCode, answer.Header.Get("Location"), text)
		}
	}
	for field, file := range map[string]string{"run": "no run", "other": file} {
		if answer, text := send(t, web, field, []byte(file)); answer.StatusCode != 400 {
			t.Errorf("%s: got status %d, want 400\n%s", field, answer.StatusCode, text)
		}
	}
	runs, err := to.Runs(t.Context())
	if err != nil || len(runs) != 1 || !runs[0].Imported {
		t.Errorf("got %d runs, %v; want the imported one", len(runs), err)
	}
}

// What is wrong with a file is said without naming a file of this machine; what is
// wrong with the machine is in the log only.
func TestImportBlames(t *testing.T) {
	from := start(t, Options{Store: sampleStore(t, 1)})
	_, file := from.ask(t, "GET", "/runs/"+firstID+"/export", nil, nil)
	web := start(t, Options{Store: sampleStore(t, 0), AllowImport: true})
	answer, text := send(t, web, "run", []byte(file[:len(file)/2]))
	if answer.StatusCode != 400 || !strings.Contains(text, "the file was not imported: ") || strings.Contains(text, "a.db") {
		t.Errorf("half a file: got status %d, want 400 without the store's path\n%s", answer.StatusCode, text)
	}

	s := sampleStore(t, 0)
	s.Close()
	logged := &bytes.Buffer{}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "/import", strings.NewReader(
		"--x\r\nContent-Disposition: form-data; name=run; filename=a\r\n\r\n"+file+"\r\n--x--\r\n"))
	must(t, err)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	shut := &server{Options: Options{Store: s, Log: logged}}
	w := httptest.NewRecorder()
	shut.page(shut.importRun).ServeHTTP(w, r)
	if !strings.Contains(logged.String(), "a.db") || strings.Contains(w.Body.String(), "a.db") || w.Code != 500 {
		t.Errorf("a store that cannot be written: logged %q, status %d, want the path and 500; page\n%s", logged, w.Code, w.Body)
	}
}

func TestNotReceived(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool // it is the sender's to change
	}{
		{&http.MaxBytesError{Limit: maxImport}, true},
		{io.ErrUnexpectedEOF, true},
		{&fs.PathError{Op: "write", Path: "/tmp/assay-import-1", Err: syscall.ENOSPC}, false},
	} {
		if got := errors.As(notReceived(test.err), new(*problem)); got != test.want {
			t.Errorf("%v: the sender's to change: got %v, want %v", test.err, got, test.want)
		}
	}
}

// What the reader cannot change is in the log, not in the page.
func TestErrorIsLogged(t *testing.T) {
	s := sampleStore(t, 1)
	logged := &bytes.Buffer{}
	web := &server{Options: Options{Store: s, Log: logged}}
	s.Close()
	a := &answer{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	if err == nil {
		err = web.runs(t.Context(), r, a)
	}
	web.fail(a, err)
	if !strings.Contains(logged.String(), "a.db") || strings.Contains(a.body.String(), "a.db") || a.status != 500 {
		t.Errorf("logged %q, status %d, page\n%s", logged, a.status, &a.body)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Pages are made one at a time: many requests do not take the whole machine.
func TestPagesAreMadeInTurn(t *testing.T) {
	var inside sync.Mutex
	var waiting sync.WaitGroup
	page := (&server{}).page(func(context.Context, *http.Request, *answer) error {
		if !inside.TryLock() {
			t.Error("two pages are made at a time")
			return nil
		}
		time.Sleep(time.Millisecond)
		inside.Unlock()
		return nil
	})
	for range 4 {
		waiting.Go(func() { page.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) })
	}
	waiting.Wait()
}
