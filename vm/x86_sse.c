/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_sse.c - floating point of SSE to SSE4.1, computed by the host
 *
 * To load MXCSR takes longer than all else.  It is left out where it can make
 * no difference: the host's own one rounds to nearest and masks everything; so
 * does the guest's; operands are normal or zero, and so is the result, which
 * can then be inexact and nothing else; and that was raised before.
 *
 * What is not here, the engine does right: conversions from and to integers.
 *
 * Source: Intel 64 SDM volume 1, 4.8.3, 10.2.3, 11.5; volume 2, DPPS, ROUNDPS.
 */
#include "vm/x86_exact.h"

#include <emmintrin.h>
#include <float.h>
#include <string.h>

#include "vm/vm_internal.h"

#define MXCSR_HOST 0x1f80u	/* all masked, to nearest */
#define MXCSR_ROUNDING 0x6000u
#define MXCSR_ROUNDING_AT 13
#define MXCSR_MODE 0xe040u	/* FZ, rounding, DAZ */
#define MXCSR_FZ 0x8000u

typedef float singles __attribute__((vector_size(16)));
typedef double doubles __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef int64_t longs __attribute__((vector_size(16)));

/* Offsets in the engine's state. */
static struct {
	size_t mxcsr, raised;
	size_t flush, x87_flush;	/* whether that unit flushes to zero */
} at;

bool sse_find(struct vm *vm)
{
	at.mxcsr = (size_t)(vm->mxcsr - vm->state);
	at.raised = (size_t)(vm->sse.raised - vm->state);
	at.flush = (size_t)(vm->sse.flush - vm->state);
	at.x87_flush = (size_t)(vm->x87.flush - vm->state);
	return true;
}

typedef void binary_fn(uint8_t *state, void *to, const void *from);

static inline uint32_t mxcsr_of(const uint8_t *state)
{
	uint32_t mxcsr;

	memcpy(&mxcsr, state + at.mxcsr, sizeof(mxcsr));
	return mxcsr;
}

static inline void raise_flags(uint8_t *state, uint32_t flags)
{
	state[at.raised] |= flags & RAISED_ALL & ~RAISED_DENORMAL;
	state[at.mxcsr] |= flags & RAISED_DENORMAL;
}

/* Whether the result of usual numbers is the host's without more ado. */
static inline bool is_usual(const uint8_t *state)
{
	return state[at.raised] & RAISED_INEXACT &&
	       !(mxcsr_of(state) & MXCSR_ROUNDING);
}

/* What the host's MXCSR is to be for the guest's mode. */
static inline uint32_t guests_mode(const uint8_t *state)
{
	return (mxcsr_of(state) & MXCSR_MODE) | MXCSR_HOST;
}

/* The engine lets FZ flush the wrong unit's results (x86_mxcsr.c). */
typedef void load_fn(uint8_t *state, uint32_t mxcsr);
load_fn helper_ldmxcsr_x86_64;
void helper_ldmxcsr_x86_64(uint8_t *state, uint32_t mxcsr)
{
	ENGINES(load_fn, helper_ldmxcsr_x86_64)(state, mxcsr);
	if (!exact_is_on)
		return;
	state[at.raised] = mxcsr & RAISED_ALL & ~RAISED_DENORMAL;
	state[at.flush] = mxcsr & MXCSR_FZ ? 1 : 0;
	state[at.x87_flush] = 0;
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

/* A sum that is zero is exact. */
#define SUM_IS_USUAL(k, a, b, r)                                               \
	(is_tame_##k(a) & is_tame_##k(b) & (is_normal_##k(r) | ((r) == 0)))
#define PRODUCT_IS_USUAL(k, a, b, r)                                           \
	(is_tame_##k(a) & is_tame_##k(b) &                                     \
	 (is_normal_##k(r) | (((r) == 0) & (((a) == 0) | ((b) == 0)))))
#define QUOTIENT_IS_USUAL(k, a, b, r)                                          \
	(is_tame_##k(a) & is_tame_##k(b) &                                     \
	 (is_normal_##k(r) | (((r) == 0) & ((a) == 0))))
#define ROOT_IS_USUAL(k, a, b, r) (is_tame_##k(b) & is_tame_##k(r))
/* Of these, no result is ever inexact. */
#define ORDER_IS_USUAL(k, a, b, r) (is_tame_##k(a) & is_tame_##k(b))

/* ------- two operands ------- */

/* `when`: besides, what must be so for the short way. */
#define DEFINE(name, type, k, lanes, check, when)                              \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		type a, b, r;                                                  \
									       \
		if (!exact_is_on) {                                               \
			ENGINES(binary_fn, helper_##name##_x86_64)             \
			(state, to, from);                                     \
			return;                                                \
		}                                                              \
		memcpy(&a, to, sizeof(a));                                     \
		memcpy(&b, from, sizeof(b));                                   \
		r = a;                                                         \
		__asm__(#name " %1, %0" : "+x"(r) : "x"(b));                   \
		if (!(when) || (lanes_##k(check(k, a, b, r)) & (lanes)) !=     \
				       (lanes)) {                              \
			r = a;                                                 \
			IN_MODE(state, guests_mode(state), #name " %[b], %[r]",             \
				       [r] "+x"(r) : [b] "x"(b));              \
		}                                                              \
		memcpy(to, &r, sizeof(r));                                     \
	}

#define DEFINE_FOUR(name, check, when)                                         \
	DEFINE(name##ss, singles, s, 1u, check, when)                          \
	DEFINE(name##ps, singles, s, 15u, check, when)                         \
	DEFINE(name##sd, doubles, d, 1u, check, when)                          \
	DEFINE(name##pd, doubles, d, 3u, check, when)

#define DEFINE_PACKED(name, check, when)                                       \
	DEFINE(name##ps, singles, s, 15u, check, when)                         \
	DEFINE(name##pd, doubles, d, 3u, check, when)

DEFINE_FOUR(add, SUM_IS_USUAL, is_usual(state))
DEFINE_FOUR(sub, SUM_IS_USUAL, is_usual(state))
DEFINE_FOUR(mul, PRODUCT_IS_USUAL, is_usual(state))
DEFINE_FOUR(div, QUOTIENT_IS_USUAL, is_usual(state))
DEFINE_FOUR(sqrt, ROOT_IS_USUAL, is_usual(state))
DEFINE_FOUR(min, ORDER_IS_USUAL, true)
DEFINE_FOUR(max, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpeq, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmplt, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmple, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpunord, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpneq, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpnlt, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpnle, ORDER_IS_USUAL, true)
DEFINE_FOUR(cmpord, ORDER_IS_USUAL, true)
DEFINE_PACKED(addsub, SUM_IS_USUAL, is_usual(state))
DEFINE_PACKED(hadd, SUM_IS_USUAL, is_usual(state))
DEFINE_PACKED(hsub, SUM_IS_USUAL, is_usual(state))

/* ------- comparisons into flags ------- */

/* The engine knows where they go; the host, whether an operand is denormal. */
#define DEFINE_COMPARE(name, type, k)                                          \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *left,                \
				    const void *right)                         \
	{                                                                      \
		type a, b;                                                     \
									       \
		ENGINES(binary_fn, helper_##name##_x86_64)                     \
		(state, left, right);                                          \
		memcpy(&a, left, sizeof(a));                                   \
		memcpy(&b, right, sizeof(b));                                  \
		if (!exact_is_on || lanes_##k(is_tame_##k(a) & is_tame_##k(b)) & 1) \
			return;                                                \
		IN_MODE(state, guests_mode(state), #name " %[b], %[a]",                     \
			       [a] "+x"(a) : [b] "x"(b));                     \
	}

/* ------- conversions between the two sizes ------- */

/* What cannot get too small or too large for the other size. */
static inline longs is_narrow(doubles x)
{
	return (x == 0) |
	       ((magnitude_d(x) > FLT_MIN) & (magnitude_d(x) < FLT_MAX));
}

#define NARROWING_IS_USUAL(k, a, b, r) is_narrow(b)
#define WIDENING_IS_USUAL(k, a, b, r) is_tame_s(b)

DEFINE_COMPARE(comiss, singles, s)
DEFINE_COMPARE(comisd, doubles, d)
DEFINE_COMPARE(ucomiss, singles, s)
DEFINE_COMPARE(ucomisd, doubles, d)

DEFINE(cvtsd2ss, doubles, d, 1u, NARROWING_IS_USUAL, is_usual(state))
DEFINE(cvtpd2ps, doubles, d, 3u, NARROWING_IS_USUAL, is_usual(state))
DEFINE(cvtss2sd, singles, s, 1u, WIDENING_IS_USUAL, true)
DEFINE(cvtps2pd, singles, s, 3u, WIDENING_IS_USUAL, true)

/* ------- rounding to integers ------- */

#define ROUND_AS_MXCSR 4u	/* in the instruction's last byte */
#define ROUND_QUIETLY 8u

typedef void round_fn(uint8_t *state, void *to, const void *from,
		      uint32_t how);

/* Which way: 0 to nearest, 1 down, 2 up, 3 to zero. */
static inline unsigned rounding_of(const uint8_t *state, uint32_t how)
{
	if (how & ROUND_AS_MXCSR)
		return mxcsr_of(state) >> MXCSR_ROUNDING_AT & 3;
	return how & 3;
}

#define ROUND(name, way, to, from)                                             \
	__asm__(#name " $" #way ", %1, %0" : "+x"(to) : "x"(from))

#define ROUND_IN_MODE(name, how, state, mode, to, from)                        \
	IN_MODE(state, mode, #name " $" #how ", %[b], %[r]",                   \
		[r] "+x"(to) : [b] "x"(from))

#define DEFINE_ROUND(name, type, k, lanes)                                     \
	static type name##_strange(uint8_t *state, type a, type b,             \
				   unsigned way, bool quietly)                 \
	{                                                                      \
		uint32_t mode = (guests_mode(state) & ~MXCSR_ROUNDING) |       \
				way << MXCSR_ROUNDING_AT;                      \
									       \
		if (quietly)                                                   \
			ROUND_IN_MODE(name, 12, state, mode, a, b);            \
		else                                                           \
			ROUND_IN_MODE(name, 4, state, mode, a, b);             \
		return a;                                                      \
	}                                                                      \
									       \
	static inline type name##_tame(type a, type b, unsigned way)           \
	{                                                                      \
		switch (way) {                                                 \
		case 0:                                                        \
			ROUND(name, 0, a, b);                                  \
			break;                                                 \
		case 1:                                                        \
			ROUND(name, 1, a, b);                                  \
			break;                                                 \
		case 2:                                                        \
			ROUND(name, 2, a, b);                                  \
			break;                                                 \
		default:                                                       \
			ROUND(name, 3, a, b);                                  \
		}                                                              \
		return a;                                                      \
	}                                                                      \
									       \
	round_fn helper_##name##_xmm_x86_64;                                   \
	void helper_##name##_xmm_x86_64(uint8_t *state, void *to,              \
					const void *from, uint32_t how)        \
	{                                                                      \
		unsigned way = rounding_of(state, how);                        \
		bool quietly = how & ROUND_QUIETLY;                            \
		type a, b;                                                     \
									       \
		if (!exact_is_on) {                                               \
			ENGINES(round_fn, helper_##name##_xmm_x86_64)          \
			(state, to, from, how);                                \
			return;                                                \
		}                                                              \
		memcpy(&a, to, sizeof(a));                                     \
		memcpy(&b, from, sizeof(b));                                   \
		if ((quietly || state[at.raised] & RAISED_INEXACT) &&   \
		    (lanes_##k(is_tame_##k(b)) & (lanes)) == (lanes))          \
			a = name##_tame(a, b, way);                           \
		else                                                           \
			a = name##_strange(state, a, b, way, quietly);         \
		memcpy(to, &a, sizeof(a));                                     \
	}

DEFINE_ROUND(roundss, singles, s, 1u)
DEFINE_ROUND(roundps, singles, s, 15u)
DEFINE_ROUND(roundsd, doubles, d, 1u)
DEFINE_ROUND(roundpd, doubles, d, 3u)

/* ------- dot products ------- */

/* Lanes that the upper half of `how` leaves out are zero, and raise nothing. */
static inline words chosen_s(unsigned bits)
{
	return (words){ 0 - (int)(bits & 1), 0 - (int)(bits >> 1 & 1),
			0 - (int)(bits >> 2 & 1), 0 - (int)(bits >> 3 & 1) };
}

static inline longs chosen_d(unsigned bits)
{
	return (longs){ 0 - (int64_t)(bits & 1), 0 - (int64_t)(bits >> 1 & 1) };
}

#define DEFINE_DOT(name, type, ints, k, text)                                  \
	round_fn helper_##name##_xmm_x86_64;                                   \
	void helper_##name##_xmm_x86_64(uint8_t *state, void *to,              \
					const void *from, uint32_t how)        \
	{                                                                      \
		type a, b;                                                     \
									       \
		if (!exact_is_on) {                                               \
			ENGINES(round_fn, helper_##name##_xmm_x86_64)          \
			(state, to, from, how);                                \
			return;                                                \
		}                                                              \
		memcpy(&a, to, sizeof(a));                                     \
		memcpy(&b, from, sizeof(b));                                   \
		a = (type)((ints)a & chosen_##k(how >> 4));                    \
		b = (type)((ints)b & chosen_##k(how >> 4));                    \
		IN_MODE(state, guests_mode(state), text, [r] "+x"(a) : [b] "x"(b));         \
		a = (type)((ints)a & chosen_##k(how));                         \
		memcpy(to, &a, sizeof(a));                                     \
	}

/* Neighbours are added first; then all lanes hold the whole sum. */
DEFINE_DOT(dpps, singles, words, s,
	   "mulps %[b], %[r]\n\thaddps %[r], %[r]\n\thaddps %[r], %[r]")
DEFINE_DOT(dppd, doubles, longs, d, "mulpd %[b], %[r]\n\thaddpd %[r], %[r]")

/* ------- estimates ------- */

/* The exact value, rounded: what is the same everywhere.  They raise nothing. */
#define DEFINE_ESTIMATE(name)                                                  \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		uint8_t raised = state[at.raised];                      \
									       \
		ENGINES(binary_fn, helper_##name##_x86_64)(state, to, from);   \
		if (exact_is_on)                                                  \
			state[at.raised] = raised;                      \
	}

DEFINE_ESTIMATE(rcpss)
DEFINE_ESTIMATE(rcpps)
DEFINE_ESTIMATE(rsqrtss)
DEFINE_ESTIMATE(rsqrtps)
