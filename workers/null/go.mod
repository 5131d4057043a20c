module assay/workers/null

go 1.26.0

require assay/kit v0.0.0

replace assay/kit => ../../kit
