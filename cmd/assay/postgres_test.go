//go:build unix

package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/kit/postgres"
	"assay/kit/postgres/cluster"

	"github.com/rogpeppe/go-internal/testscript"
)

// postgres starts a server of the script's own and keeps the URL of a store on it, with
// a password that nobody may see, in the variable URL.
func startPostgres(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "postgres")
	ctx := context.Background()
	programs, err := cluster.Find(ctx)
	ts.Check(err)
	folder, err := os.MkdirTemp("/tmp", "assay-script-") // a socket has a short path
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(folder) })
	ts.Check(os.Chmod(folder, 0o755))
	data := filepath.Join(folder, "data")
	ts.Check(programs.Init(ctx, data))
	server, err := programs.Start(ctx, cluster.Options{Data: data, Socket: folder, Settings: map[string]string{"fsync": "off"}})
	ts.Check(err)
	ts.Defer(server.Kill)
	query := url.Values{"host": {folder}, "port": {strconv.Itoa(postgres.Port)}, "sslmode": {"disable"}}
	ts.Setenv("URL", (&url.URL{Scheme: "postgres", User: url.UserPassword(postgres.User, "secret"), Path: "/" + postgres.User, RawQuery: query.Encode()}).String())
}

// fleetid NAME keeps in a variable which fleet the background assay queued.
func fleetID(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "fleetid NAME")
	_, after, found := strings.Cut(ts.ReadFile("background.err"), "fleet ")
	id, _, ended := strings.Cut(after, ":")
	if !found || !ended {
		ts.Fatalf("assay does not say which fleet it queued")
	}
	ts.Setenv(args[0], id)
}

// said TEXT waits until the background assay has said a text on stderr.
func said(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "said TEXT")
	for deadline := time.Now().Add(patience); !strings.Contains(ts.ReadFile("background.err"), args[0]); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("assay does not say %q\n%s", args[0], ts.ReadFile("background.err"))
		}
	}
}
