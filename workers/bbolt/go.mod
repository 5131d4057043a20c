module assay/workers/bbolt

go 1.26.0

require (
	assay/kit v0.0.0
	go.etcd.io/bbolt v1.5.0
)

require golang.org/x/sys v0.45.0 // indirect

replace assay/kit => ../../kit
