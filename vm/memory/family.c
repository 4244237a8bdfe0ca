/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family.c - see family.h: a lock on a file without a name, and who waits */
#include "vm/memory/family.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "formats/error.h"

/*
 * The lock is the kernel's for records of files: it belongs to a process, is
 * not inherited, and goes when the process does, also one that is killed and
 * not yet waited for.  Where waiters sleep is a word of shared memory instead,
 * so that each can say every now and then that it is there: a count of
 * waiters would be wrong for ever when one of them is killed.
 */
#define NAP 1000000		/* ns that a waiter sleeps at most: then it says
				   again that it waits */
#define POLITE_NAPS 20		/* naps that a process which has just left lets
				   the waiting ones go first */
#define IDLE_NAPS 50		/* naps without being inside, after which the
				   watching thread sleeps until it is woken */

struct shared_page {
	uint32_t wanted;	/* somebody waits, or did a moment ago */
	uint32_t left;		/* counts who left while it was wanted */
	uint32_t entered;	/* counts who had to wait and has entered */
	uint32_t maps_files;
};

struct family {
	struct shared_page *page;
	int fd;
	uint32_t inside;	/* this process is */
	bool polite;		/* it left because others waited */
	uint32_t before;	/* `entered` then */

	void (*call)(void *context);
	void *context;
	pid_t watched;		/* the process that has the watch's thread */
	uint32_t asleep;	/* the watch */
};

/* ------- words that somebody waits at ------- */

static uint32_t get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void wait_at(const uint32_t *word, uint32_t value)
{
	const struct timespec nap = { .tv_nsec = NAP };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &nap, NULL, 0);
}

/* Changes the word and wakes whoever waits there. */
static void count_up(uint32_t *word, int waiters)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, waiters, NULL, NULL, 0);
}

/* ------- making one ------- */

int family_create(struct family **out, int (*move)(int fd),
		  struct failure *why)
{
	struct family *family = calloc(1, sizeof(*family));
	int fd;

	if (!family)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	family->fd = memfd_create("family", MFD_CLOEXEC);
	if (family->fd >= 0 && move) {
		fd = move(family->fd);
		if (fd < 0)
			close(family->fd);
		family->fd = fd;
	}
	if (family->fd < 0 || ftruncate(family->fd, sizeof(*family->page)))
		goto fail;
	family->page = mmap(NULL, sizeof(*family->page),
			    PROT_READ | PROT_WRITE, MAP_SHARED, family->fd, 0);
	if (family->page == MAP_FAILED)
		goto fail;
	*out = family;
	return 0;
fail:
	failed(why, ERR_SYSTEM, "cannot share memory with child processes: %s",
	       strerror(errno));
	family->page = NULL;
	family_destroy(family);
	return ERR_SYSTEM;
}

void family_destroy(struct family *family)
{
	if (!family)
		return;
	/* The watch's thread lives as long as the process. */
	if (family->watched == getpid()) {
		family_leave(family);
		return;
	}
	if (family->page)
		munmap(family->page, sizeof(*family->page));
	if (family->fd >= 0)
		close(family->fd);
	free(family);
}

/* ------- the watch ------- */

static void nap(void)
{
	const struct timespec length = { .tv_nsec = NAP };

	nanosleep(&length, NULL);
}

static void *watch(void *context)
{
	struct family *family = context;

	for (;;) {
		set(&family->asleep, 1);
		while (!get(&family->inside) && get(&family->asleep))
			syscall(SYS_futex, &family->asleep,
				FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
		set(&family->asleep, 0);
		for (int idle = 0; idle < IDLE_NAPS; idle++) {
			nap();
			if (get(&family->inside))
				idle = 0;
			if (family_is_wanted(family))
				family->call(family->context);
		}
	}
	return NULL;
}

/* The guest's signals are not for this thread. */
static void start_watch(struct family *family)
{
	uint64_t all = UINT64_MAX, before;
	pthread_t thread;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (!pthread_create(&thread, NULL, watch, family)) {
		pthread_detach(thread);
		family->watched = getpid();
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
}

void family_watch(struct family *family, void (*call)(void *context),
		  void *context)
{
	family->call = call;
	family->context = context;
}

static void wake_watch(struct family *family)
{
	/* After a fork the child has no such thread. */
	if (family->watched != getpid())
		start_watch(family);
	if (!get(&family->asleep))
		return;
	set(&family->asleep, 0);
	syscall(SYS_futex, &family->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		0);
}

/* ------- in and out ------- */

static bool try(const struct family *family)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	/* Errors other than "another process has it" would not go away. */
	return !fcntl(family->fd, F_SETLK, &all) ||
	       (errno != EAGAIN && errno != EACCES);
}

void family_enter(struct family *family)
{
	struct shared_page *page = family->page;
	bool waited = false;

	if (family->inside)
		return;
	/* Processes that waited when this one left go first, if they live. */
	for (int naps = 0; family->polite && naps < POLITE_NAPS; naps++) {
		if (get(&page->entered) != family->before)
			break;
		wait_at(&page->entered, family->before);
	}
	family->polite = false;
	for (;;) {
		uint32_t left = get(&page->left);

		if (try(family))
			break;
		waited = true;
		set(&page->wanted, 1);
		/* It may have been left before `wanted` was seen. */
		if (try(family))
			break;
		wait_at(&page->left, left);
	}
	if (waited) {
		/* Others who still wait will say so again. */
		set(&page->wanted, 0);
		count_up(&page->entered, INT_MAX);
	}
	set(&family->inside, 1);
	if (family->call)
		wake_watch(family);
}

void family_leave(struct family *family)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
	struct shared_page *page = family->page;
	bool wanted;

	if (!family->inside)
		return;
	set(&family->inside, 0);
	wanted = __atomic_exchange_n(&page->wanted, 0, __ATOMIC_SEQ_CST);
	family->polite = wanted;
	family->before = get(&page->entered);
	fcntl(family->fd, F_SETLK, &all);
	if (wanted)
		count_up(&page->left, 1);
}

bool family_is_wanted(const struct family *family)
{
	return get(&family->inside) && get(&family->page->wanted);
}

void family_map_file(struct family *family)
{
	set(&family->page->maps_files, 1);
}

bool family_maps_files(const struct family *family)
{
	return get(&family->page->maps_files);
}
