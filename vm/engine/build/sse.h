/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sse.h - the guest's MXCSR, registers and modes, for those who compute
 *
 * To load MXCSR takes longer than all else.  It is left out where it can make
 * no difference: the host's own one rounds to nearest and masks everything; so
 * does the guest's; operands are normal or zero, and so is the result, which
 * can then be inexact and nothing else; and that was raised before.
 */
#ifndef CPREC_VM_ENGINE_BUILD_SSE_H
#define CPREC_VM_ENGINE_BUILD_SSE_H

#include <emmintrin.h>
#include <float.h>

#include "vm/engine/build/exact.h"

#define MXCSR_HOST 0x1f80u	/* all masked, to nearest */
#define MXCSR_ROUNDING 0x6000u
#define MXCSR_ROUNDING_AT 13
#define MXCSR_MODE 0xe040u	/* FZ, rounding, DAZ */
#define MXCSR_FZ 0x8000u

typedef float singles __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef int64_t longs __attribute__((vector_size(16)));

typedef void binary_fn(uint8_t *state, void *to, const void *from);

static inline uint32_t mxcsr_of(const uint8_t *state)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, state + layout.sse.mxcsr, sizeof(mxcsr));
	return mxcsr;
}

static inline void raise_flags(uint8_t *state, uint32_t flags)
{
	state[layout.sse.raised] |= flags & RAISED_ALL & ~RAISED_DENORMAL;
	state[layout.sse.mxcsr] |= flags & RAISED_DENORMAL;
}

/* What the host's MXCSR is to be for the guest's mode. */
static inline uint32_t guests_mode(const uint8_t *state)
{
	return (mxcsr_of(state) & MXCSR_MODE) | MXCSR_HOST;
}

/* Instructions with a mode: none can come between it and them. */
#define IN_MODE(state, mode, text, ...)                                        \
	do {                                                                   \
		uint32_t mode_ = (mode), host_ = MXCSR_HOST;                   \
									       \
		__asm__ volatile("ldmxcsr %[mode_at]\n\t" text "\n\t"          \
				 "stmxcsr %[mode_at]\n\tldmxcsr %[host_at]"    \
				 : [mode_at] "+m"(mode_), __VA_ARGS__,         \
				   [host_at] "m"(host_));                      \
		raise_flags(state, mode_);                                     \
	} while (0)

/* ------- registers ------- */

/*
 * Translated code moves at most 8 bytes at once, and the processor hands on
 * what was just stored only to loads that are no larger.  So a register is
 * loaded in parts, and of a scalar no more than is needed.
 */
static inline singles load_ss(const void *from)
{
	float number;

	memcpy(&number, from, sizeof(number));
	return (singles){ number };
}

static inline doubles load_sd(const void *from)
{
	double number;

	memcpy(&number, from, sizeof(number));
	return (doubles){ number };
}

/* Two loads, which a compiler would make one again. */
static inline doubles load_pd(const void *from)
{
	const uint64_t *halves = from;
	doubles numbers;

	__asm__("movsd %1, %0\n\tmovhpd %2, %0"
		: "=&x"(numbers) : "m"(halves[0]), "m"(halves[1]));
	return numbers;
}

static inline singles load_ps(const void *from)
{
	return (singles)load_pd(from);
}

static inline void store_ss(void *to, singles value)
{
	memcpy(to, &value, sizeof(float));
}

static inline void store_sd(void *to, doubles value)
{
	memcpy(to, &value, sizeof(double));
}

static inline void store_ps(void *to, singles value)
{
	memcpy(to, &value, sizeof(value));
}

static inline void store_pd(void *to, doubles value)
{
	memcpy(to, &value, sizeof(value));
}

/* ------- what is usual ------- */

static inline singles magnitude_s(singles x)
{
	return (singles)((words)x & 0x7fffffff);
}

static inline doubles magnitude_d(doubles x)
{
	return (doubles)((longs)x & INT64_MAX);
}

/* Zero, normal or infinite. */
static inline words is_tame_s(singles x)
{
	return (x == 0) | (magnitude_s(x) >= FLT_MIN);
}

static inline longs is_tame_d(doubles x)
{
	return (x == 0) | (magnitude_d(x) >= DBL_MIN);
}

/* Larger than any number that could have been too small before rounding. */
static inline words is_normal_s(singles x)
{
	return (magnitude_s(x) > FLT_MIN) & (magnitude_s(x) <= FLT_MAX);
}

static inline longs is_normal_d(doubles x)
{
	return (magnitude_d(x) > DBL_MIN) & (magnitude_d(x) <= DBL_MAX);
}

static inline unsigned lanes_s(words mask)
{
	return (unsigned)_mm_movemask_ps((__m128)mask);
}

static inline unsigned lanes_d(longs mask)
{
	return (unsigned)_mm_movemask_pd((__m128d)mask);
}

#endif
