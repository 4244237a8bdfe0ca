/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * float_host.c - floating point of both ARMs, usual numbers by the host
 *
 * The engine computes by functions of its own, which know when the host may
 * compute: a result that is rounded to nearest can then be inexact and nothing
 * else, and that was raised before.  But they look at each operand.  It is
 * enough to look at the result: if it is larger than the least normal number,
 * and finite, nothing else was raised, whatever the operands.
 *
 * Source: Arm Architecture Reference Manual for A-profile, A1.5; IEEE 754, 7.
 */
#include <float.h>
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/* Of struct float_status (QEMU 5.0): one byte each for rounding, flags that are
 * raised, and behind another one, flushing of results and operands to zero. */
enum { ROUNDING_AT = 1, RAISED_AT = 2, FLUSH_AT = 4, FLUSH_INPUTS_AT = 5 };
#define TO_NEAREST 0
#define INEXACT 32u

static inline bool may_compute(const uint8_t *status)
{
	return status[ROUNDING_AT] == TO_NEAREST &&
	       status[RAISED_AT] & INEXACT && !status[FLUSH_AT] &&
	       !status[FLUSH_INPUTS_AT];
}

static inline bool is_usual_32(float x)
{
	float size = __builtin_fabsf(x);

	return size > FLT_MIN && size <= FLT_MAX;
}

static inline bool is_usual_64(double x)
{
	double size = __builtin_fabs(x);

	return size > DBL_MIN && size <= DBL_MAX;
}

#define INSTRUCTION(name, type)                                                \
	static inline type name##_of(type a, type b)                           \
	{                                                                      \
		__asm__(#name " %1, %0" : "+x"(a) : "x"(b));                   \
		return a;                                                      \
	}

INSTRUCTION(addss, float)
INSTRUCTION(subss, float)
INSTRUCTION(mulss, float)
INSTRUCTION(divss, float)
INSTRUCTION(sqrtss, float)
INSTRUCTION(addsd, double)
INSTRUCTION(subsd, double)
INSTRUCTION(mulsd, double)
INSTRUCTION(divsd, double)
INSTRUCTION(sqrtsd, double)

#define COMPUTES(name, insn, bits, type)                                       \
	typedef uint##bits##_t name##_fn(uint##bits##_t a, uint##bits##_t b,   \
					 uint8_t *status);                     \
	REPLACES(name##_fn, name);                                             \
	uint##bits##_t name(uint##bits##_t a, uint##bits##_t b,                \
			    uint8_t *status)                                   \
	{                                                                      \
		uint##bits##_t bits_of;                                        \
		type left, right;                                              \
									       \
		memcpy(&left, &a, sizeof(a));                                  \
		memcpy(&right, &b, sizeof(b));                                 \
		left = insn##_of(left, right);                                 \
		if (!may_compute(status) || !is_usual_##bits(left))            \
			return engine_##name(a, b, status);                    \
		memcpy(&bits_of, &left, sizeof(left));                         \
		return bits_of;                                                \
	}

#define COMPUTES_ROOT(name, insn, bits, type)                                  \
	typedef uint##bits##_t name##_fn(uint##bits##_t a, uint8_t *status);   \
	REPLACES(name##_fn, name);                                             \
	uint##bits##_t name(uint##bits##_t a, uint8_t *status)                 \
	{                                                                      \
		uint##bits##_t bits_of;                                        \
		type of;                                                       \
									       \
		memcpy(&of, &a, sizeof(a));                                    \
		of = insn##_of(of, of);                                        \
		if (!may_compute(status) || !is_usual_##bits(of))              \
			return engine_##name(a, status);                       \
		memcpy(&bits_of, &of, sizeof(of));                             \
		return bits_of;                                                \
	}

/* `how`: what is negated or halved. */
#define COMPUTES_SUM(name, insn, bits, type)                                   \
	typedef uint##bits##_t name##_fn(uint##bits##_t a, uint##bits##_t b,   \
					 uint##bits##_t c, int how,            \
					 uint8_t *status);                     \
	REPLACES(name##_fn, name);                                             \
	uint##bits##_t name(uint##bits##_t a, uint##bits##_t b,                \
			    uint##bits##_t c, int how, uint8_t *status)        \
	{                                                                      \
		uint##bits##_t bits_of;                                        \
		type x, y, z;                                                  \
									       \
		if (how || !may_compute(status) ||                             \
		    !__builtin_cpu_supports("fma"))                            \
			return engine_##name(a, b, c, how, status);            \
		memcpy(&x, &a, sizeof(a));                                     \
		memcpy(&y, &b, sizeof(b));                                     \
		memcpy(&z, &c, sizeof(c));                                     \
		__asm__(#insn " %2, %1, %0" : "+x"(z) : "x"(x), "x"(y));       \
		if (!is_usual_##bits(z))                                       \
			return engine_##name(a, b, c, how, status);            \
		memcpy(&bits_of, &z, sizeof(z));                               \
		return bits_of;                                                \
	}

#define COMPUTES_ALL(arch)                                                     \
	COMPUTES(float32_add_##arch, addss, 32, float)                         \
	COMPUTES(float32_sub_##arch, subss, 32, float)                         \
	COMPUTES(float32_mul_##arch, mulss, 32, float)                         \
	COMPUTES(float32_div_##arch, divss, 32, float)                         \
	COMPUTES_ROOT(float32_sqrt_##arch, sqrtss, 32, float)                  \
	COMPUTES_SUM(float32_muladd_##arch, vfmadd231ss, 32, float)            \
	COMPUTES(float64_add_##arch, addsd, 64, double)                        \
	COMPUTES(float64_sub_##arch, subsd, 64, double)                        \
	COMPUTES(float64_mul_##arch, mulsd, 64, double)                        \
	COMPUTES(float64_div_##arch, divsd, 64, double)                        \
	COMPUTES_ROOT(float64_sqrt_##arch, sqrtsd, 64, double)                 \
	COMPUTES_SUM(float64_muladd_##arch, vfmadd231sd, 64, double)

COMPUTES_ALL(aarch64)
COMPUTES_ALL(arm)
