/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_traps.c - floating-point exceptions that are unmasked: which signal
 * comes, where, with which code, and what the instruction has changed
 */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/guests/guest.h"

static volatile double one = 1, three = 3, zero, huge = 1e308, tiny = 1e-308;
static volatile double result, nan_value, many = 1e30;
static volatile float narrow;
static volatile long double wide, wide_one = 1, wide_zero, wide_huge = 1e4000L;
static volatile int whole;
static sigjmp_buf back;
static const uint8_t *volatile expected;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *state = context;
	const fpregset_t fp = state->uc_mcontext.fpregs;

	printf("signal %d, code %d, trap %d, x87 %x, SSE %x%s%s\n", number,
	       info->si_code, (int)state->uc_mcontext.gregs[REG_TRAPNO],
	       fp->swd & 0xb8fd, fp->mxcsr & ~2u,
	       (greg_t)info->si_addr == state->uc_mcontext.gregs[REG_RIP] ?
		       "" : ", elsewhere",
	       !expected || info->si_addr == expected ? "" : ", not there");
	siglongjmp(back, 1);
}

#define TRY(does) do {                                                        \
	feclearexcept(FE_ALL_EXCEPT);                                         \
	printf(#does ": ");                                                   \
	if (!sigsetjmp(back, 1)) {                                            \
		does;                                                         \
		__asm__ volatile("fwait");                                    \
		printf("no signal, flags %x\n",                               \
		       fetestexcept(FE_ALL_EXCEPT));                          \
	}                                                                     \
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);              \
} while (0)

static void sse(void)
{
	TRY(result = one / zero);
	TRY(result = zero / zero);
	TRY(result = huge * huge);
	TRY(result = tiny * tiny);
	TRY(result = one / three);
	TRY(result = sqrt(-one));
	TRY(whole = (int)many);
	TRY(narrow = (float)huge);
	TRY(result = nan_value + one);
	TRY(whole = nan_value < one);
	TRY(whole = isless(nan_value, one));
	TRY(result = log(zero));
	TRY(feraiseexcept(FE_INVALID));
	TRY(feenableexcept(FE_INEXACT); result = one / three);
	fedisableexcept(FE_ALL_EXCEPT);
	TRY(feenableexcept(FE_UNDERFLOW); result = tiny / many);
	fedisableexcept(FE_ALL_EXCEPT);
	TRY(feenableexcept(FE_UNDERFLOW); result = 0x1p-1022 * (one / 4));
	fedisableexcept(FE_ALL_EXCEPT);
	TRY(result = one / zero);
}

static void x87(void)
{
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
	TRY(wide = wide_one / wide_zero);
	TRY(wide = wide_zero / wide_zero);
	TRY(wide = wide_huge * wide_huge);
	TRY(narrow = (float)(wide_one * 1e100L));
	TRY(wide = sqrtl(-wide_one));
	TRY(whole = (int)(wide_one * 1e30L));
	TRY(wide = wide_one / 3);
	/* Raised while it was masked, told when it is not. */
	fedisableexcept(FE_ALL_EXCEPT);
	TRY(wide = wide_one / wide_zero; feenableexcept(FE_DIVBYZERO);
	    wide = wide_one);
}

/* The very instruction, with its destination as it was. */
static void exactly(void)
{
	double quotient = 7, divisor = 0;
	uint64_t before = 0, behind = 0;

	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_DIVBYZERO);
	if (!sigsetjmp(back, 1)) {
		__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
				 "mov %%rax, %0\n\t"
				 "incq %1\n"
				 "1:\tdivsd %4, %3\n\t"
				 "incq %2"
				 : "=m"(expected), "+m"(before), "+m"(behind),
				   "+x"(quotient)
				 : "x"(divisor) : "rax", "cc", "memory");
	}
	printf("%d before, %d behind\n", (int)before, (int)behind);
	expected = NULL;
}

/* A handler that mends what was wrong and goes on. */
static void on_division(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	(void)number;
	CHECK(info->si_code == FPE_FLTDIV);
	CHECK(state->uc_mcontext.fpregs->_xmm[0].element[1] == 0x401c0000);
	state->uc_mcontext.fpregs->mxcsr |= 0x1f80;
	state->uc_mcontext.fpregs->mxcsr &= ~0x3fu;
}

static void go_on(void)
{
	double quotient = 7;

	install(SIGFPE, on_division, SA_SIGINFO);
	feenableexcept(FE_DIVBYZERO);
	__asm__ volatile("divsd %1, %0" : "+Yz"(quotient) : "m"(zero));
	result = quotient;
	CHECK(isinf(result));
	CHECK(fetestexcept(FE_DIVBYZERO));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	install(SIGFPE, on_signal, SA_SIGINFO);
	nan_value = NAN;
	feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
	sse();
	x87();
	exactly();
	go_on();
	return guest_end();
}
