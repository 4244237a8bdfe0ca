/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oracle_sse.c - SSE to SSE4.2, integers and floating point */
#include "tests/oracle/programs/oracle.h"

typedef uint8_t vector __attribute__((vector_size(16)));
typedef double two __attribute__((vector_size(16)));

static vector values[16], results[80];
static double doubles[64];
static float floats[64];
static uint64_t sums[16];

void on_signal(int number)
{
	(void)number;
}

#define WITH(op, operand) do { \
	vector kept_ = a; \
	__asm__ volatile(op " %1, %0" : "+x"(kept_) : operand(b)); \
	results[slot++ % 80] ^= kept_; \
} while (0)

#define TWO(op) WITH(op, "xm")

/* Both operands are the same register. */
#define ONE(op) do { \
	vector kept_ = a ^ b; \
	__asm__ volatile(op " %0, %0" : "+x"(kept_)); \
	results[slot++ % 80] ^= kept_; \
} while (0)

KEEP void integers(vector a, vector b)
{
	unsigned slot = 0;

	TWO("paddb"); TWO("paddw"); TWO("paddd"); TWO("paddq");
	TWO("paddsb"); TWO("paddusw"); TWO("psubb"); TWO("psubusb");
	TWO("psubsw"); TWO("psubq"); TWO("pmullw"); TWO("pmulhw");
	TWO("pmulhuw"); TWO("pmuludq"); TWO("pmaddwd"); TWO("psadbw");
	TWO("pavgb"); TWO("pmaxub"); TWO("pminsw"); TWO("pcmpeqb");
	TWO("pcmpgtw"); TWO("pcmpeqd"); TWO("pand"); TWO("pandn");
	TWO("por"); TWO("pxor"); TWO("punpcklbw"); TWO("punpckhwd");
	TWO("punpckldq"); TWO("punpckhqdq"); TWO("packsswb"); TWO("packuswb");
	TWO("packssdw"); TWO("pshufd $0x1b,"); TWO("pshuflw $0x93,");
	TWO("pshufhw $0x6c,"); TWO("shufps $0x4e,"); TWO("shufpd $1,");
	/* SSSE3 and SSE4 */
	TWO("pshufb"); TWO("palignr $5,"); TWO("phaddw"); TWO("phsubd");
	TWO("pabsb"); TWO("pabsd"); TWO("psignw"); TWO("pmulhrsw");
	TWO("pmaddubsw"); TWO("pmulld"); TWO("pmuldq"); TWO("pmaxsd");
	TWO("pminuw"); TWO("packusdw"); TWO("pblendw $0x5a,");
	TWO("mpsadbw $5,"); TWO("pmovsxbw"); TWO("pmovzxwq");
	TWO("pcmpeqq"); TWO("pcmpgtq"); TWO("phminposuw");
	TWO("aesenc"); TWO("aeskeygenassist $7,"); TWO("pclmulqdq $1,");
	TWO("insertps $0x1c,");
	ONE("phaddw"); ONE("phaddd"); ONE("phaddsw"); ONE("phsubw");
	ONE("phsubd"); ONE("phsubsw"); ONE("punpckhbw"); ONE("packsswb");
	ONE("pshufb"); ONE("pmaddubsw"); ONE("palignr $7,");
}

KEEP void shifts(vector a, vector b)
{
	unsigned slot = 64;

	TWO("psllw $3, %0\n\tpsrlw"); TWO("pslld $7, %0\n\tpsrad");
	TWO("psllq $9, %0\n\tpsrlq"); TWO("psraw $2, %0\n\tpslldq $3, %0\n\t"
					  "psrldq $1, %0\n\tpxor");
	TWO("psrlq $61, %0\n\tpsllq");
}

#define COMPARED : "=c"(mask) : "x"(a), "x"(b) : "cc"

KEEP uint64_t flags_and_words(vector a, vector b)
{
	uint64_t sum = 0, word = 0;
	uint32_t mask;
	uint8_t zero, carry;

	__asm__ volatile("pmovmskb %1, %0" : "=r"(mask) : "x"(a));
	sum += mask;
	__asm__ volatile("movmskpd %1, %0" : "=r"(mask) : "x"(b));
	sum += mask;
	__asm__ volatile("ptest %3, %2\n\tsetz %0\n\tsetc %1"
			 : "=q"(zero), "=q"(carry) : "x"(a), "x"(b) : "cc");
	sum += zero + 2u * carry;
	/* Any of, in ranges, equal each; the engine is wrong in "ordered". */
	__asm__ volatile("pcmpistri $0x00, %2, %1" COMPARED);
	sum = sum * 31 + mask;
	__asm__ volatile("pcmpistri $0x44, %2, %1" COMPARED);
	sum = sum * 31 + mask;
	__asm__ volatile("pcmpistri $0x19, %2, %1" COMPARED);
	sum = sum * 31 + mask;
	__asm__ volatile("pcmpestrm $0x40, %1, %0\n\tmovdqa %%xmm0, %2"
			 : : "x"(a), "x"(b), "m"(results[70]), "a"(9), "d"(12)
			 : "xmm0", "cc", "memory");
	__asm__ volatile("pextrq $1, %1, %0" : "=r"(word) : "x"(a));
	sum ^= word;
	__asm__ volatile("crc32q %1, %0" : "+r"(sum) : "r"(word));
	__asm__ volatile("popcntq %1, %0" : "=r"(word) : "r"(word) : "cc");
	sum += word;
	__asm__ volatile("pinsrw $3, %k1, %0\n\tpinsrb $9, %k1, %0\n\t"
			 "movq %0, %2" : "+x"(a) : "r"(sum), "m"(sums[9])
			 : "memory");
	return sum;
}

#define ARITHMETIC(op, type, constraint) do { \
	type kept_ = a; \
	__asm__ volatile(op " %1, %0" : "+x"(kept_) : constraint(b)); \
	sum += kept_; \
} while (0)

KEEP double scalars(double a, double b)
{
	double sum = 0;

	ARITHMETIC("addsd", double, "xm"); ARITHMETIC("subsd", double, "xm");
	ARITHMETIC("mulsd", double, "xm"); ARITHMETIC("divsd", double, "xm");
	ARITHMETIC("minsd", double, "xm"); ARITHMETIC("maxsd", double, "xm");
	ARITHMETIC("sqrtsd", double, "xm");
	ARITHMETIC("roundsd $1,", double, "xm");
	return sum;
}

KEEP float singles(float a, float b)
{
	float sum = 0;

	ARITHMETIC("addss", float, "xm"); ARITHMETIC("subss", float, "xm");
	ARITHMETIC("mulss", float, "xm"); ARITHMETIC("divss", float, "xm");
	ARITHMETIC("sqrtss", float, "xm"); ARITHMETIC("minss", float, "xm");
	return sum;
}

KEEP void packed(vector a, vector b)
{
	unsigned slot = 40;

	TWO("addps"); TWO("subpd"); TWO("mulps"); TWO("divpd");
	TWO("haddps"); TWO("addsubpd"); TWO("maxps"); TWO("cmpltps");
	TWO("cmpunordpd"); TWO("unpcklps"); WITH("movhlps", "x"); TWO("movddup");
	TWO("movshdup"); TWO("dpps $0xf3,"); TWO("dpps $0xff,"); TWO("blendps $6,");
	TWO("cvtdq2ps"); TWO("cvtps2pd"); TWO("cvtpd2ps"); TWO("cvttps2dq");
	TWO("cvtdq2pd"); TWO("cvttpd2dq"); TWO("roundps $2,"); TWO("sqrtpd");
	TWO("andnps"); TWO("xorpd"); ONE("haddps"); ONE("haddpd");
	ONE("addsubps"); ONE("shufps $0x1b,");
}

KEEP uint64_t conversions(double a)
{
	uint64_t sum = (uint64_t)(int64_t)a;
	float narrow = (float)a;
	uint32_t csr = 0x1f80;

	sum = sum * 31 + (uint32_t)(int32_t)narrow;
	sum = sum * 31 + (a < narrow) + 2 * (a == narrow) + 4 * (a > 1e10);
	/* Towards zero, up, down, nearest. */
	for (uint32_t mode = 0; mode < 4; mode++) {
		uint32_t with_mode = csr | mode << 13;
		int64_t rounded;
		double third = a;

		__asm__ volatile("ldmxcsr %2\n\tcvtsd2si %1, %0\n\t"
				 "divsd %3, %1"
				 : "=r"(rounded), "+x"(third)
				 : "m"(with_mode), "m"(doubles[3]));
		sum = sum * 31 + (uint64_t)rounded;
		doubles[40 + mode] += third;
	}
	__asm__ volatile("ldmxcsr %0" : : "m"(csr));
	return sum;
}

/* Results and operands too small to be normal, flushed to zero and not. */
KEEP uint64_t tiny(uint64_t seed)
{
	const uint32_t start = 0x1f80;
	uint64_t sum = seed;

	for (uint32_t mode = 0; mode < 4; mode++) {
		uint32_t with_mode = start | (mode & 1) << 15 | (mode & 2) << 5;
		double small = 1e-200, denormal = 3e-310, widened;
		float product = 1e-30f, narrow = 2e-39f;
		long double stored = 1e-310L;
		double back;

		__asm__ volatile("ldmxcsr %6\n\tmulsd %7, %0\n\t"
				 "addsd %1, %1\n\tmulss %2, %2\n\t"
				 "addss %3, %3\n\tcvtss2sd %3, %4\n\t"
				 "fldt %8\n\tfstpl %5\n\tldmxcsr %9"
				 : "+x"(small), "+x"(denormal), "+x"(product),
				   "+x"(narrow), "=x"(widened), "=m"(back)
				 : "m"(with_mode), "m"(doubles[1]),
				   "m"(stored), "m"(start));
		doubles[50 + mode] = small;
		doubles[54 + mode] = denormal;
		doubles[58 + mode] = widened + back;
		floats[50 + mode] = product + narrow;
		sum = sum * 31 + (small > 0) + 2 * (denormal > 0) +
		      4 * (product > 0) + 8 * (back > 0);
	}
	return sum;
}

KEEP void moves(const uint8_t *from, uint8_t *to)
{
	__asm__ volatile("movdqu 3(%0), %%xmm1\n\tmovups %%xmm1, 5(%1)\n\t"
			 "movlpd (%0), %%xmm2\n\tmovhpd 8(%0), %%xmm2\n\t"
			 "movntdq %%xmm2, 32(%1)\n\tlddqu 1(%0), %%xmm3\n\t"
			 "movq %%xmm3, 48(%1)\n\tmovd %%xmm3, 57(%1)\n\t"
			 "movntdqa (%0), %%xmm4\n\tmovaps %%xmm4, 64(%1)\n\t"
			 "maskmovdqu %%xmm1, %%xmm2\n\tsfence\n\tmfence\n\t"
			 "prefetcht0 (%0)\n\tmovmskps %%xmm4, %%eax\n\t"
			 "movnti %%rax, 80(%1)"
			 : : "r"(from), "r"(to), "D"(to + 96)
			 : "rax", "xmm1", "xmm2", "xmm3", "xmm4", "memory");
}

int guest(void)
{
	static uint8_t bytes[256] __attribute__((aligned(64)));
	uint64_t state = 987654321;

	for (unsigned i = 0; i < 64; i++) {
		doubles[i] = (double)(int64_t)next_value(&state) / 3.0e9;
		floats[i] = (float)doubles[i] / 17.0f;
	}
	for (unsigned i = 0; i < 16; i++)
		for (unsigned j = 0; j < 16; j++)
			values[i][j] = (uint8_t)next_value(&state);
	for (unsigned i = 0; i < 60; i++) {
		vector a = values[i % 16], b = values[(i * 7 + 3) % 16];

		integers(a, b);
		shifts(a, b & values[1] & values[2] & values[3]);
		packed((vector)(two){ doubles[i], floats[i] }, b);
		sums[i % 8] += flags_and_words(a, b);
		doubles[i % 64] = scalars(doubles[i % 64] < 0 ?
					  -doubles[i % 64] : doubles[i % 64],
					  doubles[(i + 5) % 64]);
		floats[i % 64] += singles(floats[i % 64], floats[63 - i % 64]);
		sums[8] ^= conversions(doubles[i % 64]);
		if (i % 16 == 0) {
			doubles[1] = 1e-109;
			sums[9] = tiny(sums[9] + i);
		}
		moves(bytes + 16 * (i % 4), bytes + 128);
		values[i % 16] ^= results[i % 60];
	}
	return (int)(sums[8] & 63);
}
