/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracle.h - what a program needs that runs on the real processor and on cprec
 *
 * Such a program has no library and must do exactly the same every time and
 * everywhere: it moves its stack into its own memory at once, and never looks
 * at the processor's identity, at time or at process numbers.  What the kernel
 * chooses freely (the layout of a signal frame, where brk() begins) is only
 * touched by HIDDEN functions and kept in HIDDEN_DATA: the comparison leaves
 * both out.
 *
 * A program defines guest(), whose result is its exit status, and may define
 * on_signal().
 */
#ifndef CPREC_TESTS_GUESTS_ORACLE_H
#define CPREC_TESTS_GUESTS_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#define HIDDEN static __attribute__((section(".hidden_text"), noinline, used))
#define HIDDEN_DATA __attribute__((section(".hidden_data"), used))
#define KEEP static __attribute__((noinline, used))

/* Keeps the compiler from computing a value in advance. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

int guest(void);
void on_signal(int number);

uint8_t oracle_stack[16384] __attribute__((aligned(4096), used));
uint8_t oracle_handler_stack[8192] __attribute__((aligned(64), used));
uint64_t oracle_hidden[4] HIDDEN_DATA = { 1 };	/* sp, context, info */
uint8_t oracle_signal_stack[65536] HIDDEN_DATA
	__attribute__((aligned(64))) = { 1 };

/*
 * The kernel enters oracle_entry on the hidden stack; on_signal() runs on one
 * of the program's own.
 */
__asm__(".section .hidden_text, \"ax\", @progbits\n"
	".globl _start\n"
	"_start:\n"
	"	lea oracle_stack + 16384(%rip), %rsp\n"
	"	call guest\n"
	"	mov %eax, %edi\n"
	"	mov $231, %eax\n"
	"	syscall\n"
	".globl oracle_entry\n"
	"oracle_entry:\n"
	"	mov %rsp, oracle_hidden(%rip)\n"
	"	mov %rdx, oracle_hidden + 8(%rip)\n"
	"	mov %rsi, oracle_hidden + 16(%rip)\n"
	"	lea oracle_handler_stack + 8192(%rip), %rsp\n"
	"	xor %esi, %esi\n"
	"	xor %edx, %edx\n"
	"	call on_signal\n"
	"	mov oracle_hidden(%rip), %rsp\n"
	"	add $8, %rsp\n"
	".globl oracle_restore\n"
	"oracle_restore:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".text\n");

void oracle_entry(void);
void oracle_restore(void);

/* R11 gets the flags: let none of them be undefined. */
#define SYSCALL "cmp %%rsp, %%rsp\n\tsyscall"

static inline long call6(long number, long a, long b, long c, long d, long e,
			 long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile(SYSCALL
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "cc", "memory");
	return result;
}

static inline long call3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile(SYSCALL
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "cc", "memory");
	return result;
}

enum {
	CALL_READ = 0, CALL_WRITE = 1, CALL_OPEN = 2, CALL_CLOSE = 3,
	CALL_LSEEK = 8, CALL_MMAP = 9, CALL_MPROTECT = 10, CALL_MUNMAP = 11,
	CALL_BRK = 12, CALL_SIGACTION = 13, CALL_SIGPROCMASK = 14,
	CALL_PREAD = 17, CALL_WRITEV = 20, CALL_PIPE = 22, CALL_MREMAP = 25,
	CALL_GETPID = 39, CALL_UNAME = 63, CALL_SIGALTSTACK = 131,
	CALL_ARCH_PRCTL = 158, CALL_TKILL = 200,
};

/* Anonymous memory at a fixed place.  Returns its address. */
static inline uint8_t *map_at(uint64_t addr, uint64_t size, int protection)
{
	return (uint8_t *)call6(CALL_MMAP, (long)addr, (long)size, protection,
				0x32, -1, 0);
}

/*
 * SA_NODEFER: the kernel takes the handler of a blocked SIGTRAP away when the
 * handler is single-stepped.
 */
static inline void handle_signal(int number)
{
	const uint64_t flags = 0x40000000 | 0x08000000 | 0x04000000 | 4;
	struct {
		void (*handler)(void);
		uint64_t flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { oracle_entry, flags, oracle_restore, 0 };
	struct {
		void *base;
		int flags;
		uint64_t size;
	} stack = { oracle_signal_stack, 0, sizeof(oracle_signal_stack) };

	call3(CALL_SIGALTSTACK, (long)&stack, 0, 0);
	call6(CALL_SIGACTION, number, (long)&action, 0, 8, 0, 0);
}

/*
 * The last thing that a HIDDEN function does: registers that the caller does
 * not expect back must not show what it saw.
 */
static inline uint64_t forget_all_but(uint64_t result)
{
	__asm__ volatile("xor %%ecx, %%ecx\n\txor %%edx, %%edx\n\t"
			 "xor %%esi, %%esi\n\txor %%edi, %%edi\n\t"
			 "xor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"
			 "xor %%r10d, %%r10d\n\txor %%r11d, %%r11d"
			 : "+a"(result) : : "rcx", "rdx", "rsi", "rdi", "r8",
			   "r9", "r10", "r11", "cc");
	return result;
}

/* The interrupted registers: r8 is 0, rdi 8, rsi 9, rax 13, rcx 14, rip 16. */
HIDDEN uint64_t interrupted(unsigned reg)
{
	return forget_all_but(((uint64_t *)oracle_hidden[1])[5 + reg]);
}

HIDDEN uint64_t set_interrupted(unsigned reg, uint64_t value)
{
	((uint64_t *)oracle_hidden[1])[5 + reg] = value;
	return forget_all_but(0);
}

/* si_code, and where the fault was. */
HIDDEN int signal_code(void)
{
	return (int)forget_all_but(((unsigned *)oracle_hidden[2])[2]);
}

HIDDEN uint64_t signal_address(void)
{
	return forget_all_but(((uint64_t *)oracle_hidden[2])[2]);
}

static inline uint64_t next_value(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
