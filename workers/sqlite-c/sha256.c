#include "sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress(sha256 *h) {
	uint32_t w[64], s[8];
	for (int i = 0; i < 16; i++) {
		const uint8_t *b = h->block + 4 * i;
		w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	}
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, h->state, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t first = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + w[i];
		uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += first;
		s[0] = first + second;
	}
	for (int i = 0; i < 8; i++) h->state[i] += s[i];
}

void sha256_start(sha256 *h) {
	static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	memcpy(h->state, initial, sizeof initial);
	h->length = 0;
}

void sha256_add(sha256 *h, const void *data, size_t length) {
	const uint8_t *from = data;
	while (length > 0) {
		size_t at = h->length % 64, n = 64 - at < length ? 64 - at : length;
		memcpy(h->block + at, from, n);
		h->length += n;
		from += n;
		length -= n;
		if (h->length % 64 == 0) compress(h);
	}
}

void sha256_hex(sha256 *h, char hex[65]) {
	uint64_t bits = h->length * 8;
	uint8_t end[8];
	sha256_add(h, "\x80", 1);
	while (h->length % 64 != 56) sha256_add(h, "", 1);
	for (int i = 0; i < 8; i++) end[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, end, 8);
	for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h->state[i]);
}
