module assay/workers/crawshaw

go 1.26.0

require assay/kit v0.0.0

require crawshaw.io/sqlite v0.3.2

replace assay/kit => ../../kit
