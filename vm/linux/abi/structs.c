/* SPDX-License-Identifier: GPL-2.0-or-later */
/* structs.c - see structs.h; guest and host have the lowest byte first */
#include <string.h>

#include "vm/linux/abi/structs.h"

/* Widens or narrows a number of `from_size` bytes. */
static void convert(uint8_t *to, size_t to_size, const uint8_t *from,
		    size_t from_size, bool is_signed)
{
	size_t both = to_size < from_size ? to_size : from_size;
	bool is_negative = is_signed && from[from_size - 1] & 0x80;

	memcpy(to, from, both);
	memset(to + both, is_negative ? 0xff : 0, to_size - both);
}

void layout_in(const struct guest_layout *layout, void *host,
	       const void *guest)
{
	if (!layout->count) {
		memcpy(host, guest, layout->size);
		return;
	}
	memset(host, 0, layout->host_size);
	for (unsigned i = 0; i < layout->count; i++) {
		const struct guest_member *member = &layout->members[i];

		convert((uint8_t *)host + member->host_at, member->host_size,
			(const uint8_t *)guest + member->guest_at,
			member->guest_size, member->is_signed);
	}
}

void layout_out(const struct guest_layout *layout, void *guest,
		const void *host)
{
	if (!layout->count) {
		memcpy(guest, host, layout->size);
		return;
	}
	memset(guest, 0, layout->size);
	for (unsigned i = 0; i < layout->count; i++) {
		const struct guest_member *member = &layout->members[i];

		convert((uint8_t *)guest + member->guest_at,
			member->guest_size,
			(const uint8_t *)host + member->host_at,
			member->host_size, member->is_signed);
	}
}
