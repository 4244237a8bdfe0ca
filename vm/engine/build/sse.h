/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sse.h - the guest's MXCSR and registers, for those who compute
 *
 * While translated code runs, the host's MXCSR is the guest's, with everything
 * masked: its mode is the guest's, and its flags of exceptions are those that
 * have been raised since they were last taken over.  So an instruction of the
 * guest's is one of the host's, in translated code and in the functions that it
 * calls.  Where it calls others, the host's MXCSR is its own (float_leave()), but
 * not where the engine's functions do so: to translate, or to find a page.
 */
#ifndef CPREC_VM_ENGINE_BUILD_SSE_H
#define CPREC_VM_ENGINE_BUILD_SSE_H

#include <xmmintrin.h>

#include "vm/engine/build/exact.h"

#define MXCSR_HOST 0x1f80u	/* all masked, to nearest */
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

/* What the host has raised is the guest's. */
static inline void take_flags(uint8_t *state)
{
	uint32_t flags = _mm_getcsr();

	state[layout.sse.raised] |= flags & RAISED_ALL & ~RAISED_DENORMAL;
	state[layout.sse.mxcsr] |= flags & RAISED_DENORMAL;
}

/* The host computes in the guest's mode, and has raised nothing. */
static inline void take_mode(const uint8_t *state)
{
	_mm_setcsr((mxcsr_of(state) & MXCSR_MODE) | MXCSR_HOST);
}

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

#endif
