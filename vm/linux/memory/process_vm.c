/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_vm.c - process_vm_readv(2) and process_vm_writev(2) of oneself
 *
 * Other processes are kept from the guest.
 *
 * Source: process_vm_readv(2); Linux, mm/process_vm_access.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/kernel.h"
#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* As much as Linux transfers at once. */
#define MOST (INT_MAX & ~(uint64_t)(GUEST_PAGE - 1))

/* As S_IOVEC is converted. */
struct part {
	guest_addr addr;
	uint64_t size;
};

/* Parts of memory, and how far they have been gone through. */
struct parts {
	struct part at[SPANS];
	uint64_t count, index, done;
};

struct exchange {
	struct parts own, other;
};

static int take_parts(struct linux_process *process, struct parts *out,
		      guest_addr from, uint64_t count)
{
	if (count > SPANS)
		return -EINVAL;
	if (count && structs_in(process, S_IOVEC, out->at, from, count))
		return -EFAULT;
	for (uint64_t i = 0; i < count; i++)
		if (out->at[i].size > SSIZE_MAX)
			return -EINVAL;
	out->count = count;
	return 0;
}

/* How much there is, up to MOST; -EFAULT for what is no program's address. */
static int64_t check_own(const struct linux_process *process,
			 const struct parts *own)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < own->count; i++) {
		if (!is_user_range(process, own->at[i].addr, own->at[i].size))
			return -EFAULT;
		total += own->at[i].size < MOST - total ? own->at[i].size :
							  MOST - total;
	}
	return (int64_t)total;
}

/* The next bytes that are in one page; 0 at the end. */
static uint64_t next_bytes(struct parts *parts, guest_addr *addr)
{
	uint64_t left, in_page;

	while (parts->index < parts->count &&
	       parts->done == parts->at[parts->index].size) {
		parts->index++;
		parts->done = 0;
	}
	if (parts->index == parts->count)
		return 0;
	*addr = parts->at[parts->index].addr + parts->done;
	left = parts->at[parts->index].size - parts->done;
	in_page = GUEST_PAGE - *addr % GUEST_PAGE;
	return left < in_page ? left : in_page;
}

static int64_t transfer(struct linux_process *process,
			struct exchange *exchange, uint64_t most, bool writes)
{
	uint8_t bytes[GUEST_PAGE];
	uint64_t done = 0;

	while (done < most) {
		guest_addr own = 0, other = 0;
		uint64_t size = next_bytes(&exchange->own, &own);
		uint64_t there = next_bytes(&exchange->other, &other);

		if (size > there)
			size = there;
		if (size > most - done)
			size = most - done;
		if (!size)
			break;
		if (copy_in(process, bytes, writes ? own : other, size) ||
		    copy_out(process, writes ? other : own, bytes, size))
			return done ? (int64_t)done : -EFAULT;
		exchange->own.done += size;
		exchange->other.done += size;
		done += size;
	}
	return (int64_t)done;
}

static int check_process(struct linux_process *process, int pid)
{
	if (pid == getpid() || thread_find(process, pid))
		return 0;
	if (pid <= 0 || (syscall(SYS_tkill, pid, 0) && errno == ESRCH))
		return -ESRCH;
	return -EPERM;
}

static int64_t exchange_with(struct linux_process *process,
			     struct exchange *exchange, const uint64_t *arg,
			     bool writes)
{
	int64_t most, rc = take_parts(process, &exchange->own, arg[1], arg[2]);
	guest_addr unused;

	if (rc)
		return rc;
	most = check_own(process, &exchange->own);
	if (most <= 0)
		return most;
	rc = take_parts(process, &exchange->other, arg[3], arg[4]);
	if (rc || !next_bytes(&exchange->other, &unused))
		return rc;
	rc = check_process(process, (int)arg[0]);
	return rc ? rc : transfer(process, exchange, (uint64_t)most, writes);
}

static int64_t process_vm(struct linux_process *process, const uint64_t *arg,
			  bool writes)
{
	struct exchange *exchange;
	int64_t result;

	if (arg[5])
		return -EINVAL;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return -ENOMEM;
	result = exchange_with(process, exchange, arg, writes);
	free(exchange);
	return result;
}

int64_t sys_process_vm_readv(struct linux_process *process,
			     const struct linux_call *row,
			     const uint64_t *arg)
{
	(void)row;
	return process_vm(process, arg, false);
}

int64_t sys_process_vm_writev(struct linux_process *process,
			      const struct linux_call *row,
			      const uint64_t *arg)
{
	(void)row;
	return process_vm(process, arg, true);
}
