/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_floats.h - floating-point numbers of two bytes
 *
 * Source: IEEE 754-2019, 3.6 (binary16); bfloat16 is the upper half of a float.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_SMALL_FLOATS_H
#define CPREC_REPLAYER_EXPRESSIONS_SMALL_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

long double small_float(uint16_t bits, bool is_brain);

/* The nearest one; of two, the even one. */
uint16_t small_float_bits(long double number, bool is_brain);

#endif
