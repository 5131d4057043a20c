// Times point reads with a loop written by hand, to compare the worker with. It
// is started as PROGRAM KEYS and reads lines: a DSN, then "NANOS FIRST" any
// number of times. Each runs point reads for that long, with the keys of the
// file, one decimal number a line, from position FIRST on, and is answered by
// "OPERATIONS NANOS".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include ASSAY_SQLITE_HEADER

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void stop(const char *why) {
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static int64_t *read_keys(const char *path, size_t *count) {
	FILE *f = fopen(path, "r");
	if (f == NULL) stop(path);
	size_t room = 0;
	int64_t *keys = NULL, key;
	while (fscanf(f, "%" SCNd64, &key) == 1) {
		if (*count == room) {
			room = room == 0 ? 1024 : 2 * room;
			keys = realloc(keys, room * sizeof *keys);
			if (keys == NULL) stop("no memory");
		}
		keys[(*count)++] = key;
	}
	fclose(f);
	return keys;
}

// monster is one row, as a program would have it.
typedef struct {
	int64_t id, hp, attack;
	char name[256];
} monster;

static void read_one(sqlite3_stmt *s, int64_t key, monster *m) {
	int found = 0;
	sqlite3_bind_int64(s, 1, key);
	while (sqlite3_step(s) == SQLITE_ROW) {
		m->id = sqlite3_column_int64(s, 0);
		const unsigned char *name = sqlite3_column_text(s, 1);
		int length = sqlite3_column_bytes(s, 1);
		if (name == NULL || length >= (int)sizeof m->name) stop("a name that is none");
		memcpy(m->name, name, (size_t)length);
		m->name[length] = 0;
		m->hp = sqlite3_column_int64(s, 2);
		m->attack = sqlite3_column_int64(s, 3);
		found++;
	}
	if (sqlite3_reset(s) != SQLITE_OK || found != 1) stop("not one row");
}

int main(int count, char **words) {
	char line[4096];
	size_t keys = 0;
	int64_t *key = read_keys(count > 1 ? words[1] : "", &keys), nanos;
	size_t first;
	sqlite3 *db;
	sqlite3_stmt *s;
	monster m;
	sqlite3_initialize();
	if (keys == 0 || fgets(line, sizeof line, stdin) == NULL) stop("want keys and a DSN");
	line[strcspn(line, "\n")] = 0;
	if (sqlite3_open_v2(line, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL) != SQLITE_OK) stop(sqlite3_errmsg(db));
	if (sqlite3_prepare_v2(db, "SELECT id, name, hp, attack FROM monster WHERE id = ?", -1, &s, NULL) != SQLITE_OK) stop(sqlite3_errmsg(db));
	while (scanf("%" SCNd64 " %zu", &nanos, &first) == 2) {
		int64_t began = now(), took, n = 0;
		while ((took = now() - began) < nanos) read_one(s, key[(first + (size_t)n++) % keys], &m);
		printf("%" PRId64 " %" PRId64 "\n", n, took);
		fflush(stdout);
	}
	sqlite3_finalize(s);
	return sqlite3_close(db) != SQLITE_OK;
}
