package plan

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzDecode holds that any text gives a plan or mistakes with places, and
// that a plan which decodes also expands.
func FuzzDecode(f *testing.F) {
	for _, glob := range []string{"../../plans/*.yaml", "testdata/*/*.yaml"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode("fuzz.yaml", data)
		var mistakes Errors
		if err != nil {
			if !errors.As(err, &mistakes) || len(mistakes) == 0 || mistakes[0].Line < 1 {
				t.Fatalf("not a list of mistakes: %v", err)
			}
			return
		}
		_, err = p.Expand([]string{"mattn"})
		if errors.As(err, &mistakes) {
			t.Fatalf("Decode accepts what Expand refuses: %v", err)
		}
	})
}
