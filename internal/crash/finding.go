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
)

// evidence is all that a finding can be made again from.
type evidence struct {
	Finding   Finding
	Recording *Recording
	Second    *Recording
}

// kept is a finding as its file has it: with the disk's content and all that was
// done to it until the cut.
type kept struct {
	Finding   Finding
	Recording keptRecording
	Second    *keptRecording
}

type keptRecording struct {
	Bytes  int64
	Blocks map[int64][]byte
	Ops    []Op
}

// ID names a finding by what it is made from.
func (f Finding) id() string {
	text, err := json.Marshal([]any{f.Task.Driver, f.Task.Build, f.Task.Plan, f.Task.Profile, f.Task.Settings, f.Task.Fault, f.Task.Seed, f.Cut, f.Second})
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
	all := kept{Finding: e.Finding, Recording: keepRecording(e.Recording, e.Finding.Cut.At)}
	if e.Second != nil {
		second := keepRecording(e.Second, e.Finding.Second.At)
		all.Second = &second
	}
	file, err := os.CreateTemp(dir, ".finding-")
	if err != nil {
		return fmt.Errorf("keep the finding: %w", err)
	}
	defer os.Remove(file.Name())
	packed, err := zstd.NewWriter(file)
	if err == nil {
		err = gob.NewEncoder(packed).Encode(all)
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

func keepRecording(r *Recording, until int) keptRecording {
	all := keptRecording{Bytes: r.Base.bytes, Blocks: map[int64][]byte{}, Ops: r.Ops[:until]}
	for number, b := range r.Base.blocks {
		all.Blocks[number] = b.data[:]
	}
	return all
}

func (k keptRecording) recording() *Recording {
	base := NewImage(k.Bytes)
	for number, data := range k.Blocks {
		base.Write(data, number*blockBytes)
	}
	return &Recording{Base: base, Ops: k.Ops}
}

// load reads a finding back.
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
	var all kept
	if err := gob.NewDecoder(unpacked).Decode(&all); err != nil {
		return evidence{}, fmt.Errorf("read finding %s: %w", id, err)
	}
	e := evidence{Finding: all.Finding, Recording: all.Recording.recording()}
	if all.Second != nil {
		e.Second = all.Second.recording()
	}
	return e, nil
}

// image is the state that the evidence was found in. A recovery is recorded
// anew by each process, so that its own recording is what is cut.
func (e evidence) image() *Image {
	if e.Second != nil {
		return e.Second.Image(*e.Finding.Second, true)
	}
	return e.Recording.Image(e.Finding.Cut, true)
}

// Replayed is what a finding's state showed when it was made again.
type Replayed struct {
	Finding Finding
	Damage  Damage
	Found   int
	Words   string
}

// Find returns a finding without the states of its disk.
func Find(dir, id string) (Finding, error) {
	e, err := load(dir, id)
	return e.Finding, err
}
