/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_system.c - selectors, flags from the stack, and the traps that come of
 * neither memory nor arithmetic
 */
#include <setjmp.h>
#include <stdint.h>
#include <ucontext.h>

#include "tests/guests/guest.h"

static sigjmp_buf back;
static int hide_error;		/* which names the selector that was refused */

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *state = context;
	const greg_t *regs = state->uc_mcontext.gregs;

	printf("signal %d, code %d, trap %d, error %x%s\n", number,
	       info->si_code, (int)regs[REG_TRAPNO],
	       hide_error ? 0 : (unsigned)regs[REG_ERR],
	       (greg_t)info->si_addr == regs[REG_RIP] ? ", here" : "");
	siglongjmp(back, 1);
}

#define TRY(text) do {                                                        \
	if (!sigsetjmp(back, 1)) {                                            \
		__asm__ volatile(text ::: "rax", "memory", "cc");             \
		printf("%s: no signal\n", text);                              \
	}                                                                     \
} while (0)

/* Each general register gets all of the selector, however wide it is. */
static void selectors(void)
{
	uint64_t wide = ~0ull, half = ~0ull, high = ~0ull, low = ~0ull;
	uint16_t word[2] = { 0xffff, 0xffff };

	__asm__ volatile("movq %%cs, %0" : "+r"(wide));
	__asm__ volatile("movl %%ss, %k0" : "+r"(half));
	__asm__ volatile("movw %%ss, %w0" : "+r"(low));
	__asm__ volatile("movq %%cs, %%r13\n\tmovq %%r13, %0"
			 : "+r"(high) : : "r13");
	__asm__ volatile("movw %%cs, %0" : "=m"(word[0]));
	printf("%llx %llx %llx %llx %x %x\n", (unsigned long long)wide,
	       (unsigned long long)half, (unsigned long long)low,
	       (unsigned long long)high, word[0], word[1]);
	TRY("mov $0x2b, %%eax; mov %%eax, %%ds");
	TRY("mov $0x2b, %%eax; mov %%eax, %%ss");
	TRY("mov $0x33, %%eax; mov %%eax, %%es");
	TRY("xor %%eax, %%eax; mov %%eax, %%es; mov %%eax, %%ds");
	TRY("pushq $0x2b; mov (%%rsp), %%ds; popq %%rax");
	TRY("xor %%eax, %%eax; mov %%eax, %%ss");
	hide_error = 1;
	TRY("mov $0x10, %%eax; mov %%eax, %%ds");
	TRY("mov $0x1003, %%eax; mov %%eax, %%es");
	hide_error = 0;
	TRY(".byte 0x8e, 0xc8");	/* to CS */
	TRY(".byte 0x8c, 0xf0");	/* there is no such selector */
}

static uint64_t flags_after(uint64_t value, int is_short)
{
	uint64_t flags;

	if (is_short)
		__asm__ volatile("pushw %w1\n\tpopfw\n\tpushfq\n\tpopq %0\n\t"
				 "cld" : "=r"(flags) : "r"(value)
				 : "cc", "memory");
	else
		__asm__ volatile("pushq %1\n\tpopfq\n\tpushfq\n\tpopq %0\n\t"
				 "pushq $0x202\n\tpopfq" : "=r"(flags)
				 : "r"(value) : "cc", "memory");
	return flags;
}

static void flags(void)
{
	static const uint64_t values[] = {
		0, 1, 0x8d5, 0x400, 0xcd5, 0x200000, 0x200ad5,
		0xffff0000f88ad5, 0x3000, 0x80,
	};

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		for (int is_short = 0; is_short < 2; is_short++)
			printf("%llx%s: %llx\n", (unsigned long long)values[i],
			       is_short ? ", word" : "",
			       (unsigned long long)flags_after(values[i],
							       is_short));
}

static void traps(void)
{
	TRY(".byte 0xf1");		/* INT1 */
	TRY("int3");
	TRY("int $1");
	TRY("mov $1, %%rax; shl $63, %%rax; xchg %%rax, %%rsp; push %%rcx");
	TRY("push %%rbp; mov $1, %%rax; shl $63, %%rax; xchg %%rax, %%rbp; "
	    "mov (%%rbp), %%rcx");
	TRY("mov $1, %%rax; shl $63, %%rax; mov (%%rax), %%rcx");
	TRY("mov $1, %%rax; shl $63, %%rax; mov (%%rsp, %%rax), %%rcx");
}

int main(void)
{
	static char other[65536];
	stack_t stack = { .ss_sp = other, .ss_size = sizeof(other) };

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(!sigaltstack(&stack, NULL));
	install(SIGSEGV, on_signal, SA_SIGINFO | SA_ONSTACK);
	install(SIGBUS, on_signal, SA_SIGINFO | SA_ONSTACK);
	install(SIGTRAP, on_signal, SA_SIGINFO | SA_ONSTACK);
	install(SIGILL, on_signal, SA_SIGINFO | SA_ONSTACK);
	selectors();
	flags();
	traps();
	return guest_end();
}
