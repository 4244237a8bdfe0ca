/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_x87.c - each instruction of x87 that computes, on ordinary and on
 * strange operands, in each mode of the control word; on an empty stack and on
 * a full one
 *
 * One line of output per instruction: a hash of all results, flags and tags.
 * With the name of an instruction as argument: each result of it, to find out
 * what is different.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct extended {
	uint64_t mantissa;
	uint16_t head;
} __attribute__((packed));

static const struct extended strange[] = {
	{ 0, 0 }, { 0, 0x8000 }, { 1, 0 }, { 3, 0x8000 },
	{ 0x7fffffffffffffff, 0 }, { 0x7ffffffffffffffe, 0x8000 },
	/* Denormal by its head, normal by its mantissa. */
	{ 0x8000000000000000, 0 }, { 0x8000000000000001, 0x8000 },
	{ 0x8000000000000000, 1 }, { 0x8000000000000000, 0x8001 },
	{ 0x8000000000000000, 0x3fff }, { 0x8000000000000000, 0xbfff },
	{ 0xc000000000000000, 0x3fff }, { 0xc90fdaa22168c235, 0x4000 },
	{ 0xaaaaaaaaaaaaaaab, 0x3ffd }, { 0xffffffffffffffff, 0x3ffe },
	{ 0xffffffffffffffff, 0x7ffe }, { 0xffffffffffffffff, 0xfffe },
	{ 0x8000000000000000, 0x7fff }, { 0x8000000000000000, 0xffff },
	{ 0xc000000000000000, 0xffff }, { 0xc000000000000000, 0x7fff },
	{ 0xc123456789abcdef, 0x7fff }, { 0xd000000000000000, 0xffff },
	{ 0x8000000000000001, 0x7fff }, { 0xa000000000000000, 0xffff },
	{ 0xbfffffffffffffff, 0x7fff },
	/* What no processor makes any more: no leading one. */
	{ 0x4000000000000000, 0x3fff }, { 0, 0x4000 }, { 0, 0x7fff },
	{ 0x4000000000000000, 0x7fff }, { 0x0000000000000001, 0xffff },
	/* About the ends of smaller sizes. */
	{ 0xfffe000000000000, 0x400d }, { 0xffff000000000000, 0x400d },
	{ 0x8000000000000000, 0x400e }, { 0x8000800000000000, 0xc00e },
	{ 0x8001000000000000, 0xc00e }, { 0xffffffff00000000, 0x401d },
	{ 0x8000000000000000, 0xc01e }, { 0xfffffffffffffffe, 0x403d },
	{ 0x8000000000000000, 0x403e }, { 0x8000000000000000, 0xc03e },
	{ 0xde0b6b3a763ffff0, 0x403a }, { 0xde0b6b3a76400000, 0x403a },
	{ 0xde0b6b3a763fffff, 0xc03a }, { 0x8000000000000000, 0x3c01 },
	{ 0xffffffffffffffff, 0x3c00 }, { 0xffffffffffffffff, 0x43fe },
	{ 0xfffffffffffff800, 0x43fe }, { 0x8000000000000000, 0x3bcd },
	{ 0xffffffffffffffff, 0x3f80 }, { 0x8000000000000000, 0x3f81 },
	{ 0xffffff8000000000, 0x407e }, { 0xffffff0000000000, 0x407e },
	{ 0x8000000000000000, 0x3f6a }, { 0xa000000000000000, 0x4001 },
};

static const uint32_t singles[] = {
	0, 0x80000000, 1, 0x80000002, 0x7fffff, 0x800000, 0x3f800000,
	0xc0490fdb, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffd12345,
	0x7f800001, 0xffa00000,
};

static const uint64_t doubles[] = {
	0, 0x8000000000000000, 1, 0x800fffffffffffff, 0x0010000000000000,
	0x3ff0000000000000, 0xc00921fb54442d18, 0x7fefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
	0xfffa123456789abc, 0x7ff0000000000001, 0xfff4000000000000,
};

struct operands {
	struct extended a, b;	/* ST(0), ST(1) */
	uint32_t single;
	uint64_t wide;
	int16_t narrow;
	struct extended decimal;
};

/* What an instruction left. */
struct result {
	struct extended stored;
	uint16_t status;
	uint64_t flags;
	uint8_t image[108];	/* of FNSAVE */
};

typedef void perform_fn(const struct operands *in, struct result *out);

static uint64_t seed, hash;
static const char *wanted, *present;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct extended one_extended(void)
{
	struct extended value = strange[(next() >> 20) % COUNT(strange)];

	if (next() >> 30 & 1)
		return value;
	value.mantissa = next() | UINT64_C(1) << 63;
	value.head = (uint16_t)(next() >> 9);
	if (value.head & 1)
		value.head = (uint16_t)((value.head & 0x8000) | 0x3ff0) +
			     (value.head >> 1 & 31);
	if (next() >> 30 & 1)
		value.mantissa &= ~UINT64_C(0) << (next() >> 30 & 63);
	return value;
}

static void choose(struct operands *in)
{
	in->a = one_extended();
	in->b = one_extended();
	in->single = next() >> 30 & 1 ? singles[next() % COUNT(singles)] :
					(uint32_t)next();
	in->wide = next() >> 30 & 1 ? doubles[next() % COUNT(doubles)] : next();
	in->narrow = (int16_t)next();
	in->decimal.mantissa = next() & UINT64_C(0x7777777777777777);
	in->decimal.head = (uint16_t)(next() & 0x8077);
}

static void mix(uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 29;
}

/* The parts of FNSAVE's image that processors agree on, and the rest 0. */
static void note(const struct operands *in, unsigned control, unsigned depth,
		 struct result *out, unsigned status_mask)
{
	uint64_t words[14];

	out->status &= status_mask;
	memset(out->image, 0, 4);
	out->image[4] &= (uint8_t)status_mask;
	out->image[5] &= status_mask >> 8;
	memset(out->image + 6, 0, 2);
	memset(out->image + 10, 0, 18);
	memcpy(words, out->image, sizeof(words) - 4);
	words[13] = 0;
	memcpy(words + 13, out->image + 104, 4);
	for (unsigned i = 0; i < 14; i++)
		mix(words[i]);
	mix(out->stored.mantissa);
	mix(out->stored.head);
	mix(out->status);
	mix(out->flags);
	if (!wanted || strcmp(present, wanted) != 0)
		return;
	printf("%03x %u a %04x:%016lx b %04x:%016lx %08x %016lx %d", control,
	       depth, in->a.head, in->a.mantissa, in->b.head, in->b.mantissa,
	       in->single, in->wide, in->narrow);
	printf(" = %04x:%016lx status %04x flags %lx", out->stored.head,
	       out->stored.mantissa, out->status, out->flags);
	printf(" tags %02x%02x %02x%02x", out->image[9], out->image[8],
	       out->image[5], out->image[4]);
	for (unsigned i = 0; i < 8; i++) {
		struct extended value;

		memcpy(&value, out->image + 28 + 10 * i, 10);
		printf(" st%u %04x:%016lx", i, value.head, value.mantissa);
	}
	printf("\n");
}

/* `depth` registers are in use; ST(0) and ST(1) are the operands. */
static void prepare(const struct operands *in, unsigned control, unsigned depth)
{
	const uint16_t word = (uint16_t)control;

	__asm__ volatile("fninit\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\tfldz\n\t"
			 "fldz\n\tfldz\n\tfldz\n\tfninit");
	for (unsigned i = 2; i < depth; i++)
		__asm__ volatile("fld1");
	if (depth > 1)
		__asm__ volatile("fldt %0" : : "m"(in->b));
	if (depth > 0)
		__asm__ volatile("fldt %0" : : "m"(in->a));
	__asm__ volatile("fldcw %0" : : "m"(word));
}

static const unsigned depths[] = { 2, 2, 2, 2, 2, 2, 3, 0, 1, 8 };

static void try(const char *name, perform_fn *perform, unsigned status_mask,
		unsigned least_depth)
{
	present = name;
	hash = seed = UINT64_C(0x123456789abcdef1);
	for (unsigned i = 0; i < 12 * ROUNDS; i++) {
		unsigned control = 0x07f | (i & 3) << 10 | (i / 4 % 3) << 8;
		unsigned depth = depths[i % COUNT(depths)];
		struct operands in;
		struct result out = { .flags = 0 };

		/* 0x100 is reserved. */
		if ((control & 0x300) == 0x100 || i % 2)
			control |= 0x300;
		if (depth < least_depth)
			depth = least_depth;
		choose(&in);
		prepare(&in, control, depth);
		perform(&in, &out);
		__asm__ volatile("fnstsw %0" : "=m"(out.status));
		__asm__ volatile("fnsave %0" : "=m"(out.image));
		note(&in, control, depth, &out, status_mask);
	}
	if (!wanted)
		printf("%-16s %016lx\n", name, hash);
}

#define SIMPLE(label, text)                                                    \
	static void label(const struct operands *in, struct result *out)       \
	{                                                                      \
		(void)in;                                                      \
		(void)out;                                                     \
		__asm__ volatile(text);                                        \
	}

#define WITH(label, text, field)                                               \
	static void label(const struct operands *in, struct result *out)       \
	{                                                                      \
		(void)out;                                                     \
		__asm__ volatile(text " %0" : : "m"(in->field));               \
	}

#define STORE(label, text, type)                                               \
	static void label(const struct operands *in, struct result *out)       \
	{                                                                      \
		type value = 0;                                                \
									       \
		(void)in;                                                      \
		__asm__ volatile(text " %0" : "=m"(value));                    \
		memcpy(&out->stored, &value, sizeof(value));                   \
	}

/* All flags but ZF, PF and CF are set before. */
#define FLAGS(label, text)                                                     \
	static void label(const struct operands *in, struct result *out)       \
	{                                                                      \
		uint16_t flags = 0x7f00;                                       \
		uint8_t overflow;                                              \
									       \
		(void)in;                                                      \
		__asm__ volatile("addb $1, %%ah\n\t" text "\n\tlahf\n\tseto %1"  \
				 : "+a"(flags), "=q"(overflow) : : "cc");      \
		out->flags = flags >> 8 | (uint64_t)overflow << 11;            \
	}

#define ARITHMETIC(name, integer)                                              \
	SIMPLE(name##_st0, #name " %st(1), %st")                               \
	SIMPLE(name##_st1, #name " %st, %st(1)")                               \
	SIMPLE(name##_st2, #name " %st, %st(2)")                               \
	SIMPLE(name##_pop, #name "p %st, %st(1)")                              \
	WITH(name##_s, #name "s", single)                                      \
	WITH(name##_l, #name "l", wide)                                        \
	WITH(name##_w, #integer "s", narrow)                                   \
	WITH(name##_i, #integer "l", single)

ARITHMETIC(fadd, fiadd) ARITHMETIC(fmul, fimul) ARITHMETIC(fsub, fisub)
ARITHMETIC(fsubr, fisubr) ARITHMETIC(fdiv, fidiv) ARITHMETIC(fdivr, fidivr)

SIMPLE(fsqrt, "fsqrt") SIMPLE(frndint, "frndint") SIMPLE(fabs_, "fabs")
SIMPLE(fchs, "fchs") SIMPLE(fxam, "fxam") SIMPLE(ftst, "ftst")
SIMPLE(fxch, "fxch %st(1)") SIMPLE(fxch_2, "fxch %st(2)")
SIMPLE(fld_st0, "fld %st(0)") SIMPLE(fld_st1, "fld %st(1)")
SIMPLE(fld_st7, "fld %st(7)") SIMPLE(fst_st1, "fst %st(1)")
SIMPLE(fst_st3, "fst %st(3)") SIMPLE(fstp_st0, "fstp %st(0)")
SIMPLE(fstp_st1, "fstp %st(1)") SIMPLE(fstp_st3, "fstp %st(3)")
SIMPLE(ffree, "ffree %st(1)") SIMPLE(fincstp, "fincstp")
SIMPLE(fdecstp, "fdecstp")
SIMPLE(fld1, "fld1") SIMPLE(fldz, "fldz") SIMPLE(fldpi, "fldpi")
SIMPLE(fldl2e, "fldl2e") SIMPLE(fldl2t, "fldl2t") SIMPLE(fldlg2, "fldlg2")
SIMPLE(fldln2, "fldln2")
SIMPLE(fcom, "fcom %st(1)") SIMPLE(fcomp, "fcomp %st(1)")
SIMPLE(fcompp, "fcompp") SIMPLE(fucom, "fucom %st(1)")
SIMPLE(fucompp, "fucompp") WITH(fcom_s, "fcoms", single)
WITH(fcom_l, "fcoml", wide) WITH(ficom_w, "ficoms", narrow)
WITH(ficom_i, "ficoml", single)
FLAGS(fcomi, "fcomi %%st(1), %%st") FLAGS(fcomip, "fcomip %%st(1), %%st")
FLAGS(fucomi, "fucomi %%st(1), %%st") FLAGS(fucomip, "fucomip %%st(1), %%st")
FLAGS(fcmove, "fcmove %%st(1), %%st") FLAGS(fcmovne, "fcmovne %%st(1), %%st")
WITH(flds, "flds", single) WITH(fldl, "fldl", wide) WITH(fldt, "fldt", b)
WITH(filds, "filds", narrow) WITH(fildl, "fildl", single)
WITH(fildll, "fildll", wide) WITH(fbld, "fbld", decimal)
STORE(fsts, "fsts", uint32_t) STORE(fstps, "fstps", uint32_t)
STORE(fstl, "fstl", uint64_t) STORE(fstpl, "fstpl", uint64_t)
STORE(fists, "fists", uint16_t) STORE(fistps, "fistps", uint16_t)
STORE(fistl, "fistl", uint32_t) STORE(fistpl, "fistpl", uint32_t)
STORE(fistpll, "fistpll", uint64_t) STORE(fisttps, "fisttps", uint16_t)
STORE(fisttpl, "fisttpl", uint32_t) STORE(fisttpll, "fisttpll", uint64_t)
SIMPLE(fprem, "fprem") SIMPLE(fprem1, "fprem1") SIMPLE(fscale, "fscale")
SIMPLE(fxtract, "fxtract")

static void fstpt(const struct operands *in, struct result *out)
{
	(void)in;
	__asm__ volatile("fstpt %0" : "=m"(out->stored));
}

static void fbstp(const struct operands *in, struct result *out)
{
	(void)in;
	__asm__ volatile("fbstp %0" : "=m"(out->stored));
}

/* C0, C2 and C3 are undefined behind most instructions. */
#define DEFINED 0xbaffu
#define ALL 0xffffu

#define TRY(name) try(#name, name, DEFINED, 0)
#define TRY_ALL(name) try(#name, name, ALL, 0)
#define TRY_ARITHMETIC(name) do { \
	TRY(name##_st0); TRY(name##_st1); TRY(name##_st2); TRY(name##_pop); \
	TRY(name##_s); TRY(name##_l); TRY(name##_w); TRY(name##_i); \
} while (0)

static void moves(void)
{
	TRY(fxch); TRY(fxch_2); TRY(fld_st0); TRY(fld_st1); TRY(fld_st7);
	TRY(fst_st1); TRY(fst_st3); TRY(fstp_st0); TRY(fstp_st1);
	TRY(fstp_st3); TRY(ffree); TRY(fincstp); TRY(fdecstp);
	TRY(fld1); TRY(fldz); TRY(fldpi); TRY(fldl2e); TRY(fldl2t);
	TRY(fldlg2); TRY(fldln2); TRY(fcmovne);
	/* The engine does not look at what it does not move. */
	try("fcmove", fcmove, DEFINED, 2);
	TRY(flds); TRY(fldl); TRY(fldt); TRY(filds); TRY(fildl); TRY(fildll);
	TRY(fbld); TRY(fsts); TRY(fstps); TRY(fstl); TRY(fstpl); TRY(fstpt);
	TRY(fists); TRY(fistps); TRY(fistl); TRY(fistpl); TRY(fistpll);
	TRY(fisttps); TRY(fisttpl); TRY(fisttpll); TRY(fbstp);
}

/* Storing the environment masks all exceptions; feholdexcept() counts on it. */
static void environment(void)
{
	const uint16_t unmasked = 0x360;
	uint16_t control, stored[14], small[7];

	__asm__ volatile("fninit\n\tfldcw %1\n\tfnstenv %2\n\tfnstcw %0"
			 : "=m"(control) : "m"(unmasked), "m"(stored)
			 : "memory");
	printf("fnstenv %04x %04x %04x %04x\n", control, stored[0], stored[1],
	       stored[13]);
	__asm__ volatile("fldcw %1\n\tdata16 fnstenv %2\n\tfnstcw %0"
			 : "=m"(control) : "m"(unmasked), "m"(small)
			 : "memory");
	printf("short fnstenv %04x %04x\n", control, small[0]);
	__asm__ volatile("fldenv %1\n\tfnstcw %0\n\tfninit"
			 : "=m"(control) : "m"(stored) : "memory");
	printf("fldenv %04x\n", control);
}

int main(int argc, char **argv)
{
	wanted = argc > 1 ? argv[1] : NULL;
	TRY_ARITHMETIC(fadd); TRY_ARITHMETIC(fmul); TRY_ARITHMETIC(fsub);
	TRY_ARITHMETIC(fsubr); TRY_ARITHMETIC(fdiv); TRY_ARITHMETIC(fdivr);
	TRY(fsqrt); TRY(frndint); TRY(fabs_); TRY(fchs); TRY_ALL(fxam);
	TRY_ALL(ftst); TRY_ALL(fcom); TRY_ALL(fcomp); TRY_ALL(fcompp);
	TRY_ALL(fucom); TRY_ALL(fucompp); TRY_ALL(fcom_s); TRY_ALL(fcom_l);
	TRY_ALL(ficom_w); TRY_ALL(ficom_i);
	TRY(fcomi); TRY(fcomip); TRY(fucomi); TRY(fucomip);
	moves();
	TRY_ALL(fprem); TRY_ALL(fprem1); TRY(fscale); TRY(fxtract);
	environment();
	return 0;
}
