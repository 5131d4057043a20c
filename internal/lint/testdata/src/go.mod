module src

go 1.26

require (
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/ncruces/go-sqlite3 v0.32.0
	modernc.org/sqlite v1.54.0
	xorm.io/xorm v1.3.9
)
