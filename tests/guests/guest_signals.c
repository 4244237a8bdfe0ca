/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_signals.c - handlers, masks, stacks, frames, interrupted calls */
#include <emmintrin.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static volatile int calls, depth, deepest, order[8], order_count;
static siginfo_t last;
static void *volatile handler_stack;
static sigset_t seen_mask;

static void note(int number, siginfo_t *info, void *context)
{
	int here;

	(void)context;
	calls++;
	last = *info;
	handler_stack = &here;
	order[order_count++ & 7] = number;
	sigprocmask(SIG_BLOCK, NULL, &seen_mask);
}

static void test_simple(void)
{
	install(SIGUSR1, note, 0);
	calls = 0;
	CHECK(!raise(SIGUSR1));
	CHECK(calls == 1);
	CHECK(last.si_signo == SIGUSR1 && last.si_code == SI_TKILL);
	CHECK(last.si_pid == getpid());
	CHECK(sigismember(&seen_mask, SIGUSR1) == 1);
	sigprocmask(SIG_BLOCK, NULL, &seen_mask);
	CHECK(sigismember(&seen_mask, SIGUSR1) == 0);
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(calls == 2 && last.si_code == SI_USER);
}

static volatile int left_to_send;

static void nest(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	if (++depth > deepest)
		deepest = depth;
	if (left_to_send-- > 0)
		raise(SIGUSR2);
	depth--;
}

static void test_nested(void)
{
	install(SIGUSR1, nest, 0);
	install(SIGUSR2, nest, SA_NODEFER);
	left_to_send = 4;
	raise(SIGUSR1);
	CHECK(deepest == 5 && depth == 0 && left_to_send == -1);
	deepest = 0;
	left_to_send = 4;
	install(SIGUSR2, nest, 0);	/* now each waits for a return */
	raise(SIGUSR1);
	CHECK(deepest == 2 && depth == 0 && left_to_send == -1);
}

static void test_mask(void)
{
	sigset_t set, old, pending;

	install(SIGUSR1, note, 0);
	install(SIGUSR2, note, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigaddset(&set, SIGSEGV);
	CHECK(!sigprocmask(SIG_BLOCK, &set, &old));
	calls = order_count = 0;
	raise(SIGUSR2);
	raise(SIGUSR1);
	raise(SIGUSR1);
	install(SIGSEGV, note, 0);
	raise(SIGSEGV);
	CHECK(calls == 0);
	CHECK(!sigpending(&pending));
	CHECK(sigismember(&pending, SIGUSR1) == 1);
	CHECK(sigismember(&pending, SIGUSR2) == 1);
	CHECK(sigismember(&pending, SIGSEGV) == 1);
	CHECK(sigismember(&pending, SIGHUP) == 0);
	CHECK(!sigprocmask(SIG_SETMASK, &old, NULL));
	CHECK(calls == 3);		/* the second SIGUSR1 was merged */
	CHECK(!sigpending(&pending) && sigismember(&pending, SIGUSR1) == 0);
}

static void test_queue(void)
{
	union sigval value;
	sigset_t set, old;
	struct timespec now = { 0, 0 };
	siginfo_t info;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (int i = 1; i <= 3; i++) {
		value.sival_int = i * 100;
		CHECK(!sigqueue(getpid(), SIGRTMIN + 3, value));
	}
	CHECK(sigtimedwait(&set, &info, &now) == SIGRTMIN + 3);
	CHECK(info.si_value.sival_int == 100 && info.si_code == SI_QUEUE);
	install(SIGRTMIN + 3, note, 0);
	calls = 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK(calls == 2 && last.si_value.sival_int == 300);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK(sigtimedwait(&set, &info, &now) == -1 && errno == EAGAIN);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void test_stack(void)
{
	static char memory[65536];
	stack_t set, old;
	int here;

	memset(&set, 0, sizeof(set));
	set.ss_sp = memory;
	set.ss_size = sizeof(memory);
	CHECK(!sigaltstack(&set, &old));
	CHECK(old.ss_flags & SS_DISABLE);
	install(SIGUSR1, note, SA_ONSTACK);
	raise(SIGUSR1);
	CHECK((char *)handler_stack > memory &&
	      (char *)handler_stack < memory + sizeof(memory));
	install(SIGUSR1, note, 0);
	raise(SIGUSR1);
	CHECK(!((char *)handler_stack > memory &&
		(char *)handler_stack < memory + sizeof(memory)));
	CHECK((uintptr_t)handler_stack < (uintptr_t)&here);
	set.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&set, &old));
	CHECK(old.ss_sp == memory && old.ss_size == sizeof(memory));
}

static void spoil(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	calls++;
	/* Everything that a call may change, and the floating-point unit. */
	__asm__ volatile(
		"pxor %%xmm0, %%xmm0\n pcmpeqd %%xmm7, %%xmm7\n"
		"pcmpeqd %%xmm15, %%xmm15\n fninit\n fld1\n fldpi\n"
		"mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n"
		"mov %%rax, %%r8\n mov %%rax, %%r11\n std\n cld\n"
		::: "rax", "rcx", "rdx", "r8", "r11", "xmm0", "xmm7", "xmm15",
		"cc", "memory");
}

/* A signal in the middle of registers that all hold something. */
static void test_frame(void)
{
	uint64_t out[8] = { 0 };
	double x87 = 0, x87_under = 0;
	uint32_t mxcsr = 0;
	uint16_t control = 0;
	__m128i wide[2];
	static const uint16_t wanted_control = 0x27f;
	static const uint32_t wanted_mxcsr = 0x3f80;	/* rounds down */
	static const double low = 1.25, high = -7.5;
	int pid = getpid();

	install(SIGUSR1, spoil, 0);
	calls = 0;
	__asm__ volatile(
		"fldcw %[cw]\n ldmxcsr %[csr]\n"
		"fldl %[low]\n fldl %[high]\n"
		"mov $0x1122334455667788, %%rax\n movq %%rax, %%xmm7\n"
		"punpcklqdq %%xmm7, %%xmm7\n"
		"mov $0x0102030405060708, %%rax\n movq %%rax, %%xmm15\n"
		"mov $111, %%r8\n mov $222, %%r9\n mov $333, %%r10\n"
		"mov $444, %%r12\n mov $555, %%r15\n mov $666, %%rbx\n"
		"mov $777, %%rdx\n"
		"mov %[pid], %%edi\n mov $10, %%esi\n"
		"mov $62, %%eax\n stc\n syscall\n"
		"mov %%rax, 0(%[out])\n mov %%r8, 8(%[out])\n"
		"mov %%r9, 16(%[out])\n mov %%r10, 24(%[out])\n"
		"mov %%r12, 32(%[out])\n mov %%r15, 40(%[out])\n"
		"mov %%rbx, 48(%[out])\n mov %%rdx, 56(%[out])\n"
		"movdqu %%xmm7, 0(%[wide])\n movdqu %%xmm15, 16(%[wide])\n"
		"fstpl %[top]\n fstpl %[under]\n"
		"fnstcw %[cw_out]\n stmxcsr %[csr_out]\n"
		: [top] "=m"(x87), [under] "=m"(x87_under),
		  [cw_out] "=m"(control), [csr_out] "=m"(mxcsr)
		: [out] "r"(out), [wide] "r"(wide), [pid] "r"(pid),
		  [cw] "m"(wanted_control), [csr] "m"(wanted_mxcsr),
		  [low] "m"(low), [high] "m"(high)
		: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",
		  "r11", "r12", "r15", "xmm7", "xmm15", "memory", "cc");
	__asm__ volatile("fninit\n ldmxcsr %0" ::"m"((const uint32_t){ 0x1f80 }));
	CHECK(calls == 1);
	CHECK(out[0] == 0 && out[1] == 111 && out[2] == 222 && out[3] == 333);
	CHECK(out[4] == 444 && out[5] == 555 && out[6] == 666);
	CHECK(out[7] == 777);
	CHECK(x87 == high && x87_under == low);
	CHECK(control == wanted_control && mxcsr == wanted_mxcsr);
	CHECK((uint64_t)_mm_cvtsi128_si64(wide[0]) == 0x1122334455667788);
	CHECK((uint64_t)_mm_cvtsi128_si64(_mm_srli_si128(wide[0], 8)) ==
	      0x1122334455667788);
	CHECK((uint64_t)_mm_cvtsi128_si64(wide[1]) == 0x0102030405060708);
}

static void change(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)number;
	(void)info;
	uc->uc_mcontext.gregs[REG_RAX] = 4711;
}

static void test_changed_context(void)
{
	long result = SYS_tgkill;

	install(SIGUSR1, change, 0);
	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"((long)getpid()), "S"(syscall(SYS_gettid)),
			   "d"((long)SIGUSR1)
			 : "rcx", "r11", "memory");
	CHECK(result == 4711);
}

static void alarm_after(long milliseconds)
{
	struct itimerval timer = { { 0, 0 }, { 0, milliseconds * 1000 } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static int ends[2];

static void feed(int number, siginfo_t *info, void *context)
{
	note(number, info, context);
	CHECK(write(ends[1], "x", 1) == 1);
}

static void test_restart(void)
{
	char byte = 0;
	struct timespec second = { 1, 0 }, left = { 9, 9 };

	CHECK(!pipe(ends));
	install(SIGALRM, feed, SA_RESTART);
	calls = 0;
	alarm_after(30);
	CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && calls == 1);
	install(SIGALRM, note, 0);
	alarm_after(30);
	CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
	CHECK(calls == 2);
	alarm_after(30);
	CHECK(nanosleep(&second, &left) == -1 && errno == EINTR);
	CHECK(left.tv_sec == 0 && left.tv_nsec > 0);
	install(SIGALRM, note, SA_RESTART);
	alarm_after(30);
	CHECK(pause() == -1 && errno == EINTR && calls == 4);
	close(ends[0]);
	close(ends[1]);
}

/* A signal that comes while the program computes. */
static void test_busy(void)
{
	volatile unsigned long turns = 0;

	install(SIGALRM, note, 0);
	calls = 0;
	alarm_after(20);
	while (!calls && ++turns)
		;
	CHECK(calls == 1 && last.si_signo == SIGALRM);
}

static void test_suspend(void)
{
	sigset_t block, old, now;

	install(SIGALRM, note, 0);
	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	sigprocmask(SIG_BLOCK, &block, &old);
	calls = 0;
	alarm_after(20);
	CHECK(sigsuspend(&old) == -1 && errno == EINTR);
	CHECK(calls == 1);
	CHECK(sigismember(&seen_mask, SIGALRM) == 1);
	sigprocmask(SIG_BLOCK, NULL, &now);
	CHECK(sigismember(&now, SIGALRM) == 1);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void test_once_and_ignored(void)
{
	struct sigaction now;

	install(SIGUSR1, note, SA_RESETHAND);
	calls = 0;
	raise(SIGUSR1);
	CHECK(!sigaction(SIGUSR1, NULL, &now));
	CHECK(calls == 1 && now.sa_handler == SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	CHECK(!raise(SIGUSR1));
	CHECK(!raise(SIGCHLD));
	CHECK(calls == 1);
	CHECK(sigaction(SIGKILL, &now, NULL) == -1 && errno == EINVAL);
}

static sigjmp_buf back;

static void jump(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	last = *info;
	siglongjmp(back, 1);
}

static void test_faults(void)
{
	volatile int zero = 0, quotient = 1;

	install(SIGSEGV, jump, 0);
	install(SIGFPE, jump, 0);
	install(SIGILL, jump, 0);
	install(SIGTRAP, note, 0);
	if (!sigsetjmp(back, 1))
		*(volatile char *)16 = 1;
	CHECK(last.si_signo == SIGSEGV && last.si_code == SEGV_MAPERR);
	CHECK(last.si_addr == (void *)16);
	if (!sigsetjmp(back, 1))
		quotient = quotient / zero;
	CHECK(quotient == 1);
	CHECK(last.si_signo == SIGFPE && last.si_code == FPE_INTDIV);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("ud2");
	CHECK(last.si_signo == SIGILL && last.si_code == ILL_ILLOPN);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("hlt");
	CHECK(last.si_signo == SIGSEGV && last.si_code == SI_KERNEL);
	calls = 0;
	__asm__ volatile("int3");
	CHECK(calls == 1 && last.si_signo == SIGTRAP);
}

static void on_overflow(int number, siginfo_t *info, void *context)
{
	(void)context;
	last = *info;
	siglongjmp(back, number);
}

static volatile int bottom = INT_MAX;

static int dig(int deeper)
{
	volatile char room[4096];

	room[0] = (char)deeper;
	return deeper == bottom ? 0 : dig(deeper + 1) + room[0];
}

/* A stack that overflows can only be handled on another. */
static void test_overflow(void)
{
	static char memory[65536];
	stack_t set;

	memset(&set, 0, sizeof(set));
	set.ss_sp = memory;
	set.ss_size = sizeof(memory);
	sigaltstack(&set, NULL);
	install(SIGSEGV, on_overflow, SA_ONSTACK);
	if (!sigsetjmp(back, 1))
		dig(0);
	CHECK(last.si_signo == SIGSEGV);
}

/* The number behind a name in /proc/self/status. */
static unsigned long long status_of(const char *name, int base)
{
	FILE *in = fopen("/proc/self/status", "r");
	unsigned long long number = ~0ull;
	char line[4096];

	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, name, strlen(name)))
			number = strtoull(line + strlen(name), NULL, base);
	if (in)
		fclose(in);
	return number;
}

/* What /proc says of this process, and not of one that watches it. */
static void test_status(void)
{
	unsigned long long bit = 1ull << (SIGUSR2 - 1);
	sigset_t set, old;

	install(SIGUSR2, note, 0);
	CHECK(status_of("Threads:", 10) == 1);
	CHECK(status_of("SigCgt:", 16) & bit);
	CHECK(!(status_of("SigBlk:", 16) & bit));
	CHECK(status_of("VmSize:", 10) < 1 << 20);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGUSR2, SIG_IGN);
	CHECK(!(status_of("SigCgt:", 16) & bit));
	CHECK(status_of("SigIgn:", 16) & bit);
	CHECK(status_of("SigBlk:", 16) == bit);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGUSR2, SIG_DFL);
	CHECK(!(status_of("SigIgn:", 16) & bit));
}

int main(void)
{
	test_status();
	test_simple();
	test_nested();
	test_mask();
	test_queue();
	test_stack();
	test_frame();
	test_changed_context();
	test_restart();
	test_busy();
	test_suspend();
	test_once_and_ignored();
	test_faults();
	test_overflow();
	return guest_end();
}
