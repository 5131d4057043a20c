package sqlite3

type SQLiteDriver struct{}
