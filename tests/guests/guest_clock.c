/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_clock.c - the processor's own clock: rdtsc, rdtscp, PR_SET_TSC */
#include <cpuid.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "tests/guests/guest.h"

#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static __thread sigjmp_buf back;
static __thread volatile int code, trap;
static __thread volatile uint64_t fault_pc, address;

static void jump(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	code = info->si_code;
	address = (uintptr_t)info->si_addr;
	trap = (int)regs[REG_TRAPNO];
	fault_pc = (uint64_t)regs[REG_RIP];
	siglongjmp(back, 1);
}

static int has_clock(void)
{
	if (sigsetjmp(back, 1))
		return 0;
	return __rdtsc() != 0;
}

static int has_clock_p(void)
{
	unsigned which;

	if (sigsetjmp(back, 1))
		return 0;
	return __rdtscp(&which) != 0;
}

static int announced(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && d >> 27 & 1;
}

/* All of the registers, of which the upper halves become 0. */
static uint64_t read_all(uint64_t *high, uint64_t *which)
{
	uint64_t low = UINT64_MAX;

	*high = *which = UINT64_MAX;
	__asm__ volatile("rdtscp"
			 : "+a"(low), "+d"(*high), "+c"(*which));
	return low;
}

static void test_order(void)
{
	uint64_t before = 0, now, high, which;

	for (int i = 0; i < 1000; i++) {
		unsigned processor;

		now = i % 2 ? __rdtsc() : __rdtscp(&processor);
		CHECK(now > before);
		before = now;
	}
	now = read_all(&high, &which);
	CHECK(!(now >> 32) && !(high >> 32) && !(which >> 32));
	CHECK((high << 32 | now) > before);
}

/* As getcpu() says, unless the thread was moved in between. */
static void test_processor(void)
{
	unsigned which = 0, cpu = 0, node = 0, again = 1;

	for (int i = 0; i < 100 && cpu != again; i++) {
		CHECK(!syscall(SYS_getcpu, &cpu, &node, NULL));
		__rdtscp(&which);
		CHECK(!syscall(SYS_getcpu, &again, NULL, NULL));
	}
	CHECK(which == (node << 12 | cpu));
}

static void *in_thread(void *context)
{
	int value = 0;

	(void)context;
	CHECK(!prctl(PR_GET_TSC, &value) && value == PR_TSC_SIGSEGV);
	CHECK(!has_clock() && code == SI_KERNEL && trap == 13);
	CHECK(!prctl(PR_SET_TSC, PR_TSC_ENABLE) && has_clock());
	return NULL;
}

static void test_forbidden(char *self)
{
	char again[] = "again", *const args[] = { self, again, NULL };
	int value = 0, end;
	pthread_t thread;
	pid_t child;

	CHECK(!prctl(PR_GET_TSC, &value) && value == PR_TSC_ENABLE);
	CHECK(FAILS(prctl(PR_SET_TSC, 0), EINVAL));
	CHECK(FAILS(prctl(PR_SET_TSC, 3), EINVAL));
	CHECK(FAILS(prctl(PR_GET_TSC, 8), EFAULT));
	CHECK(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
	CHECK(!prctl(PR_GET_TSC, &value) && value == PR_TSC_SIGSEGV);
	CHECK(!has_clock() && code == SI_KERNEL && trap == 13 && !address);
	CHECK(!memcmp((void *)fault_pc, "\x0f\x31", 2));
	CHECK(!has_clock_p() && code == SI_KERNEL);
	CHECK(!memcmp((void *)fault_pc, "\x0f\x01\xf9", 3));
	CHECK(!pthread_create(&thread, NULL, in_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!has_clock());
	child = fork();
	if (!child)
		_exit(has_clock());
	CHECK(end_of(child) == 0);
	child = fork();
	if (!child) {
		execv(self, args);
		_exit(99);
	}
	/* Another program has what the one before it had; its loader asks. */
	end = end_of(child);
	CHECK(end == PR_TSC_SIGSEGV || end == 1000 + SIGSEGV);
	CHECK(!prctl(PR_SET_TSC, PR_TSC_ENABLE));
	CHECK(has_clock() && has_clock_p());
	child = fork();
	if (!child) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		signal(SIGSEGV, SIG_DFL);
		has_clock_p();
		_exit(0);
	}
	CHECK(end_of(child) == 1000 + SIGSEGV);
}

int main(int argc, char **argv)
{
	int value = 0;

	if (argc > 1) {
		prctl(PR_GET_TSC, &value);
		return value;
	}
	if (!announced())
		return 0;
	install(SIGSEGV, jump, 0);
	test_order();
	test_processor();
	test_forbidden(argv[0]);
	return guest_end();
}
