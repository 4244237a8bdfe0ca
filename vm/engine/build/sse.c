/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sse.c - arithmetic, comparisons and conversions of SSE to SSE3, computed
 * by the host
 *
 * What is not here, the engine does right: conversions from and to integers.
 *
 * Source: Intel 64 SDM volume 1, 4.8.3, 10.2.3, 11.5.
 */
#include "vm/engine/build/sse.h"

/* The engine lets FZ flush the wrong unit's results (mxcsr.c). */
typedef void load_fn(uint8_t *state, uint32_t mxcsr);
REPLACES(load_fn, helper_ldmxcsr_x86_64);
void helper_ldmxcsr_x86_64(uint8_t *state, uint32_t mxcsr)
{
	engine_helper_ldmxcsr_x86_64(state, mxcsr);
	state[layout.sse.raised] = mxcsr & RAISED_ALL & ~RAISED_DENORMAL;
	state[layout.sse.flush] = mxcsr & MXCSR_FZ ? 1 : 0;
	state[layout.x87.flush] = 0;
}

/* ------- two operands ------- */

/* Whether the result of usual numbers is the host's without more ado. */
static inline bool is_usual(const uint8_t *state)
{
	return state[layout.sse.raised] & RAISED_INEXACT &&
	       !(mxcsr_of(state) & MXCSR_ROUNDING);
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

/* Computes `r` of `a` and `b`; `when`: what allows the short way, besides. */
#define COMPUTE(name, k, lanes, check, when)                                   \
	__asm__(#name " %1, %0" : "+x"(r) : "x"(b));                           \
	if (!(when) || (lanes_##k(check(k, a, b, r)) & (lanes)) != (lanes)) {  \
		r = a;                                                         \
		IN_MODE(state, guests_mode(state), #name " %[b], %[r]",        \
			[r] "+x"(r) : [b] "x"(b));                             \
	}

#define DEFINE(name, form, type, k, lanes, check, when)                        \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		type a, b, r;                                                  \
									       \
		r = a = load_##form(to);                                       \
		b = load_##form(from);                                         \
		COMPUTE(name, k, lanes, check, when)                           \
		store_##form(to, r);                                           \
	}

/* Of one operand: what else is in the register stays. */
#define DEFINE_UNARY(name, in, out, type, k, lanes, check, when)               \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		type a, b, r;                                                  \
									       \
		r = a = b = load_##in(from);                                   \
		COMPUTE(name, k, lanes, check, when)                           \
		store_##out(to, r);                                            \
	}

#define DEFINE_PACKED(name, check, when)                                       \
	DEFINE(name##ps, ps, singles, s, 15u, check, when)                     \
	DEFINE(name##pd, pd, doubles, d, 3u, check, when)

#define DEFINE_FOUR(name, check, when)                                         \
	DEFINE_PACKED(name, check, when)                                       \
	DEFINE(name##ss, ss, singles, s, 1u, check, when)                      \
	DEFINE(name##sd, sd, doubles, d, 1u, check, when)

DEFINE_FOUR(add, SUM_IS_USUAL, is_usual(state))
DEFINE_FOUR(sub, SUM_IS_USUAL, is_usual(state))
DEFINE_FOUR(mul, PRODUCT_IS_USUAL, is_usual(state))
DEFINE_FOUR(div, QUOTIENT_IS_USUAL, is_usual(state))
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
DEFINE_UNARY(sqrtss, ss, ss, singles, s, 1u, ROOT_IS_USUAL, is_usual(state))
DEFINE_UNARY(sqrtps, ps, ps, singles, s, 15u, ROOT_IS_USUAL, is_usual(state))
DEFINE_UNARY(sqrtsd, sd, sd, doubles, d, 1u, ROOT_IS_USUAL, is_usual(state))
DEFINE_UNARY(sqrtpd, pd, pd, doubles, d, 3u, ROOT_IS_USUAL, is_usual(state))
DEFINE_PACKED(addsub, SUM_IS_USUAL, is_usual(state))
DEFINE_PACKED(hadd, SUM_IS_USUAL, is_usual(state))
DEFINE_PACKED(hsub, SUM_IS_USUAL, is_usual(state))

/* ------- comparisons into flags ------- */

/* ZF, PF and CF of the host are what the guest is to have. */
#define DEFINE_COMPARE(name, form, type, k)                                    \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *left,                \
				    const void *right)                         \
	{                                                                      \
		unsigned ax;                                                   \
		type a, b;                                                     \
									       \
		a = load_##form(left);                                         \
		b = load_##form(right);                                        \
		if (lanes_##k(is_tame_##k(a) & is_tame_##k(b)) & 1)            \
			__asm__(#name " %1, %2\n\tlahf"                        \
				: "=a"(ax) : "x"(b), "x"(a));                  \
		else                                                           \
			IN_MODE(state, guests_mode(state),                     \
				#name " %[b], %[a]\n\tlahf",                   \
				[f] "=a"(ax) : [a] "x"(a), [b] "x"(b));        \
		exact_put_conditions(state, ax >> 8);                          \
	}

/* ------- conversions between the two sizes ------- */

/* Two singles. */
static inline singles load_pi(const void *from)
{
	return (singles)load_sd(from);
}

static inline void store_ss_of_sd(void *to, doubles value)
{
	store_ss(to, (singles)value);
}

static inline void store_sd_of_ss(void *to, singles value)
{
	store_sd(to, (doubles)value);
}

/* What cannot get too small or too large for the other size. */
static inline longs is_narrow(doubles x)
{
	return (x == 0) |
	       ((magnitude_d(x) > FLT_MIN) & (magnitude_d(x) < FLT_MAX));
}

#define NARROWING_IS_USUAL(k, a, b, r) is_narrow(b)
#define WIDENING_IS_USUAL(k, a, b, r) is_tame_s(b)

DEFINE_COMPARE(comiss, ss, singles, s)
DEFINE_COMPARE(comisd, sd, doubles, d)
DEFINE_COMPARE(ucomiss, ss, singles, s)
DEFINE_COMPARE(ucomisd, sd, doubles, d)

DEFINE_UNARY(cvtsd2ss, sd, ss_of_sd, doubles, d, 1u, NARROWING_IS_USUAL,
	     is_usual(state))
DEFINE_UNARY(cvtpd2ps, pd, pd, doubles, d, 3u, NARROWING_IS_USUAL,
	     is_usual(state))
DEFINE_UNARY(cvtss2sd, ss, sd_of_ss, singles, s, 1u, WIDENING_IS_USUAL,
	     true)
DEFINE_UNARY(cvtps2pd, pi, ps, singles, s, 3u, WIDENING_IS_USUAL, true)

