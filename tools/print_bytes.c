/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_bytes.c - see print_bytes.h */
#include "tools/print_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Values of more bytes are cut off in text. */
#define SHOWN_MOST 16u

enum show { SHOW_HEX, SHOW_SIGNED, SHOW_UNSIGNED, SHOW_FLOAT, SHOW_DOUBLE };

static enum show show_of(const char *type, uint64_t size)
{
	if (!type || strpbrk(type, "*&[("))
		return SHOW_HEX;
	if (!strcmp(type, "float"))
		return SHOW_FLOAT;
	if (!strcmp(type, "double"))
		return SHOW_DOUBLE;
	if (!strncmp(type, "struct ", 7) || !strncmp(type, "union ", 6))
		return SHOW_HEX;
	if (strstr(type, "unsigned") || !strcmp(type, "size_t") ||
	    *type == 'u' || strstr(type, "bool"))
		return SHOW_UNSIGNED;
	return size <= 8 ? SHOW_SIGNED : SHOW_HEX;
}

bool bytes_are_number(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void print_number(FILE *out, enum show show, const uint8_t *bytes,
			 uint64_t size)
{
	uint64_t value = 0;
	unsigned unused = 64 - 8 * (unsigned)size;
	double wide;
	float narrow;

	memcpy(&value, bytes, size);
	memcpy(&wide, bytes, size == 8 ? 8 : 0);
	memcpy(&narrow, bytes, size == 4 ? 4 : 0);
	if (show == SHOW_DOUBLE && size == 8)
		fprintf(out, "%.17g", wide);
	else if (show == SHOW_FLOAT && size == 4)
		fprintf(out, "%.9g", (double)narrow);
	else if (show == SHOW_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)(value << unused) >> unused);
	else if (show == SHOW_UNSIGNED)
		fprintf(out, "%" PRIu64, value);
	else
		fprintf(out, "0x%" PRIx64, value);
}

void print_bytes(FILE *out, const char *type, const uint8_t *bytes,
		 const uint8_t *known, uint64_t size)
{
	uint64_t shown = size < SHOWN_MOST ? size : SHOWN_MOST;

	if (bytes_are_number(size) && !memchr(known, 0, size)) {
		print_number(out, show_of(type, size), bytes, size);
		return;
	}
	for (uint64_t i = 0; i < shown; i++)
		if (known[i])
			fprintf(out, "%02x", bytes[i]);
		else
			fprintf(out, "??");
	if (shown < size)
		fprintf(out, "...");
}
