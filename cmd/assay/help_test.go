package main

import (
	"os"
	"testing"
)

// Every command that users may call is in a group of the help, once, and a user is
// shown few of them.
func TestCommandGroups(t *testing.T) {
	grouped, described := map[string]int{}, 0
	for _, g := range commandGroups {
		for _, name := range g.commands {
			grouped[name]++
		}
		if g.described {
			described += len(g.commands)
		}
	}
	if described > 15 { // a reader who looks for a command reads them all
		t.Errorf("help describes %d commands, want at most 15", described)
	}
	for _, c := range newRoot(newApp(os.Stdout, os.Stderr)).Commands() {
		if got := grouped[c.Name()]; !c.Hidden && got != 1 {
			t.Errorf("command %s is in %d groups, want 1", c.Name(), got)
		}
	}
}
