package unfollowed

import (
	"database/sql"
	"os"

	"github.com/jinzhu/gorm"
	_ "github.com/mattn/go-sqlite3"
	"github.com/spf13/viper"
)

func unfollowed(dsn string) {
	sql.Open(os.Getenv("DRIVER"), "file:app.db")
	sql.Open("sqlite3", dsn)
	sql.OpenDB(nil)
	gorm.Open(os.Getenv("DRIVER"), "file:app.db")
	gorm.Open("sqlite3", viper.GetString("unset"))
	sql.Open("postgres", "other.db?mode=ro")
}
