module assay/kit

go 1.26.0
