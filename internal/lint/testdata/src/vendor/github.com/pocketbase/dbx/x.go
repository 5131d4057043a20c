package dbx
