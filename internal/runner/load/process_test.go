package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"assay/internal/sys/guard"
)

// generatorVariable makes the test program a load generator, honest or broken.
const (
	generatorVariable = "ASSAY_TEST_GENERATOR"
	broken            = "broken"
)

func TestMain(m *testing.M) {
	if os.Getenv(generatorVariable) != "" {
		ctx := context.Background()
		if os.Getenv(generatorVariable) == broken {
			ctx = nil // with which nothing can be dialled
		}
		if err := ServeOne(ctx, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func generatorProcess(t *testing.T, kind string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), generatorVariable+"="+kind)
	return command
}

func generate(t *testing.T, c Config) (Result, error) {
	t.Helper()
	command := generatorProcess(t, "honest")
	result, used, err := Generate(t.Context(), command, c, (*exec.Cmd).Start)
	if err == nil && used <= 0 {
		t.Errorf("got CPU time %s, want some", used)
	}
	return result, err
}

func TestGenerate(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	result, err := generate(t, Config{URL: url, Clients: 2, Requests: 50, Warm: 3})
	if err != nil || result.Offered != 50 || result.Failed != 0 || count(result.Histogram) == 0 {
		t.Errorf("got %+v, %v, want 50 requests offered and answered", result, err)
	}
	if _, err := generate(t, Config{URL: url}); err == nil || !strings.Contains(err.Error(), "0 clients") {
		t.Errorf("got %v, want that 0 clients are refused", err)
	}
}

// A fault of the generator's process is a panic of the one that started it, with
// the stack that it had there: it is no failure of the server.
func TestPanicOfTheGenerator(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	var fault *guard.Panic
	err := guard.Error(func() error {
		_, _, err := Generate(t.Context(), generatorProcess(t, broken), Config{URL: url, Clients: 1, Requests: 1}, (*exec.Cmd).Start)
		return err
	})
	if !errors.As(err, &fault) || fault.Error() != "internal error: nil context" || !strings.Contains(string(fault.Stack), "load.(*conn).dial") {
		t.Errorf("got %v, want the panic of a dialler without a context", err)
	}
}

// What comes over the pipe is not trusted to be a load.
func FuzzServeOne(f *testing.F) {
	f.Add([]byte(`{"URL":"http://10.0.0.1/","Clients":1,"Requests":1}`))
	f.Add([]byte(`{"URL":"http://localhost:1/{n}","Clients":-1}`))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Config
		if json.Unmarshal(data, &c) == nil && c.Check() == nil {
			t.Skip("it would be a load")
		}
		var out bytes.Buffer
		if err := ServeOne(t.Context(), bytes.NewReader(data), &out); err == nil && !strings.Contains(out.String(), `"error"`) {
			t.Errorf("%q: got %s, want an error", data, &out)
		}
	})
}
