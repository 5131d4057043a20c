package viper

func SetDefault(string, any) {}

func GetString(string) string { return "" }
