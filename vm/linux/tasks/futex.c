/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futex.c - futex(2): waiting for a word of memory to change
 *
 * What lies in memory that is shared with other processes is waited for in the
 * host's kernel: its pages are the host's own, so other processes wait for the
 * same.  Everywhere else only threads of this process can wait, and they are
 * put to sleep and woken here, in an order that does not depend on the host.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks_internal.h"

/* What the fourth argument means depends on the command. */
struct request {
	guest_addr addr, other;
	int command;		/* without options */
	bool is_private, realtime;
	uint32_t value;
	uint64_t limit;		/* address of a time, or a count */
	enum guest_struct time;	/* what it is, there */
	uint32_t value3;
};

static bool is_shared(struct linux_process *process, guest_addr addr)
{
	const struct region *region = memory_region_at(process->memory, addr);

	if (!region || region->kind != REGION_SHARED)
		return false;
	/* The host keeps the address for as long as somebody waits there. */
	memory_end_alone(process->memory);
	return true;
}

/* ------- waiting for other processes ------- */

static uint64_t host_word(struct linux_process *process, guest_addr addr,
			  enum memory_use use)
{
	uint64_t span;
	uint8_t *at = memory_at(process->memory, addr, sizeof(uint32_t), use,
				&span);

	return at ? host_pointer(at) : BAD_POINTER;
}

static int64_t ask_host(struct linux_process *process,
			enum guest_struct time, const uint64_t *arg)
{
	uint64_t host[6] = { 0, arg[1], arg[2], arg[3], 0, arg[5] };
	struct timespec timeout;
	int64_t result;

	host[0] = host_word(process, arg[0], MEMORY_IN);
	switch ((int)arg[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		if (arg[3] &&
		    struct_in(process, time, &timeout, arg[3]))
			return -EFAULT;
		host[3] = arg[3] ? host_pointer(&timeout) : 0;
		return host_wait_array(process, SYS_futex, host);
	case FUTEX_WAKE_OP:
		host[4] = host_word(process, arg[4], MEMORY_OUT);
		memory_enter(process->memory, arg[4], sizeof(uint32_t));
		result = host_call_array(process, SYS_futex, host);
		memory_leave(process->memory);
		return result;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		host[4] = host_word(process, arg[4], MEMORY_OUT);
		return host_call_array(process, SYS_futex, host);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return host_call_array(process, SYS_futex, host);
	default:
		return -ENOSYS;
	}
}

/* ------- waking ------- */

static int64_t wake(struct linux_process *process, guest_addr addr, int count,
		    uint32_t bits)
{
	struct linux_thread *thread;
	int64_t woken = 0;

	while (woken < count &&
	       (thread = scheduler_find(process, addr, bits)))
		woken += scheduler_wake(process, thread);
	return woken;
}

int64_t futex_wake(struct linux_process *process, guest_addr addr, int count,
		   uint32_t bits, bool is_private)
{
	if (!is_private && is_shared(process, addr))
		return host_call(process, SYS_futex,
				 host_word(process, addr, MEMORY_IN),
				 FUTEX_WAKE_BITSET, count, 0, 0, bits);
	return wake(process, addr, count, bits);
}

static int64_t requeue(struct linux_process *process,
		       const struct request *request)
{
	int64_t moved = wake(process, request->addr, (int)request->value,
			     FUTEX_BITSET_MATCH_ANY);

	if ((int)request->value < 0 || (int)request->limit < 0)
		return -EINVAL;
	return moved + scheduler_requeue(process, request->addr,
					 request->other,
					 (int)request->limit);
}

/* FUTEX_WAKE_OP: what is done to the second word, and what is asked of it. */
static int64_t change_and_wake(struct linux_process *process,
			       const struct request *request)
{
	unsigned code = request->value3 >> 28, test = request->value3 >> 24 & 15;
	int argument = (int)(request->value3 << 8) >> 20;
	int with = (int)(request->value3 << 20) >> 20;
	int old, now;
	bool holds;
	int64_t woken;

	if (request->other % 4)
		return -EINVAL;
	if (copy_in(process, &old, request->other, sizeof(old)))
		return -EFAULT;
	if (code & FUTEX_OP_OPARG_SHIFT)
		argument = (int)(1u << (argument & 31));
	switch (code & 7) {
	case FUTEX_OP_SET:
		now = argument;
		break;
	case FUTEX_OP_ADD:
		now = (int)((unsigned)old + (unsigned)argument);
		break;
	case FUTEX_OP_OR:
		now = old | argument;
		break;
	case FUTEX_OP_ANDN:
		now = old & ~argument;
		break;
	case FUTEX_OP_XOR:
		now = old ^ argument;
		break;
	default:
		return -ENOSYS;
	}
	switch (test) {
	case FUTEX_OP_CMP_EQ:
		holds = old == with;
		break;
	case FUTEX_OP_CMP_NE:
		holds = old != with;
		break;
	case FUTEX_OP_CMP_LT:
		holds = old < with;
		break;
	case FUTEX_OP_CMP_LE:
		holds = old <= with;
		break;
	case FUTEX_OP_CMP_GT:
		holds = old > with;
		break;
	case FUTEX_OP_CMP_GE:
		holds = old >= with;
		break;
	default:
		return -ENOSYS;
	}
	if (copy_out(process, request->other, &now, sizeof(now)))
		return -EFAULT;
	woken = futex_wake(process, request->addr, (int)request->value,
			   FUTEX_BITSET_MATCH_ANY, request->is_private);
	if (holds)
		woken += futex_wake(process, request->other,
				    (int)request->limit,
				    FUTEX_BITSET_MATCH_ANY,
				    request->is_private);
	return woken;
}

/* ------- waiting ------- */

/* The time limit of a request as a time on `clock`. */
static int take_limit(struct linux_process *process,
		      const struct request *request, int *clock,
		      struct timespec *limit)
{
	bool relative = request->command == FUTEX_WAIT;
	struct timespec now;

	*clock = request->realtime && !relative ? CLOCK_REALTIME :
						  CLOCK_MONOTONIC;
	if (struct_in(process, request->time, limit, request->limit))
		return -EFAULT;
	if (limit->tv_sec < 0 || (uint64_t)limit->tv_nsec >= 1000000000)
		return -EINVAL;
	if (!relative)
		return 0;
	clock_gettime(*clock, &now);
	limit->tv_nsec += now.tv_nsec;
	limit->tv_sec += now.tv_sec + limit->tv_nsec / 1000000000;
	limit->tv_nsec %= 1000000000;
	if (limit->tv_sec < 0)
		limit->tv_sec = INT64_MAX;
	return 0;
}

/* `bits`: those that may wake it. */
static int64_t sleep_at(struct linux_process *process,
			const struct request *request, uint32_t bits)
{
	struct timespec limit;
	int64_t result = 0;
	int clock = CLOCK_MONOTONIC;

	if (request->limit)
		result = take_limit(process, request, &clock, &limit);
	if (result)
		return result;
	process->thread->task->futex = request->addr;
	process->thread->task->futex_bits = bits;
	result = scheduler_sleep(process, clock,
				 request->limit ? &limit : NULL);
	/* What began anew would wait too long. */
	if (request->limit && request->command == FUTEX_WAIT &&
	    result == -RESTART_IF_ASKED)
		return -EINTR;
	return result;
}

static int64_t wait_for(struct linux_process *process,
			const struct request *request, uint32_t bits)
{
	uint32_t value;

	if (!bits)
		return -EINVAL;
	if (copy_in(process, &value, request->addr, sizeof(value)))
		return -EFAULT;
	if (value != request->value)
		return -EAGAIN;
	return sleep_at(process, request, bits);
}

/* ------- with an owner (PI): the word is its thread's number ------- */

static int put_word(struct linux_process *process, guest_addr addr,
		    uint32_t word)
{
	return copy_out(process, addr, &word, sizeof(word));
}

static int64_t lock_owned(struct linux_process *process,
			  const struct request *request, bool try)
{
	uint32_t own = process->thread->tid, word, owner;

	if (copy_in(process, &word, request->addr, sizeof(word)))
		return -EFAULT;
	owner = word & FUTEX_TID_MASK;
	if (!owner)
		return put_word(process, request->addr, word | own);
	if (owner == own)
		return -EDEADLK;
	if (try)
		return -EAGAIN;
	if (!thread_find(process, (int)owner))
		return -ESRCH;
	if (put_word(process, request->addr, word | FUTEX_WAITERS))
		return -EFAULT;
	return sleep_at(process, request, FUTEX_BITSET_MATCH_ANY);
}

/* The lock is the next waiter's; `flags` go into the word. */
static int64_t hand_over(struct linux_process *process, guest_addr addr,
			 uint32_t flags)
{
	struct linux_thread *next;

	do {
		next = scheduler_find(process, addr, FUTEX_BITSET_MATCH_ANY);
		if (!next)
			return put_word(process, addr, flags);
	} while (!scheduler_wake(process, next));
	if (scheduler_find(process, addr, FUTEX_BITSET_MATCH_ANY))
		flags |= FUTEX_WAITERS;
	return put_word(process, addr, next->tid | flags);
}

static int64_t unlock_owned(struct linux_process *process, guest_addr addr)
{
	uint32_t word;

	if (copy_in(process, &word, addr, sizeof(word)))
		return -EFAULT;
	if ((word & FUTEX_TID_MASK) != process->thread->tid)
		return -EPERM;
	return hand_over(process, addr, 0);
}

/* ------- the same in memory that processes share ------- */

/*
 * Takes the lock, or says in the word, which is then in `*word`, that somebody
 * waits: -EAGAIN.  Were the host's kernel to do so, it would change the word
 * while others look: it is only asked to wait, and whoever wakes tries again.
 */
static int64_t take_shared(struct linux_process *process,
			   const struct request *request, bool has_waited,
			   uint32_t *word)
{
	uint32_t own = process->thread->tid, owner;

	if (copy_in(process, word, request->addr, sizeof(*word)))
		return -EFAULT;
	owner = *word & FUTEX_TID_MASK;
	if (owner == own)
		return -EDEADLK;
	if (owner && syscall(SYS_tkill, owner, 0) && errno == ESRCH)
		return -ESRCH;
	*word |= owner ? FUTEX_WAITERS : own;
	if (has_waited)
		*word |= FUTEX_WAITERS;		/* as others may */
	if (put_word(process, request->addr, *word))
		return -EFAULT;
	return owner ? -EAGAIN : 0;
}

static int64_t try_shared(struct linux_process *process,
			  const struct request *request, bool has_waited,
			  uint32_t *word)
{
	int64_t result;

	memory_enter(process->memory, request->addr, sizeof(*word));
	result = take_shared(process, request, has_waited, word);
	memory_leave(process->memory);
	return result;
}

static int64_t lock_shared(struct linux_process *process,
			   const struct request *request)
{
	int command = FUTEX_WAIT_BITSET |
		      (request->realtime ? FUTEX_CLOCK_REALTIME : 0);
	struct timespec limit;
	uint32_t word;
	int64_t result;

	if (request->limit &&
	    struct_in(process, request->time, &limit, request->limit))
		return -EFAULT;
	for (bool has_waited = false;; has_waited = true) {
		result = try_shared(process, request, has_waited, &word);
		if (result != -EAGAIN)
			return result;
		result = host_wait(process, SYS_futex,
				   host_word(process, request->addr, MEMORY_IN),
				   command, word,
				   request->limit ? host_pointer(&limit) : 0, 0,
				   FUTEX_BITSET_MATCH_ANY);
		if (result == -EINTR || result == -RESTART_IF_ASKED)
			return -RESTART_ALWAYS;
		if (result && result != -EAGAIN)
			return result;
	}
}

static int64_t unlock_shared(struct linux_process *process, guest_addr addr)
{
	uint32_t word;
	int64_t result = -EFAULT;

	memory_enter(process->memory, addr, sizeof(word));
	if (!copy_in(process, &word, addr, sizeof(word)))
		result = (word & FUTEX_TID_MASK) != process->thread->tid ?
				 -EPERM : put_word(process, addr, 0);
	memory_leave(process->memory);
	if (!result && word & FUTEX_WAITERS)
		futex_wake(process, addr, 1, FUTEX_BITSET_MATCH_ANY, false);
	return result;
}

/* A lock with an owner that other processes may want; true if it is one. */
static bool is_shared_lock(struct linux_process *process,
			   const struct request *request, int64_t *result)
{
	uint32_t word;

	switch (request->command) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		*result = lock_shared(process, request);
		return true;
	case FUTEX_TRYLOCK_PI:
		*result = try_shared(process, request, false, &word);
		return true;
	case FUTEX_UNLOCK_PI:
		*result = unlock_shared(process, request->addr);
		return true;
	default:
		return false;
	}
}

/* ------- robust lists ------- */

enum {
	ROBUST_MOST = 2048,	/* as in Linux: the list may be a ring */
};

/* One that dies: of all it holds, or only of what other processes share. */
struct dying {
	struct linux_process *process;
	uint32_t tid;
	bool only_shared;
};

static void let_go(const struct dying *dying, guest_addr addr, bool is_owned,
		   bool pending)
{
	struct linux_process *process = dying->process;
	uint32_t word;

	if (copy_in(process, &word, addr, sizeof(word)))
		return;
	if (pending && !word && !is_owned)
		futex_wake(process, addr, 1, UINT32_MAX, false);
	if ((word & FUTEX_TID_MASK) != dying->tid)
		return;
	/* Who waits in the host's kernel is only woken, and takes it. */
	if (is_owned && !is_shared(process, addr)) {
		hand_over(process, addr, FUTEX_OWNER_DIED);
		return;
	}
	if (!put_word(process, addr,
		      (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED) &&
	    word & FUTEX_WAITERS)
		futex_wake(process, addr, 1, UINT32_MAX, false);
}

/* The owner of a lock dies; `entry` has bit 0 set for one with an owner. */
static void owner_dies(const struct dying *dying, uint64_t entry,
		       int64_t offset, bool pending)
{
	guest_addr addr = (entry & ~UINT64_C(1)) + (uint64_t)offset;
	struct memory *memory = dying->process->memory;

	if (addr % 4 ||
	    (dying->only_shared && !is_shared(dying->process, addr)))
		return;
	memory_enter(memory, addr, sizeof(uint32_t));
	let_go(dying, addr, entry & 1, pending);
	memory_leave(memory);
}

void futex_thread_ends(struct linux_process *process,
		       const struct linux_thread *thread, bool only_shared)
{
	const struct dying dying = { process, thread->tid, only_shared };
	guest_addr head = thread->task->robust_list;
	uint64_t words[3];	/* first, offset, pending */
	uint64_t entry;

	if (!head || struct_in(process, S_ROBUST_LIST, words, head))
		return;
	entry = words[0];
	for (int i = 0; i < ROBUST_MOST && (entry & ~UINT64_C(1)) != head;
	     i++) {
		uint64_t next;
		bool more = !word_in(process, &next, entry & ~UINT64_C(1));

		if (entry != words[2])
			owner_dies(&dying, entry, (int64_t)words[1], false);
		if (!more)
			break;
		entry = next;
	}
	if (words[2])
		owner_dies(&dying, words[2], (int64_t)words[1], true);
}

/* ------- the call ------- */

static int64_t perform(struct linux_process *process,
		       const struct request *request)
{
	switch (request->command) {
	case FUTEX_WAIT:
		return wait_for(process, request, FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAIT_BITSET:
		return wait_for(process, request, request->value3);
	case FUTEX_WAKE:
		return wake(process, request->addr, (int)request->value,
			    FUTEX_BITSET_MATCH_ANY);
	case FUTEX_WAKE_BITSET:
		return request->value3 ? wake(process, request->addr,
					      (int)request->value,
					      request->value3) : -EINVAL;
	case FUTEX_REQUEUE:
		return requeue(process, request);
	case FUTEX_CMP_REQUEUE: {
		uint32_t value;

		if (copy_in(process, &value, request->addr, sizeof(value)))
			return -EFAULT;
		return value == request->value3 ? requeue(process, request) :
						  -EAGAIN;
	}
	case FUTEX_WAKE_OP:
		return change_and_wake(process, request);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return lock_owned(process, request, false);
	case FUTEX_TRYLOCK_PI:
		return lock_owned(process, request, true);
	case FUTEX_UNLOCK_PI:
		return unlock_owned(process, request->addr);
	default:
		return -ENOSYS;
	}
}

/* Of two words, one may be only this process's: that is seen to here. */
static bool is_the_hosts(struct linux_process *process,
			 const struct request *request)
{
	return !request->is_private && is_shared(process, request->addr) &&
	       (request->command != FUTEX_WAKE_OP ||
		is_shared(process, request->other));
}

int64_t sys_futex(struct linux_process *process, const struct linux_call *row,
		  const uint64_t *arg)
{
	struct request request = {
		.addr = arg[0],
		.other = arg[4],
		.command = (int)arg[1] & FUTEX_CMD_MASK,
		.is_private = arg[1] & FUTEX_PRIVATE_FLAG,
		.realtime = arg[1] & FUTEX_CLOCK_REALTIME ||
			    ((int)arg[1] & FUTEX_CMD_MASK) == FUTEX_LOCK_PI,
		.value = (uint32_t)arg[2],
		.limit = arg[3],
		.time = row->args[3].type,
		.value3 = (uint32_t)arg[5],
	};
	int64_t result;

	if (arg[0] % 4)
		return -EINVAL;
	if (!is_the_hosts(process, &request))
		return perform(process, &request);
	if (is_shared_lock(process, &request, &result))
		return result;
	return ask_host(process, request.time, arg);
}
