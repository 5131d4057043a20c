package main

import (
	"github.com/ncruces/go-sqlite3"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// folder keeps the compiled SQLite; the linker sets it.
var folder string

// The tests start the worker a hundred times, and each would compile SQLite
// from WebAssembly for two seconds. The settings are the driver's own.
func init() {
	cache, err := wazero.NewCompilationCacheWithDir(folder)
	if err != nil {
		panic(err)
	}
	sqlite3.RuntimeConfig = wazero.NewRuntimeConfig().
		WithMemoryLimitPages(4096).
		WithCoreFeatures(api.CoreFeaturesV2).
		WithCompilationCache(cache)
}
