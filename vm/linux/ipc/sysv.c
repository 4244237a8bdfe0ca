/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysv.c - semaphores and message queues of System V: shared memory is in shm.c
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "vm/linux/abi/calls.h"
#include "vm/linux/abi/structs.h"
#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/ipc/ipc_internal.h"
#include "vm/linux/kernel.h"
#include "vm/linux/process.h"

/* Linux allows no larger ones: msgmax is an int. */
#define MESSAGE_MOST ((uint64_t)INT_MAX)

enum { SEM_MOST = 65536 };	/* in a set: their number is 16 bits wide */

/* ------- semaphores ------- */

/* How many there are in a set; a negative errno. */
static int64_t count_semaphores(struct linux_process *process, uint64_t id)
{
	struct semid_ds set = { 0 };
	int64_t result = host_call(process, SYS_semctl, id, 0, IPC_STAT,
				   host_pointer(&set));

	return result < 0 ? result : (int64_t)set.sem_nsems;
}

/* The values of all semaphores of a set, in or out. */
static int64_t control_all(struct linux_process *process,
			   struct ipc_control *control)
{
	int64_t count = count_semaphores(process, control->id), result;
	uint16_t *values;

	if (count < 0)
		return count;
	values = calloc(SEM_MOST, sizeof(*values));
	if (!values)
		return -ENOMEM;
	if (control->command == SETALL)
		control->in = (size_t)count * sizeof(*values);
	else
		control->out = (size_t)count * sizeof(*values);
	result = ipc_control(process, SYS_semctl, control, values);
	result = ipc_copy_result(process, control, values, result);
	free(values);
	return result;
}

int64_t sys_semctl(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	static const struct ipc_kind kind = {
		.number = SYS_semctl, .stat = SEM_STAT,
		.stat_any = SEM_STAT_ANY, .info = SEM_INFO,
		.object = S_SEMID_DS,
		.limits = S_SEMINFO,
		.usage = S_SEMINFO,
	};
	struct ipc_control control = {
		.id = arg[0], .number = arg[1], .command = (int)arg[2],
		.buffer = arg[3],
	};

	(void)row;
	if (control.command == GETALL || control.command == SETALL)
		return control_all(process, &control);
	return ipc_perform(process, &kind, &control, arg);
}

/* ------- messages ------- */

/* A message for the host: its text begins at a page of its own. */
struct message {
	uint8_t *pages;
	uint64_t room;		/* bytes of text */
};

/* Pages that nobody touches cost nothing. */
static int message_create(struct message *out, uint64_t size)
{
	void *pages;

	out->room = size < MESSAGE_MOST ? size : MESSAGE_MOST;
	pages = mmap(NULL, GUEST_PAGE + out->room, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	out->pages = pages == MAP_FAILED ? NULL : pages;
	return out->pages ? 0 : -ENOMEM;
}

static void message_destroy(struct message *message)
{
	munmap(message->pages, GUEST_PAGE + message->room);
}

static uint8_t *message_text(const struct message *message)
{
	return message->pages + GUEST_PAGE;
}

/* What the host's call gets: the text follows the type. */
static void *message_type(const struct message *message)
{
	return message_text(message) - sizeof(long);
}

/*
 * The kernel looks at a text only if its size is allowed: of one that cannot be
 * read, it says what is wrong first.
 */
static void fill_text(struct linux_process *process,
		      const struct message *message, guest_addr text,
		      uint64_t size)
{
	if (size > message->room ||
	    copy_in(process, message_text(message), text, size))
		mprotect(message_text(message), message->room, PROT_NONE);
}

int64_t sys_msgsnd(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	guest_addr text = arg[1] + struct_size(process, S_LONG);
	struct message message;
	int64_t result = -EFAULT;
	int rc = message_create(&message, arg[2]);

	if (rc)
		return rc;
	if (!struct_in(process, S_LONG, message_type(&message), arg[1])) {
		if (arg[2])
			fill_text(process, &message, text, arg[2]);
		result = host_wait(process, row->host, arg[0],
				   host_pointer(message_type(&message)),
				   arg[2], arg[3]);
	}
	message_destroy(&message);
	return result;
}

int64_t sys_msgrcv(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	guest_addr text = arg[1] + struct_size(process, S_LONG);
	struct message message;
	int64_t result;
	int rc = message_create(&message, arg[2]);

	if (rc)
		return rc;
	result = host_wait(process, row->host, arg[0],
			   host_pointer(message_type(&message)), arg[2],
			   arg[3], arg[4]);
	if (result >= 0 &&
	    (struct_out(process, S_LONG, arg[1], message_type(&message)) ||
	     copy_out(process, text, message_text(&message), (size_t)result)))
		result = -EFAULT;
	message_destroy(&message);
	return result;
}

int64_t sys_msgctl(struct linux_process *process,
		   const struct linux_call *row, const uint64_t *arg)
{
	static const struct ipc_kind kind = {
		.number = SYS_msgctl, .stat = MSG_STAT,
		.stat_any = MSG_STAT_ANY, .info = MSG_INFO,
		.object = S_MSQID_DS,
		.limits = S_MSGINFO,
		.usage = S_MSGINFO,
	};
	struct ipc_control control = {
		.id = arg[0], .command = (int)arg[1], .buffer = arg[2],
	};

	(void)row;
	return ipc_perform(process, &kind, &control, arg);
}
