module assay/workers/ncruces

go 1.26.0

require (
	assay/kit v0.0.0
	github.com/ncruces/go-sqlite3 v0.32.0
)

require (
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace assay/kit => ../../kit
