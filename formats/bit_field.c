/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bit_field.c - see bit_field.h */
#include "formats/bit_field.h"

bool bit_field_read(const uint8_t *bytes, const uint8_t *known,
		    unsigned offset, unsigned size, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < size; i++) {
		unsigned at = offset + i;

		if (known && !known[at / 8])
			return false;
		*out |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << i;
	}
	return true;
}

int64_t bit_field_signed(uint64_t number, unsigned size)
{
	unsigned unused = 64 - size;

	return (int64_t)(number << unused) >> unused;
}
