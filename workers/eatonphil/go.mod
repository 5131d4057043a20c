module assay/workers/eatonphil

go 1.26.0

require assay/kit v0.0.0

require github.com/eatonphil/gosqlite v0.10.0

replace assay/kit => ../../kit
