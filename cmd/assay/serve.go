package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"assay/internal/serve"
	"assay/internal/store"
	"assay/internal/sys/file"

	"github.com/spf13/cobra"
)

type serveFlags struct {
	address, tokenFile string
	allowImport        bool
}

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the store as pages in a browser: runs, reports, comparisons, histories, claims, proofs",
		Args:  arguments(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.address, "addr", "127.0.0.1:7070", "address to listen on; one that other machines can reach needs --token-file")
	f.StringVar(&flags.tokenFile, "token-file", "", fmt.Sprintf("file with a token of at least %d bytes, which everybody has to give as the password", serve.MinToken))
	f.BoolVar(&flags.allowImport, "allow-import", false, "let readers import files of assay runs export")
	return cmd
}

func (a *app) serve(ctx context.Context, flags serveFlags) error {
	token, err := readToken(flags.tokenFile)
	if err == nil {
		err = serve.CheckAddress(flags.address, token)
	}
	if err != nil {
		return usage(err)
	}
	s, err := a.storeToServe(ctx, flags.allowImport)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", flags.address)
	if err != nil {
		return fmt.Errorf("serve: %w; --addr names another address, port 0 is any free one", err)
	}
	a.cleansUp.Store(true)
	fmt.Fprintf(a.stderr, "serving the store at http://%s/ until Ctrl-C\n", l.Addr())
	err = serve.Serve(ctx, l, serve.Options{Store: s, AllowImport: flags.allowImport, Token: token, Log: a.stderr})
	if ctx.Err() != nil {
		return &exitError{status: statusInterrupted} // which is how one ends it
	}
	return err
}

// storeToServe opens the store only to read it, unless runs may be added.
func (a *app) storeToServe(ctx context.Context, write bool) (*store.Store, error) {
	if !write {
		return a.readStore(ctx)
	}
	return a.openStore(ctx)
}

// readToken reads the token of a file; there is none where no file is named.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	const limit = 4096
	data, err := file.Read(path, limit)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", errors.New("--token-file: the file has no token")
	}
	return token, nil
}
