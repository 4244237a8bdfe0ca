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

#include "vm/engine/engine_internal.h"

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

#define DEFINE(name, form, type)                                               \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		type a, b;                                                     \
									       \
		(void)state;                                                   \
		a = load_##form(to);                                           \
		b = load_##form(from);                                         \
		__asm__ volatile(#name " %1, %0" : "+x"(a) : "x"(b));          \
		store_##form(to, a);                                           \
	}

/* Of one operand: what else is in the register stays. */
#define DEFINE_UNARY(name, in, out, type)                                      \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *to,                  \
				    const void *from)                          \
	{                                                                      \
		type b;                                                        \
									       \
		(void)state;                                                   \
		b = load_##in(from);                                           \
		__asm__ volatile(#name " %0, %0" : "+x"(b));                   \
		store_##out(to, b);                                            \
	}

#define DEFINE_PACKED(name)                                                    \
	DEFINE(name##ps, ps, singles)                                          \
	DEFINE(name##pd, pd, doubles)

#define DEFINE_FOUR(name)                                                      \
	DEFINE_PACKED(name)                                                    \
	DEFINE(name##ss, ss, singles)                                          \
	DEFINE(name##sd, sd, doubles)

/* The lowest lanes as values: for what is generated (vectors.c). */
#define DEFINE_VALUES(name, form, type)                                        \
	uint64_t sse_##name(uint64_t left, uint64_t right);                    \
	uint64_t sse_##name(uint64_t left, uint64_t right)                     \
	{                                                                      \
		type a = load_##form(&left), b = load_##form(&right);          \
									       \
		__asm__ volatile(#name " %1, %0" : "+x"(a) : "x"(b));          \
		return (uint64_t)((longs)a)[0];                                \
	}

#define DEFINE_COMPARISON(name)                                                \
	DEFINE_FOUR(name)                                                      \
	DEFINE_VALUES(name##ss, ss, singles)                                   \
	DEFINE_VALUES(name##sd, sd, doubles)

DEFINE_FOUR(add)
DEFINE_FOUR(sub)
DEFINE_FOUR(mul)
DEFINE_FOUR(div)
DEFINE_FOUR(min)
DEFINE_FOUR(max)
DEFINE_VALUES(minss, ss, singles)
DEFINE_VALUES(maxss, ss, singles)
DEFINE_COMPARISON(cmpeq)
DEFINE_COMPARISON(cmplt)
DEFINE_COMPARISON(cmple)
DEFINE_COMPARISON(cmpunord)
DEFINE_COMPARISON(cmpneq)
DEFINE_COMPARISON(cmpnlt)
DEFINE_COMPARISON(cmpnle)
DEFINE_COMPARISON(cmpord)
DEFINE_UNARY(sqrtss, ss, ss, singles)
DEFINE_UNARY(sqrtps, ps, ps, singles)
DEFINE_UNARY(sqrtsd, sd, sd, doubles)
DEFINE_UNARY(sqrtpd, pd, pd, doubles)
DEFINE_PACKED(addsub)
DEFINE_PACKED(hadd)
DEFINE_PACKED(hsub)

/* ------- comparisons into flags ------- */

/* ZF, PF and CF of the host are what the guest is to have. */
#define DEFINE_COMPARE(name, form, type)                                       \
	binary_fn helper_##name##_x86_64;                                      \
	void helper_##name##_x86_64(uint8_t *state, void *left,                \
				    const void *right)                         \
	{                                                                      \
		unsigned ax;                                                   \
		type a, b;                                                     \
									       \
		a = load_##form(left);                                         \
		b = load_##form(right);                                        \
		__asm__ volatile(#name " %1, %2\n\tlahf"                       \
				 : "=a"(ax) : "x"(b), "x"(a) : "cc");          \
		exact_put_conditions(state, ax >> 8);                          \
	}

/* The same of values. */
#define DEFINE_COMPARE_VALUES(name, form, type)                                \
	uint64_t sse_##name(uint64_t left, uint64_t right);                    \
	uint64_t sse_##name(uint64_t left, uint64_t right)                     \
	{                                                                      \
		uint64_t ax;                                                   \
		type a = load_##form(&left), b = load_##form(&right);          \
									       \
		__asm__ volatile(#name " %1, %2\n\tlahf"                       \
				 : "=a"(ax) : "x"(b), "x"(a) : "cc");          \
		return ax >> 8 & EXACT_CONDITIONS;                             \
	}

DEFINE_COMPARE_VALUES(comiss, ss, singles)
DEFINE_COMPARE_VALUES(comisd, sd, doubles)
DEFINE_COMPARE_VALUES(ucomiss, ss, singles)
DEFINE_COMPARE_VALUES(ucomisd, sd, doubles)

DEFINE_COMPARE(comiss, ss, singles)
DEFINE_COMPARE(comisd, sd, doubles)
DEFINE_COMPARE(ucomiss, ss, singles)
DEFINE_COMPARE(ucomisd, sd, doubles)

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

DEFINE_UNARY(cvtsd2ss, sd, ss_of_sd, doubles)
DEFINE_UNARY(cvtpd2ps, pd, pd, doubles)
DEFINE_UNARY(cvtss2sd, ss, sd_of_ss, singles)
DEFINE_UNARY(cvtps2pd, pi, ps, singles)

/* ------- conversions from and to integers ------- */

/* Values of instructions that are generated (vectors.c); the engine's functions
 * do them right. */
#define DEFINE_FROM_INTEGER(name, insn, type)                                  \
	uint64_t sse_##name(uint64_t integer);                                 \
	uint64_t sse_##name(uint64_t integer)                                  \
	{                                                                      \
		type from = (type)integer;                                     \
		longs number = { 0, 0 };                                       \
									       \
		__asm__ volatile(#insn " %1, %0" : "+x"(number) : "r"(from));  \
		return (uint64_t)number[0];                                    \
	}

#define DEFINE_TO_INTEGER(name, insn, type)                                    \
	uint64_t sse_##name(uint64_t number);                                  \
	uint64_t sse_##name(uint64_t number)                                   \
	{                                                                      \
		longs from = { (int64_t)number, 0 };                           \
		type integer;                                                  \
									       \
		__asm__ volatile(#insn " %1, %0" : "=r"(integer) : "x"(from)); \
		return integer;                                                \
	}

DEFINE_FROM_INTEGER(cvtsi2sd, cvtsi2sdl, uint32_t)
DEFINE_FROM_INTEGER(cvtsq2sd, cvtsi2sdq, uint64_t)
DEFINE_FROM_INTEGER(cvtsi2ss, cvtsi2ssl, uint32_t)
DEFINE_FROM_INTEGER(cvtsq2ss, cvtsi2ssq, uint64_t)
DEFINE_TO_INTEGER(cvtsd2si, cvtsd2si, uint32_t)
DEFINE_TO_INTEGER(cvtsd2sq, cvtsd2si, uint64_t)
DEFINE_TO_INTEGER(cvttsd2si, cvttsd2si, uint32_t)
DEFINE_TO_INTEGER(cvttsd2sq, cvttsd2si, uint64_t)
DEFINE_TO_INTEGER(cvtss2si, cvtss2si, uint32_t)
DEFINE_TO_INTEGER(cvtss2sq, cvtss2si, uint64_t)
DEFINE_TO_INTEGER(cvttss2si, cvttss2si, uint32_t)
DEFINE_TO_INTEGER(cvttss2sq, cvttss2si, uint64_t)
