/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_exact.c - each instruction of SSE to SSE4.1 that computes with floating
 * point, on ordinary and on strange operands, in each mode of MXCSR
 *
 * One line of output per instruction: a hash of all results and all flags of
 * exceptions.  With the name of an instruction as argument: each result of it,
 * to find out what is different.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 10

typedef uint8_t vector __attribute__((vector_size(16)));

union value {
	vector v;
	uint32_t singles[4];
	uint64_t doubles[2];
};

static const uint32_t strange_singles[] = {
	0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807ffffe,
	0x00800000, 0x80800000, 0x00800001, 0x3f800000, 0xbf800000, 0x3fc00000,
	0x40400000, 0x4effffff, 0x4f000000, 0xcf000000, 0x5f000000, 0xdf000000,
	0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
	0x7fc12345, 0xffd00002, 0x7f800001, 0xff800002, 0x7fa00003, 0x3f000000,
	0x3f7fffff, 0x20000000, 0x1fffffff, 0xa0123456, 0x33800000, 0xcb000001,
};

static const uint64_t strange_doubles[] = {
	0x0000000000000000, 0x8000000000000000, 0x0000000000000001,
	0x8000000000000003, 0x000fffffffffffff, 0x800ffffffffffffe,
	0x0010000000000000, 0x8010000000000000, 0x3ff0000000000000,
	0xbff0000000000000, 0x3ff8000000000000, 0x4008000000000000,
	0x41dfffffffc00000, 0x41dfffffffe00000, 0xc1e0000000000000,
	0xc1e0000000200000, 0x43dfffffffffffff, 0x43e0000000000000,
	0xc3e0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
	0xfff8000000000000, 0x7ff8123456789abc, 0xfffa000000000001,
	0x7ff0000000000001, 0xfff0000000000002, 0x7ff4000000000000,
	0x3fe0000000000000, 0x3fdfffffffffffff, 0x36a0000000000000,
	0x3690000000000000, 0x380fffffffffffff, 0x3810000000000000,
	0x47efffffe0000000, 0x47efffffefffffff, 0x1ff0000000000000,
	0x1fe123456789abcd, 0x4330000000000001,
};

static uint64_t seed;
static const char *wanted;
static uint64_t hash;
static const char *present;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint32_t one_single(void)
{
	uint32_t value = (uint32_t)(next() >> 20);

	if (value % 8 < 5)
		return strange_singles[(value >> 4) % 36];
	/* Random ones, often of a size like others. */
	value = (uint32_t)(next() >> 13);
	if (value & 1)
		value = (value & 0x807fffff) | (120 + value / 2 % 16) << 23;
	return value;
}

static uint64_t one_double(void)
{
	uint64_t value = next();

	if (value >> 20 & 3)
		return strange_doubles[(value >> 24) % 41];
	value = next();
	if (value & 1)
		value = (value & 0x800fffffffffffff) |
			(1015 + value / 2 % 16) << 52;
	return value;
}

/* 's', 'd': numbers of that size; 'i': integers. */
static vector operand(char kind)
{
	union value value;

	for (unsigned i = 0; i < 4 && kind == 's'; i++)
		value.singles[i] = one_single();
	for (unsigned i = 0; i < 2 && kind != 's'; i++)
		value.doubles[i] = kind == 'd' ? one_double() : next();
	return value.v;
}

static void note(vector a, vector b, uint32_t mode, vector result,
		 uint64_t word, uint32_t flags)
{
	union value value = { .v = result };
	const uint64_t words[] = { value.doubles[0], value.doubles[1], word,
				   flags };

	for (unsigned i = 0; i < 4; i++)
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) >> 7 ^
		       hash << 9;
	if (wanted && !strcmp(present, wanted)) {
		union value x = { .v = a }, y = { .v = b };

		printf("%04x %016lx%016lx %016lx%016lx = %016lx%016lx %lx %x\n",
		       mode, x.doubles[1], x.doubles[0], y.doubles[1],
		       y.doubles[0], value.doubles[1], value.doubles[0], word,
		       flags);
	}
}

typedef void perform_fn(vector *a, const vector *b, uint64_t *word);

/*
 * Each rounding, flush to zero, denormals are zero; and an earlier "inexact".
 */
static void try(const char *name, char kind_a, char kind_b, perform_fn *perform,
		uint32_t flags_mask)
{
	const uint32_t start = 0x1f80;

	present = name;
	hash = seed = UINT64_C(0x123456789abcdef1);
	for (unsigned i = 0; i < 32 * ROUNDS; i++) {
		vector a = operand(kind_a), b = operand(kind_b), result = a;
		uint32_t mode = start | (i & 3) << 13 | (i & 4) << 13 |
				(i & 8) << 3 | (i & 16) << 1, after;
		uint64_t word = 0;

		/* The usual mode more often. */
		if (i % 3 == 0)
			mode = start | (i & 16) << 1;
		__asm__ volatile("ldmxcsr %0" : : "m"(mode));
		perform(&result, &b, &word);
		__asm__ volatile("stmxcsr %0" : "=m"(after));
		__asm__ volatile("ldmxcsr %0" : : "m"(start));
		note(a, b, mode, result, word, after & flags_mask);
	}
	if (!wanted)
		printf("%-16s %016lx\n", name, hash);
}

#define ALL_FLAGS 0xffffu

#define OPERATION(label, text, kind_a, kind_b)                                 \
	static void label(vector *a, const vector *b, uint64_t *word)          \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile(text " %1, %0" : "+x"(*a) : "x"(*b));         \
	}

#define FOUR(name)                                                             \
	OPERATION(name##ss, #name "ss", s, s)                                  \
	OPERATION(name##ps, #name "ps", s, s)                                  \
	OPERATION(name##sd, #name "sd", d, d)                                  \
	OPERATION(name##pd, #name "pd", d, d)

FOUR(add) FOUR(sub) FOUR(mul) FOUR(div) FOUR(min) FOUR(max) FOUR(sqrt)
FOUR(cmpeq) FOUR(cmplt) FOUR(cmple) FOUR(cmpunord)
FOUR(cmpneq) FOUR(cmpnlt) FOUR(cmpnle) FOUR(cmpord)

#define ONE(name, kind_a, kind_b) OPERATION(name, #name, kind_a, kind_b)
#define MODE(name, imm) OPERATION(name##_##imm, #name " $" #imm ",", 0, 0)
#define MODES(name)                                                            \
	MODE(name, 0) MODE(name, 1) MODE(name, 2) MODE(name, 3) MODE(name, 4)  \
	MODE(name, 8) MODE(name, 9) MODE(name, 10) MODE(name, 11) MODE(name, 12)

ONE(addsubps, s, s) ONE(addsubpd, d, d) ONE(haddps, s, s) ONE(haddpd, d, d)
ONE(hsubps, s, s) ONE(hsubpd, d, d)
ONE(cvtps2pd, s, s) ONE(cvtpd2ps, d, d) ONE(cvtss2sd, s, s) ONE(cvtsd2ss, d, d)
ONE(cvtdq2ps, i, i) ONE(cvtdq2pd, i, i) ONE(cvtps2dq, s, s) ONE(cvttps2dq, s, s)
ONE(cvtpd2dq, d, d) ONE(cvttpd2dq, d, d)
MODES(roundps) MODES(roundpd) MODES(roundss) MODES(roundsd)

/* The sum of several NaNs may differ from one maker's processors to another's. */
static void make_nans_equal_singles(vector *v)
{
	union value value = { .v = *v };

	for (unsigned i = 0; i < 4; i++)
		if ((value.singles[i] & 0x7fffffff) > 0x7f800000)
			value.singles[i] = 0x7fc00000;
	*v = value.v;
}

static void make_nans_equal_doubles(vector *v)
{
	union value value = { .v = *v };

	for (unsigned i = 0; i < 2; i++)
		if ((value.doubles[i] & INT64_MAX) > 0x7ff0000000000000)
			value.doubles[i] = 0x7ff8000000000000;
	*v = value.v;
}

#define DOT(label, text, constraint, lanes)                                    \
	static void label(vector *a, const vector *b, uint64_t *word)          \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile(text " %1, %0"                                \
				 : "+x"(*a) : constraint(*b));                 \
		make_nans_equal_##lanes(a);                                    \
	}
#define DOTS(name, imm, lanes) \
	DOT(name##_##imm, #name " $" #imm ",", "x", lanes)
DOTS(dpps, 0xff, singles) DOTS(dpps, 0x71, singles)
DOTS(dpps, 0x3f, singles) DOTS(dpps, 0xb6, singles)
DOTS(dppd, 0x33, doubles) DOTS(dppd, 0x31, doubles)
DOTS(dppd, 0x12, doubles) DOTS(dppd, 0x13, doubles)
DOT(dpps_mem, "dpps $0xf1,", "m", singles)

#define OF_MEMORY(name, text)                                                  \
	static void name##_mem(vector *a, const vector *b, uint64_t *word)     \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile(text " %1, %0" : "+x"(*a) : "m"(*b));         \
	}
OF_MEMORY(addss, "addss") OF_MEMORY(mulpd, "mulpd") OF_MEMORY(minsd, "minsd")

/* All flags are set before; LAHF's part of them, and OF. */
#define COMPARES(name)                                                         \
	static void name(vector *a, const vector *b, uint64_t *word)           \
	{                                                                      \
		uint16_t flags = 0x7f00;                                       \
		uint8_t overflow;                                              \
									       \
		__asm__ volatile("addb $1, %%ah\n\t" #name " %3, %2\n\tlahf\n\t" \
				 "seto %1"                                     \
				 : "+a"(flags), "=q"(overflow)                 \
				 : "x"(*a), "x"(*b) : "cc");                   \
		*word = flags >> 8 | (uint64_t)overflow << 11;                 \
	}
COMPARES(comiss) COMPARES(comisd) COMPARES(ucomiss) COMPARES(ucomisd)

#define TO_INTEGER(name)                                                       \
	static void name##_32(vector *a, const vector *b, uint64_t *word)      \
	{                                                                      \
		(void)b;                                                       \
		__asm__ volatile(#name " %1, %k0" : "=r"(*word) : "x"(*a));    \
	}                                                                      \
	static void name##_64(vector *a, const vector *b, uint64_t *word)      \
	{                                                                      \
		(void)b;                                                       \
		__asm__ volatile(#name " %1, %q0" : "=r"(*word) : "x"(*a));    \
	}
TO_INTEGER(cvtss2si) TO_INTEGER(cvtsd2si)
TO_INTEGER(cvttss2si) TO_INTEGER(cvttsd2si)

#define FROM_INTEGER(name)                                                     \
	static void name##_32(vector *a, const vector *b, uint64_t *word)      \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile(#name "l %1, %0" : "+x"(*a)                   \
				 : "r"((uint32_t)(*b)[0] << 24 | (*b)[1]));    \
	}                                                                      \
	static void name##_64(vector *a, const vector *b, uint64_t *word)      \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile(#name "q %1, %0" : "+x"(*a) : "m"(*b));       \
	}
FROM_INTEGER(cvtsi2ss) FROM_INTEGER(cvtsi2sd)

#define TO_MMX(name)                                                           \
	static void name(vector *a, const vector *b, uint64_t *word)           \
	{                                                                      \
		(void)a;                                                       \
		__asm__ volatile(#name " %1, %%mm3\n\tmovq %%mm3, %0\n\temms"  \
				 : "=m"(*word) : "x"(*b) : "mm3");             \
	}
#define FROM_MMX(name)                                                         \
	static void name(vector *a, const vector *b, uint64_t *word)           \
	{                                                                      \
		(void)word;                                                    \
		__asm__ volatile("movq %1, %%mm3\n\t" #name " %%mm3, %0\n\temms" \
				 : "+x"(*a) : "m"(*b) : "mm3");                \
	}
TO_MMX(cvtps2pi) TO_MMX(cvttps2pi) TO_MMX(cvtpd2pi) TO_MMX(cvttpd2pi)
FROM_MMX(cvtpi2ps) FROM_MMX(cvtpi2pd)

/* These two may differ from one maker's processors to another's. */
#define FLAGS_ONLY(name)                                                       \
	static void name##_flags(vector *a, const vector *b, uint64_t *word)   \
	{                                                                      \
		vector result = *a;                                            \
									       \
		(void)word;                                                    \
		__asm__ volatile(#name " %1, %0" : "+x"(result) : "x"(*b));    \
	}
FLAGS_ONLY(rcpps) FLAGS_ONLY(rcpss) FLAGS_ONLY(rsqrtps) FLAGS_ONLY(rsqrtss)

#define TRY(name, a, b) try(#name, a, b, name, ALL_FLAGS)
#define TRY_FOUR(name) do { \
	TRY(name##ss, 's', 's'); TRY(name##ps, 's', 's'); \
	TRY(name##sd, 'd', 'd'); TRY(name##pd, 'd', 'd'); \
} while (0)
#define TRY_MODES(name, kind) do { \
	TRY(name##_0, kind, kind); TRY(name##_1, kind, kind); \
	TRY(name##_2, kind, kind); TRY(name##_3, kind, kind); \
	TRY(name##_4, kind, kind); TRY(name##_8, kind, kind); \
	TRY(name##_9, kind, kind); TRY(name##_10, kind, kind); \
	TRY(name##_11, kind, kind); TRY(name##_12, kind, kind); \
} while (0)

static void conversions(void)
{
	TRY(cvtps2pd, 's', 's'); TRY(cvtpd2ps, 'd', 'd');
	TRY(cvtss2sd, 's', 's'); TRY(cvtsd2ss, 'd', 'd');
	TRY(cvtdq2ps, 'i', 'i'); TRY(cvtdq2pd, 'i', 'i');
	TRY(cvtps2dq, 's', 's'); TRY(cvttps2dq, 's', 's');
	TRY(cvtpd2dq, 'd', 'd'); TRY(cvttpd2dq, 'd', 'd');
	TRY(cvtss2si_32, 's', 's'); TRY(cvtss2si_64, 's', 's');
	TRY(cvtsd2si_32, 'd', 'd'); TRY(cvtsd2si_64, 'd', 'd');
	TRY(cvttss2si_32, 's', 's'); TRY(cvttss2si_64, 's', 's');
	TRY(cvttsd2si_32, 'd', 'd'); TRY(cvttsd2si_64, 'd', 'd');
	TRY(cvtsi2ss_32, 's', 'i'); TRY(cvtsi2ss_64, 's', 'i');
	TRY(cvtsi2sd_32, 'd', 'i'); TRY(cvtsi2sd_64, 'd', 'i');
	TRY(cvtps2pi, 's', 's'); TRY(cvttps2pi, 's', 's');
	TRY(cvtpd2pi, 'd', 'd'); TRY(cvttpd2pi, 'd', 'd');
	TRY(cvtpi2ps, 's', 'i'); TRY(cvtpi2pd, 'd', 'i');
}

int main(int argc, char **argv)
{
	wanted = argc > 1 ? argv[1] : NULL;
	TRY_FOUR(add); TRY_FOUR(sub); TRY_FOUR(mul); TRY_FOUR(div);
	TRY_FOUR(min); TRY_FOUR(max); TRY_FOUR(sqrt);
	TRY_FOUR(cmpeq); TRY_FOUR(cmplt); TRY_FOUR(cmple); TRY_FOUR(cmpunord);
	TRY_FOUR(cmpneq); TRY_FOUR(cmpnlt); TRY_FOUR(cmpnle); TRY_FOUR(cmpord);
	TRY(addsubps, 's', 's'); TRY(addsubpd, 'd', 'd');
	TRY(haddps, 's', 's'); TRY(haddpd, 'd', 'd');
	TRY(hsubps, 's', 's'); TRY(hsubpd, 'd', 'd');
	TRY(comiss, 's', 's'); TRY(comisd, 'd', 'd');
	TRY(ucomiss, 's', 's'); TRY(ucomisd, 'd', 'd');
	conversions();
	TRY_MODES(roundps, 's'); TRY_MODES(roundpd, 'd');
	TRY_MODES(roundss, 's'); TRY_MODES(roundsd, 'd');
	TRY(dpps_0xff, 's', 's'); TRY(dpps_0x71, 's', 's');
	TRY(dpps_0x3f, 's', 's'); TRY(dpps_0xb6, 's', 's');
	TRY(dppd_0x33, 'd', 'd'); TRY(dppd_0x31, 'd', 'd');
	TRY(dppd_0x12, 'd', 'd'); TRY(dppd_0x13, 'd', 'd');
	TRY(addss_mem, 's', 's'); TRY(mulpd_mem, 'd', 'd');
	TRY(minsd_mem, 'd', 'd'); TRY(dpps_mem, 's', 's');
	TRY(rcpps_flags, 's', 's'); TRY(rcpss_flags, 's', 's');
	TRY(rsqrtps_flags, 's', 's'); TRY(rsqrtss_flags, 's', 's');
	return 0;
}
