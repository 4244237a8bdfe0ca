/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_workers.c - see index_workers.h */
#include "tools/index_workers.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/progress.h"

/*
 * A worker goes on from one segment to the next at no cost; so it takes some in
 * a row, but not so many that others have nothing to do at the end.
 */
#define IN_A_ROW 8u

#define LOOK_EVERY 50000000	/* nanoseconds */

/* What the workers and whoever waits for them have in common. */
struct board {
	atomic_size_t next, done;	/* segments */
	atomic_int error;	/* of the first that failed, */
	struct failure why;	/* and what it said */
};

unsigned index_workers_usual(void)
{
	cpu_set_t set;
	int count;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	count = CPU_COUNT(&set);
	return count > 0 ? (unsigned)count : 1;
}

/* ------- a worker ------- */

static int build(const struct index_job *job, struct index_builder *builder,
		 struct board *board, struct failure *why)
{
	size_t row = (job->end - job->first) / (4 * job->workers) + 1, at;
	int rc = 0;

	if (row > IN_A_ROW)
		row = IN_A_ROW;
	while (!rc && (at = atomic_fetch_add(&board->next, row)) < job->end) {
		for (size_t i = 0; i < row && at + i < job->end && !rc; i++) {
			rc = index_build(builder, at + i, &job->wanted, why);
			atomic_fetch_add(&board->done, 1);
		}
		if (atomic_load(&board->error))
			break;
	}
	return rc;
}

static void work(const struct index_job *job, struct board *board)
{
	struct index_builder *builder = NULL;
	struct recording *recording = NULL;
	struct failure why = { "" };
	int none = 0, rc = recording_open(&recording, job->path, &why);

	if (!rc)
		rc = index_builder_create(&builder, recording, job->part,
					  &why);
	if (!rc)
		rc = build(job, builder, board, &why);
	if (rc && atomic_compare_exchange_strong(&board->error, &none, rc))
		board->why = why;
	index_builder_destroy(builder);
	recording_close(recording);
}

static pid_t start_worker(const struct index_job *job, struct board *board)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	/* Without whoever asked, nobody wants the answer. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() == parent)
		work(job, board);
	_exit(0);
}

/* ------- who waits for them ------- */

/* Takes those that have ended; one that was killed is an error. */
static unsigned reap(struct board *board)
{
	unsigned ended = 0;
	int status, none = 0;

	while (waitpid(-1, &status, WNOHANG) > 0) {
		ended++;
		if (WIFSIGNALED(status) &&
		    atomic_compare_exchange_strong(&board->error, &none,
						   ERR_SYSTEM))
			failed(&board->why, ERR_SYSTEM,
			       "a worker was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	}
	return ended;
}

static void wait_for(const struct index_job *job, struct board *board,
		     unsigned count)
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY };
	struct progress progress;

	progress_start(&progress, "indexing", 0, job->end - job->first);
	while ((count -= reap(board))) {
		progress_show(&progress, atomic_load(&board->done));
		nanosleep(&nap, NULL);
	}
	progress_end(&progress);
}

int index_workers_run(const struct index_job *job, struct failure *why)
{
	struct board *board = mmap(NULL, sizeof(*board),
				   PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned started = 0;
	int rc = 0;

	if (board == MAP_FAILED)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	atomic_store(&board->next, job->first);
	while (started < job->workers && start_worker(job, board) > 0)
		started++;
	if (!started)
		rc = failed(why, ERR_SYSTEM, "cannot start a worker: %s",
			    strerror(errno));
	else
		wait_for(job, board, started);
	if (!rc && atomic_load(&board->error)) {
		rc = atomic_load(&board->error);
		*why = board->why;
	}
	munmap(board, sizeof(*board));
	return rc;
}
