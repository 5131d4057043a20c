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

// Others are PRAGMAs that show more of a connection than Settings, and that no
// profile sets: with those that PRAGMA shows of Settings they are forty.
var Others = []string{"application_id", "cache_spill", "count_changes", "defer_foreign_keys", "empty_result_callbacks",
	"full_column_names", "hard_heap_limit", "legacy_alter_table", "max_page_count", "schema_version", "short_column_names",
	"soft_heap_limit", "user_version", "writable_schema"}
