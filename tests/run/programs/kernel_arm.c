/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_arm.c - what only Linux of 32-bit ARM has: its own calls, functions at
 * fixed addresses, signal frames of ARM and Thumb code
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define ARM_CODE __attribute__((target("arm"), noinline))
#define THUMB_CODE __attribute__((target("thumb"), noinline))
#define CPSR_THUMB 0x20
#define CPSR_IT 0x0600fc00

static unsigned failures;

static void check(const char *what, int is_so)
{
	if (is_so)
		return;
	printf("FAILED: %s (errno %d)\n", what, errno);
	failures++;
}

#define CHECK(condition) check(#condition, !!(condition))

/* ------- functions of the kernel's ------- */

#define HELPER(type, at) ((type)(at))
typedef int exchange(int old, int new, volatile int *at);
typedef int exchange_64(const int64_t *old, const int64_t *new,
			volatile int64_t *at);
typedef void *get_tls(void);
typedef void barrier(void);

static volatile int word;
static volatile int64_t wide;

static void add_by_helpers(int count)
{
	for (int i = 0; i < count; i++) {
		int old;
		int64_t before, after;

		do
			old = word;
		while (HELPER(exchange *, 0xffff0fc0)(old, old + 3, &word));
		do {
			before = wide;
			after = before + 0x100000001;
		} while (HELPER(exchange_64 *, 0xffff0f60)(&before, &after,
							   &wide));
	}
}

static void *add(void *argument)
{
	(void)argument;
	CHECK(HELPER(get_tls *, 0xffff0fe0)() == __builtin_thread_pointer());
	add_by_helpers(3000);
	return NULL;
}

static void helpers(void)
{
	pthread_t threads[4];
	const int64_t five = 5;

	CHECK(*(const int *)0xffff0ffc == 5);
	CHECK(write(1, (const void *)0xffff0ffc, 4) == -1 && errno == EFAULT);
	HELPER(barrier *, 0xffff0fa0)();
	CHECK(HELPER(exchange *, 0xffff0fc0)(1, 2, &word));
	CHECK(HELPER(exchange_64 *, 0xffff0f60)(&five, &five, &wide));
	CHECK(!word && !wide);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(word == 36000 && wide == 12000 * 0x100000001LL);
}

/* ------- calls of its own ------- */

static void own_calls(void)
{
	void *own = __builtin_thread_pointer(), *given;

	CHECK(!syscall(0xf0002, own, (char *)own + 4, 0));
	CHECK(syscall(0xf0002, own, own, 1) == -1 && errno == EINVAL);
	CHECK(syscall(0xf07ff) == -1 && errno == ENOSYS);
	CHECK(syscall(500) == -1 && errno == ENOSYS);
	given = (void *)syscall(0xf0006);
	CHECK(given == own);
	CHECK(!syscall(0xf0005, own));
}

/* The number of a call is in r7, whatever the instruction says. */
ARM_CODE static int numbered_call(void)
{
	register int result __asm__("r0");
	register int number __asm__("r7") = SYS_getpid;

	__asm__ volatile("svc #0x900001" : "=r"(result) : "r"(number)
			 : "memory");
	return result;
}

/* ------- signals ------- */

static volatile int seen, context_ok;
static volatile uint32_t cpsr_seen;
static sigjmp_buf back;
static siginfo_t last;
static ucontext_t last_context;

/* In what code a function is. */
#define CODE(name, set, is_thumb)                                              \
	set static void name(int number, siginfo_t *info, void *context)       \
	{                                                                      \
		const ucontext_t *at = context;                                \
		const uint32_t *floats = (const void *)at->uc_regspace;        \
		uintptr_t sp = (uintptr_t)__builtin_frame_address(0);          \
		seen += number + info->si_signo;                               \
		cpsr_seen = at->uc_mcontext.arm_cpsr;                          \
		context_ok = floats[0] == 0x56465001 && floats[1] == 0x120 &&  \
			     sp < (uintptr_t)info &&                           \
			     (uintptr_t)at == (uintptr_t)info + 128;           \
		__asm__ volatile("vmov.i32 q4, #7; vmov.i32 q12, #9"           \
				 : : : "q4", "q12", "memory");                 \
	}
CODE(in_thumb, THUMB_CODE, 1)
CODE(in_arm, ARM_CODE, 0)

THUMB_CODE static void plain_thumb(int number)
{
	seen += number;
}

ARM_CODE static void plain_arm(int number)
{
	seen += number;
}

/* As the kernel has it, without a function that ends handlers. */
struct action {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask[2];
};

static void set_handler(int number, void *handler, unsigned long flags)
{
	const struct action action = { .handler = handler, .flags = flags };

	CHECK(!syscall(SYS_rt_sigaction, number, &action, NULL, 8));
}

static void frames(void)
{
	static void *const handlers[] = { in_thumb, in_arm };
	static void *const plain[] = { plain_thumb, plain_arm };

	for (int i = 0; i < 2; i++) {
		seen = 0;
		CHECK(((uintptr_t)handlers[i] & 1) == !i);
		set_handler(SIGUSR1, handlers[i], SA_SIGINFO);
		CHECK(!raise(SIGUSR1) && seen == 2 * SIGUSR1 && context_ok);
		CHECK((cpsr_seen & 0x1f) == 0x10);
		set_handler(SIGUSR2, plain[i], 0);
		CHECK(!raise(SIGUSR2) && seen == 2 * SIGUSR1 + SIGUSR2);
	}
}

static void keep_floats(void)
{
	float in[4] = { 1, 2, 3, 4 }, low[4], high[4];
	register int process __asm__("r0") = getpid();
	register int number __asm__("r1") = SIGUSR1;
	register int call __asm__("r7") = SYS_kill;

	__asm__ volatile("vld1.32 {q4}, [%3]; vld1.32 {q12}, [%3]; svc #0;"
			 "vst1.32 {q4}, [%4]; vst1.32 {q12}, [%5]"
			 : "+r"(process), "+r"(number), "+r"(call)
			 : "r"(in), "r"(low), "r"(high)
			 : "q4", "q12", "memory");
	CHECK(!memcmp(in, low, sizeof(in)) && !memcmp(in, high, sizeof(in)));
}

static void on_stack(int number)
{
	char here;

	seen = number;
	CHECK(&here > (char *)last.si_addr &&
	      &here < (char *)last.si_addr + 16384);
}

static void alternate(void)
{
	static char room[16384];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	last.si_addr = room;
	CHECK(!sigaltstack(&stack, NULL));
	set_handler(SIGUSR1, on_stack, SA_ONSTACK);
	CHECK(!raise(SIGUSR1) && seen == SIGUSR1);
}

/* ------- calls that are interrupted ------- */

static int ends[2];

static void on_alarm(int number)
{
	seen = number;
	if (write(ends[1], "x", 1) != 1)
		abort();
}

#define READER(name, set)                                                      \
	set static int name(char *byte)                                        \
	{                                                                      \
		register int fd __asm__("r0") = ends[0];                       \
		register char *to __asm__("r1") = byte;                        \
		register int count __asm__("r2") = 1;                          \
		register int call __asm__("r7") = SYS_read;                    \
		__asm__ volatile("svc #0" : "+r"(fd) : "r"(to), "r"(count),    \
				 "r"(call) : "memory");                        \
		return fd;                                                     \
	}
READER(read_in_thumb, THUMB_CODE)
READER(read_in_arm, ARM_CODE)

static void interrupted(void)
{
	char byte = 0;

	CHECK(!pipe(ends));
	for (int i = 0; i < 2; i++) {
		set_handler(SIGALRM, on_alarm, SA_RESTART);
		ualarm(20000, 0);
		CHECK((i ? read_in_arm : read_in_thumb)(&byte) == 1 &&
		      byte == 'x');
		set_handler(SIGALRM, on_alarm, 0);
		ualarm(20000, 0);
		CHECK((i ? read_in_arm : read_in_thumb)(&byte) == -EINTR);
		CHECK(read(ends[0], &byte, 1) == 1);
	}
}

/* ------- faults ------- */

static void on_fault(int number, siginfo_t *info, void *context)
{
	last = *info;
	last_context = *(ucontext_t *)context;
	siglongjmp(back, number);
}

static int fault(void (*cause)(void))
{
	const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
	int number;

	memset(&last, 0, sizeof(last));
	for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		set_handler(faults[i], on_fault, SA_SIGINFO | SA_NODEFER);
	number = sigsetjmp(back, 1);
	if (!number)
		cause();
	return number;
}

static char *area;

static void load(void)
{
	*(volatile char *)area;
}

static void store(void)
{
	*(volatile char *)area = 1;
}

static void jump(void)
{
	((void (*)(void))area)();
}

THUMB_CODE static void undefined_thumb(void)
{
	__asm__ volatile("udf #7");
}

ARM_CODE static void undefined_arm(void)
{
	__asm__ volatile("udf #7");
}

/* In the middle of an IT block: what follows is not executed. */
THUMB_CODE static void undefined_in_it(void)
{
	__asm__ volatile("cmp r0, r0; itte eq; moveq r1, r1; udfeq.n #7;"
			 "movne r1, r1" : : : "r1", "cc");
}

THUMB_CODE static void exclusive(void)
{
	__asm__ volatile("ldrex r1, [%0]" : : "r"(area + 1) : "r1", "memory");
}

ARM_CODE static void breakpoint(void)
{
	__asm__ volatile("bkpt #0");
}

THUMB_CODE static void debuggers_thumb(void)
{
	__asm__ volatile("udf #1");
}

ARM_CODE static void debuggers_arm(void)
{
	__asm__ volatile("udf #16");
}

static void bad_number(void)
{
	syscall(0xf0800);
}

static void call_zero(void)
{
	syscall(0xf0000);
}

static void faults(void)
{
	area = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(fault(exclusive) == SIGBUS && last.si_code == BUS_ADRALN &&
	      last.si_addr == area + 1);
	CHECK(fault(undefined_thumb) == SIGILL && last.si_code == ILL_ILLOPC);
	CHECK(last.si_addr == (void *)last_context.uc_mcontext.arm_pc &&
	      last_context.uc_mcontext.arm_cpsr & CPSR_THUMB &&
	      last_context.uc_mcontext.trap_no == 6);
	CHECK(fault(undefined_arm) == SIGILL &&
	      !(last_context.uc_mcontext.arm_cpsr & CPSR_THUMB));
	CHECK(fault(undefined_in_it) == SIGILL &&
	      last_context.uc_mcontext.arm_cpsr & CPSR_IT);
	CHECK(fault(breakpoint) == SIGTRAP);
	CHECK(fault(debuggers_thumb) == SIGTRAP && last.si_code == TRAP_BRKPT);
	CHECK(fault(debuggers_arm) == SIGTRAP && last.si_code == TRAP_BRKPT);
	CHECK(fault(bad_number) == SIGILL && last.si_code == ILL_ILLTRP);
	CHECK(fault(call_zero) == SIGSEGV && !last.si_addr);
	mprotect(area, 4096, PROT_READ);
	CHECK(fault(store) == SIGSEGV && last.si_code == SEGV_ACCERR &&
	      last.si_addr == area);
	CHECK(last_context.uc_mcontext.trap_no == 14 &&
	      last_context.uc_mcontext.error_code & 0x800 &&
	      last_context.uc_mcontext.fault_address == (uintptr_t)area);
	CHECK(fault(jump) == SIGSEGV && last.si_code == SEGV_ACCERR &&
	      last.si_addr == area);
	munmap(area, 4096);
	CHECK(fault(load) == SIGSEGV && last.si_code == SEGV_MAPERR &&
	      last.si_addr == area);
	CHECK(!(last_context.uc_mcontext.error_code & 0x800));
	area = (char *)0xffff0000;
	CHECK(fault(store) == SIGSEGV && last.si_code == SEGV_MAPERR);
	area = NULL;
	CHECK(fault(jump) == SIGSEGV && !last.si_addr);
}

/* ------- what it says of itself ------- */

static int has_line(const char *name, const char *text)
{
	FILE *in = fopen(name, "r");
	char line[512];
	int found = 0;

	while (in && fgets(line, sizeof(line), in))
		found |= strstr(line, text) != NULL;
	if (in)
		fclose(in);
	return found;
}

static void machine(void)
{
	struct utsname about;

	CHECK(!uname(&about) && !strcmp(about.machine, "armv7l"));
	CHECK(!strcmp((char *)getauxval(AT_PLATFORM), "v7l"));
	CHECK(getauxval(AT_HWCAP) & 1 << 12);	/* NEON */
	CHECK(has_line("/proc/self/maps", "ffff0000-ffff1000 r-xp 00000000 "
					  "00:00 0"));
	CHECK(has_line("/proc/self/maps", "[vectors]"));
	CHECK(has_line("/proc/self/maps", "[sigpage]"));
	CHECK(has_line("/proc/cpuinfo", "CPU part\t: 0xc0f"));
	CHECK((uintptr_t)&about < 0xbf000000);
}

int main(void)
{
	helpers();
	own_calls();
	CHECK(numbered_call() == getpid());
	frames();
	set_handler(SIGUSR1, in_thumb, SA_SIGINFO);
	keep_floats();
	alternate();
	interrupted();
	faults();
	machine();
	puts(failures ? "bad" : "good");
	return failures ? 1 : 0;
}
