package build

import (
	"os"
	"strings"
	"sync"
)

// answers are what tools of this machine said of themselves. A run asks for each driver, and
// they say the same as long as the program runs.
var answers sync.Map // by the question with the environment

// once returns the answer to a question, which ask finds out where the environment is one that
// it was not asked in. An error is not kept.
func once(question string, ask func() (string, error)) (string, error) {
	key := strings.Join(append(os.Environ(), question), "\x00")
	if said, known := answers.Load(key); known {
		return said.(string), nil
	}
	said, err := ask()
	if err == nil {
		answers.Store(key, said)
	}
	return said, err
}
