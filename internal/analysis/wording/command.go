package wording

import (
	"strings"
)

// plainLetters need no quotes in any shell.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@:,+%="

// Program is what commands that are printed begin with.
var Program = "assay"

// Called returns how a program was called, where that finds it again: by its path. One that the go
// command runs has a path that ends with it, and one that the shell looked up its name.
func Called(argument string) string {
	if strings.Contains(argument, "/") && !strings.Contains(argument, "/go-build") {
		return argument
	}
	return "assay"
}

// Command is an assay command that works when it is pasted into a shell: on a store,
// empty for the default, with words quoted where they need it.
func Command(store string, words ...string) string {
	words = append([]string{Program}, words...)
	if store != "" {
		words = append(words, "--store", store)
	}
	for i, word := range words {
		if word == "" || strings.Trim(word, plainLetters) != "" {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
