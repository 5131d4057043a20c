package build

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// BundleRequest says what a bundle is to have.
type BundleRequest struct {
	Assay    string   // path of the program
	Plan     string   // name of a built-in one; or, with PlanText, of a file
	PlanText []byte   // of a file
	Drivers  []string // instead of the plan's
	Workers  map[string]Worker
	Data     []BundleData
}

// BundleData is a file that a plan names.
type BundleData struct {
	Names []string // its paths: the whole one, and the one relative to the plan
	Copy  string   // one that does not change
}

// WriteBundle writes a bundle as a tar archive, compressed by gzip, of one folder. Its
// workers are by their specs.
func (s Source) WriteBundle(to io.Writer, folder string, request BundleRequest) error {
	b := Bundle{System: system(), Plan: request.Plan, Drivers: request.Drivers}
	from := map[string]string{"assay": request.Assay}
	for _, name := range slices.Sorted(maps.Keys(request.Workers)) {
		spec, err := ParseSpec(name)
		if err != nil {
			return err
		}
		d, err := s.driver(spec.Name)
		if err != nil {
			return err
		}
		packed, err := b.pack(d, spec, request.Workers[name])
		if err != nil {
			return fmt.Errorf("worker %s: %w", spec, err)
		}
		maps.Copy(from, packed)
	}
	for i, data := range request.Data {
		place := fmt.Sprintf("data/%d", i+1)
		from[place] = data.Copy
		if b.Data == nil {
			b.Data = map[string]string{}
		}
		for _, name := range data.Names {
			b.Data[name] = place
		}
	}
	sources, err := s.all()
	if err != nil {
		return err
	}
	if request.PlanText != nil {
		b.File, b.Plan = true, "plan/"+filepath.Base(request.Plan)
		sources = append(sources, sourceFile{path: b.Plan, data: request.PlanText})
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	sources = append(sources, sourceFile{path: bundleFile, data: append(text, '\n')})
	return writeTar(to, folder, sources, from)
}

// writeTar writes files whose content is known, and files and folders of the file system by
// their places in the archive.
func writeTar(to io.Writer, folder string, known tree, from map[string]string) error {
	zipped := gzip.NewWriter(to)
	archive := tar.NewWriter(zipped)
	for _, f := range known {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, f.path), Mode: int64(f.mode()), Size: int64(len(f.data)), Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	for _, place := range slices.Sorted(maps.Keys(from)) {
		if err := addToTar(archive, path.Join(folder, place), from[place]); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

// addToTar adds a file, or all that a folder has.
func addToTar(archive *tar.Writer, place, from string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(name); err != nil {
				return err
			}
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		header, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		header.Name, header.Format = path.Join(place, filepath.ToSlash(relative)), tar.FormatPAX
		header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", "" // whose they are is nobody's business
		if err := archive.WriteHeader(header); err != nil || target != "" {
			return err
		}
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(archive, in)
		return errors.Join(err, in.Close())
	})
}
