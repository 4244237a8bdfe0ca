/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_align.c - operands of SSE that are not aligned
 *
 * Each instruction is executed with an operand that is aligned and with one
 * that is not, at an address known long before and at one just loaded: what
 * comes must be what comes natively.
 */
#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/guests/guest.h"

static uint8_t bytes[256] __attribute__((aligned(64)));
static uint8_t *volatile pointers[2] = { bytes + 64, bytes + 72 };
static sigjmp_buf back;
static volatile uint64_t before, behind;
static volatile unsigned turn;	/* outlives siglongjmp() */

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *state = context;

	printf(" signal %d, code %d, address %lx, trap %d, error %d\n", number,
	       info->si_code, (unsigned long)info->si_addr,
	       (int)state->uc_mcontext.gregs[REG_TRAPNO],
	       (int)state->uc_mcontext.gregs[REG_ERR]);
	siglongjmp(back, 1);
}

#define TRY(does) do {                                                        \
	before = behind = 0;                                                  \
	if (!sigsetjmp(back, 1)) {                                            \
		does;                                                         \
		printf(" fine\n");                                            \
	}                                                                     \
	CHECK(before == 1 && behind <= 1);                                    \
} while (0)

#define CLOBBERS "xmm0", "xmm1", "rax", "rcx", "rdx", "memory", "cc"

/* The operand by register, loaded right before, indexed, and by the stack. */
#define ALL(name, text) do {                                                  \
	for (turn = 0; turn < 2; turn++) {                                    \
		printf(name " %u:\n", turn);                                    \
		TRY(__asm__ volatile("incq %0\n\t" text("(%2)")               \
				     "\n\tincq %1"                            \
				     : "+m"(before), "+m"(behind)             \
				     : "r"(pointers[turn]) : CLOBBERS));         \
		TRY(__asm__ volatile("mov (%2), %%rcx\n\tincq %0\n\t"         \
				     text("(%%rcx)") "\n\tincq %1"            \
				     : "+m"(before), "+m"(behind)             \
				     : "r"(&pointers[turn]) : CLOBBERS));        \
		TRY(__asm__ volatile("incq %0\n\t" text("-16(%2, %3, 4)")     \
				     "\n\tincq %1"                            \
				     : "+m"(before), "+m"(behind)             \
				     : "r"(bytes + 64), "r"(2ul * turn + 4)      \
				     : CLOBBERS));                            \
		TRY(__asm__ volatile("mov %%rsp, %%rdx\n\tand $-16, %%rsp\n\t"\
				     "sub %3, %%rsp\n\t"                      \
				     "push %%rdx\n\tsub $40, %%rsp\n\t"       \
				     "incq %0\n\t" text("16(%%rsp)")          \
				     "\n\tincq %1\n\t"                        \
				     "add $40, %%rsp\n\tpop %%rsp"            \
				     : "+m"(before), "+m"(behind)             \
				     : "r"(bytes + 64), "r"(8ul * turn)          \
				     : CLOBBERS));                            \
	}                                                                     \
} while (0)

#define MOVAPS_LOAD(at) "movaps " at ", %%xmm0"
#define MOVAPS_STORE(at) "movaps %%xmm0, " at
#define MOVUPS(at) "movups " at ", %%xmm0"
#define MOVDQA_LOAD(at) "movdqa " at ", %%xmm0"
#define MOVDQA_STORE(at) "movdqa %%xmm0, " at
#define MOVDQU(at) "movdqu %%xmm0, " at
#define MOVNTPS(at) "movntps %%xmm0, " at
#define MOVNTDQ(at) "movntdq %%xmm0, " at
#define MOVNTDQA(at) "movntdqa " at ", %%xmm0"
#define LDDQU(at) "lddqu " at ", %%xmm0"
#define ADDPS(at) "addps " at ", %%xmm0"
#define ADDPD(at) "addpd " at ", %%xmm0"
#define ADDSD(at) "addsd " at ", %%xmm0"
#define CMPPD(at) "cmpeqpd " at ", %%xmm0"
#define SHUFPS(at) "shufps $27, " at ", %%xmm0"
#define UNPCKLPS(at) "unpcklps " at ", %%xmm0"
#define XORPS(at) "xorps " at ", %%xmm0"
#define SQRTPD(at) "sqrtpd " at ", %%xmm0"
#define RCPPS(at) "rcpps " at ", %%xmm0"
#define CVTPS2PD(at) "cvtps2pd " at ", %%xmm0"
#define CVTPD2PS(at) "cvtpd2ps " at ", %%xmm0"
#define CVTDQ2PS(at) "cvtdq2ps " at ", %%xmm0"
#define CVTDQ2PD(at) "cvtdq2pd " at ", %%xmm0"
#define CVTPD2DQ(at) "cvtpd2dq " at ", %%xmm0"
#define CVTTPS2DQ(at) "cvttps2dq " at ", %%xmm0"
#define MOVSHDUP(at) "movshdup " at ", %%xmm0"
#define MOVDDUP(at) "movddup " at ", %%xmm0"
#define HADDPS(at) "haddps " at ", %%xmm0"
#define ADDSUBPD(at) "addsubpd " at ", %%xmm0"
#define PADDB(at) "paddb " at ", %%xmm0"
#define PCMPEQB(at) "pcmpeqb " at ", %%xmm0"
#define PSHUFD(at) "pshufd $27, " at ", %%xmm0"
#define PSHUFLW(at) "pshuflw $27, " at ", %%xmm0"
#define PSLLQ(at) "psllq " at ", %%xmm0"
#define PUNPCKHQDQ(at) "punpckhqdq " at ", %%xmm0"
#define PSHUFB(at) "pshufb " at ", %%xmm0"
#define PMOVZXBW(at) "pmovzxbw " at ", %%xmm0"
#define PTEST(at) "ptest " at ", %%xmm0"
#define PMULLD(at) "pmulld " at ", %%xmm0"
#define PBLENDW(at) "pblendw $90, " at ", %%xmm0"
#define PALIGNR(at) "palignr $5, " at ", %%xmm0"
#define ROUNDPS(at) "roundps $0, " at ", %%xmm0"
#define ROUNDSD(at) "roundsd $0, " at ", %%xmm0"
#define DPPS(at) "dpps $-1, " at ", %%xmm0"
#define PCMPISTRI(at) "pcmpistri $12, " at ", %%xmm0"
#define MOVLPS(at) "movlps " at ", %%xmm0"
#define MOVQ(at) "movq %%xmm0, " at
#define CMPXCHG16B(at) "mov %%rbx, %%rax\n\tcmpxchg16b " at

static void moves(void)
{
	ALL("movaps load", MOVAPS_LOAD);
	ALL("movaps store", MOVAPS_STORE);
	ALL("movups", MOVUPS);
	ALL("movdqa load", MOVDQA_LOAD);
	ALL("movdqa store", MOVDQA_STORE);
	ALL("movdqu", MOVDQU);
	ALL("movntps", MOVNTPS);
	ALL("movntdq", MOVNTDQ);
	ALL("movntdqa", MOVNTDQA);
	ALL("lddqu", LDDQU);
	ALL("movlps", MOVLPS);
	ALL("movq", MOVQ);
	ALL("movshdup", MOVSHDUP);
	ALL("movddup", MOVDDUP);
}

static void numbers(void)
{
	ALL("addps", ADDPS);
	ALL("addpd", ADDPD);
	ALL("addsd", ADDSD);
	ALL("cmppd", CMPPD);
	ALL("shufps", SHUFPS);
	ALL("unpcklps", UNPCKLPS);
	ALL("xorps", XORPS);
	ALL("sqrtpd", SQRTPD);
	ALL("rcpps", RCPPS);
	ALL("cvtps2pd", CVTPS2PD);
	ALL("cvtpd2ps", CVTPD2PS);
	ALL("cvtdq2ps", CVTDQ2PS);
	ALL("cvtdq2pd", CVTDQ2PD);
	ALL("cvtpd2dq", CVTPD2DQ);
	ALL("cvttps2dq", CVTTPS2DQ);
	ALL("haddps", HADDPS);
	ALL("addsubpd", ADDSUBPD);
	ALL("roundps", ROUNDPS);
	ALL("roundsd", ROUNDSD);
	ALL("dpps", DPPS);
}

static void integers(void)
{
	ALL("paddb", PADDB);
	ALL("pcmpeqb", PCMPEQB);
	ALL("pshufd", PSHUFD);
	ALL("pshuflw", PSHUFLW);
	ALL("psllq", PSLLQ);
	ALL("punpckhqdq", PUNPCKHQDQ);
	ALL("pshufb", PSHUFB);
	ALL("pmovzxbw", PMOVZXBW);
	ALL("ptest", PTEST);
	ALL("pmulld", PMULLD);
	ALL("pblendw", PBLENDW);
	ALL("palignr", PALIGNR);
	ALL("pcmpistri", PCMPISTRI);
	ALL("cmpxchg16b", CMPXCHG16B);
}

/* Some blocks are executed often before they are wrong. */
static void late(void)
{
	for (turn = 0; turn < 5000; turn++) {
		uint8_t *volatile at = bytes + (turn == 4321 ? 65 : 16 * (turn % 8));

		before = behind = 0;
		if (!sigsetjmp(back, 0)) {
			__asm__ volatile("incq %0\n\tmovaps (%2), %%xmm0\n\t"
					 "movaps %%xmm0, 32(%2)\n\tincq %1"
					 : "+m"(before), "+m"(behind)
					 : "r"(at) : CLOBBERS);
		} else {
			printf("at %u\n", turn);
		}
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	install(SIGSEGV, on_signal, SA_SIGINFO | SA_NODEFER);
	moves();
	numbers();
	integers();
	late();
	return guest_end();
}
