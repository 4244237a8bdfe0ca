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
}

static void shifts(void)
{
	TRY_SHIFT("psllw"); TRY_SHIFT("pslld"); TRY_SHIFT("psllq");
	TRY_SHIFT("psrlw"); TRY_SHIFT("psrld"); TRY_SHIFT("psrlq");
	TRY_SHIFT("psraw"); TRY_SHIFT("psrad");
	TRY_CONSTANT("pslldq $3"); TRY_CONSTANT("pslldq $16");
	TRY_CONSTANT("psrldq $9"); TRY_CONSTANT("psrldq $16");
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
	shifts();
	numbers();
	return 0;
}
