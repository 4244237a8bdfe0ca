/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_float.c - flags of floating-point exceptions, wherever they can be
 * seen: by fetestexcept() and its kin, in handlers, in saved environments
 */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#include "tests/guests/guest.h"

#define DENORMAL 2u	/* which the engine does not know */

static volatile double one = 1, three = 3, zero, huge = 1e308, tiny = 1e-308;
static volatile double result;
static volatile long double wide_one = 1, wide_three = 3, wide_zero, wide;
static volatile long long whole;
static volatile float narrow;

static void show(const char *what)
{
	uint16_t status;
	uint32_t mxcsr;

	__asm__ volatile("fnstsw %0" : "=m"(status));
	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	printf("%s: %x, x87 %x, SSE %x\n", what, fetestexcept(FE_ALL_EXCEPT),
	       status & 0xbd, mxcsr & ~DENORMAL);
	feclearexcept(FE_ALL_EXCEPT);
}

#define SHOW(does) do { does; show(#does); } while (0)

static void arithmetic(void)
{
	show("at the start");
	SHOW(result = one / three);
	SHOW(result = one / zero);
	SHOW(result = zero / zero);
	SHOW(result = huge * huge);
	SHOW(result = tiny * tiny);
	SHOW(result = sqrt(-one));
	SHOW(narrow = (float)tiny);
	SHOW(whole = (long long)huge);
	SHOW(whole = (long long)three);
	SHOW(wide = wide_one / wide_three);
	SHOW(wide = wide_one / wide_zero);
	SHOW(wide = wide_zero / wide_zero);
	SHOW(whole = llrintl(wide_one / wide_three));
	SHOW(whole = llrintl(1e18L * wide_one));
	SHOW(narrow = (float)(wide_one * 1e100L));
}

static void functions(void)
{
	SHOW(result = sin(one));
	SHOW(result = exp(800 * one));
	SHOW(result = log(zero));
	SHOW(result = pow(three, three));
	SHOW(result = nearbyint(one / 2));
	SHOW(result = rint(one / 2));
	SHOW(result = floor(-one / 4));
}

/* The rounding of SSE4.1 that is to raise nothing, and that of any other. */
static void rounding(void)
{
	double x = 0;

	SHOW(__asm__ volatile("roundsd $9, %1, %0" : "+x"(x) : "x"(1.25)));
	SHOW(__asm__ volatile("roundsd $1, %1, %0" : "+x"(x) : "x"(1.25)));
	SHOW(__asm__ volatile("rcpss %1, %0" : "+x"(x) : "x"(3.0f)));
	SHOW(__asm__ volatile("fldl %1\n\tfisttpll %0"
			      : "=m"(whole) : "m"(three)));
	SHOW(__asm__ volatile("fldl %1\n\tfisttpll %0"
			      : "=m"(whole) : "m"(huge)));
	SHOW(__asm__ volatile("dpps $0xff, %1, %0" : "+x"(x) : "x"(3.3f)));
}

static void environments(void)
{
	fenv_t held;
	fexcept_t flags;

	feraiseexcept(FE_OVERFLOW);
	fegetexceptflag(&flags, FE_ALL_EXCEPT);
	feholdexcept(&held);
	result = one / zero;
	printf("held: %x\n", fetestexcept(FE_ALL_EXCEPT));
	feupdateenv(&held);
	printf("updated: %x\n", fetestexcept(FE_ALL_EXCEPT));
	fesetexceptflag(&flags, FE_ALL_EXCEPT);
	show("set again");
	feraiseexcept(FE_ALL_EXCEPT);
	feclearexcept(FE_INEXACT | FE_INVALID);
	show("but two");
	feraiseexcept(FE_ALL_EXCEPT);
	fesetenv(FE_DFL_ENV);
	show("as at the start");
}

static uint8_t image[512] __attribute__((aligned(16)));

static void images(void)
{
	uint32_t mxcsr;
	uint8_t x87[108];

	result = one / zero;
	wide = wide_one / wide_three;
	__asm__ volatile("fxsave %0" : "=m"(image));
	memcpy(&mxcsr, image + 24, sizeof(mxcsr));
	printf("image: x87 %x, SSE %x\n", image[2], mxcsr & ~DENORMAL);
	feclearexcept(FE_ALL_EXCEPT);
	result = huge * huge;
	__asm__ volatile("fxrstor %0" : : "m"(image));
	show("restored");
	wide = wide_one / wide_zero;
	__asm__ volatile("fnsave %0" : "=m"(x87));
	printf("saved: %x\n", x87[4]);
	show("behind it");
	__asm__ volatile("frstor %0" : : "m"(x87));
	show("restored");
}

/* A handler begins with clean flags; what it does ends with it. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	const fpregset_t fp = ((ucontext_t *)context)->uc_mcontext.fpregs;

	(void)number;
	(void)info;
	printf("interrupted: x87 %x, SSE %x\n", fp->swd & 0xbd,
	       fp->mxcsr & ~DENORMAL);
	printf("in the handler: %x\n", fetestexcept(FE_ALL_EXCEPT));
	result = zero / zero;
}

/*
 * In the middle of a block: what was raised in front of a fault, but not behind
 * it; and first touches, which interrupt as well but are not seen.
 */
static uint8_t untouched[64 << 12] __attribute__((aligned(4096)));
static uint8_t *closed;

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *state = context;

	on_signal(number, info, context);
	state->uc_mcontext.gregs[REG_RAX] = (greg_t)untouched;
}

#define IN_A_BLOCK(insn, a, b, place)                                          \
	do {                                                                   \
		double x_ = (a), y_ = (b), z_ = huge;                          \
									       \
		__asm__ volatile(insn " %2, %0\n\tmovb $1, (%3)\n\t"          \
				 "mulsd %1, %1"                                \
				 : "+x"(x_), "+x"(z_)                          \
				 : "x"(y_), "a"(place) : "memory");            \
		result = x_ + z_;                                              \
		show(insn " in a block");                                      \
	} while (0)

static void in_blocks(void)
{
	install(SIGSEGV, on_fault, 0);
	for (unsigned i = 0; i < 3; i++) {
		IN_A_BLOCK("divsd", one, three, closed);
		IN_A_BLOCK("divsd", one, zero, closed);
		IN_A_BLOCK("addsd", one, three, closed);
		IN_A_BLOCK("divsd", one, three, untouched + (i << 12));
		IN_A_BLOCK("addsd", one, three, untouched + ((i + 9) << 12));
	}
}

/* Each mode, changed back and forth. */
static void modes(void)
{
	static const int ways[] = {
		FE_UPWARD, FE_TONEAREST, FE_DOWNWARD, FE_TOWARDZERO,
		FE_TONEAREST,
	};

	for (unsigned i = 0; i < 10; i++) {
		fesetround(ways[i % 5]);
		result = one / three;
		narrow = (float)result;
		whole = (long long)nearbyint(huge / 3e291);
		printf("%a %a %lld\n", result, narrow, whole);
		show("in a mode");
	}
	fesetround(FE_TONEAREST);
}

/* Flags that outlive many instructions and key frames. */
static void later(void)
{
	result = huge * huge;
	for (volatile unsigned i = 0; i < 200000; i++)
		;
	show("later");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	arithmetic();
	functions();
	rounding();
	environments();
	images();
	install(SIGUSR1, on_signal, 0);
	wide = wide_one / wide_three;
	result = one / zero;
	raise(SIGUSR1);
	show("behind the handler");
	in_blocks();
	modes();
	later();
	return guest_end();
}
