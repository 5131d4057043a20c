module assay/workers/goleveldb

go 1.26.0

require (
	assay/kit v0.0.0
	github.com/syndtr/goleveldb v1.0.0
)

require github.com/golang/snappy v0.0.0-20180518054509-2e65f85255db // indirect

replace assay/kit => ../../kit
