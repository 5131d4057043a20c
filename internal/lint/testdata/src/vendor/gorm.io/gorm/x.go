package gorm
