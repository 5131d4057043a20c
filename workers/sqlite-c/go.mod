module assay/workers/sqlite-c

go 1.26.0

require assay/kit v0.0.0

require github.com/mattn/go-sqlite3 v1.14.53

replace assay/kit => ../../kit
