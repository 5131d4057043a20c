package crash

import (
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"assay/internal/crash/powercut"
)

// evidence holds all that a finding can be made again from: its file has it, with the disk's
// content and all that was done to it until the cut.
type evidence struct {
	Finding   Finding
	Recording *powercut.Recording // of the disk; without operations where no power was cut
	Second    *powercut.Recording
	Files     powercut.Folder // what a killed worker left, instead of a recording
	unfelt    bool            // the fault came to nothing: no transaction failed
}

// id names a finding by all that it is made again from: its task and the state
// itself. One seed can lead to several states, since workers do not run in step.
func (e evidence) id() string {
	f := e.Finding
	f.ID, f.Damage, f.Found, f.Words = "", "", 0, "" // what it shows
	t := &f.Task
	t.Program, t.Initial, t.Findings, t.States, t.Time, t.Controls = "", "", "", 0, 0, false // where things lie, and how much was tried
	type content struct {
		Bytes int64
		Sum   [16]byte
	}
	state := map[string]*content{}
	if e.Recording != nil {
		image := e.image()
		state["disk"] = &content{image.Bytes, image.Sum()}
	}
	for name, image := range e.Files {
		state[name] = &content{image.Bytes, image.Sum()}
	}
	text, err := json.Marshal([]any{f, state})
	if err != nil {
		panic(err) // numbers and texts only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

func findingPath(dir, id string) string { return filepath.Join(dir, id+".crash") }

// save writes evidence to a folder, whole or not at all.
func (e evidence) save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep the finding: %w", err)
	}
	if e.Recording != nil {
		e.Recording = e.Recording.Until(e.Finding.Cut.At)
	}
	if e.Second != nil {
		e.Second = e.Second.Until(e.Finding.Second.At)
	}
	file, err := os.CreateTemp(dir, ".finding-")
	if err != nil {
		return fmt.Errorf("keep the finding: %w", err)
	}
	defer os.Remove(file.Name())
	packed, err := zstd.NewWriter(file)
	if err == nil {
		err = gob.NewEncoder(packed).Encode(e)
		err = errors.Join(err, packed.Close(), file.Close())
	}
	if err == nil {
		err = os.Rename(file.Name(), findingPath(dir, e.Finding.ID))
	}
	if err != nil {
		return fmt.Errorf("keep the finding: %w", err)
	}
	return nil
}

func load(dir, id string) (evidence, error) {
	file, err := os.Open(findingPath(dir, filepath.Base(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return evidence{}, fmt.Errorf("there is no finding %s in %s", id, dir)
	}
	if err != nil {
		return evidence{}, fmt.Errorf("read finding %s: %w", id, err)
	}
	defer file.Close()
	unpacked, err := zstd.NewReader(file)
	if err != nil {
		return evidence{}, fmt.Errorf("read finding %s: %w", id, err)
	}
	defer unpacked.Close()
	var e evidence
	if err := gob.NewDecoder(unpacked).Decode(&e); err != nil {
		return evidence{}, fmt.Errorf("read finding %s: it is damaged, or of another version of assay; run assay crash again: %w", id, err)
	}
	return e, nil
}

// image is the state that the evidence was found in. A recovery is recorded
// anew by each process, so that its own recording is what is cut.
func (e evidence) image() *powercut.Image {
	if e.Second != nil {
		return e.Second.Image(*e.Finding.Second, true)
	}
	return e.Recording.Image(e.Finding.Cut, true)
}
