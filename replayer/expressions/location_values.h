/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * location_values.h - what is on the stack of an expression of DWARF
 *
 * A value has a type: the generic one, of an address, or a number of the
 * program.  It is held as 64 bits, an integer extended as its type wants it.
 * Nothing is computed of floating-point numbers.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_LOCATION_VALUES_H
#define CPREC_REPLAYER_EXPRESSIONS_LOCATION_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct location_type {
	unsigned size;		/* 1 to 8 bytes; 0: generic */
	bool is_signed, is_float;
};

struct location_value {
	uint64_t bits;
	struct location_type type;
};

/* Whether an operation says that all is in a register, and its number. */
bool location_is_register(const Dwarf_Op *op, uint64_t *number);

/* The same with another type: cut off, and extended again. */
struct location_value location_value_as(struct location_value value,
					struct location_type type);

/* False: there is no such operator, or no result. */
bool location_unary(unsigned atom, struct location_value *value);
bool location_binary(unsigned atom, const struct location_value *left,
		     const struct location_value *right,
		     struct location_value *out);

#endif
