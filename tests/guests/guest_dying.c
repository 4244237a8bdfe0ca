/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_dying.c - processes that die with a robust mutex, in all ways
 *
 * The mutex lies in memory shared with the parent, which gets it next.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/guests/guest.h"

static struct {
	pthread_mutex_t lock;
	volatile int held;
} *shared;

static void kill_self(void)
{
	kill(getpid(), SIGKILL);
}

static void leave(void)
{
	_exit(3);
}

static void terminate(void)
{
	kill(getpid(), SIGTERM);
}

static void execute(void)
{
	execl("/proc/self/exe", "guest_dying", "again", (char *)NULL);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static const struct way {
	const char *name;
	void (*die)(void);
	int end;		/* as end_of() tells it */
	bool killed, late;	/* by the parent; when that waits already */
} ways[] = {
	{ "SIGKILL from itself", kill_self, 1000 + SIGKILL, false, false },
	{ "_exit", leave, 3, false, false },
	{ "abort", abort, 1000 + SIGABRT, false, false },
	{ "SIGTERM from itself", terminate, 1000 + SIGTERM, false, false },
	{ "exec", execute, 5, false, false },
	{ "SIGKILL", wait_for_ever, 1000 + SIGKILL, true, false },
	{ "SIGKILL while others wait", wait_for_ever, 1000 + SIGKILL, true,
	  true },
};

static void make_lock(int protocol)
{
	pthread_mutexattr_t attributes;

	CHECK(!pthread_mutexattr_init(&attributes));
	CHECK(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
	CHECK(!pthread_mutexattr_setpshared(&attributes,
					    PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_mutexattr_setprotocol(&attributes, protocol));
	CHECK(!pthread_mutex_init(&shared->lock, &attributes));
	shared->held = 0;
}

static pid_t start_owner(const struct way *way)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_mutex_lock(&shared->lock);
		shared->held = 1;
		way->die();
		_exit(99);
	}
	while (!shared->held)
		usleep(1000);
	return pid;
}

/* A process that kills another one some time later. */
static pid_t start_killer(pid_t victim)
{
	pid_t pid = fork();

	if (!pid) {
		usleep(100000);
		_exit(kill(victim, SIGKILL) ? 1 : 0);
	}
	return pid;
}

static void die(const struct way *way, int protocol)
{
	pid_t owner, killer = 0;
	int rc;

	make_lock(protocol);
	owner = start_owner(way);
	if (way->late)
		killer = start_killer(owner);
	else if (way->killed)
		CHECK(!kill(owner, SIGKILL));
	if (!way->late)
		CHECK(end_of(owner) == way->end);
	rc = pthread_mutex_lock(&shared->lock);
	if (rc != EOWNERDEAD)
		printf("%s, protocol %d: %s\n", way->name, protocol,
		       strerror(rc));
	CHECK(rc == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&shared->lock));
	CHECK(!pthread_mutex_unlock(&shared->lock));
	CHECK(!pthread_mutex_lock(&shared->lock));
	CHECK(!pthread_mutex_unlock(&shared->lock));
	if (way->late) {
		CHECK(end_of(owner) == way->end);
		CHECK(end_of(killer) == 0);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return 5;
	alarm(60);		/* who hangs dies */
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		die(&ways[i], PTHREAD_PRIO_NONE);
		die(&ways[i], PTHREAD_PRIO_INHERIT);
	}
	return guest_end();
}
