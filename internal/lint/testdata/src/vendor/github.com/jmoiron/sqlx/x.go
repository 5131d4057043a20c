package sqlx

import "database/sql"

type DB struct{ *sql.DB }

func ConnectContext(any, string, string) (*DB, error) { return nil, nil }
