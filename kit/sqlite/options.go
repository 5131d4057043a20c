package sqlite

// Recommended is how a set of compile options is named that SQLite's
// documentation recommends to those who can do without what they leave out.
const Recommended = "recommended"

// recommended is the set as the published benchmark sqlite-on-rails has it,
// with the full-text search that it adds.
var recommended = []string{"DEFAULT_MEMSTATUS=0", "DEFAULT_WAL_SYNCHRONOUS=1", "DQS=0", "ENABLE_FTS5",
	"LIKE_DOESNT_MATCH_BLOBS", "MAX_EXPR_DEPTH=0", "OMIT_PROGRESS_CALLBACK", "OMIT_SHARED_CACHE", "THREADSAFE=0", "USE_ALLOCA"}

// CompileOptions puts the options of a set into the place of its name.
func CompileOptions(asked []string) []string {
	var all []string
	for _, option := range asked {
		if option == Recommended {
			all = append(all, recommended...)
			continue
		}
		all = append(all, option)
	}
	return all
}
