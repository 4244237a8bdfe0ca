/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_vsyscall.c - calls at the fixed addresses that old static programs use
 *
 * A host's kernel need not have them (vsyscall=none); the guest's has.  So
 * nothing is counted.
 */
#include <cpuid.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define PAGE UINT64_C(0xffffffffff600000)

typedef long call_of_two(void *first, void *second);

static sigjmp_buf back;
static volatile int code, trap, error;
static volatile uint64_t address, fault_pc, cr2;

static void jump(int number, siginfo_t *info, void *context)
{
	const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	code = info->si_code;
	address = (uintptr_t)info->si_addr;
	fault_pc = (uint64_t)regs[REG_RIP];
	trap = (int)regs[REG_TRAPNO];
	error = (int)regs[REG_ERR];
	cr2 = (uint64_t)regs[REG_CR2];
	siglongjmp(back, 1);
}

/* The result; -1000 if there was a signal. */
static long call(uint64_t offset, void *first, void *second)
{
	call_of_two *volatile function =
		(call_of_two *)(uintptr_t)(PAGE + offset);

	code = trap = error = 0;
	address = fault_pc = cr2 = 1;
	if (sigsetjmp(back, 1))
		return -1000;
	return function(first, second);
}

static int read_at(uint64_t at)
{
	code = trap = error = 0;
	if (sigsetjmp(back, 1))
		return -1000;
	return *(volatile uint8_t *)(uintptr_t)at;
}

/* The line of /proc/self/maps. */
static int line_is(const char *wanted)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, "[vsyscall]") &&
			 !strncmp(line, wanted, strlen(wanted));
	if (maps)
		fclose(maps);
	return found;
}

static void test_calls(void)
{
	struct timeval now = { 0, 0 }, later;
	struct timezone zone = { 99, 99 }, other = { 98, 98 };
	unsigned cpu = 77, node = 77;
	time_t second = 0;
	long result;

	CHECK(call(0, &now, &zone) == 0 && now.tv_sec > 1000000000);
	CHECK(!syscall(SYS_gettimeofday, &later, &other));
	CHECK(later.tv_sec - now.tv_sec < 60 && zone.tz_dsttime != 99);
	CHECK(zone.tz_minuteswest == other.tz_minuteswest);
	CHECK(call(0, NULL, NULL) == 0);
	result = call(0x400, &second, NULL);
	CHECK(result == second && second - now.tv_sec < 60);
	CHECK(call(0x400, NULL, NULL) >= second);
	CHECK(call(0x800, &cpu, &node) == 0 && cpu < 4096 && node < 1024);
	CHECK(call(0x800, NULL, NULL) == 0);
}

/* What a call cannot write to is a signal, not a result. */
static void test_bad(void)
{
	CHECK(call(0, (void *)8, NULL) == -1000);
	CHECK(call(0x400, (void *)8, NULL) == -1000);
	CHECK(call(0x800, NULL, (void *)8) == -1000);
	CHECK(code == SI_KERNEL && !address && fault_pc == PAGE + 0x800);
	CHECK(call(0xc00, NULL, NULL) == -1000);
	CHECK(code == SI_KERNEL && !address && fault_pc == PAGE + 0xc00);
	CHECK(call(0x404, NULL, NULL) == -1000);
	CHECK(code == SI_KERNEL && fault_pc == PAGE + 0x404);
	CHECK(call(0x1000, NULL, NULL) == -1000);
	CHECK(code == SEGV_MAPERR && address == PAGE + 0x1000);
	CHECK(fault_pc == PAGE + 0x1000 && trap == 14 && cr2 == address);
}

static void test_reading(void)
{
	CHECK(read_at(PAGE) == -1000 && code == SEGV_MAPERR);
	CHECK(address == PAGE && trap == 14 && error == 5 && cr2 == PAGE);
	CHECK(read_at(PAGE + 0x408) == -1000 && address == PAGE + 0x408);
}

static int is_under_cprec(void)
{
	unsigned name[4];

	return __get_cpuid(0x80000002, &name[0], &name[1], &name[2],
			   &name[3]) &&
	       !memcmp(name, " cprec", 6);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	install(SIGSEGV, jump, 0);
	if (is_under_cprec() || call(0x400, NULL, NULL) != -1000) {
		test_calls();
		test_bad();
		if (line_is("ffffffffff600000-ffffffffff601000 --xp 00000000 "
			    "00:00 0                  [vsyscall]\n"))
			test_reading();
		else
			CHECK(line_is("ffffffffff600000-ffffffffff601000 r-xp "
				      "00000000 00:00 0 "));
	}
	return guest_failures != 0;
}
