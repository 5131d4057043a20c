module assay/workers/append-log

go 1.26.0

require (
	assay/kit v0.0.0
	github.com/google/btree v1.1.3
)

replace assay/kit => ../../kit
