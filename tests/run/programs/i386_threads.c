/* SPDX-License-Identifier: GPL-2.0-or-later */
/* i386_threads.c - threads, locks, signals, faults, processes */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned locked, atomic;
static unsigned long long wide;
static __thread unsigned own;

static void *work(void *argument)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&lock);
		locked++;
		pthread_mutex_unlock(&lock);
		__atomic_fetch_add(&atomic, 3, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&wide, 0x100000001, __ATOMIC_SEQ_CST);
		own++;
	}
	*(unsigned *)argument = own;
	return NULL;
}

static void use_threads(void)
{
	pthread_t threads[4];
	unsigned counts[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, &counts[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%u %u %llx %u %u\n", locked, atomic, wide, counts[0],
	       counts[3]);
}

/* ------- signals ------- */

static sigjmp_buf back;
static volatile double kept = 1.5;
static volatile int seen;

static void with_info(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	const greg_t *regs = at->uc_mcontext.gregs;
	int here;

	kept = kept * 3 + number;
	printf("signal %d, code %d, at %p, trap %d, error %d, fp %04lx%s\n",
	       number, info->si_code,
	       number == SIGUSR1 ? NULL : info->si_addr,
	       number == SIGUSR1 ? 0 : (int)regs[REG_TRAPNO],
	       number == SIGUSR1 ? 0 : (int)regs[REG_ERR],
	       at->uc_mcontext.fpregs->cw & 0xffff,
	       ((uintptr_t)&here & 3) ? ", unaligned" : "");
	if (number != SIGUSR1)
		siglongjmp(back, 1);
}

static void without(int number)
{
	seen += number;
	kept = kept * 2;
}

/* Floating point is what it was, in x87 and SSE, behind a handler. */
__attribute__((target("sse2"))) static void keep_floats(int number)
{
	float in[4] = { 1, 2, 3, 4 }, out[4];
	double top;
	int process = getpid(), result;

	__asm__ volatile("movups %3, %%xmm5\n\t"
			 "fldpi\n\t"
			 "int $0x80\n\t"
			 "fstpl %1\n\t"
			 "movups %%xmm5, %2"
			 : "=a"(result), "=m"(top), "=m"(out)
			 : "m"(in), "a"(37), "b"(process), "c"(number)
			 : "memory", "xmm5");
	printf("%d %.9f %g %g\n", result, top, (double)out[0],
	       (double)out[3]);
}

static void handle(int number, void (*plain)(int), int flags)
{
	struct sigaction action = { .sa_flags = flags };

	if (plain)
		action.sa_handler = plain;
	else
		action.sa_sigaction = with_info;
	sigaction(number, &action, NULL);
}

static void fault(int number, void (*cause)(void))
{
	handle(number, NULL, SA_SIGINFO | SA_NODEFER);
	if (!sigsetjmp(back, 1))
		cause();
}

static void *nothing;
static volatile int zero;

static void load(void)
{
	*(volatile int *)nothing;
}

static void store(void)
{
	*(volatile char *)"const" = 1;
}

static void divide(void)
{
	zero = 7 / zero;
}

static void undefined(void)
{
	__asm__ volatile("ud2");
}

static void privileged(void)
{
	__asm__ volatile("hlt");
}

static void outside(void)
{
	const int limits[2] = { 1, 5 };

	__asm__ volatile("bound %0, %1" : : "r"(7), "m"(limits));
}

static void overflows(void)
{
	__asm__ volatile("mov $0x7fffffff, %%eax; inc %%eax; into"
			 : : : "eax", "cc");
}

__attribute__((target("sse2"))) static void misaligned(void)
{
	static char bytes[64] __attribute__((aligned(16)));

	__asm__ volatile("movaps %%xmm0, %0" : "=m"(bytes[4]));
}

static void use_signals(void)
{
	static char room[16384];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };

	handle(SIGUSR1, NULL, SA_SIGINFO);
	raise(SIGUSR1);
	handle(SIGUSR2, without, 0);
	raise(SIGUSR2);
	keep_floats(SIGUSR1);
	keep_floats(SIGUSR2);
	sigaltstack(&stack, NULL);
	handle(SIGUSR1, NULL, SA_SIGINFO | SA_ONSTACK);
	handle(SIGUSR2, without, SA_ONSTACK);
	raise(SIGUSR1);
	raise(SIGUSR2);
	printf("%d %g\n", seen, kept);
	fault(SIGSEGV, load);
	fault(SIGSEGV, store);
	fault(SIGFPE, divide);
	fault(SIGILL, undefined);
	fault(SIGSEGV, privileged);
	fault(SIGSEGV, outside);
	fault(SIGSEGV, overflows);
	fault(SIGSEGV, misaligned);
}

/* ------- segments ------- */

static void use_selectors(void)
{
	unsigned short values[6], pushed[2] = { 0, 0x1234 };

	__asm__ volatile("mov %%cs, %0; mov %%ss, %1; mov %%ds, %2"
			 : "=m"(values[0]), "=m"(values[1]), "=m"(values[2]));
	__asm__ volatile("mov %%es, %0; mov %%fs, %1; mov %%gs, %2"
			 : "=m"(values[3]), "=m"(values[4]), "=m"(values[5]));
	printf("%x %x %x %x %x %x\n", values[0], values[1], values[2],
	       values[3], values[4], values[5]);
	__asm__ volatile("push %%ds; pop %%es; push %%gs; pop %%fs; push %%fs;"
			 "pop %0; push %%es; popl %1; xor %%eax, %%eax;"
			 "mov %%eax, %%fs"
			 : "=m"(pushed), "=r"(zero) : : "eax", "memory");
	printf("%x %x\n", pushed[0], zero & 0xffff);
	zero = 0;
}

/* ------- processes ------- */

static void use_processes(void)
{
	int ends[2], status;
	char text[16] = "";
	pid_t child;

	if (pipe(ends))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		own = 7;
		_exit(write(ends[1], "hello", 5) == 5 ? (int)own : 1);
	}
	waitpid(child, &status, 0);
	printf("%zd %s %d\n", read(ends[0], text, 5), text,
	       WEXITSTATUS(status));
	printf("%d\n", system("exit 3") >> 8);
}

int main(int argc, char **argv)
{
	use_threads();
	use_signals();
	use_selectors();
	use_processes();
	printf("%d %s\n", argc, argc > 1 ? argv[argc - 1] : "");
	fflush(stdout);
	raise(SIGTERM);
	return 0;
}
