/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_stepping.c - a program that sets the trap flag itself: each instruction
 * is SIGTRAP, by popf, and by the return from a handler
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define TF 0x100
#define PAGE 4096u

/* Where the instructions were before which each trap came. */
static uint64_t at[64];
static volatile unsigned traps, stop_at;
static volatile int codes_differ, flag_missing, others;

static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned i = traps++;

	(void)number;
	if (i < 64)
		at[i] = (uint64_t)regs[REG_RIP];
	codes_differ |= info->si_code != 2 /* TRAP_TRACE */ ||
			regs[REG_TRAPNO] != 1 || regs[REG_ERR] ||
			(greg_t)info->si_addr != regs[REG_RIP];
	flag_missing += !(regs[REG_EFL] & TF);
	if (traps == stop_at)
		regs[REG_EFL] &= ~TF;
}

/* Sets the flag when it returns: the next instruction traps. */
static void on_user(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	regs[REG_EFL] |= TF;
}

static void on_other(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	others++;
	CHECK(regs[REG_EFL] & TF);
	CHECK(number == SIGILL);
	regs[REG_RIP] += 2;
}

static void begin(unsigned most)
{
	traps = 0;
	stop_at = most;
	codes_differ = flag_missing = others = 0;
}

/* The label's address, into a variable. */
#define WHERE(label, variable) "lea " label "(%%rip), %%rax\n\tmov %%rax, " \
	variable "\n\t"
#define SET "pushf\n\torl $0x100, (%%rsp)\n\tpopf\n"
#define CLEAR "pushf\n\tandl $~0x100, (%%rsp)\n\tpopf\n"

/* It is behind the instruction after popf, which sets it ... */
static void test_popf(void)
{
	uint64_t first, last;

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%0") WHERE("2f", "%1")
			 SET
			 "1:\tnop\n\tinc %%rax\n\tmov $3, %%ecx\n"
			 "3:\tdec %%ecx\n\tjnz 3b\n\t"
			 "pushf\n\tandl $~0x100, (%%rsp)\n\tpopf\n"
			 "2:\tnop\n\tadd $128, %%rsp"
			 : "=&r"(first), "=&r"(last)
			 : : "rax", "rcx", "cc", "memory");
	/* ... up to the popf that clears it, but that has been stepped, too. */
	CHECK(traps == 3 + 6 + 3);
	CHECK(at[0] == first + 1 && at[1] == first + 4);
	CHECK(at[2] == first + 9 && at[3] == first + 11 && at[4] == first + 9);
	CHECK(at[11] == last && !codes_differ && flag_missing == 1);
}

static void test_return(void)
{
	begin(3);
	install(SIGUSR1, on_user, 0);
	raise(SIGUSR1);
	CHECK(traps == 3 && !codes_differ && !flag_missing);
	begin(1);
	raise(SIGUSR1);
	CHECK(traps == 1);
}

/* The page is mapped, and none follows. */
static void test_end_of_page(void)
{
	uint8_t *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*function)(void);
	uint8_t *start = code + PAGE - 4;

	CHECK(code != MAP_FAILED);
	munmap(code + PAGE, PAGE);
	memcpy(start, "\x90\x90\x90\xc3", 4);
	memcpy(&function, &start, sizeof(function));
	begin(5);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 SET
			 "call *%0\n\t"
			 "add $128, %%rsp"
			 : : "r"(function) : "cc", "memory");
	CHECK(traps == 5 && at[0] == (uintptr_t)start);
	CHECK(at[3] == (uintptr_t)start + 3);
	munmap(code, PAGE);
}

/* The flag is there to be seen. */
static void test_pushf(void)
{
	uint64_t flags, low = 0, first;

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%2")
			 SET
			 "1:\tpushf\n\tpop %0\n\tpushfw\n\tpopw %w1\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "=&r"(flags), "+&r"(low), "=&r"(first)
			 : : "rax", "cc", "memory");
	CHECK(flags & TF && low & TF && traps == 7 && !codes_differ);
	CHECK(at[0] == first + 1 && at[3] == at[2] + 2);
	__asm__ volatile("pushf\n\tpop %0" : "=r"(flags));
	CHECK(!(flags & TF) && traps == 7);
}

/* Each iteration traps, before it has retired. */
static void test_repeated(void)
{
	static char from[16] = "0123456789abcde", to[16];
	uint64_t first, count = 5;
	const char *source = from;
	char *target = to;

	for (int i = 0; i < 2; i++, count = 5, source = from, target = to) {
		memset(to, 0, sizeof(to));
		begin(0);
		__asm__ volatile("sub $128, %%rsp\n\t"
				 WHERE("1f", "%3")
				 SET
				 "1:\trep movsb\n\trep movsb\n\tnop\n\t"
				 CLEAR
				 "add $128, %%rsp"
				 : "+S"(source), "+D"(target), "+c"(count),
				   "=&r"(first)
				 : : "rax", "cc", "memory");
		CHECK(traps == 5 + 1 + 1 + 3 && !codes_differ && !count);
		CHECK(at[0] == first && at[3] == first);
		CHECK(at[4] == first + 2 && at[5] == first + 4);
		CHECK(!memcmp(to, "01234\0", 7));
	}
}

/* It may end before its count does. */
static void test_compared(void)
{
	const char *one = "aaaab", *other = "aaaac", *scanned = "xyz";
	uint64_t first, count = 20;

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%3")
			 SET
			 "1:\trepe cmpsb\n\tmov %4, %%rdi\n\t"
			 "mov $'z', %%eax\n\tmov $-1, %%rcx\n\t"
			 "2:\trepne scasb\n\tmov $3, %%ecx\n\trep lodsb\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "+S"(one), "+D"(other), "+c"(count), "=&r"(first)
			 : "r"(scanned) : "rax", "cc", "memory");
	CHECK(traps == 5 + 3 + 3 + 1 + 3 + 3 && !codes_differ);
	CHECK(at[3] == first && at[4] == first + 2);
}

/* A system call does not trap; the instruction behind it does. */
static void test_calls(void)
{
	uint64_t first, result, flags;

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%0")
			 SET
			 "1:\tmov %3, %%eax\n\tsyscall\n\tnop\n\t"
			 "mov %%r11, %2\n\t"
			 "mov %%rax, %1\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "=&r"(first), "=&r"(result), "=&r"(flags)
			 : "i"(SYS_getpid)
			 : "rax", "rcx", "r11", "cc", "memory");
	CHECK((pid_t)result == getpid() && flags & TF);
	CHECK(traps == 7 && at[0] == first + 5 && at[1] == first + 8);
	CHECK(!codes_differ);
}

/* A child steps itself as its parent does; another program does not. */
static void test_child(char *self)
{
	char again[] = "again", *const args[] = { self, again, NULL };
	long child;

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 SET
			 "mov %1, %%eax\n\tsyscall\n\tnop\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "=&a"(child) : "i"(SYS_fork)
			 : "rcx", "r11", "cc", "memory");
	CHECK(traps == 5);
	if (!child)
		_exit(traps == 5 && !codes_differ ? 0 : 1);
	CHECK(end_of((pid_t)child) == 0);
	child = fork();
	if (!child) {
		begin(0);
		raise(SIGUSR1);
		execv(self, args);
		_exit(99);
	}
	CHECK(end_of((pid_t)child) == 0);
}

/* Values that are captured, and what is executed apart. */
static void test_captured(void)
{
	uint64_t first;
	uint64_t wide[2] __attribute__((aligned(16))) = { 0 };

	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%0")
			 SET
			 "1:\trdtsc\n\txor %%eax, %%eax\n\tcpuid\n\t"
			 "lock cmpxchg16b %1\n\tmov %%ds, %%eax\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "=&D"(first), "+m"(wide)
			 : : "rax", "rbx", "rcx", "rdx", "cc", "memory");
	CHECK(traps == 8 && !codes_differ);
	CHECK(at[0] == first + 2 && at[1] == first + 4 && at[2] == first + 6);
}

/* What faults does not trap; its handler is not stepped. */
static void test_faults(void)
{
	uint64_t first;

	install(SIGILL, on_other, 0);
	begin(0);
	__asm__ volatile("sub $128, %%rsp\n\t"
			 WHERE("1f", "%0")
			 SET
			 "1:\tnop\n\tud2\n\tnop\n\t"
			 CLEAR
			 "add $128, %%rsp"
			 : "=&r"(first) : : "rax", "cc", "memory");
	CHECK(traps == 5 && others == 1 && !codes_differ);
	CHECK(at[0] == first + 1 && at[1] == first + 4);
}

/* A thread has its own flag. */
static void *spin(void *context)
{
	volatile int *done = context;
	uint64_t flags;

	while (!*done)
		sched_yield();
	__asm__ volatile("pushf\n\tpop %0" : "=r"(flags));
	CHECK(!(flags & TF));
	return NULL;
}

static void test_threads(void)
{
	volatile int done = 0;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, spin, (void *)&done));
	begin(300);
	raise(SIGUSR1);
	for (int i = 0; i < 300; i++)
		__asm__ volatile("nop");
	CHECK(traps == 300 && !codes_differ);
	done = 1;
	CHECK(!pthread_join(thread, NULL));
	CHECK(traps == 300);
}

/* Without a handler it is the end. */
static void test_end(void)
{
	pid_t child = fork();

	if (!child) {
		signal(SIGTRAP, SIG_DFL);
		__asm__ volatile("sub $128, %%rsp\n\t" SET "nop\n\t"
				 "add $128, %%rsp" : : : "cc", "memory");
		_exit(0);
	}
	CHECK(end_of(child) == 1000 + SIGTRAP);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return 0;
	install(SIGTRAP, on_trap, 0);
	test_popf();
	test_return();
	test_end_of_page();
	test_pushf();
	test_repeated();
	test_compared();
	test_calls();
	test_child(argv[0]);
	test_captured();
	test_faults();
	test_threads();
	test_end();
	return guest_end();
}
