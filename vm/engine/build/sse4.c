/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sse4.c - what SSE4 adds: rounding, dot products, strings; polynomials; and
 * estimates
 *
 * Source: Intel 64 SDM volume 2, DPPS, ROUNDPS, PCMPESTRI.
 */
#include "vm/engine/build/sse.h"

/* ------- rounding to integers ------- */

typedef void byte_fn(uint8_t *state, void *to, const void *from,
		      uint32_t how);

#define ROUND(name, how, to, from)                                             \
	case how:                                                              \
		__asm__ volatile(#name " $" #how ", %1, %0"                    \
				 : "+x"(to) : "x"(from));                      \
		break;

/* Of the lowest bits: which way, or as MXCSR says; and whether quietly. */
#define DEFINE_ROUND(name, form, type)                                         \
	byte_fn helper_##name##_xmm_x86_64;                                   \
	void helper_##name##_xmm_x86_64(uint8_t *state, void *to,              \
					const void *from, uint32_t how)        \
	{                                                                      \
		type a, b;                                                     \
									       \
		(void)state;                                                   \
		a = b = load_##form(from);                                     \
		switch (how & 4 ? how & 12 : how & 11) {                       \
		ROUND(name, 0, a, b)                                           \
		ROUND(name, 1, a, b)                                           \
		ROUND(name, 2, a, b)                                           \
		ROUND(name, 3, a, b)                                           \
		ROUND(name, 4, a, b)                                           \
		ROUND(name, 8, a, b)                                           \
		ROUND(name, 9, a, b)                                           \
		ROUND(name, 10, a, b)                                          \
		ROUND(name, 11, a, b)                                          \
		ROUND(name, 12, a, b)                                          \
		}                                                              \
		store_##form(to, a);                                           \
	}

DEFINE_ROUND(roundss, ss, singles)
DEFINE_ROUND(roundps, ps, singles)
DEFINE_ROUND(roundsd, sd, doubles)
DEFINE_ROUND(roundpd, pd, doubles)

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

#define DEFINE_DOT(name, form, type, ints, k, text)                     \
	byte_fn helper_##name##_xmm_x86_64;                            \
	void helper_##name##_xmm_x86_64(uint8_t *state, void *to,       \
					const void *from, uint32_t how) \
	{                                                               \
		type a, b;                                              \
                                                                        \
		(void)state;                                            \
		a = load_##form(to);                                    \
		b = load_##form(from);                                  \
		a = (type)((ints)a & chosen_##k(how >> 4));             \
		b = (type)((ints)b & chosen_##k(how >> 4));             \
		__asm__ volatile(text : [r] "+x"(a) : [b] "x"(b));      \
		a = (type)((ints)a & chosen_##k(how));                  \
		store_##form(to, a);                                    \
	}

/* Neighbours are added first; then all lanes hold the whole sum. */
DEFINE_DOT(dpps, ps, singles, words, s,
	   "mulps %[b], %[r]\n\thaddps %[r], %[r]\n\thaddps %[r], %[r]")
DEFINE_DOT(dppd, pd, doubles, longs, d, "mulpd %[b], %[r]\n\thaddpd %[r], %[r]")

/* ------- polynomials ------- */

#define MULTIPLY(halves, to, from)                                             \
	case halves:                                                           \
		__asm__("pclmulqdq $" #halves ", %1, %0"                       \
			: "+x"(to) : "x"(from));                               \
		break;

/* Of two halves; which, two bits say. */
REPLACES(byte_fn, helper_pclmulqdq_xmm_x86_64);
void helper_pclmulqdq_xmm_x86_64(uint8_t *state, void *to, const void *from,
				 uint32_t how)
{
	doubles a = load_pd(to), b = load_pd(from);

	if (!__builtin_cpu_supports("pclmul")) {
		engine_helper_pclmulqdq_xmm_x86_64(state, to, from, how);
		return;
	}
	switch (how & 0x11) {
	MULTIPLY(0x00, a, b)
	MULTIPLY(0x01, a, b)
	MULTIPLY(0x10, a, b)
	MULTIPLY(0x11, a, b)
	}
	store_pd(to, a);
}

/* ------- estimates ------- */

/*
 * The exact value, rounded: what is the same everywhere.  They raise nothing,
 * but may compute with the host's processor.
 */
#define DEFINE_ESTIMATE(name)                                   \
	REPLACES(binary_fn, helper_##name##_x86_64);            \
	void helper_##name##_x86_64(uint8_t *state, void *to,   \
				    const void *from)           \
	{                                                       \
		uint8_t raised = state[layout.sse.raised];      \
		unsigned host = _mm_getcsr();                   \
                                                                \
		_mm_setcsr(MXCSR_HOST);                         \
		engine_helper_##name##_x86_64(state, to, from); \
		_mm_setcsr(host);                               \
		state[layout.sse.raised] = raised;              \
	}

DEFINE_ESTIMATE(rcpss)
DEFINE_ESTIMATE(rcpps)
DEFINE_ESTIMATE(rsqrtss)
DEFINE_ESTIMATE(rsqrtps)

/* ------- strings whose lengths are in registers ------- */

/*
 * Of the least number there is no positive one: the engine takes it for a
 * length and leaves its vectors, where processors take the largest.
 */
#define ANY_LENGTH 16

static uint64_t without_least(uint64_t length, uint32_t how)
{
	bool is_wide = how >> 8;	/* of REX.W */
	bool is_least = is_wide ? length == UINT64_C(1) << 63 :
				  (uint32_t)length == UINT32_C(1) << 31;

	return is_least ? ANY_LENGTH : length;
}

typedef void strings_fn(uint8_t *state, void *to, const void *from,
			uint32_t how);

/* General registers are in front of all else. */
static void compare_strings(strings_fn *engine, uint8_t *state, void *to,
			    const void *from, uint32_t how)
{
	enum { RAX = 0, RDX = 2 };
	uint64_t *general = (uint64_t *)(void *)state;
	uint64_t rax = general[RAX], rdx = general[RDX];

	general[RAX] = without_least(rax, how);
	general[RDX] = without_least(rdx, how);
	engine(state, to, from, how);
	general[RAX] = rax;
	general[RDX] = rdx;
}

#define DEFINE_STRINGS(name)                                                   \
	REPLACES(strings_fn, helper_##name##_xmm_x86_64);                      \
	void helper_##name##_xmm_x86_64(uint8_t *state, void *to,              \
					const void *from, uint32_t how)        \
	{                                                                      \
		compare_strings(engine_helper_##name##_xmm_x86_64, state, to,  \
				from, how);                                    \
	}

DEFINE_STRINGS(pcmpestri)
DEFINE_STRINGS(pcmpestrm)
