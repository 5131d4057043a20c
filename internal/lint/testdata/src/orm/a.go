package orm

import (
	"context"
	"database/sql"

	ent "entgo.io/ent/dialect/sql"
	v1 "github.com/jinzhu/gorm"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
	"github.com/pocketbase/dbx"
	"github.com/spf13/viper"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"xorm.io/xorm"
)

type pool struct {
	driver, dsn string
	open, idle  int
}

var defaults = pool{driver: "sqlite3", dsn: "file:s.db?_cache_size=-16000", open: 120, idle: 15} // want `1875 MB in all`

func open(ctx context.Context) {
	db, _ := sqlx.ConnectContext(ctx, defaults.driver, defaults.dsn)
	db.SetMaxOpenConns(defaults.open) // want `opens up to 120 connections and keeps 15`
	db.SetMaxIdleConns(defaults.idle)
	dbx.MustOpen("sqlite3", "file:dbx.db?_pragma=foreign_keys(1)")                                                                                // want `ignores _pragma`
	ent.Open("sqlite3", "file:ent.db?_pragma=foreign_keys(1)")                                                                                    // want `ignores _pragma`
	xorm.NewEngine("sqlite3", "file:xorm.db?_pragma=foreign_keys(1)")                                                                             // want `ignores _pragma`
	gorm.Open(sqlite.Open("file:gorm.db?_pragma=foreign_keys(1)"))                                                                                // want `ignores _pragma`
	gorm.Open(sqlite.New(sqlite.Config{DSN: "file:gorm.db?_pragma=foreign_keys(1)"}))                                                             // want `ignores _pragma`
	gorm.Open(sqlite.Dialector{DSN: "file:gorm.db?_pragma=foreign_keys(1)"})                                                                      // want `ignores _pragma`
	gorm.Open(&sqlite.Dialector{DriverName: "sqlite", DSN: "file:gorm.db?_pragma=foreign_keys(1)"})                                               // of a driver that is not there
	dialector, config := &sqlite.Dialector{DSN: "file:gorm.db?_pragma=foreign_keys(1)"}, sqlite.Config{DSN: "file:gorm.db?_pragma=cache_size(1)"} // want `_pragma=foreign_keys` `_pragma=cache_size`
	gorm.Open(dialector)
	gorm.Open(sqlite.New(config))
	v1.Open("sqlite3", "file:v1.db?_pragma=foreign_keys(1)") // want `ignores _pragma`
	viper.SetDefault("db.dsn", "file:viper.db?_pragma=foreign_keys(1)")
	sql.Open("sqlite3", viper.GetString("DB.DSN")) // want `ignores _pragma`
	changed := sqlite.Config{DSN: "file:gorm.db?_pragma=foreign_keys(1)"}
	changed.DSN = "file:gorm.db"
	gorm.Open(sqlite.New(changed))
}
