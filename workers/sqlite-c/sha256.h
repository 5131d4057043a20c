// SHA-256 (FIPS 180-4).
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint32_t state[8];
	uint64_t length; // bytes so far
	uint8_t block[64];
} sha256;

void sha256_start(sha256 *h);
void sha256_add(sha256 *h, const void *data, size_t length);
void sha256_hex(sha256 *h, char hex[65]); // ends the hash

#endif
