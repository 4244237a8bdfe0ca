/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replayers.c - several replayers in one process, each on its own thread
 *
 * usage: replayers FILE...
 *
 * One replayer after the other goes to some times of each recording; then all
 * do so at once, twice, while another thread of this process takes faults of
 * its own by a handler that was there before.  What registers and memory are
 * must be the same.  Speaks TAP.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"

#define FILES_MOST 4
#define TIMES 24
#define STACK_BYTES 512

/* ------- faults of our own ------- */

static uint8_t *own;			/* a page */
static atomic_uint own_faults;
static atomic_bool is_done;

static void on_own_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	if ((uint8_t *)info->si_addr != own) {
		signal(number, SIG_DFL);
		return;
	}
	own_faults++;
	mprotect(own, 4096, PROT_READ | PROT_WRITE);
}

static void *take_faults(void *unused)
{
	(void)unused;
	while (!is_done) {
		mprotect(own, 4096, PROT_NONE);
		*(volatile uint8_t *)own = 1;
		usleep(100);
	}
	return NULL;
}

/* ------- replayers ------- */

struct job {
	const char *path;
	uint64_t seen[TIMES];		/* hashes of states */
	struct failure why;
	int rc;
};

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return hash;
}

/* The stack's top is memory that every program has. */
static uint64_t hash_state(struct replayer *replayer, struct job *job)
{
	uint8_t bytes[STACK_BYTES] = { 0 }, known[STACK_BYTES];
	struct reg_file regs;
	const struct reg_table *table = reg_table(ARCH_X86_64);
	replayer_registers(replayer, &regs);
	job->rc = replayer_read(replayer, reg_get(table, &regs, table->sp),
				bytes, known, sizeof(bytes), &job->why);
	for (unsigned i = 0; i < STACK_BYTES; i++)
		bytes[i] = known[i] ? bytes[i] : 0;
	return hash_bytes(hash_bytes(0, &regs, sizeof(regs)), bytes,
			  sizeof(bytes));
}

/* Times all over the recording, forwards and backwards. */
static void visit(struct replayer *replayer, struct recording *recording,
		  struct job *job)
{
	uint64_t end = recording_end(recording);

	for (unsigned i = 0; i < TIMES && !job->rc; i++) {
		const struct position to = {
			.time = end * (i * 7 % TIMES) / TIMES,
		};

		job->rc = replayer_seek(replayer, &to, &job->why);
		if (!job->rc)
			job->seen[i] = hash_state(replayer, job);
	}
}

static void *work(void *context)
{
	struct job *job = context;
	struct recording *recording = NULL;
	struct replayer *replayer = NULL;

	job->rc = recording_open(&recording, job->path, &job->why);
	if (!job->rc)
		job->rc = replayer_create(&replayer, recording, &job->why);
	if (!job->rc)
		visit(replayer, recording, job);
	replayer_destroy(replayer);
	recording_close(recording);
	return NULL;
}

/* ------- all of it ------- */

static unsigned tests, failures;

static void result(const char *name, const char *path, const struct job *job,
		   const struct job *expected)
{
	bool good = !job->rc && !memcmp(job->seen, expected->seen,
					sizeof(job->seen));

	if (job->rc)
		printf("# %s\n", job->why.text);
	failures += !good;
	printf("%s %u - %s: %s\n", good ? "ok" : "not ok", ++tests, path, name);
}

static void all_at_once(struct job *jobs, const struct job *expected,
			unsigned count)
{
	pthread_t threads[FILES_MOST];

	for (unsigned i = 0; i < count; i++) {
		jobs[i] = (struct job){ .path = expected[i].path };
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < count; i++)
		result("at once", jobs[i].path, &jobs[i], &expected[i]);
}

int main(int argc, char **argv)
{
	struct sigaction action = {
		.sa_sigaction = on_own_fault, .sa_flags = SA_SIGINFO,
	};
	struct job expected[FILES_MOST] = { 0 }, jobs[FILES_MOST];
	unsigned count = (unsigned)argc - 1;
	pthread_t faults;

	if (count < 1 || count > FILES_MOST)
		return 2;
	own = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	for (unsigned i = 0; i < count; i++) {
		expected[i].path = argv[i + 1];
		work(&expected[i]);
		result("alone", argv[i + 1], &expected[i], &expected[i]);
	}
	pthread_create(&faults, NULL, take_faults, NULL);
	all_at_once(jobs, expected, count);
	all_at_once(jobs, expected, count);
	is_done = true;
	pthread_join(faults, NULL);
	failures += own_faults < 10;
	printf("%s %u - faults of our own: %u\n1..%u\n",
	       own_faults < 10 ? "not ok" : "ok", tests + 1, own_faults,
	       tests + 1);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
