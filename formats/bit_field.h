/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bit_field.h - numbers that are some bits of bytes
 *
 * Units:      bits count from the lowest one of the first byte on.
 * Errors:     none.
 */
#ifndef CPREC_FORMATS_BIT_FIELD_H
#define CPREC_FORMATS_BIT_FIELD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * At most 64 bits.  False if some are not known: `known` is 1 or 0 for each
 * byte; NULL: all are.
 */
bool bit_field_read(const uint8_t *bytes, const uint8_t *known,
		    unsigned offset, unsigned size, uint64_t *out);

/* The number if the highest of so many bits, at least 1, is the sign. */
int64_t bit_field_signed(uint64_t number, unsigned size);

#endif
