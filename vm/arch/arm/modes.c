/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modes.c - where Thumb code is, of what was decoded
 *
 * Two bits for each halfword: whether it is known, whether it is Thumb code;
 * for 64 KiB of addresses at a time.
 */
#include <stdlib.h>

#include "vm/arch/arm/arm.h"

#define SPAN_SHIFT 16
#define SPANS (1u << (32 - SPAN_SHIFT))
#define UNIT 2u			/* bytes that have the two bits */
#define UNITS ((1u << SPAN_SHIFT) / UNIT)
#define PER_BYTE 4u

enum { IS_KNOWN = 1, IS_THUMB = 2 };

struct modes {
	uint8_t *spans[SPANS];
};

struct modes *modes_create(void)
{
	return calloc(1, sizeof(struct modes));
}

void modes_destroy(struct modes *modes)
{
	if (!modes)
		return;
	for (unsigned i = 0; i < SPANS; i++)
		free(modes->spans[i]);
	free(modes);
}

static uint8_t **span_of(struct modes *modes, guest_addr pc)
{
	return &modes->spans[pc >> SPAN_SHIFT & (SPANS - 1)];
}

void modes_note(struct modes *modes, guest_addr pc, bool is_thumb)
{
	uint8_t **span = span_of(modes, pc), *byte;
	unsigned unit = pc / UNIT % UNITS, at = 2 * (unit % PER_BYTE);

	/* What is not noted is only not known. */
	if (!*span)
		*span = calloc(UNITS / PER_BYTE, 1);
	if (!*span)
		return;
	byte = &(*span)[unit / PER_BYTE];
	*byte = (uint8_t)((*byte & ~(3u << at)) |
			  (IS_KNOWN | (is_thumb ? IS_THUMB : 0u)) << at);
}

bool modes_is_thumb(const struct modes *modes, guest_addr pc, bool otherwise)
{
	const uint8_t *span = modes->spans[pc >> SPAN_SHIFT & (SPANS - 1)];
	unsigned unit = pc / UNIT % UNITS;
	unsigned bits = span ? span[unit / PER_BYTE] >>
				       2 * (unit % PER_BYTE) & 3 : 0;

	return bits & IS_KNOWN ? bits & IS_THUMB : otherwise;
}
