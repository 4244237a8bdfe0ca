/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipc.c - see ipc_internal.h */
#include <errno.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "vm/linux/guest_memory.h"
#include "vm/linux/host/host.h"
#include "vm/linux/ipc/ipc_internal.h"
#include "vm/linux/process.h"

int64_t ipc_control(struct linux_process *process, long number,
		    const struct ipc_control *control, void *bytes)
{
	if (control->type_in &&
	    struct_in(process, control->type_in, bytes, control->buffer))
		return -EFAULT;
	if (control->in &&
	    copy_in(process, bytes, control->buffer, control->in))
		return -EFAULT;
	return number == SYS_semctl ?
		       host_call(process, number, control->id, control->number,
				 control->command, host_pointer(bytes)) :
		       host_call(process, number, control->id,
				 control->command, host_pointer(bytes));
}

int64_t ipc_copy_result(struct linux_process *process,
			const struct ipc_control *control, const void *bytes,
			int64_t result)
{
	if (result >= 0 && control->type_out &&
	    struct_out(process, control->type_out, control->buffer, bytes))
		return -EFAULT;
	if (result >= 0 && control->out &&
	    copy_out(process, control->buffer, bytes, control->out))
		return -EFAULT;
	return result;
}

bool ipc_is_stat(const struct ipc_control *control,
		 const struct ipc_kind *kind)
{
	return control->command == IPC_STAT ||
	       control->command == kind->stat ||
	       control->command == kind->stat_any;
}

/* False if nothing goes in and comes out. */
static bool find_types(struct ipc_control *control,
		       const struct ipc_kind *kind)
{
	if (control->command == IPC_SET)
		control->type_in = kind->object;
	else if (ipc_is_stat(control, kind))
		control->type_out = kind->object;
	else if (control->command == IPC_INFO)
		control->type_out = kind->limits;
	else if (control->command == kind->info)
		control->type_out = kind->usage;
	return control->type_in || control->type_out;
}

int64_t ipc_perform(struct linux_process *process,
		    const struct ipc_kind *kind, struct ipc_control *control,
		    const uint64_t *arg)
{
	union {
		struct semid_ds set;
		struct seminfo semaphores;
		struct msqid_ds queue;
		struct msginfo messages;
		struct shmid_ds segment;
		struct shminfo limits;
		struct shm_info memory;
	} bytes;
	int64_t result;

	if (!find_types(control, kind))
		return host_call_array(process, kind->number, arg);
	result = ipc_control(process, kind->number, control, &bytes);
	return ipc_copy_result(process, control, &bytes, result);
}
