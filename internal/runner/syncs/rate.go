package syncs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// probes is how many writes a rate is taken from.
const probes = 200

// Rate returns how many times a second a small write to a file in a folder can
// be synced, one after the other: what one client can do at most whose commits
// are synced. It is the rate of the faster half, for a disk that is busy for a
// moment is not slow.
func Rate(folder string) (perSecond float64, err error) {
	file, err := os.CreateTemp(folder, ".sync-rate-")
	if err != nil {
		return 0, fmt.Errorf("probe the disk: %w", err)
	}
	defer os.Remove(filepath.Clean(file.Name()))
	defer func() { err = errors.Join(err, file.Close()) }()
	block := make([]byte, 4096)
	took := make([]time.Duration, probes)
	for i := range took {
		began := time.Now()
		if _, err := file.WriteAt(block, int64(i%16)*int64(len(block))); err != nil {
			return 0, fmt.Errorf("probe the disk: %w", err)
		}
		if err := syncData(file); err != nil {
			return 0, fmt.Errorf("probe the disk: %w", err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	total := time.Duration(0)
	for _, t := range took[:probes/2] {
		total += t
	}
	return float64(probes/2) / total.Seconds(), nil
}
