/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * positions.c - threads, signals and faults that come the same way every time
 *
 * It has no library, and nothing in it depends on time, addresses or the
 * numbers of threads; so with slices of a fixed length two recordings of it are
 * recordings of one execution, wherever their key frames are.
 *
 * Each thread takes a lock, counts, sends itself a signal (when one comes from
 * elsewhere, depends on the host), and now and then stores to an address where
 * nothing is: `faulting_store` is that instruction, whose handler goes on
 * behind it.
 */
#include <stdint.h>

#define THREADS 3
#define ROUNDS 12

enum {
	CALL_SIGACTION = 13, CALL_SIGRETURN = 15, CALL_YIELD = 24,
	CALL_GETPID = 39, CALL_CLONE = 56, CALL_EXIT = 60, CALL_GETTID = 186,
	CALL_FUTEX = 202, CALL_EXIT_GROUP = 231, CALL_TGKILL = 234,
};

enum { SIGSEGV = 11, SIGUSR1 = 10 };

static uint8_t stacks[THREADS][16384] __attribute__((aligned(4096)));
static int lock, left;
uint64_t counted, handled, faulted, sums[THREADS + 1];

static long call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall" : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8)
			 : "rcx", "r11", "cc", "memory");
	return result;
}

__asm__(".globl restore\n"
	"restore:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".globl _start\n"
	"_start:\n"
	"	and $-16, %rsp\n"
	"	call guest\n"
	/* start_thread(flags, top of the stack, argument) */
	"start_thread:\n"
	"	mov %rdx, %r9\n"
	"	mov $56, %eax\n"
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	syscall\n"
	/* No flag may depend on a thread's number. */
	"	mov %eax, %ecx\n"
	"	jecxz 1f\n"
	"	ret\n"
	"1:	mov %r9, %rdi\n"
	"	call worker\n");

void restore(void);
void worker(unsigned self);
void guest(void);
long start_thread(long flags, void *top, long argument);

static void on_signal(int number, void *info, uint64_t *context)
{
	(void)info;
	if (number == SIGUSR1) {
		__atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_add_fetch(&faulted, 1, __ATOMIC_SEQ_CST);
	context[5 + 16] += 7;	/* rip: behind the store */
}

static void handle(int number)
{
	struct {
		void (*handler)(int, void *, uint64_t *);
		uint64_t flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { on_signal, 0x04000004, restore, 0 };

	call(CALL_SIGACTION, number, (long)&action, 0, 8, 0);
}

/* The store has 7 bytes. */
static __attribute__((noinline)) void fault(void)
{
	__asm__ volatile(".globl faulting_store\n"
			 "faulting_store:\n"
			 "	movl $7, 1(%0)\n"
			 "	nop" : : "a"(15L) : "memory");
}

static void take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST))
		call(CALL_FUTEX, (long)&lock, 128, 1, 0, 0);
}

static void give_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
	call(CALL_FUTEX, (long)&lock, 129, 1, 0, 0);
}

static void work(unsigned self)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		take_lock();
		for (unsigned j = 0; j < 200 * (self + 1); j++)
			sums[self] += ++counted * (i + 1);
		if (i % 4 == self)
			fault();
		give_lock();
		call(CALL_TGKILL, call(CALL_GETPID, 0, 0, 0, 0, 0),
		     call(CALL_GETTID, 0, 0, 0, 0, 0), SIGUSR1, 0, 0);
		if (i % 3 == 0)
			call(CALL_YIELD, 0, 0, 0, 0, 0);
		if (i % 5 == self)
			fault();
	}
}

__attribute__((used)) void worker(unsigned self)
{
	work(self);
	__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST);
	call(CALL_FUTEX, (long)&left, 129, 1, 0, 0);
	call(CALL_EXIT, 0, 0, 0, 0, 0);
}

__attribute__((used)) void guest(void)
{
	const long flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000;
	int now;

	handle(SIGSEGV);
	handle(SIGUSR1);
	left = THREADS;
	for (long i = 1; i <= THREADS; i++)
		start_thread(flags, stacks[i - 1] + sizeof(stacks[0]) - 16, i);
	work(0);
	while ((now = __atomic_load_n(&left, __ATOMIC_SEQ_CST)))
		call(CALL_FUTEX, (long)&left, 128, now, 0, 0);
	call(CALL_EXIT_GROUP, (int)counted & 0x3f, 0, 0, 0, 0);
}
