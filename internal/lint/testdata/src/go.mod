module src

go 1.26

require (
	entgo.io/ent v0.14.5
	github.com/jinzhu/gorm v1.9.16
	github.com/jmoiron/sqlx v1.4.0
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/ncruces/go-sqlite3 v0.32.0
	github.com/pocketbase/dbx v1.11.0
	github.com/spf13/viper v1.21.0
	gorm.io/driver/sqlite v1.6.0
	gorm.io/gorm v1.31.0
	modernc.org/sqlite v1.54.0
	xorm.io/xorm v1.3.9
)
