/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * faults.c - faults of the host that are first touches of guest memory
 *
 * A process may have several memories, each used by a thread of its own, and
 * signal handlers that are not ours.  So the memories whose faults are taken
 * are listed, and the handler finds the one that holds the address.  Any other
 * fault goes to the handler that was there before.
 */
#include "vm/memory/memory_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "formats/error.h"

#define MEMORIES_MOST 64

/* Read by signal handlers, which take no lock. */
static struct memory *_Atomic listed[MEMORIES_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned count;
static struct sigaction segv_before, bus_before;

/* ------- whose fault it is ------- */

/* To the handler that was there before.  Without one, the fault happens again
 * and ends cprec. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = number == SIGSEGV ? &segv_before :
							     &bus_before;

	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(number, info, context);
	else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
		before->sa_handler(number);
	else if (signal(number, SIG_DFL) != SIG_ERR && info->si_code <= 0)
		raise(number);
}

/* Whether a process sent the signal, which is then dealt with. */
static bool was_sent(int number, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		return false;
	for (unsigned i = 0; i < MEMORIES_MOST; i++) {
		struct memory *memory = atomic_load(&listed[i]);

		if (memory && memory->sent) {
			memory->sent(number, info, context);
			return true;
		}
	}
	pass_on(number, info, context);
	return true;
}

/* The memory that has a host address in its arena; NULL: none. */
static struct memory *find_arena(const uint8_t *at)
{
	for (unsigned i = 0; i < MEMORIES_MOST; i++) {
		struct memory *memory = atomic_load(&listed[i]);

		if (memory && (uint64_t)(at - memory->arena) <
				      memory->arena_size)
			return memory;
	}
	return NULL;
}

static bool is_write(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_ERR] & 2;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const uint8_t *at = info->si_addr;
	const struct mapping *map = NULL;
	struct memory *memory;
	uint64_t page = 0;
	int saved = errno;

	if (was_sent(number, info, context)) {
		errno = saved;
		return;
	}
	memory = find_arena(at);
	if (memory) {
		page = (uint64_t)(at - memory->arena) >> GUEST_PAGE_SHIFT;
		map = arena_mapping(memory, page);
	}
	if (map)
		arena_touch(memory, map, page, is_write(context));
	else
		pass_on(number, info, context);
	errno = saved;
}

/* ------- pages of a file that has become shorter ------- */

/* The mapping that has a host address, in the arena or as its alias. */
static struct mapping *find_host(struct memory *memory, const uint8_t *at,
				 guest_addr *addr)
{
	uint64_t offset = (uint64_t)(at - memory->arena);
	struct mapping *map;

	if (offset < memory->arena_size) {
		map = arena_mapping(memory, offset >> GUEST_PAGE_SHIFT);
		if (map)
			*addr = map->region.start + (offset - map->arena);
		return map;
	}
	for (size_t i = 0; i < memory->count; i++) {
		map = mapping_at(memory, i);
		if (map->alias && (uint64_t)(at - map->alias) <
					  mapping_size(map)) {
			*addr = map->region.start + (uint64_t)(at - map->alias);
			return map;
		}
	}
	return NULL;
}

/* Zeros take the place of the page, and its memory is told. */
static bool replace(struct memory *memory, uint8_t *at)
{
	struct mapping *map = NULL;
	guest_addr addr;

	if (memory && memory->lost)
		map = find_host(memory, at, &addr);
	if (!map ||
	    mmap(at - addr % GUEST_PAGE, GUEST_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	memory->was_lost = map->may_renew = true;
	memory->lost(memory->lost_context, memory_address(memory, addr),
		     memory->by_kernel);
	return true;
}

static void on_missing(int number, siginfo_t *info, void *context)
{
	bool done = false;
	int saved = errno;

	if (!was_sent(number, info, context)) {
		for (unsigned i = 0; i < MEMORIES_MOST && !done; i++)
			done = replace(atomic_load(&listed[i]), info->si_addr);
		if (!done)
			pass_on(number, info, context);
	}
	errno = saved;
}

void memory_on_lost(struct memory *memory,
		    void (*lost)(void *context, guest_addr addr, bool kernel),
		    void *context)
{
	memory->lost = lost;
	memory->lost_context = context;
}

void memory_on_sent(struct memory *memory, memory_signal *sent)
{
	memory->sent = sent;
}

/* ------- the list ------- */

static int install(struct failure *why)
{
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, &segv_before))
		return failed(why, ERR_SYSTEM, "cannot catch faults: %s",
			      strerror(errno));
	action.sa_sigaction = on_missing;
	sigaction(SIGBUS, &action, &bus_before);
	return 0;
}

int arena_catch_faults(struct memory *memory, struct failure *why)
{
	int rc = 0;
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < MEMORIES_MOST && atomic_load(&listed[i]))
		i++;
	if (i == MEMORIES_MOST)
		rc = failed(why, ERR_SYSTEM, "more than %u memories in a "
			    "process", MEMORIES_MOST);
	else if (!count)
		rc = install(why);
	if (!rc) {
		atomic_store(&listed[i], memory);
		count++;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void arena_leave_faults(struct memory *memory)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MEMORIES_MOST; i++) {
		if (atomic_load(&listed[i]) != memory)
			continue;
		atomic_store(&listed[i], NULL);
		if (--count)
			continue;
		sigaction(SIGSEGV, &segv_before, NULL);
		sigaction(SIGBUS, &bus_before, NULL);
	}
	pthread_mutex_unlock(&lock);
}
