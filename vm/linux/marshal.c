/* SPDX-License-Identifier: GPL-2.0-or-later */
/* marshal.c - performs a system call as the table describes its arguments */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/kernel.h"
#include "vm/linux/proc/proc.h"
#include "vm/linux/process.h"
#include "vm/linux/signals/signals.h"

/*
 * More than Linux moves in one call: read(2) and its kin stop at MAX_RW_COUNT,
 * 4095 bytes below this, getrandom(2) one below.
 */
#define LARGEST (UINT64_C(1) << 31)

/* What became of one argument. */
struct passed {
	uint64_t host;		/* what the host call gets */
	uint8_t *copy;		/* where the bytes are, NULL if there are none */
	uint64_t size;		/* of them */
	void *pages;		/* to be unmapped: `room` bytes */
	uint64_t room;
};

struct marshal {
	struct linux_process *process;
	const struct linux_call *row;
	const uint64_t *arg;
	struct passed passed[CALL_ARGS];
};

/* How many bytes of the host's the argument needs; of ARG_PATH none. */
static uint64_t bytes_of(const struct marshal *call, int i)
{
	const struct call_arg *arg = &call->row->args[i];
	size_t each = call->process->abi->layouts[arg->type].host_size;
	uint64_t count;
	int room = 0;

	switch ((enum arg_kind)arg->kind) {
	case ARG_IN:
	case ARG_OUT:
	case ARG_OUT_EINTR:
	case ARG_INOUT:
	case ARG_INOUT_EINTR:
		return each;
	case ARG_BYTES_IN:
	case ARG_BYTES_OUT:
	case ARG_BYTES_INOUT:
		return call->arg[arg->other];
	case ARG_ARRAY_IN:
	case ARG_ARRAY_OUT:
	case ARG_ARRAY_INOUT:
		/* Counts are ints; of negative ones the kernel sees to it. */
		count = (uint32_t)call->arg[arg->other];
		return count > INT_MAX ? 0 : count * each;
	case ARG_COUNTED_OUT:
		if (copy_in(call->process, &room, call->arg[arg->other],
			    sizeof(room)) ||
		    room < 0)
			return 0;
		return (uint64_t)room;
	case ARG_LENGTH:
		return sizeof(int);
	case ARG_MASK:
		return sizeof(uint64_t);
	default:
		return 0;
	}
}

/*
 * Where the bytes of an argument may stay during the call; zeros, if there are
 * many.  Those that the kernel does not write cost nothing.
 */
static uint8_t *room_for(struct marshal *call, int i, uint64_t size)
{
	struct passed *passed = &call->passed[i];
	void *pages;

	if (size <= BOUNCE)
		return (uint8_t *)call->process->thread->bounce[i];
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	passed->pages = pages;
	passed->room = size;
	return pages;
}

/* Whether a link that the path names is followed by this call. */
static bool is_followed(const struct marshal *call, int i)
{
	const struct call_arg *arg = &call->row->args[i];

	return arg->kind == ARG_PATH_FOLLOWED &&
	       !(arg->other && call->arg[arg->other] & AT_SYMLINK_NOFOLLOW);
}

static void redirect(const struct marshal *call, int i, char *text)
{
	if (is_followed(call, i))
		sysroot_redirect(call->process, call->process->abi, text);
	else
		sysroot_redirect_link(call->process, text);
}

static void pass_path(struct marshal *call, int i)
{
	bool has_dir = i > 0 && call->row->args[i - 1].kind == ARG_DIR;
	int dir = has_dir ? (int)call->arg[i - 1] : AT_FDCWD;
	struct linux_process *process = call->process;
	struct passed *passed = &call->passed[i];
	char *text = (char *)process->thread->bounce[i];
	int rc = copy_path(process, text, call->arg[i]);

	if (rc == -EFAULT) {
		passed->host = BAD_POINTER;
		return;
	}
	passed->host = host_pointer(text);
	if (rc == -ENAMETOOLONG) {
		memset(text, 'x', BOUNCE);	/* the kernel stops there */
		return;
	}
	if (call->row->args[i].kind == ARG_PATH_FOLLOWED)
		redirect(call, i, text);
	proc_hide(process, dir, text);
	if (is_followed(call, i))
		proc_redirect(process, dir, text);
}

/* Structures are converted, everything else is bytes. */
static int take(struct marshal *call, int i, void *copy, uint64_t size)
{
	enum guest_struct type = call->row->args[i].type;
	struct linux_process *process = call->process;
	size_t each = process->abi->layouts[type].host_size;

	if (!size)
		return 0;
	return each ? structs_in(process, type, copy, call->arg[i],
				 size / each) :
		      copy_in(process, copy, call->arg[i], size);
}

static int give(struct marshal *call, int i, const void *copy, uint64_t size)
{
	enum guest_struct type = call->row->args[i].type;
	struct linux_process *process = call->process;
	size_t each = process->abi->layouts[type].host_size;

	return each ? structs_out(process, type, call->arg[i], copy,
				  size / each) :
		      copy_out(process, call->arg[i], copy, size);
}

static void pass_bytes(struct marshal *call, int i)
{
	struct linux_process *process = call->process;
	const struct call_arg *arg = &call->row->args[i];
	struct passed *passed = &call->passed[i];
	uint64_t size = bytes_of(call, i);
	uint8_t *copy;

	if (size > LARGEST)
		size = LARGEST;
	copy = room_for(call, i, size);
	passed->host = BAD_POINTER;
	if (!copy)
		return;
	if (arg_is_read(arg->kind)) {
		if (take(call, i, copy, size))
			return;
	} else if (!passed->pages) {
		memset(copy, 0, size);
	}
	passed->host = host_pointer(copy);
	passed->copy = copy;
	passed->size = size;
	if (arg->kind == ARG_MASK) {
		uint64_t *mask = (uint64_t *)(void *)copy;

		signals_lend_mask(process, *mask);
		*mask = signals_host_mask(*mask);
	}
}

static void pass(struct marshal *call, int i)
{
	enum arg_kind kind = call->row->args[i].kind;

	call->passed[i].host = call->arg[i];
	if (kind < ARG_PATH || !call->arg[i])
		return;
	if (!arg_is_marshalled(kind)) {	/* the host's memory is not there */
		call->passed[i].host = BAD_POINTER;
		return;
	}
	if (kind == ARG_PATH || kind == ARG_PATH_FOLLOWED)
		pass_path(call, i);
	else
		pass_bytes(call, i);
}

/* How many of an argument's bytes the kernel has written. */
static uint64_t written(const struct marshal *call, int i, int64_t result)
{
	const struct call_arg *arg = &call->row->args[i];
	const struct passed *passed = &call->passed[i];
	uint64_t size = passed->size;
	bool interrupted = result == -EINTR;
	uint64_t got;
	int length;

	switch ((enum arg_kind)arg->kind) {
	case ARG_OUT_EINTR:
		return interrupted ? size : 0;
	case ARG_INOUT_EINTR:
		return result >= 0 || interrupted ? size : 0;
	case ARG_OUT:
	case ARG_INOUT:
	case ARG_BYTES_INOUT:
	case ARG_ARRAY_INOUT:
	case ARG_LENGTH:
		return result >= 0 ? size : 0;
	case ARG_BYTES_OUT:
	case ARG_ARRAY_OUT:
		got = result > 0 ? (uint64_t)result : 0;
		if (arg->kind == ARG_ARRAY_OUT)
			got *= call->process->abi->layouts[arg->type].host_size;
		return got < size ? got : size;
	case ARG_COUNTED_OUT:
		if (result < 0 || !call->passed[arg->other].copy)
			return 0;
		memcpy(&length, call->passed[arg->other].copy, sizeof(length));
		if (length < 0)
			return 0;
		return (uint64_t)length < size ? (uint64_t)length : size;
	default:
		return 0;
	}
}

static bool is_stat(enum guest_struct type)
{
	return type == S_STAT || type == S_STAT64;
}

/* What the host says of a folder of /proc counts cprec's own threads. */
static void mend_stat(const struct marshal *call, int i)
{
	const struct call_arg *first = &call->row->args[0];
	bool has_path = first->kind != ARG_FD;
	int dir = has_path && first->kind != ARG_DIR ? AT_FDCWD :
						       (int)call->arg[0];
	const char *path = NULL;

	if (has_path)
		path = (const char *)(uintptr_t)
			call->passed[first->kind == ARG_DIR].host;
	if (is_stat(call->row->args[i].type))
		proc_mend_stat(call->process, dir, path,
			       (void *)call->passed[i].copy);
	else
		proc_mend_statx(call->process, dir, path,
				(void *)call->passed[i].copy);
}

static int finish(struct marshal *call, int i, int64_t result)
{
	const struct passed *passed = &call->passed[i];

	if (!passed->copy)
		return 0;
	if (!result && (is_stat(call->row->args[i].type) ||
			call->row->args[i].type == S_STATX))
		mend_stat(call, i);
	return give(call, i, passed->copy, written(call, i, result));
}

int64_t marshal_call(struct linux_process *process,
		     const struct linux_call *row, const uint64_t *arg)
{
	struct marshal call = { process, row, arg, { { 0 } } };
	uint64_t host[CALL_ARGS];
	int64_t result;
	int rc = 0;

	for (int i = 0; i < CALL_ARGS; i++)
		pass(&call, i);
	for (int i = 0; i < CALL_ARGS; i++)
		host[i] = call.passed[i].host;
	result = row->waits ?
		 host_wait_array(process, row->host, host) :
		 host_call_array(process, row->host, host);
	for (int i = 0; i < CALL_ARGS && !rc; i++)
		rc = finish(&call, i, result);
	for (int i = 0; i < CALL_ARGS; i++)
		if (call.passed[i].pages)
			munmap(call.passed[i].pages, call.passed[i].room);
	signals_return_mask(process, result);
	return rc ? rc : result;
}
