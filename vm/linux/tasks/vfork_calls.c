/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfork_calls.c - what a child of vfork() maps and unmaps its parent does too
 *
 * To Linux both are one address space.  Here the parent, which waits, has one
 * that is alike; so it performs the child's calls again, as they come, with
 * the addresses that they gave.  For a file the child sends its descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"
#include "vm/linux/tasks/tasks.h"
#include "vm/linux/tasks/tasks_internal.h"

bool vfork_send(int fd, const struct vfork_message *message, size_t size,
		int passed)
{
	struct iovec bytes = { (void *)(uintptr_t)message, size };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr header = { .msg_iov = &bytes, .msg_iovlen = 1 };
	ssize_t sent;

	if (passed >= 0) {
		struct cmsghdr *part = &control.align;

		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(part), &passed, sizeof(int));
	}
	do
		sent = sendmsg(fd, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size;
}

/* ------- in the child ------- */

/* Whether a call has changed mappings, or may have. */
static bool is_told(size_t call, const uint64_t *arg, int64_t result)
{
	switch (call) {
	case CALL_mmap:
	case CALL_mremap:
	case CALL_munmap:
	case CALL_shmat:
	case CALL_shmdt:
		return result >= 0 || result < -4095;
	case CALL_mprotect:
	case CALL_pkey_mprotect:
		return !result || result == -ENOMEM || result == -EACCES;
	case CALL_madvise:
		return (!result || result == -ENOMEM) &&
		       (arg[2] == MADV_DONTNEED ||
			arg[2] == 24 /* MADV_DONTNEED_LOCKED */);
	default:
		return call == CALL_brk;
	}
}

/*
 * Sends a message, and waits until the parent has done what it says: it closes
 * what was passed to it then.
 */
static void send_and_wait(int fd, const struct vfork_message *message)
{
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC)) {
		vfork_send(fd, message, VFORK_CALL_SIZE, -1);
		return;
	}
	vfork_send(fd, message, VFORK_CALL_SIZE, ends[1]);
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	close(ends[0]);
}

void vfork_tell(struct linux_process *process, const struct linux_call *row,
		const uint64_t *arg, int64_t result)
{
	struct vfork_message message = { .page = VFORK_CALL };
	size_t call = linux_call_kind(row);
	int fd = process->tasks->waited_by, passed = -1;

	if (fd < 0 || !process->tasks->lends || !is_told(call, arg, result))
		return;
	if (call == CALL_mmap && !(arg[3] & MAP_ANONYMOUS))
		passed = (int)arg[4];
	message.call.index = call;
	memcpy(message.call.arg, arg, sizeof(message.call.arg));
	message.call.result = result;
	/* Shared memory may be removed, and goes with the last who has it. */
	if (call == CALL_shmat)
		send_and_wait(fd, &message);
	else
		vfork_send(fd, &message, VFORK_CALL_SIZE, passed);
}

/* ------- in the parent ------- */

/* The arguments that give the child's result here too. */
static void fix_address(const struct vfork_call *call, uint64_t *arg)
{
	uint64_t fixed = MAP_FIXED | MAP_FIXED_NOREPLACE;

	switch (call->index) {
	case CALL_mmap:
		/* Other threads of the parent may have mapped meanwhile. */
		if (!(arg[3] & fixed))
			arg[3] |= MAP_FIXED_NOREPLACE;
		arg[0] = (uint64_t)call->result;
		break;
	case CALL_mremap:
		if ((uint64_t)call->result == arg[0])
			break;
		arg[3] |= MREMAP_FIXED;
		arg[4] = (uint64_t)call->result;
		break;
	case CALL_shmat:
		arg[1] = (uint64_t)call->result;
		break;
	default:
		break;
	}
}

void vfork_perform(struct linux_process *process,
		   const struct vfork_call *call, int fd)
{
	const struct linux_call *row = &linux_calls[call->index];
	uint64_t arg[CALL_ARGS];

	memcpy(arg, call->arg, sizeof(arg));
	fix_address(call, arg);
	if (call->index == CALL_mmap)
		arg[4] = (uint64_t)(int64_t)fd;
	if (call_handler(row)(process, row, arg) != call->result)
		return;
	/* It may be such a child itself. */
	vfork_tell(process, row, arg, call->result);
}
