package browser

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// axeFiles name the version of axe-core, a library that checks pages for accessibility.
//
//go:embed axe
var axeFiles embed.FS

// installPatience is how long npm may take.
const installPatience = 2 * time.Minute

// axe is the library's source. The test is skipped where npm cannot bring it.
func axe(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, axeFiles); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), installPatience)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	install.Dir = filepath.Join(dir, "axe")
	if output, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm does not bring axe-core: pages were not checked for accessibility: %v\n%s", err, output)
	}
	source, err := os.ReadFile(filepath.Join(install.Dir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// Accessible returns a check of a part of the page that is open, which a selector names: what
// in it keeps some readers out, each with where it is.
func (v *Visitor) Accessible(t *testing.T) func(selector string) []string {
	t.Helper()
	source := axe(t)
	return func(selector string) []string {
		t.Helper()
		Evaluate[chromedp.Void](t, v, source+";undefined")
		found, err := chromedp.Run(v, chromedp.Evaluate[[]string](fmt.Sprintf(`axe.run(%q, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact))
			.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join("; ")))`, selector), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range found {
			found[i] = strings.ReplaceAll(f, "\n", " ")
		}
		return found
	}
}
