/* SPDX-License-Identifier: GPL-2.0-or-later */
/* small_floats.c - see small_floats.h */
#include "replayer/expressions/small_floats.h"

#include <math.h>

/* Of binary16, 5 and 10 bits; of bfloat16, 8 and 7. */
struct shape {
	int exponent, fraction;
};

static struct shape shape_of(bool is_brain)
{
	return is_brain ? (struct shape) { 8, 7 } : (struct shape) { 5, 10 };
}

long double small_float(uint16_t bits, bool is_brain)
{
	struct shape shape = shape_of(is_brain);
	int highest = (1 << shape.exponent) - 1, bias = highest / 2;
	int exponent = bits >> shape.fraction & highest;
	int fraction = bits & ((1 << shape.fraction) - 1);
	long double number;

	if (exponent == highest)
		number = fraction ? (long double)NAN : (long double)INFINITY;
	else if (exponent)
		number = ldexpl(fraction + (1 << shape.fraction),
				exponent - bias - shape.fraction);
	else
		number = ldexpl(fraction, 1 - bias - shape.fraction);
	return bits >> 15 ? -number : number;
}

uint16_t small_float_bits(long double number, bool is_brain)
{
	struct shape shape = shape_of(is_brain);
	int highest = (1 << shape.exponent) - 1, bias = highest / 2, exponent;
	unsigned sign = signbit(number) ? 1u << 15 : 0;
	unsigned infinite = (unsigned)highest << shape.fraction;
	long double size = fabsl(number), units;

	if (isnan(number))
		return (uint16_t)(sign | infinite | 1u << (shape.fraction - 1));
	if (isinf(number))
		return (uint16_t)(sign | infinite);
	frexpl(size, &exponent);
	exponent = size != 0 && exponent > 2 - bias ? exponent : 2 - bias;
	/* So many units of the last place; more of them carry into the exponent. */
	units = rintl(ldexpl(size, shape.fraction + 1 - exponent));
	if (units >= (long double)infinite || exponent + bias > highest)
		return (uint16_t)(sign | infinite);
	units += (long double)(exponent + bias - 2) * (1 << shape.fraction);
	return (uint16_t)(units >= (long double)infinite ? sign | infinite :
						sign | (unsigned)units);
}
