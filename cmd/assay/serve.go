package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/serve"
	"assay/internal/store"
	"assay/internal/sys/file"
)

type serveFlags struct {
	address, tokenFile string
	allowImport        bool
}

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the store as pages in a browser: runs, reports, comparisons, histories",
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
	open := a.readStore
	if flags.allowImport {
		open = a.openStore
	}
	s, err := open(ctx)
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

func (a *app) galleryCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "gallery DIR [RUN...]",
		Short: "Write runs as pages that any web server shows, or a browser from the folder",
		Long: `Writes DIR/index.html, with what each run says, and a page for each run. RUN is a run of the store, or a
file of assay runs export. Without RUN they are all runs of the store.`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error { return a.gallery(cmd.Context(), args[0], args[1:]) },
	}
}

func (a *app) gallery(ctx context.Context, dir string, names []string) (err error) {
	var files, ids []string
	for _, name := range names {
		if strings.ContainsAny(name, "./") {
			files = append(files, name)
		} else {
			ids = append(ids, name)
		}
	}
	var runs []serve.Shown
	if len(ids) > 0 || len(names) == 0 {
		s, err := a.readStore(ctx)
		if err != nil {
			return err
		}
		defer s.Close()
		if len(names) == 0 {
			all, err := s.Runs(ctx)
			if err != nil {
				return err
			}
			for _, run := range all {
				ids = append(ids, run.ID)
			}
		}
		for _, id := range ids {
			runs = append(runs, serve.Shown{Store: s, ID: id})
		}
	}
	if len(files) > 0 {
		folder, err := os.MkdirTemp("", "assay-gallery-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		s, err := store.Open(ctx, filepath.Join(folder, "assay.db"))
		if err != nil {
			return err
		}
		defer s.Close()
		imported, err := importAll(ctx, s, files)
		if err != nil {
			return err
		}
		runs = append(runs, imported...)
	}
	paths, err := serve.WriteGallery(ctx, dir, runs)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s: %d pages\n", paths[len(paths)-1], len(paths))
	return nil
}

// importAll adds files of exported runs to a store.
func importAll(ctx context.Context, s *store.Store, files []string) (runs []serve.Shown, err error) {
	for _, path := range files {
		in, err := file.Open(path)
		if err != nil {
			return nil, usage(err)
		}
		run, _, err := s.Import(ctx, in, store.MaxUnpacked)
		in.Close()
		if err != nil {
			return nil, notImported(path, err)
		}
		runs = append(runs, serve.Shown{Store: s, ID: run.ID})
	}
	return runs, nil
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
