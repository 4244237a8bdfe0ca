/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_vectors.c - instructions of SSE2 to SSE4.2 that compute with integers,
 * on random words: with a register, with memory, and with the same register
 *
 * One line of output per instruction: a hash of all results.
 */
#include <stdint.h>
#include <stdio.h>

#define ROUNDS 200

typedef uint8_t vector __attribute__((vector_size(16)));

static uint64_t seed, hash;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Also equal halves, small numbers, and words that fit into half of one. */
static vector operand(void)
{
	union {
		uint64_t words[2];
		vector v;
	} value = { .words = { next(), next() } };

	switch (next() % 5) {
	case 0:
		value.words[1] = value.words[0];
		break;
	case 1:
		value.words[0] &= 0x3f;
		value.words[1] = 0;
		break;
	case 2:
		value.words[0] &= UINT64_C(0x00ff00ff00ff00ff);
	}
	return value.v;
}

static void note(const void *bytes, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) *
		       UINT64_C(0x100000001b3);
}

static void begin(void)
{
	seed = UINT64_C(0x123456789abcdef1);
	hash = UINT64_C(0xcbf29ce484222325);
}

static void end(const char *text)
{
	printf("%-16s %016llx\n", text, (unsigned long long)hash);
}

#define TRY(text)                                                              \
	do {                                                                   \
		begin();                                                       \
		for (unsigned i = 0; i < ROUNDS; i++) {                        \
			vector a = operand(), b = i % 4 ? operand() : a, to;   \
									       \
			to = a;                                                \
			__asm__(text "%1, %0" : "+x"(to) : "x"(b));            \
			note(&to, sizeof(to));                                 \
			to = a;                                                \
			__asm__(text "%1, %0" : "+x"(to) : "m"(b));            \
			note(&to, sizeof(to));                                 \
			to = a;                                                \
			__asm__(text "%0, %0" : "+x"(to));                     \
			note(&to, sizeof(to));                                 \
		}                                                              \
		end(text);                                                     \
	} while (0)

#define TRY_SHUFFLE(name)                                                      \
	do {                                                                   \
		TRY(name " $0x00, ");                                          \
		TRY(name " $0x1b, ");                                          \
		TRY(name " $0x4e, ");                                          \
		TRY(name " $0x93, ");                                          \
		TRY(name " $0xe4, ");                                          \
		TRY(name " $0xff, ");                                          \
	} while (0)

#define TRY_CONSTANT(text)                                                     \
	do {                                                                   \
		begin();                                                       \
		for (unsigned i = 0; i < ROUNDS; i++) {                        \
			vector value = operand();                              \
									       \
			__asm__(text ", %0" : "+x"(value));                    \
			note(&value, sizeof(value));                           \
		}                                                              \
		end(text);                                                     \
	} while (0)

#define TRY_SHIFT(name)                                                        \
	do {                                                                   \
		TRY(name " ");                                                 \
		TRY_CONSTANT(name " $0");                                      \
		TRY_CONSTANT(name " $7");                                      \
		TRY_CONSTANT(name " $16");                                     \
		TRY_CONSTANT(name " $31");                                     \
		TRY_CONSTANT(name " $32");                                     \
		TRY_CONSTANT(name " $63");                                     \
		TRY_CONSTANT(name " $64");                                     \
		TRY_CONSTANT(name " $200");                                    \
	} while (0)

static void arithmetic(void)
{
	TRY("paddb "); TRY("paddw "); TRY("paddd "); TRY("paddq ");
	TRY("psubb "); TRY("psubw "); TRY("psubd "); TRY("psubq ");
	TRY("paddsb "); TRY("paddsw "); TRY("paddusb "); TRY("paddusw ");
	TRY("psubsb "); TRY("psubsw "); TRY("psubusb "); TRY("psubusw ");
	TRY("pmullw "); TRY("pmulld "); TRY("pmulhw "); TRY("pmulhuw ");
	TRY("pmuludq "); TRY("pmuldq "); TRY("pmaddwd "); TRY("psadbw ");
	TRY("pavgb "); TRY("pavgw ");
	TRY("pminsb "); TRY("pminsw "); TRY("pminsd ");
	TRY("pminub "); TRY("pminuw "); TRY("pminud ");
	TRY("pmaxsb "); TRY("pmaxsw "); TRY("pmaxsd ");
	TRY("pmaxub "); TRY("pmaxuw "); TRY("pmaxud ");
	TRY("pabsb "); TRY("pabsw "); TRY("pabsd ");
	TRY("pmaddubsw "); TRY("pmulhrsw "); TRY("psignb "); TRY("phaddw ");
	TRY("pand "); TRY("pandn "); TRY("por "); TRY("pxor ");
	TRY("andps "); TRY("andnpd "); TRY("orps "); TRY("xorpd ");
}

static void compares(void)
{
	TRY("pcmpeqb "); TRY("pcmpeqw "); TRY("pcmpeqd "); TRY("pcmpeqq ");
	TRY("pcmpgtb "); TRY("pcmpgtw "); TRY("pcmpgtd "); TRY("pcmpgtq ");
}

static void places(void)
{
	TRY("punpcklbw "); TRY("punpcklwd "); TRY("punpckldq ");
	TRY("punpcklqdq "); TRY("unpcklps "); TRY("unpcklpd ");
	TRY("punpckhbw "); TRY("punpckhwd "); TRY("punpckhdq ");
	TRY("punpckhqdq "); TRY("unpckhps "); TRY("unpckhpd ");
	TRY("packsswb "); TRY("packssdw "); TRY("packuswb ");
	TRY("packusdw "); TRY("pshufb ");
	TRY_SHUFFLE("pshufd"); TRY_SHUFFLE("pshuflw"); TRY_SHUFFLE("pshufhw");
	TRY_SHUFFLE("shufps");
	TRY("shufpd $0, "); TRY("shufpd $1, ");
	TRY("shufpd $2, "); TRY("shufpd $3, ");
	TRY_SHUFFLE("pblendw"); TRY_SHUFFLE("blendps");
	TRY("blendpd $0, "); TRY("blendpd $1, ");
	TRY("blendpd $2, "); TRY("blendpd $3, ");
	TRY("palignr $0, "); TRY("palignr $5, "); TRY("palignr $16, ");
	TRY("palignr $21, "); TRY("palignr $31, "); TRY("palignr $32, ");
	TRY("palignr $255, ");
}

static void ciphers(void)
{
	TRY("aesenc "); TRY("aesenclast "); TRY("aesdec "); TRY("aesdeclast ");
	TRY("aesimc "); TRY("aeskeygenassist $0x1b, ");
	TRY("pclmulqdq $0x00, "); TRY("pclmulqdq $0x01, ");
	TRY("pclmulqdq $0x10, "); TRY("pclmulqdq $0x11, ");
	TRY("pclmulqdq $0xee, ");
}

/* Of what is in memory, no more is read than is widened. */
#define TRY_WIDEN(name, type)                                                  \
	do {                                                                   \
		begin();                                                       \
		for (unsigned i = 0; i < ROUNDS; i++) {                        \
			vector from = operand(), to = operand();               \
			type part;                                             \
									       \
			__asm__(name " %1, %0" : "+x"(to) : "x"(from));        \
			note(&to, sizeof(to));                                 \
			part = (type)next();                                   \
			__asm__(name " %1, %0" : "+x"(to) : "m"(part));        \
			note(&to, sizeof(to));                                 \
			__asm__(name " %0, %0" : "+x"(to));                    \
			note(&to, sizeof(to));                                 \
		}                                                              \
		end(name);                                                     \
	} while (0)

static void widening(void)
{
	TRY_WIDEN("pmovzxbw", uint64_t); TRY_WIDEN("pmovzxbd", uint32_t);
	TRY_WIDEN("pmovzxbq", uint16_t); TRY_WIDEN("pmovzxwd", uint64_t);
	TRY_WIDEN("pmovzxwq", uint32_t); TRY_WIDEN("pmovzxdq", uint64_t);
	TRY_WIDEN("pmovsxbw", uint64_t); TRY_WIDEN("pmovsxbd", uint32_t);
	TRY_WIDEN("pmovsxbq", uint16_t); TRY_WIDEN("pmovsxwd", uint64_t);
	TRY_WIDEN("pmovsxwq", uint32_t); TRY_WIDEN("pmovsxdq", uint64_t);
}

static void tests(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		vector a = operand(), b = i % 3 ? operand() : ~a;
		uint64_t flags;

		if (i % 4 == 0)
			b &= a;
		__asm__("ptest %2, %1\n\tpushf\n\tpop %0"
			: "=r"(flags) : "x"(a), "x"(b) : "cc");
		note(&flags, sizeof(flags));
		__asm__("ptest %2, %1\n\tpushf\n\tpop %0"
			: "=r"(flags) : "x"(a), "m"(b) : "cc");
		note(&flags, sizeof(flags));
	}
	end("ptest");
}

static void shifts(void)
{
	TRY_SHIFT("psllw"); TRY_SHIFT("pslld"); TRY_SHIFT("psllq");
	TRY_SHIFT("psrlw"); TRY_SHIFT("psrld"); TRY_SHIFT("psrlq");
	TRY_SHIFT("psraw"); TRY_SHIFT("psrad");
	TRY_CONSTANT("pslldq $0"); TRY_CONSTANT("pslldq $3");
	TRY_CONSTANT("pslldq $15"); TRY_CONSTANT("pslldq $16");
	TRY_CONSTANT("psrldq $1"); TRY_CONSTANT("psrldq $9");
	TRY_CONSTANT("psrldq $16"); TRY_CONSTANT("psrldq $255");
}

/*
 * Results are operands of what follows, also in part, and are moved and stored
 * in between.
 */
static void in_a_row(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		vector a = operand(), b = operand(), c, stored[2];
		uint64_t low;
		uint32_t narrow = (uint32_t)next();

		__asm__("movdqa %[a], %[c]\n\t"
			"paddd %[b], %[c]\n\t"
			"movdqu %[c], %[s0]\n\t"
			"punpcklqdq %[c], %[b]\n\t"
			"movq %[c], %[low]\n\t"
			"movdqa %[b], %[a]\n\t"
			"psubw %[c], %[a]\n\t"
			"movhps %[a], %[s0]\n\t"
			"movss %[c], %[a]\n\t"
			"paddq %[a], %[c]\n\t"
			"pinsrw $5, %[n], %[c]\n\t"
			"pxor %[c], %[b]\n\t"
			"movd %[n], %[c]\n\t"
			"por %[b], %[c]\n\t"
			"movlhps %[c], %[a]\n\t"
			"pshufd $0x4e, %[a], %[a]\n\t"
			"movsd %[b], %[a]\n\t"
			"pmullw %[a], %[b]\n\t"
			"movdqu %[b], %[s1]\n\t"
			"movhlps %[b], %[c]\n\t"
			"pcmpgtb %[c], %[b]"
			: [a] "+x"(a), [b] "+x"(b), [c] "=&x"(c),
			  [low] "=&r"(low), [s0] "=m"(stored[0]),
			  [s1] "=m"(stored[1])
			: [n] "r"(narrow));
		note(&a, sizeof(a));
		note(&b, sizeof(b));
		note(&c, sizeof(c));
		note(&low, sizeof(low));
		note(stored, sizeof(stored));
	}
	end("in a row");
}

/* Above 32 bits, the register gets zeros. */
static void numbers(void)
{
	begin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		vector value = operand();
		uint32_t narrow = (uint32_t)next();
		uint64_t wide = ~UINT64_C(0);

		__asm__("pmovmskb %1, %k0" : "+r"(wide) : "x"(value));
		note(&wide, sizeof(wide));
		wide = next();
		__asm__("movd %1, %0" : "=x"(value) : "r"(narrow));
		note(&value, sizeof(value));
		__asm__("movd %1, %0" : "=x"(value) : "m"(narrow));
		note(&value, sizeof(value));
		__asm__("movq %1, %0" : "=x"(value) : "r"(wide));
		note(&value, sizeof(value));
	}
	end("numbers");
}

int main(void)
{
	arithmetic();
	compares();
	places();
	ciphers();
	widening();
	tests();
	shifts();
	in_a_row();
	numbers();
	return 0;
}
