module assay/workers/lmdb

go 1.26.0

require (
	assay/kit v0.0.0
	github.com/PowerDNS/lmdb-go v1.9.2
)

replace assay/kit => ../../kit
