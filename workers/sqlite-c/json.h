// JSON as far as the protocol needs it.
#ifndef JSON_H
#define JSON_H

#include "worker.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } json_kind;

typedef struct json {
	json_kind kind;
	bool boolean;
	int64_t number;
	char *text; // ends with a zero byte
	size_t count;
	struct json *items; // of a list, or the values of an object
	char **names;       // of an object
} json;

// json_parse returns NULL for what is no JSON, or nested too deeply.
json *json_parse(const char *text, size_t length);
void json_free(json *value);

// The getters return the field's value, or the type's zero where it is absent
// or null. A field of another type fills in the error, which is for looking at
// afterwards: its code is NULL before.
int64_t json_int(const json *object, const char *name, error *e);
bool json_bool(const json *object, const char *name, error *e);
const char *json_text(const json *object, const char *name, error *e); // "" where it is absent
const json *json_list(const json *object, const char *name, error *e);   // NULL where it is absent
const json *json_object(const json *object, const char *name, error *e); // NULL where it is absent

// out is a text that grows.
typedef struct {
	char *text;
	size_t length, room;
} out;

void put(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_text(out *o, const char *text); // in quotes, escaped, as valid UTF-8

#endif
