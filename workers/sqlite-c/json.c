#include "json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct {
	const char *at, *end;
	int depth;
} reader;

static bool read_value(reader *r, json *value);

static void skip_space(reader *r) {
	while (r->at < r->end && strchr(" \t\r\n", *r->at) != NULL && *r->at != 0) r->at++;
}

static bool take(reader *r, char c) {
	skip_space(r);
	if (r->at == r->end || *r->at != c) return false;
	r->at++;
	return true;
}

static bool take_word(reader *r, const char *word) {
	size_t n = strlen(word);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
	r->at += n;
	return true;
}

static int hex_digit(char c) {
	if (c >= '0' && c <= '9') return c - '0';
	if (c >= 'a' && c <= 'f') return c - 'a' + 10;
	if (c >= 'A' && c <= 'F') return c - 'A' + 10;
	return -1;
}

static bool read_hex(reader *r, unsigned *code) {
	if (r->end - r->at < 4) return false;
	*code = 0;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(*r->at++);
		if (digit < 0) return false;
		*code = *code << 4 | (unsigned)digit;
	}
	return true;
}

// put_utf8 writes a code point; it needs at most four bytes, fewer than its
// escaped form.
static char *put_utf8(char *to, unsigned code) {
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

static bool read_unicode(reader *r, char **to) {
	unsigned code, low;
	if (!read_hex(r, &code)) return false;
	if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
		r->at += 2;
		if (!read_hex(r, &low)) return false;
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
	}
	if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
	*to = put_utf8(*to, code);
	return true;
}

static bool read_escape(reader *r, char **to) {
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	if (r->at == r->end) return false;
	char c = *r->at++;
	if (c == 'u') return read_unicode(r, to);
	const char *found = c == 0 ? NULL : strchr(from, c);
	if (found == NULL) return false;
	*(*to)++ = into[found - from];
	return true;
}

// read_text reads behind the opening quote.
static char *read_text(reader *r) {
	const char *end = r->at;
	while (end < r->end && *end != '"') end += *end == '\\' && end + 1 < r->end ? 2 : 1;
	if (end >= r->end) return NULL;
	char *text = allocate((size_t)(end - r->at) + 1), *to = text;
	while (*r->at != '"') {
		unsigned char c = (unsigned char)*r->at++;
		if (c == '\\' ? !read_escape(r, &to) : c < 0x20) {
			free(text);
			return NULL;
		}
		if (c != '\\') *to++ = (char)c;
	}
	r->at++;
	*to = 0;
	return text;
}

static json *grow(json *value) {
	if ((value->count & (value->count - 1)) == 0) { // 0 and powers of two
		size_t room = value->count == 0 ? 1 : 2 * value->count;
		value->items = realloc(value->items, room * sizeof *value->items);
		if (value->items == NULL) abort();
		if (value->kind == JSON_OBJECT) {
			value->names = realloc(value->names, room * sizeof *value->names);
			if (value->names == NULL) abort();
		}
	}
	json *item = &value->items[value->count];
	memset(item, 0, sizeof *item);
	if (value->kind == JSON_OBJECT) value->names[value->count] = NULL;
	value->count++;
	return item;
}

static bool read_members(reader *r, json *value) {
	char close = value->kind == JSON_LIST ? ']' : '}';
	if (take(r, close)) return true;
	do {
		json *item = grow(value);
		if (value->kind == JSON_OBJECT) {
			if (!take(r, '"') || (value->names[value->count - 1] = read_text(r)) == NULL || !take(r, ':')) return false;
		}
		if (!read_value(r, item)) return false;
	} while (take(r, ','));
	return take(r, close);
}

static bool read_number(reader *r, json *value) {
	char text[64];
	size_t n = 0;
	bool whole = true;
	while (r->at < r->end && n < sizeof text - 1 && strchr("+-.eE0123456789", *r->at) != NULL && *r->at != 0) {
		if (strchr(".eE", *r->at) != NULL) whole = false;
		text[n++] = *r->at++;
	}
	text[n] = 0;
	char *end = text;
	errno = 0;
	if (whole) {
		value->number = strtoll(text, &end, 10);
	} else {
		double number = strtod(text, &end);
		if (!(number > -9e18 && number < 9e18)) return false;
		value->number = (int64_t)number;
	}
	return n > 0 && *end == 0 && errno == 0;
}

static bool read_value(reader *r, json *value) {
	skip_space(r);
	if (r->at == r->end || r->depth == DEEPEST) return false;
	char c = *r->at;
	switch (c) {
	case '{':
	case '[':
		r->at++;
		value->kind = c == '{' ? JSON_OBJECT : JSON_LIST;
		r->depth++;
		bool ok = read_members(r, value);
		r->depth--;
		return ok;
	case '"':
		r->at++;
		value->kind = JSON_TEXT;
		return (value->text = read_text(r)) != NULL;
	case 't':
	case 'f':
		value->kind = JSON_BOOL;
		value->boolean = c == 't';
		return take_word(r, c == 't' ? "true" : "false");
	case 'n':
		return take_word(r, "null");
	}
	value->kind = JSON_NUMBER;
	return read_number(r, value);
}

json *json_parse(const char *text, size_t length) {
	reader r = {text, text + length, 0};
	json *value = allocate(sizeof *value);
	bool ok = read_value(&r, value);
	skip_space(&r);
	if (ok && r.at == r.end) return value;
	json_free(value);
	return NULL;
}

static void release(json *value) {
	for (size_t i = 0; i < value->count; i++) {
		release(&value->items[i]);
		if (value->names != NULL) free(value->names[i]);
	}
	free(value->text);
	free(value->items);
	free(value->names);
}

void json_free(json *value) {
	if (value == NULL) return;
	release(value);
	free(value);
}

static const json *field(const json *object, const char *name, json_kind kind, const char *want, error *e) {
	if (object == NULL || object->kind != JSON_OBJECT) return NULL;
	for (size_t i = 0; i < object->count; i++) {
		if (strcmp(object->names[i], name) != 0) continue;
		const json *value = &object->items[i];
		if (value->kind == JSON_NULL) return NULL;
		if (value->kind == kind) return value;
		fail(e, INVALID, "%s is not %s", name, want);
		return NULL;
	}
	return NULL;
}

int64_t json_int(const json *object, const char *name, error *e) {
	const json *value = field(object, name, JSON_NUMBER, "a number", e);
	return value == NULL ? 0 : value->number;
}

bool json_bool(const json *object, const char *name, error *e) {
	const json *value = field(object, name, JSON_BOOL, "true or false", e);
	return value != NULL && value->boolean;
}

const char *json_text(const json *object, const char *name, error *e) {
	const json *value = field(object, name, JSON_TEXT, "a text", e);
	return value == NULL ? "" : value->text;
}

const json *json_list(const json *object, const char *name, error *e) {
	return field(object, name, JSON_LIST, "a list", e);
}

const json *json_object(const json *object, const char *name, error *e) {
	return field(object, name, JSON_OBJECT, "an object", e);
}

static void make_room(out *o, size_t more) {
	if (o->length + more < o->room) return;
	o->room = 2 * (o->length + more) + 256;
	o->text = realloc(o->text, o->room);
	if (o->text == NULL) abort();
}

void put(out *o, const char *format, ...) {
	va_list args;
	va_start(args, format);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	make_room(o, (size_t)n + 1);
	va_start(args, format);
	vsnprintf(o->text + o->length, (size_t)n + 1, format, args);
	va_end(args);
	o->length += (size_t)n;
}

// sequence is the length of the valid UTF-8 sequence at a place; 0 where there
// is none.
static size_t sequence(const unsigned char *s) {
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) return 0;
	}
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
	return overlong || outside ? 0 : n;
}

void put_text(out *o, const char *text) {
	put(o, "\"");
	for (const unsigned char *s = (const unsigned char *)text; *s != 0;) {
		size_t n = sequence(s);
		if (n == 0) {
			put(o, "?");
		} else if (*s == '"' || *s == '\\') {
			put(o, "\\%c", *s);
		} else if (*s < 0x20) {
			put(o, "\\u%04x", *s);
		} else {
			put(o, "%.*s", (int)n, (const char *)s);
		}
		s += n == 0 ? 1 : n;
	}
	put(o, "\"");
}
