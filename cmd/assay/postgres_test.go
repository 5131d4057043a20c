//go:build unix

package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"assay/kit/postgres"
	"assay/kit/postgres/cluster"

	"github.com/rogpeppe/go-internal/testscript"
)

// privateServer is a server of a script's own.
type privateServer struct {
	programs cluster.Programs
	options  cluster.Options
	cluster  *cluster.Cluster
}

func (s *privateServer) start(ts *testscript.TestScript) {
	var err error
	s.cluster, err = s.programs.Start(context.Background(), s.options)
	ts.Check(err)
	ts.Defer(s.cluster.Kill)
}

// postgres starts a server of the script's own and keeps the URL of a store on it, with
// a password that nobody may see, in the variable URL. postgres kill kills it, and
// postgres again starts it once more.
func startPostgres(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) <= 1 && !neg, "postgres [kill|again]")
	if len(args) == 1 {
		server := stateOf(ts).server
		map[string]func(){"kill": server.cluster.Kill, "again": func() { server.start(ts) }}[args[0]]()
		return
	}
	ctx := context.Background()
	programs, err := cluster.Find(ctx)
	ts.Check(err)
	folder, err := os.MkdirTemp("/tmp", "assay-script-") // a socket has a short path
	ts.Check(err)
	ts.Defer(func() { _ = os.RemoveAll(folder) })
	ts.Check(os.Chmod(folder, 0o755))
	data := filepath.Join(folder, "data")
	ts.Check(programs.Init(ctx, data))
	server := &privateServer{programs: programs, options: cluster.Options{Data: data, Socket: folder, Settings: map[string]string{"fsync": "off"}}}
	stateOf(ts).server = server
	server.start(ts)
	query := url.Values{"host": {folder}, "port": {strconv.Itoa(postgres.Port)}, "sslmode": {"disable"}}
	ts.Setenv("URL", (&url.URL{Scheme: "postgres", User: url.UserPassword(postgres.User, "secret"), Path: "/" + postgres.User, RawQuery: query.Encode()}).String())
}
