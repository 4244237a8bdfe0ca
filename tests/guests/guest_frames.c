/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_frames.c - which exception a signal's context tells of: its number,
 * its error code, the address of the last page fault; also the contexts of
 * signals that are none
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/guests/guest.h"

#define KERNELS UINT64_C(0xffff800000000000)
#define USER_END UINT64_C(0x7ffffffff000)

enum { GENERAL_PROTECTION = 13, PAGE_FAULT = 14 };

static sigjmp_buf back;
static siginfo_t last;
static volatile uint64_t trap, error, cr2, rip;

static void look(siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	last = *info;
	trap = (uint64_t)uc->uc_mcontext.gregs[REG_TRAPNO];
	error = (uint64_t)uc->uc_mcontext.gregs[REG_ERR];
	cr2 = (uint64_t)uc->uc_mcontext.gregs[REG_CR2];
	rip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	look(info, context);
	siglongjmp(back, number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	look(info, context);
}

static int is_trap(int number, int code, uint64_t wanted, uint64_t wanted_error)
{
	return last.si_signo == number && last.si_code == code &&
	       trap == wanted && error == wanted_error;
}

/* Executes what ends in a signal. */
#define AFTER(...)                                                            \
	do {                                                                  \
		if (!sigsetjmp(back, 1)) {                                    \
			__VA_ARGS__;                                          \
		}                                                             \
	} while (0)

static int page_fault(int number, int code, uint64_t addr,
		      uint64_t wanted_error)
{
	return is_trap(number, code, PAGE_FAULT, wanted_error) &&
	       cr2 == addr && (uint64_t)last.si_addr == addr;
}

static volatile char *at(uint64_t addr)
{
	return (volatile char *)addr;
}

static void execute(uint64_t addr)
{
	__asm__ volatile("call *%0" : : "r"(addr) : "memory");
}

/* ------- page faults ------- */

static void test_nothing_there(void)
{
	AFTER(*at(16) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, 16, 6));
	AFTER((void)*at(17));
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, 17, 4));
	AFTER(execute(16));
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, 16, 20));
}

/* Of these Linux says that they are there. */
static void test_kernels(void)
{
	AFTER(*at(KERNELS) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, KERNELS, 7));
	AFTER((void)*at(KERNELS + 0x1234));
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, KERNELS + 0x1234, 5));
	AFTER(execute(KERNELS));
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, KERNELS, 21));
	AFTER(*at(USER_END) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_MAPERR, USER_END, 7));
	AFTER(*at(USER_END + 0x1000) = 1);	/* not canonical */
	CHECK(is_trap(SIGSEGV, SI_KERNEL, GENERAL_PROTECTION, 0));
	CHECK(cr2 == USER_END);
}

static void test_forbidden(void)
{
	uint64_t page = (uint64_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*at(page) = (char)0xc3;
	AFTER(execute(page));
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page, 21));
	CHECK(!mprotect((void *)page, 4096, PROT_READ));
	AFTER(*at(page + 9) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page + 9, 7));
	CHECK(!mprotect((void *)page, 4096, PROT_NONE));
	AFTER((void)*at(page));
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page, 4));
	AFTER(*at(page + 5) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page + 5, 6));
	munmap((void *)page, 4096);
}

/* A page is there once somebody has looked; who would execute it has. */
static void test_untouched(void)
{
	uint64_t page = (uint64_t)mmap(NULL, 4096 * 4, PROT_READ,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	AFTER(*at(page + 9) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page + 9, 6));
	CHECK(!*at(page + 4096 * 2));
	AFTER(*at(page + 4096 * 2) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page + 4096 * 2, 7));
	AFTER(*at(page + 4096 * 3) = 1);
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page + 4096 * 3, 6));
	AFTER(execute(page));
	CHECK(page_fault(SIGSEGV, SEGV_ACCERR, page, 21));
	munmap((void *)page, 4096 * 4);
}

static void test_beyond_file(int kind)
{
	int fd = memfd_create("short", 0);
	uint64_t page, beyond;

	CHECK(!ftruncate(fd, 100));
	page = (uint64_t)mmap(NULL, 8192, PROT_READ | PROT_WRITE, kind, fd, 0);
	beyond = page + 5000;
	AFTER(*at(beyond) = 1);
	CHECK(page_fault(SIGBUS, BUS_ADRERR, beyond, 6));
	AFTER((void)*at(beyond));
	CHECK(page_fault(SIGBUS, BUS_ADRERR, beyond, 4));
	munmap((void *)page, 8192);
	close(fd);
}

/* ------- INT ------- */

#define INT(number) AFTER(__asm__ volatile("int $" #number : : : "memory"))

static int is_int(uint64_t number)
{
	return is_trap(SIGSEGV, SI_KERNEL, GENERAL_PROTECTION, number * 8 + 2);
}

static void test_int(void)
{
	static volatile uint64_t behind;

	INT(0);
	CHECK(is_int(0));
	INT(1);
	CHECK(is_int(1));
	INT(14);
	CHECK(is_int(14));
	INT(0x20);
	CHECK(is_int(0x20));
	INT(0x85);
	CHECK(is_int(0x85) && error == 1066);
	INT(0xff);
	CHECK(is_int(0xff));
	AFTER(__asm__ volatile("hlt"));
	CHECK(is_trap(SIGSEGV, SI_KERNEL, GENERAL_PROTECTION, 0));
	/* INTO's: a trap, not a fault. */
	AFTER(__asm__ volatile("lea 1f(%%rip), %%rax\n\tmov %%rax, %0\n\t"
			       "int $4\n1:" : "=m"(behind) : : "rax", "memory"));
	CHECK(is_trap(SIGSEGV, SI_KERNEL, 4, 0) && rip == behind);
	AFTER(__asm__ volatile("ud2"));
	CHECK(is_trap(SIGILL, ILL_ILLOPN, 6, 0));
}

/* ------- signals that are no faults ------- */

static int later(uint64_t wanted, uint64_t wanted_error, uint64_t addr)
{
	raise(SIGUSR1);
	return last.si_signo == SIGUSR1 && trap == wanted &&
	       error == wanted_error && cr2 == addr;
}

static void *in_thread(void *argument)
{
	(void)argument;
	CHECK(later(PAGE_FAULT, 6, 32));	/* its maker's */
	AFTER((void)*at(48));
	CHECK(later(PAGE_FAULT, 4, 48));
	return NULL;
}

static void test_later(void)
{
	pthread_t thread;

	AFTER(*at(32) = 1);
	CHECK(later(PAGE_FAULT, 6, 32));
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	CHECK(later(PAGE_FAULT, 6, 32));
	AFTER(__asm__ volatile("hlt"));
	CHECK(later(GENERAL_PROTECTION, 0, 32));
}

int main(void)
{
	install(SIGUSR1, on_signal, 0);
	install(SIGSEGV, on_fault, 0);
	install(SIGBUS, on_fault, 0);
	install(SIGILL, on_fault, 0);
	CHECK(later(0, 0, 0));
	test_nothing_there();
	test_kernels();
	test_forbidden();
	test_untouched();
	test_beyond_file(MAP_SHARED);
	test_beyond_file(MAP_PRIVATE);
	test_int();
	test_later();
	return guest_end();
}
