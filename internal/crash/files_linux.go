package crash

import (
	"context"
	"errors"
	"time"

	"assay"
	"assay/internal/crash/powercut"
)

// fileCut cuts the power of files and folders, in a file system that is only a model.
func fileCut() fault {
	return fault{Fault: assay.FileCut, level: fileLevel, subject: "A power cut (weaker model, of files)", weight: 4, inject: (*trial).power}
}

// filed runs do with a fresh recording file system and returns what was recorded.
// What it was unmounted with is not in it: that was after the end.
func (t *trial) filed(ctx context.Context, do func() error) (*powercut.Recording, error) {
	r, err := powercut.ServeFiles(t.files)
	if err != nil {
		return nil, err
	}
	err = do()
	recording := r.Recorded()
	for range 20 {
		if unmounted := r.Unmount(); unmounted == nil {
			return recording, err
		}
		if ctx.Err() != nil {
			break
		}
		time.Sleep(unmountPause)
	}
	return recording, errors.Join(err, errors.New("the file system of the files does not unmount"))
}
