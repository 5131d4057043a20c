package unfollowed

import (
	"database/sql"
	"os"

	_ "github.com/mattn/go-sqlite3"
)

func unfollowed(dsn string) {
	sql.Open(os.Getenv("DRIVER"), "file:app.db")
	sql.Open("sqlite3", dsn)
	sql.OpenDB(nil)
	sql.Open("postgres", "other.db?mode=ro")
}
