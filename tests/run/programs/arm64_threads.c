/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arm64_threads.c - threads, locks, signals, faults, processes */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __arm__
#define PC arm_pc
#define LOAD "vldr d0, [%0, #0x20]"
#else
#define PC pc
#define LOAD "ldr q0, [%0, #0x20]"
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned locked, atomic;
static __thread unsigned own;

static void *work(void *argument)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&lock);
		locked++;
		pthread_mutex_unlock(&lock);
		__atomic_fetch_add(&atomic, 3, __ATOMIC_SEQ_CST);
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
	printf("%u %u %u %u\n", locked, atomic, counts[0], counts[3]);
}

static sigjmp_buf back;
static volatile double kept = 1.5;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;

	kept = kept * 3 + number;
	printf("signal %d, code %d, at %p%s\n", number, info->si_code,
	       number == SIGUSR1 ? NULL : info->si_addr,
	       at->uc_mcontext.PC ? "" : " nowhere");
	if (number != SIGUSR1)
		siglongjmp(back, 1);
}

static void use_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO };
	const int numbers[] = { SIGUSR1, SIGSEGV, SIGILL, SIGTRAP, SIGBUS };
	volatile double before = kept;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
	raise(SIGUSR1);
	printf("%g %g\n", before, kept);
	if (!sigsetjmp(back, 1))
		*(volatile int *)0x1238 = 1;
	if (!sigsetjmp(back, 1))
		printf("%d\n", *(volatile char *)mmap((void *)0x70000000, 4096,
			PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			0));
	if (!sigsetjmp(back, 1))
		__asm__ volatile(LOAD : : "r"(0x70000ffcUL));
}

static void use_processes(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		abort();
	waitpid(pid, &status, 0);
	printf("a child: signal %d\n", WTERMSIG(status));
	fflush(stdout);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	use_threads();
	use_signals();
	use_processes();
	raise(SIGTERM);
	return 0;
}
